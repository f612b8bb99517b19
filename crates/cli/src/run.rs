//! `pollmatrix run`.

use std::collections::HashSet;
use std::fmt::Write;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use report::{CellResult, Results, Run, Seed, Status, junit, markdown, terminal};

use crate::args::{DEFAULT_REPORT_DIR, RunArgs, RunFormat};
use crate::error::{self, Error};
use crate::journal::{self, Contents, Identity, Journal, Lock};
use crate::plan::{Planned, Source};
use crate::progress::{Progress, first_line};
use crate::schedule::{self, Settings};
use crate::signals::Stop;
use crate::{exit, expected, faults, output, provenance};

/// How many cells that did not pass are named at the end. All of them are in the report.
const NAMED: usize = 25;

/// Runs the selected cells, writes the report, prints a summary.
pub fn run(matrix: Option<&Path>, args: &RunArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix)?;
    if let Some(fault) = &args.fault {
        faults::find(fault)?;
    }
    // Checked before anything is touched: a typing mistake must not move a journal aside.
    source.plan(&args.selection.selection())?;

    let dir = args.report_dir.path.as_path();
    let _lock = Lock::take(dir)?;
    let mut session = Session::begin(&source, args)?;
    let planned = source.plan(&session.identity.selection.selection())?;
    let ended = session.run_cells(&planned, &source, args)?;

    let run = session.provenance(&source, ended.is_some())?;
    let subjects = planned.into_iter().map(|cell| cell.subject).collect();
    let results = Results::new(run, subjects, session.rows);
    write_report(dir, &results)?;
    // Only now: with a report that could not be written, the run can still be resumed.
    if ended.is_none() {
        session.journal.complete()?;
    }

    output::print(&match args.format {
        RunFormat::Json => results.to_json(),
        RunFormat::Markdown => markdown::report(&results),
        RunFormat::Text => summary(&results, &Again::new(&source, args)),
    })?;
    Ok(match ended {
        Some(code) => ExitCode::from(code),
        None if results.has_failures() => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// A run with its journal, whether new or resumed.
struct Session {
    identity: Identity,
    started: String,
    resumed: u32,
    rows: Vec<CellResult>,
    journal: Journal,
}

impl Session {
    fn begin(source: &Source, args: &RunArgs) -> Result<Self, Error> {
        let dir = args.report_dir.path.as_path();
        let now = now();
        let executable = provenance::executable_hash().map_err(|source| Error::Io {
            action: "read",
            path: std::env::current_exe().unwrap_or_default(),
            source,
            help: "start pollmatrix again: its executable was moved or replaced",
        })?;
        let mut identity = Identity {
            matrix: source.hash.clone(),
            executable,
            seed: args.seed.unwrap_or_else(new_seed),
            fault: args.fault.clone(),
            repeat: args.repeat.get(),
            selection: (&args.selection.selection()).into(),
        };
        if args.resume {
            if let Some(contents) = journal::read(dir)? {
                return Self::resume(contents, identity, args, &now);
            }
            error::note(&format!("{} has no run to resume: this is a new one", dir.display()));
        }
        if let Some(aside) = journal::move_aside(dir)? {
            error::note(&format!(
                "the interrupted run that was here is kept as {}: to continue it, name it {} again and use --resume",
                aside.display(),
                journal::NAME
            ));
        }
        // The selection is as typed, not yet what a resumed run had.
        identity.selection = (&args.selection.selection()).into();
        let journal = Journal::create(dir, &identity, &now)?;
        Ok(Self { identity, started: now, resumed: 0, rows: Vec::new(), journal })
    }

    fn resume(contents: Contents, mut identity: Identity, args: &RunArgs, now: &str) -> Result<Self, Error> {
        let dir = args.report_dir.path.as_path();
        // What was not given again is as it was.
        if args.seed.is_none() {
            identity.seed = contents.identity.seed;
        }
        if identity.selection == Default::default() {
            identity.selection = contents.identity.selection.clone();
        }
        if let Some((difference, help)) = contents.difference(&identity) {
            return Err(Error::ForeignJournal { path: dir.to_path_buf(), difference, help });
        }
        if contents.is_truncated() {
            error::warning("the journal's last line is not whole: that cell is run again");
        }
        let journal = Journal::resume(dir, &contents, now)?;
        let resumed = contents.resumed + 1;
        Ok(Self { identity, started: contents.started, resumed, rows: contents.rows, journal })
    }

    /// Runs what has no result yet. Returns the exit code if it was interrupted.
    fn run_cells(
        &mut self,
        planned: &[Planned],
        source: &Source,
        args: &RunArgs,
    ) -> Result<Option<u8>, Error> {
        let present: HashSet<_> = self.rows.iter().map(|row| row.id.clone()).collect();
        let mut left = Vec::new();
        for cell in planned.iter().filter(|cell| !present.contains(&cell.subject.id)) {
            match &cell.unsupported {
                Some(why) => self.rows.push(CellResult::without_attempt(
                    cell.subject.clone(),
                    Status::Unsupported,
                    why.clone(),
                )),
                None => left.push(cell.clone()),
            }
        }
        let failed = |source| Error::Io {
            action: "start cells of",
            path: std::path::PathBuf::from("pollmatrix"),
            source,
            help: "start pollmatrix again",
        };
        let executable = std::env::current_exe().map_err(failed)?;
        let stop = Stop::install().map_err(failed)?;
        let settings = Settings {
            executable: &executable,
            matrix: source.path.as_deref(),
            seed: self.identity.seed,
            fault: self.identity.fault.as_deref(),
            repeat: self.identity.repeat,
            slow: args.slow.times,
            jobs: args.jobs.map_or_else(provenance::cpus, usize::from),
        };
        if let Some(fault) = settings.fault {
            error::warning(&format!("the fault {fault} is switched on: cells are meant to fail"));
        }
        let mut progress = Progress::new(planned.len(), planned.len() - left.len());
        let mut problem = None;
        let (rows, journal) = (&mut self.rows, &mut self.journal);
        schedule::run(&left, &settings, &stop, |result| {
            if problem.is_none()
                && let Err(error) = journal.append(&result)
            {
                problem = Some(error);
                stop.halt();
            }
            progress.finished(&result);
            rows.push(result);
        });
        progress.end();
        match problem {
            Some(error) => Err(error),
            None => Ok(stop.signal()),
        }
    }

    fn provenance(&self, source: &Source, interrupted: bool) -> Result<Run, Error> {
        let (kernel, machine) = provenance::kernel();
        Ok(Run {
            pollmatrix: provenance::VERSION.to_owned(),
            commit: provenance::commit(),
            executable: self.identity.executable.clone(),
            matrix: self.identity.matrix.clone(),
            selection: self.identity.selection.selection().describe(),
            target: source.target()?.id.clone(),
            triple: provenance::TRIPLE.to_owned(),
            os: provenance::OS.to_owned(),
            kernel,
            machine,
            arch: std::env::consts::ARCH.to_owned(),
            cpus: provenance::cpus(),
            libc: provenance::libc(),
            seed: self.identity.seed,
            repeat: self.identity.repeat,
            fault: self.identity.fault.clone(),
            started: self.started.clone(),
            finished: now(),
            resumed: self.resumed,
            interrupted,
        })
    }
}

/// The options that another command needs to mean the same run.
struct Again {
    dir: std::path::PathBuf,
    /// For `show`.
    place: String,
    /// For `run --resume`.
    run: String,
}

impl Again {
    fn new(source: &Source, args: &RunArgs) -> Self {
        let dir = args.report_dir.path.clone();
        let mut place = String::new();
        if let Some(matrix) = &source.path {
            let _ = write!(place, " --matrix '{}'", matrix.display());
        }
        if dir != Path::new(DEFAULT_REPORT_DIR) {
            let _ = write!(place, " --report-dir '{}'", dir.display());
        }
        let mut run = format!("{place}{}", expected::option());
        if let Some(fault) = &args.fault {
            let _ = write!(run, " --fault {fault}");
        }
        if args.repeat.get() > 1 {
            let _ = write!(run, " --repeat {}", args.repeat);
        }
        Self { dir, place, run }
    }
}

fn write_report(dir: &Path, results: &Results) -> Result<(), Error> {
    let junit = junit::report(results).map_err(|error| Error::Junit(error.to_string()))?;
    output::write_file(&dir.join("results.json"), &results.to_json())?;
    output::write_file(&dir.join("report.md"), &markdown::report(results))?;
    output::write_file(&dir.join("junit.xml"), &junit)
}

/// The table, what did not pass, the totals, and where the rest is.
fn summary(results: &Results, again: &Again) -> String {
    let mut out = terminal::matrix(results, output::colour());
    let failed: Vec<_> = results.cells.iter().filter(|cell| cell.status.is_failure()).collect();
    // What was not run because of an interruption is counted, not named.
    let named: Vec<_> =
        failed.iter().filter(|cell| !(results.run.interrupted && cell.status == Status::NotRun)).collect();
    if !named.is_empty() {
        out.push('\n');
    }
    for cell in named.iter().take(NAMED) {
        let reason = cell.reason.as_deref().map(first_line).unwrap_or_default();
        let _ = writeln!(out, "{} {}: {reason}", cell.status, cell.id);
    }
    if named.len() > NAMED {
        let _ = writeln!(out, "and {} more", named.len() - NAMED);
    }
    if let Some(first) = named.first() {
        let _ = writeln!(out, "\nIn full: pollmatrix show '{}'{}", first.id, again.place);
        let _ = writeln!(out, "Again:   {}", first.reproducer);
    }
    let fault = results.run.fault.as_deref().map(|fault| format!(", fault {fault}")).unwrap_or_default();
    let _ = writeln!(out, "\n{} (seed {}{fault})", results.totals_line(), results.run.seed);
    if results.run.interrupted {
        let _ = writeln!(out, "Interrupted: `pollmatrix run --resume{}` continues.", again.run);
    }
    let _ = writeln!(out, "Report: {}", again.dir.join("report.md").display());
    out
}

/// RFC 3339, in UTC.
fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Short enough to be typed. The hasher's keys come from the system's source of randomness.
fn new_seed() -> Seed {
    Seed(RandomState::new().build_hasher().finish() & u64::from(u32::MAX))
}
