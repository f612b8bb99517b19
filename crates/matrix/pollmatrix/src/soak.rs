//! `pollmatrix soak`: random operations on all threads, with all invariants checked.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

use fd_core::ids::{MAX_GROUPS, THREADS_PER_GROUP};
use matrix::signals::{self, Stop};
use matrix::{backends, diagnostics, faults, output, provenance};
use metadata::Seed;
use scenarios::soak::{Ended, Progress, Soak, Violation};
use scenarios::{Failure, set_slowness};
use serde_json::json;

use crate::args::{ChanceArgs, FaultArg, Format, InjectArg, duration};
use crate::error::Error;
use crate::exit;
use crate::shown::Shown;

#[derive(clap::Args)]
pub struct SoakArgs {
    /// The duration: 30s, 15m, 2h
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub duration: Duration,
    /// The number of worker threads [default: two per processor]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// The number of groups to spread the threads over
    #[arg(long, value_name = "N", default_value = "2")]
    pub groups: NonZeroUsize,
    /// The backend [default: the first one of matrix.yml that this machine has]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Runs the soak for its duration, or until Ctrl-C or a violation.
pub fn run(args: &SoakArgs) -> Result<ExitCode, Error> {
    let backend = match &args.backend {
        Some(name) => backends::named(name)?,
        None => backends::named(backends::here().next().map_or("poll", |first| first.name))?,
    };
    let (backend, make) = (backend.name, backend.core);
    let fault = args.fault.name.as_deref().map(faults::find).transpose()?;
    let threads = args.threads.map_or_else(|| 2 * provenance::cpus(), usize::from);
    let groups = usize::from(args.groups);
    if groups > MAX_GROUPS || !(groups..=groups.saturating_mul(THREADS_PER_GROUP)).contains(&threads) {
        return Err(Error::SoakShape { threads, groups });
    }
    let seed = args.chance.seed();
    let soak = Soak { threads, groups, duration: args.duration, seed: seed.0 };
    let stop = Stop::install().map_err(signals::cannot_start)?;
    if let Some(fault) = fault {
        diagnostics::warning(&format!("the fault {} is switched on: a violation is expected", fault.name()));
        // SAFETY: this process runs the soak with the fault, and no code that relies on the core.
        unsafe { faults::enable(fault) };
    }
    if let Some(one_in) = args.inject.one_in.map(faults::injectable).transpose()? {
        faults::inject(seed, "soak", one_in);
    }
    set_slowness(args.chance.slow.factor().get());
    let head = format!("{backend}, {threads} threads in {groups} groups, seed {seed}");
    let mut shown = Shown::new(soak.duration.as_secs());
    let mut begun = false;
    let each = |progress: &Progress| {
        if !begun {
            begun = true;
            diagnostics::note(&format!("soaking {head}: Ctrl-C ends it"));
        }
        shown.update(progress.elapsed.as_secs(), || line(progress));
    };
    let soaked = scenarios::soak::run(&soak, make, || stop.requested(), each);
    shown.end();
    let (progress, ended) = soaked.map_err(|failure| cannot(&failure))?;
    let mut rerun = rerun_arguments(&soak, backend, seed, fault.map(fd_core::hooks::fault::Fault::name));
    if let Some(one_in) = args.inject.one_in {
        let _ = write!(rerun, " --inject-errors={one_in}");
    }
    let interrupted = stop.signal();
    output::print(&match args.format {
        Format::Json => json(&progress, &ended, &head, &rerun, interrupted.is_some()),
        Format::Text => text(&progress, &ended, &head, &rerun),
    })?;
    let code = match (&ended, interrupted) {
        (Ended::Violated(_), _) => exit::FAILED,
        (Ended::Clean, Some(signal)) => signal,
        (Ended::Clean, None) => 0,
    };
    if matches!(ended, Ended::Violated(_)) {
        // Exits instead of returning, because threads can still be running that never end.
        std::process::exit(code.into());
    }
    Ok(ExitCode::from(code))
}

fn cannot(failure: &Failure) -> Error {
    Error::Soak(failure.to_string())
}

/// Returns the command that repeats the soak. The system decides the schedule, so a violation can take a
/// different time.
fn rerun_arguments(soak: &Soak, backend: &str, seed: Seed, fault: Option<&str>) -> String {
    let fault = fault.map(|fault| format!(" --fault {fault}")).unwrap_or_default();
    format!(
        "pollmatrix soak --backend {backend} --threads {} --groups {} --duration {} --seed {seed}{fault}",
        soak.threads,
        soak.groups,
        humantime::format_duration(soak.duration).to_string().replace(' ', ""),
    )
}

/// Returns the progress in one line.
fn line(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64().max(0.001);
    let takeovers = progress.count("fd_takeover");
    format!(
        "{:.0} s: {} operations/s, {takeovers} takeovers ({:.0}/s), {} deletes, {} migrations, {} reports, {} accepts",
        seconds,
        (progress.operations() as f64 / seconds) as u64,
        takeovers as f64 / seconds,
        progress.count("fd_del"),
        progress.count("migrations"),
        progress.count("fd_run"),
        progress.count("accepted"),
    )
}

fn text(progress: &Progress, ended: &Ended, head: &str, rerun: &str) -> String {
    let mut out = String::new();
    if let Ended::Violated(violation) = ended {
        let Violation { what, schedule, table } = &**violation;
        let _ = writeln!(out, "VIOLATION {what}\n");
        let _ = writeln!(out, "The last operations of each thread, the newest last:\n{schedule}");
        let _ = writeln!(out, "show fd:\n{table}");
        let _ = writeln!(out, "Rerun: {rerun}\n");
    }
    for (name, count) in &progress.counts {
        let _ = writeln!(out, "{name:20} {count:>14}");
    }
    let verdict = if *ended == Ended::Clean { "no violation" } else { "VIOLATED" };
    let _ = writeln!(out, "\n{} ({head})\n{verdict}", line(progress));
    out
}

fn json(progress: &Progress, ended: &Ended, head: &str, rerun: &str, interrupted: bool) -> String {
    let violation = match ended {
        Ended::Clean => None,
        Ended::Violated(violation) => {
            let Violation { what, schedule, table } = &**violation;
            Some(json!({ "what": what, "schedule": schedule, "table": table }))
        }
    };
    let value = json!({
        "soak": head,
        "seconds": progress.elapsed.as_secs_f64(),
        "operations": progress.operations(),
        "takeovers": progress.count("fd_takeover"),
        "counts": progress.counts,
        "interrupted": interrupted,
        "violation": violation,
        "reproducer": rerun,
    });
    metadata::json(&value)
}
