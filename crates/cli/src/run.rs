//! `pollmatrix run`.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::Way;
use metadata::{CellResult, Results, Run, Status, one_line};
use report::{html, junit, markdown, terminal};

use crate::args::{DEFAULT_REPORT_DIR, RunArgs, RunFormat};
use crate::command::word;
use crate::error::{self, Error};
use crate::executable::Executable;
use crate::journal::{self, Contents, Identity, Journal, Lock};
use crate::plan::{self, Planned, Source};
use crate::progress::{Progress, first_line};
use crate::schedule::{self, Settings};
use crate::signals::Stop;
use crate::ways::{self, Chosen};
use crate::{catalogue, everywhere, exit, expected, faults, input, output, provenance, remote, subject};

/// The name of the report for people in a report directory.
pub const REPORT: &str = "report.html";
/// How many cells that did not pass are named at the end. All of them are in the report.
pub const NAMED: usize = 25;

/// Runs the selected cells, writes the report, prints a summary.
pub fn run(matrix: Option<&Path>, args: &RunArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix)?;
    if let Some(fault) = &args.attempts.fault.name {
        faults::find(fault)?;
    }
    if args.elsewhere.target.as_deref() == Some(everywhere::ALL) {
        subject::expect_none_elsewhere(false)?;
        return everywhere::run(&source, args);
    }
    if let Some(typed) = args.not_run.first() {
        let help = "give --target all, or leave it out".to_owned();
        return Err(Error::NotRunArg { typed: typed.clone(), why: "one target is run", help });
    }
    let chosen = ways::choose(&source, &args.elsewhere)?;
    subject::expect_none_elsewhere(matches!(chosen.way, Way::Native))?;
    let stop = Stop::install().map_err(cannot_start)?;
    let (results, ended) = one(&source, &chosen, args, &stop, None)?;
    match args.format {
        RunFormat::Json => output::print(&results.to_json())?,
        RunFormat::Markdown => output::print(&markdown::report(&results))?,
        RunFormat::Text => output::print_styled(&summary(&results, &Again::new(&source, args)))?,
    }
    Ok(match ended {
        Some(code) => ExitCode::from(code),
        None if results.has_failures() => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// Runs the selected cells of one target and writes the report. With the exit code if it was interrupted. The progress
/// is shown as a part of `overall`, if there is such.
pub fn one(
    source: &Source,
    chosen: &Chosen<'_>,
    args: &RunArgs,
    stop: &Stop,
    overall: Option<&mut Progress>,
) -> Result<(Results, Option<u8>), Error> {
    // Checked before anything is touched: a typing mistake must not move a journal aside.
    source.plan(chosen.target, &args.selection.selection())?;

    let dir = args.report_dir.path.as_path();
    let _lock = Lock::take(dir)?;
    let mut session = Session::begin(source, chosen, args)?;
    let mut planned = source.plan(chosen.target, &session.identity.selection.selection())?;
    plan::typed(&mut planned, &args.elsewhere.typed(), &args.attempts)?;
    let ended = session.run_cells(&planned, source, chosen, args, stop, overall)?;

    let run = session.provenance(chosen, ended.is_some());
    let subjects = planned.into_iter().map(|cell| cell.subject).collect();
    let results = Results::new(run, subjects, session.rows);
    let scenarios = catalogue::describe(&source.matrix, &results.cells);
    let results = Results { scenarios, ..results };
    write_report(dir, &results)?;
    // Only now: with a report that could not be written, the run can still be resumed.
    if ended.is_none() {
        session.journal.complete()?;
    }
    Ok((results, ended))
}

/// The error for signals that cannot be listened to.
pub fn cannot_start(source: std::io::Error) -> Error {
    Error::Io {
        action: "start cells of",
        path: PathBuf::from("pollmatrix"),
        source,
        help: "start pollmatrix again",
    }
}

/// A run with its journal, whether new or resumed.
struct Session {
    identity: Identity,
    /// What is started, if anything is.
    executable: Option<Executable>,
    started: String,
    resumed: u32,
    /// What the machine that runs the cells says of itself.
    machine: Option<Run>,
    rows: Vec<CellResult>,
    journal: Journal,
}

impl Session {
    fn begin(source: &Source, chosen: &Chosen<'_>, args: &RunArgs) -> Result<Self, Error> {
        let dir = args.report_dir.path.as_path();
        let now = provenance::now();
        let is_native = matches!(chosen.way, Way::Native);
        let executable = match chosen.way {
            Way::Import => None,
            _ => Some(Executable::hold(&chosen.executable, dir, is_native)?),
        };
        let mut identity = Identity {
            matrix: source.hash.clone(),
            // Imported results are continued with the same file only.
            executable: match (&executable, &args.elsewhere.import) {
                (None, Some(file)) => file.display().to_string(),
                (Some(executable), _) => executable.hash().unwrap_or_default().to_owned(),
                (None, None) => String::new(),
            },
            seed: args.attempts.chance.seed(),
            fault: args.attempts.fault.name.clone(),
            inject_errors: args.attempts.inject.one_in,
            repeat: args.attempts.repeat.get(),
            selection: (&args.selection.selection()).into(),
            target: chosen.target.id.clone(),
            via: ways::label(&chosen.way),
        };
        if args.resume {
            if let Some(contents) = journal::read(dir)? {
                return Self::resume(contents, identity, executable, args, &now);
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
        Ok(Self { identity, executable, started: now, resumed: 0, machine: None, rows: Vec::new(), journal })
    }

    fn resume(
        contents: Contents,
        mut identity: Identity,
        executable: Option<Executable>,
        args: &RunArgs,
        now: &str,
    ) -> Result<Self, Error> {
        let dir = args.report_dir.path.as_path();
        // What was not given again is as it was.
        if args.attempts.chance.asked().is_none() {
            identity.seed = contents.identity.seed;
        }
        if identity.selection == Default::default() {
            identity.selection = contents.identity.selection.clone();
        }
        if let Some((difference, help)) = contents.difference(&identity) {
            return Err(Error::ForeignJournal { path: dir.to_path_buf(), difference, help });
        }
        if let Some(loss) = &contents.loss {
            error::warning(&format!("{loss}, and cells without a result are run again"));
        }
        let journal = Journal::resume(dir, &contents, now)?;
        let resumed = contents.resumed + 1;
        Ok(Self {
            identity,
            executable,
            started: contents.started,
            resumed,
            machine: contents.machine,
            rows: contents.rows,
            journal,
        })
    }

    /// Runs what has no result yet. Returns the exit code if it was interrupted.
    fn run_cells(
        &mut self,
        planned: &[Planned],
        source: &Source,
        chosen: &Chosen<'_>,
        args: &RunArgs,
        stop: &Stop,
        overall: Option<&mut Progress>,
    ) -> Result<Option<u8>, Error> {
        let present: HashSet<_> = self.rows.iter().map(|row| row.id.clone()).collect();
        if self.resumed > 0 {
            let (known, of) =
                (planned.iter().filter(|cell| present.contains(&cell.subject.id)).count(), planned.len());
            error::note(&format!("{known} of {of} cells have a result already"));
        }
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
        if let Some(fault) = &self.identity.fault {
            error::warning(&format!("the fault {fault} is switched on: cells are meant to fail"));
        }
        // Before the bar: it may have something to say.
        let executable = self.executable.as_ref();
        let route = match (&chosen.way, executable) {
            (Way::Native | Way::Import, _) | (_, None) => None,
            _ if left.is_empty() => None,
            (way, Some(executable)) => Some(ways::prepare(way, executable, source, &args.elsewhere)?),
        };
        let mut own = None;
        let progress = match overall {
            Some(overall) => {
                overall.begin(&chosen.target.id, planned.len() - left.len());
                overall
            }
            None => own.insert(Progress::new(planned.len(), planned.len() - left.len())),
        };
        let mut problem = None;
        let (identity, rows) = (&self.identity, &mut self.rows);
        // Both of them write to it.
        let journal = RefCell::new(&mut self.journal);
        let each = |result: CellResult| {
            if problem.is_none()
                && let Err(error) = journal.borrow_mut().append(&result)
            {
                problem = Some(error);
                stop.halt();
            }
            progress.finished(&result);
            rows.push(result);
        };
        match (executable, route) {
            (None, _) => {
                let file = args.elsewhere.import.as_deref().expect("the way is refused without a file");
                self.machine = Some(import_cells(file, &left, source, chosen, each)?);
            }
            (Some(_), Some(route)) => {
                let settings = remote::Settings {
                    target: chosen.target,
                    executable: &identity.executable,
                    matrix: &source.hash,
                    selection: &identity.selection.selection(),
                    seed: identity.seed,
                    fault: identity.fault.as_deref(),
                    inject_errors: identity.inject_errors,
                    repeat: identity.repeat,
                    slow: args.attempts.chance.slow.times,
                    jobs: args.attempts.jobs.map(usize::from),
                };
                let machine = &mut self.machine;
                let began = |run: Run| {
                    // If it cannot be written, neither can the first result.
                    let _ = journal.borrow_mut().machine(&run);
                    *machine = Some(run);
                };
                remote::run(&left, &route, &settings, stop, began, each);
            }
            (Some(executable), None) => {
                let settings = Settings {
                    prefix: &[],
                    executable,
                    matrix: source.path.as_deref(),
                    seed: identity.seed,
                    fault: identity.fault.as_deref(),
                    inject_errors: identity.inject_errors,
                    repeat: identity.repeat,
                    slow: args.attempts.chance.slow.factor(),
                    jobs: args.attempts.jobs.map_or_else(provenance::cpus, usize::from),
                };
                schedule::run(&left, &settings, stop, each);
            }
        }
        if let Some(own) = own {
            own.end();
        }
        match (problem, executable) {
            (Some(error), _) => return Err(error),
            (None, Some(executable)) => executable.check()?,
            (None, None) => {}
        }
        Ok(stop.signal())
    }

    fn provenance(&self, chosen: &Chosen<'_>, interrupted: bool) -> Run {
        let target = chosen.target.id.clone();
        let here = match (&self.machine, &chosen.way) {
            (Some(machine), _) => Run { target, ..machine.clone() },
            (None, Way::Native) => provenance::run_here(target, String::new()),
            (None, _) => provenance::run_unknown(chosen.target),
        };
        Run {
            executable: self.identity.executable.clone(),
            matrix: self.identity.matrix.clone(),
            selection: self.identity.selection.selection().describe(),
            via: chosen.way.name().to_owned(),
            emulator: ways::emulator(&chosen.way),
            seed: self.identity.seed,
            repeat: self.identity.repeat,
            fault: self.identity.fault.clone(),
            inject_errors: self.identity.inject_errors,
            started: self.started.clone(),
            finished: provenance::now(),
            resumed: self.resumed,
            interrupted,
            ..here
        }
    }
}

/// Takes the results of `left` from a file. Returns what it says of the machine.
fn import_cells(
    file: &Path,
    left: &[Planned],
    source: &Source,
    chosen: &Chosen<'_>,
    mut each: impl FnMut(CellResult),
) -> Result<Run, Error> {
    let mut imported = ways::import::read(file, chosen.target)?;
    if imported.run.matrix != source.hash {
        error::warning(
            "the imported results were made with another matrix: equal ids may mean different cells",
        );
    }
    if !imported.complete {
        error::warning("the imported results are not complete");
    }
    for cell in left {
        each(match imported.rows.remove(&cell.subject.id) {
            Some(row) => CellResult { target: chosen.target.id.clone(), ..row },
            None => {
                let why = format!("{} has no result of it", file.display());
                CellResult::without_attempt(cell.subject.clone(), Status::NotRun, why)
            }
        });
    }
    Ok(imported.run)
}

/// The options that another command needs to mean the same run.
struct Again {
    dir: PathBuf,
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
        let mut run = format!("{place}{}{}", expected::option(), args.elsewhere.typed());
        run.push_str(&plan::disturbed(&args.attempts));
        if args.attempts.repeat.get() > 1 {
            let _ = write!(run, " --repeat {}", args.attempts.repeat);
        }
        Self { dir, place, run }
    }
}

/// Writes every format of the report.
pub fn write_report(dir: &Path, results: &Results) -> Result<(), Error> {
    let junit = junit::report(results).map_err(|error| Error::Junit(error.to_string()))?;
    output::write_file(&dir.join(input::NAME), &results.to_json())?;
    output::write_file(&dir.join(REPORT), &html::report(results))?;
    output::write_file(&dir.join("report.md"), &markdown::report(results))?;
    output::write_file(&dir.join("junit.xml"), &junit)
}

/// The table, what did not pass, the totals, and where the rest is.
fn summary(results: &Results, again: &Again) -> String {
    let mut out = terminal::matrix(results, output::colour());
    let failed: Vec<_> = results.cells.iter().filter(|cell| cell.status.is_failure()).collect();
    // What was not run because of an interruption is counted, not named.
    let named: Vec<_> =
        failed.iter().filter(|cell| !(results.interrupted() && cell.status == Status::NotRun)).collect();
    if !named.is_empty() {
        out.push('\n');
    }
    for cell in named.iter().take(NAMED) {
        let reason = cell.reason.as_deref().map(first_line).unwrap_or_default();
        let line = format!("{} {}: {reason}", cell.status, cell.id);
        let _ = writeln!(out, "{}", one_line(&line));
    }
    if named.len() > NAMED {
        let _ = writeln!(out, "and {} more", named.len() - NAMED);
    }
    if let Some(first) = named.first() {
        let _ = writeln!(
            out,
            "\nIn full: {}",
            one_line(&format!("pollmatrix show {}{}", word(&first.id), again.place))
        );
        let _ = writeln!(out, "Again:   {}", one_line(&first.reproducer));
    }
    let mut fault = results.fault().map(|fault| format!(", fault {}", one_line(fault))).unwrap_or_default();
    if let Some(one_in) = results.inject_errors() {
        let _ = write!(fault, ", errors in one of {one_in} system calls");
    }
    let seeds: Vec<_> = results.runs.iter().map(|run| run.seed.to_string()).collect();
    let seed = format!(" (seed {}{fault})", seeds.join(", "));
    for (index, line) in results.totals_lines().into_iter().enumerate() {
        let _ = match index {
            0 => writeln!(out, "\n{line}{seed}"),
            _ => writeln!(out, "{line}"),
        };
    }
    if results.interrupted() {
        let _ = writeln!(out, "Interrupted: `pollmatrix run --resume{}` continues.", one_line(&again.run));
    }
    let _ = writeln!(out, "Report: {}", one_line(&again.dir.join(REPORT).display().to_string()));
    out
}
