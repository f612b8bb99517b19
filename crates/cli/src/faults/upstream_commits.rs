//! `pollmatrix faults --seeds`: measures the effect of the five HAProxy commits that this core is based on.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use fd_core::hooks::fault::Fault;
use metadata::{Attempt, RunSpec, Seed};
use report::first_line;
use runner::executable::{self, Executable};
use runner::plan::{self, Planned, Source};
use runner::signals::Stop;
use runner::supervise::{self, Order};
use serde_json::{Value, json};

use super::campaign::LEAST_PATIENCE;
use crate::args::{FaultsArgs, RunFormat};
use crate::error::Error;

/// A commit, and the cell that shows its effect.
struct Commit {
    title: &'static str,
    /// The fault: the state before the commit, or a mistake that remained after it.
    fault: Fault,
    /// A summary of the commit's message.
    summary: &'static str,
    scenario: &'static str,
    variant: &'static str,
    /// Prefixes of the counters that show the effect.
    counters: &'static [&'static str],
}

const COMMITS: [Commit; 6] = [
    Commit {
        title: "MAJOR: fd: get rid of the DWCAS when setting the running_mask",
        fault: Fault::LateReportRuns,
        summary: "checks both masks, then sets running by a CAS; survived 10 billion takeovers, and lost one (cd8914bc5)",
        scenario: "migration/late-report-of-old-owner",
        variant: "tcp-level-4t1g",
        counters: &[],
    },
    Commit {
        title: "MAJOR: fd: get rid of the DWCAS when setting the running_mask",
        fault: Fault::TakeoverStoresMask,
        summary: "sets the thread mask by a store; only the callers' locks keep a delete away",
        scenario: "migration/takeover-during-delete",
        variant: "tcp-level-4t1g",
        counters: &["closed", "inserted"],
    },
    Commit {
        title: "MEDIUM: fd: add the tgid to the fd and pass it to fd_insert()",
        fault: Fault::NoGroupCheck,
        summary: "masks mean something only beside their group",
        scenario: "migration/group-round-trip",
        variant: "tcp-level-4t2g",
        counters: &[],
    },
    Commit {
        title: "BUG/MEDIUM: fd: do not wait on FD removal in fd_delete()",
        fault: Fault::WaitOnDelete,
        summary: "the deleter holds the lock that the handler waits for: deadlock, until the watchdog kills the process",
        scenario: "shared-listener/delete-holding-handler-lock",
        variant: "tcp-level-2t1g",
        counters: &["closed", "inserted"],
    },
    Commit {
        title: "BUG/MEDIUM: pollers: Use a global list for fd shared between threads.",
        fault: Fault::PrivateUpdateForShared,
        summary: "a shared FD would only be updated on one thread: missed events, or spurious wakeups",
        scenario: "shared-listener/stop-start-converge",
        variant: "tcp-level-4t1g",
        counters: &[],
    },
    Commit {
        title: "BUG/MEDIUM: epoll/threads: use one epoll_fd per thread",
        fault: Fault::OnePollerPerProcess,
        summary: "all threads wake for a listener of one, and spin to skip its events: poll_skip 46293690 before, 0 after",
        scenario: "shared-listener/bound-to-one-thread",
        variant: "tcp-level-4t1g",
        counters: &["loops", "poll_io", "poll_skip"],
    },
];

/// The attempts at one commit's cell with and without the fault.
struct Measured {
    commit: &'static Commit,
    cell: String,
    with: Attempt,
    without: Attempt,
}

/// Runs each commit's cell with and without the fault. Returns the text, and whether each fault was caught.
/// Returns `None` if the run was stopped.
pub fn run(source: &Source<'_>, args: &FaultsArgs, stop: &Stop) -> Result<Option<(String, bool)>, Error> {
    let planned = source.plan(source.target()?, &matrix::Selection::default())?;
    let seed = args.chance.seed();
    let executable = Executable::watch(&executable::own()?);
    let mut all = Vec::new();
    for commit in &COMMITS {
        let begins = format!("{}/{}@", commit.scenario, commit.variant);
        let of = |cell: &&Planned| cell.spec.id.starts_with(&begins) && cell.unsupported.is_none();
        let Some(cell) = planned.iter().find(of) else {
            let ids = planned.iter().map(|cell| cell.spec.id.clone()).collect::<Vec<_>>();
            return Err(plan::unknown(&begins, ids.iter().map(String::as_str)).into());
        };
        let attempt = |fault: Option<Fault>| one(source, &executable, args, stop, cell, seed, fault);
        let (Some(without), Some(with)) = (attempt(None), attempt(Some(commit.fault))) else {
            executable.check()?;
            return Ok(None);
        };
        all.push(Measured { commit, cell: cell.spec.id.clone(), with, without });
    }
    let held =
        all.iter().all(|measured| measured.without.status.is_pass() && !measured.with.status.is_pass());
    let text = match args.format {
        RunFormat::Json => metadata::json(&json!(all.iter().map(Measured::json).collect::<Vec<_>>())),
        RunFormat::Text | RunFormat::Markdown => all.iter().map(Measured::text).collect(),
    };
    Ok(Some((text, held)))
}

fn one(
    source: &Source<'_>,
    executable: &Executable,
    args: &FaultsArgs,
    stop: &Stop,
    cell: &Planned,
    seed: Seed,
    fault: Option<Fault>,
) -> Option<Attempt> {
    let fault_name = fault.map(|fault| fault.name().to_owned());
    let spec = RunSpec { fault: fault_name, slow: args.chance.slow.times, ..RunSpec::new(seed) };
    let order = Order {
        environment: source.environment,
        prefix: &[],
        executable,
        matrix: source.path.as_deref(),
        cell: &cell.spec.id,
        spec: &spec,
        limit: cell.timeout,
        patience: fault.map(|_| PATIENCE),
    };
    supervise::attempt(&order, || stop.requested()).map(|attempt| source.environment.judge(attempt))
}

/// How long a cell with the fault waits. None of the cells takes a tenth of it without the fault.
const PATIENCE: Duration = LEAST_PATIENCE;

impl Measured {
    /// Returns the measurements: a name, the value with the fault, and the value without.
    fn rows(&self) -> Vec<(String, String, String)> {
        let seconds = |attempt: &Attempt| format!("{:.2} s", attempt.duration_ms as f64 / 1000.0);
        let mut rows = vec![
            ("ends as".to_owned(), self.with.status.to_string(), self.without.status.to_string()),
            ("after".to_owned(), seconds(&self.with), seconds(&self.without)),
        ];
        let held = |attempt: &Attempt| {
            let held = attempt.checks.iter().filter(|check| check.holds).count();
            format!("{held} of {}", attempt.checks.len())
        };
        rows.push(("checks that hold".into(), held(&self.with), held(&self.without)));
        let shown = |name: &&String| self.commit.counters.iter().any(|begin| name.starts_with(begin));
        let names: BTreeSet<_> =
            self.with.counters.keys().chain(self.without.counters.keys()).filter(shown).collect();
        for name in names {
            let of = |attempt: &Attempt| attempt.counters.get(name).map_or("-".into(), u64::to_string);
            rows.push((name.clone(), of(&self.with), of(&self.without)));
        }
        // The first failed checks, each with the value without the fault.
        for check in self.with.checks.iter().filter(|check| !check.holds).take(3) {
            let same = self.without.checks.iter().find(|other| other.what == check.what);
            let otherwise = same.map_or_else(|| check.expected.join(" or "), |other| other.observed.clone());
            let short = |text: &str| first_line(text).chars().take(60).collect::<String>();
            rows.push((short(&check.what), short(&check.observed), short(&otherwise)));
        }
        rows
    }

    fn text(&self) -> String {
        let Commit { title, fault, summary, .. } = self.commit;
        let mut out = format!("{title}\n  {summary}\n  {} on {}\n", fault.name(), self.cell);
        let rows = self.rows();
        let wide = |of: fn(&(String, String, String)) -> &String| {
            rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0)
        };
        let (first, second) = (wide(|row| &row.0).max(16), wide(|row| &row.1).max(14));
        let _ = writeln!(out, "    {:first$}  {:second$}  without it", "", "with the fault");
        for (name, with, without) in &rows {
            let _ = writeln!(out, "    {name:first$}  {with:second$}  {without}");
        }
        let why = self.with.reason.as_deref().map(first_line).unwrap_or_default();
        let _ = writeln!(out, "    killed by: {why}\n");
        out
    }

    fn json(&self) -> Value {
        json!({
            "commit": self.commit.title,
            "says": self.commit.summary,
            "fault": self.commit.fault.name(),
            "cell": self.cell,
            "measured": self.rows().iter().map(|(what, with, without)| json!({
                "what": what, "with": with, "without": without,
            })).collect::<Vec<_>>(),
            "killed_by": self.with.reason,
        })
    }
}
