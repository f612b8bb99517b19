//! A run of one target's cells with its journal, new or resumed, up to the report.

use std::cell::RefCell;
use std::collections::HashSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use matrix::{Selection, Way};
use metadata::{CellResult, Results, Run, Status};

use crate::error::Error;
use crate::executable::Executable;
use crate::journal::{self, Contents, Identity, Journal, Lock};
use crate::plan::{self, Attempts, Planned, Source};
use crate::progress::Progress;
use crate::schedule::{self, Settings};
use crate::signals::Stop;
use crate::ways::{self, Chosen, Elsewhere};
use crate::{cell, folder, notes, provenance, remote};

/// What is to be run, where, and how.
#[derive(Clone)]
pub struct Request {
    /// Which cells.
    pub selection: Selection,
    /// Where they are run.
    pub elsewhere: Elsewhere,
    /// How they are attempted.
    pub attempts: Attempts,
    /// Whether the interrupted run in the report directory is continued.
    pub resume: bool,
    /// The report directory.
    pub dir: PathBuf,
}

/// Runs the selected cells of one target and writes the report. With the exit code if it was interrupted. The progress
/// is shown as a part of `overall`, if there is such.
///
/// # Errors
/// Cells cannot be started, the run cannot be resumed, or the report cannot be written.
pub fn run(
    source: &Source<'_>,
    chosen: &Chosen<'_>,
    request: &Request,
    stop: &Stop,
    overall: Option<&mut Progress>,
) -> Result<(Results, Option<u8>), Error> {
    // Checked before anything is touched: a typing mistake must not move a journal aside.
    source.plan(chosen.target, &request.selection)?;

    let dir = request.dir.as_path();
    let _lock = Lock::take(dir)?;
    let mut session = Session::begin(source, chosen, request)?;
    let mut planned = source.plan(chosen.target, &session.identity.selection.selection())?;
    plan::typed(&mut planned, &request.elsewhere.typed(), &request.attempts, source.environment)?;
    let ended = session.run_cells(&planned, source, chosen, request, stop, overall)?;

    let run = session.provenance(chosen, ended.is_some());
    let subjects = planned.into_iter().map(|cell| cell.subject).collect();
    let results = Results::new(run, subjects, session.rows);
    let scenarios = cell::describe(&source.matrix, &results.cells);
    let results = Results { scenarios, ..results };
    folder::write(dir, &results)?;
    // Only now: with a report that could not be written, the run can still be resumed.
    if ended.is_none() {
        session.journal.complete()?;
    }
    Ok((results, ended))
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
    fn begin(source: &Source<'_>, chosen: &Chosen<'_>, request: &Request) -> Result<Self, Error> {
        let dir = request.dir.as_path();
        let now = provenance::now();
        let is_native = matches!(chosen.way, Way::Native);
        let executable = match chosen.way {
            Way::Import => None,
            _ => Some(Executable::hold(&chosen.executable, dir, is_native)?),
        };
        let mut identity = Identity {
            matrix: source.hash.clone(),
            // Imported results are continued with the same file only.
            executable: match (&executable, &request.elsewhere.import) {
                (None, Some(file)) => file.display().to_string(),
                (Some(executable), _) => executable.hash().unwrap_or_default().to_owned(),
                (None, None) => String::new(),
            },
            seed: request.attempts.seed.unwrap_or_else(provenance::new_seed),
            fault: request.attempts.fault.clone(),
            inject_errors: request.attempts.inject_errors,
            repeat: request.attempts.repeat.get(),
            selection: (&request.selection).into(),
            target: chosen.target.id.clone(),
            via: ways::label(&chosen.way),
        };
        if request.resume {
            if let Some(contents) = journal::read(dir)? {
                return Self::resume(contents, identity, executable, request, &now);
            }
            notes::note(&format!("{} has no run to resume: this is a new one", dir.display()));
        }
        if let Some(aside) = journal::move_aside(dir)? {
            notes::note(&format!(
                "the interrupted run that was here is kept as {}: to continue it, name it {} again and use --resume",
                aside.display(),
                journal::NAME
            ));
        }
        // The selection is as typed, not yet what a resumed run had.
        identity.selection = (&request.selection).into();
        let journal = Journal::create(dir, &identity, &now)?;
        Ok(Self { identity, executable, started: now, resumed: 0, machine: None, rows: Vec::new(), journal })
    }

    fn resume(
        contents: Contents,
        mut identity: Identity,
        executable: Option<Executable>,
        request: &Request,
        now: &str,
    ) -> Result<Self, Error> {
        let dir = request.dir.as_path();
        // What was not given again is as it was.
        if request.attempts.seed.is_none() {
            identity.seed = contents.identity.seed;
        }
        if identity.selection == Default::default() {
            identity.selection = contents.identity.selection.clone();
        }
        if let Some((difference, help)) = contents.difference(&identity) {
            return Err(Error::ForeignJournal { path: dir.to_path_buf(), difference, help });
        }
        if let Some(loss) = &contents.loss {
            notes::warning(&format!("{loss}, and cells without a result are run again"));
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
        source: &Source<'_>,
        chosen: &Chosen<'_>,
        request: &Request,
        stop: &Stop,
        overall: Option<&mut Progress>,
    ) -> Result<Option<u8>, Error> {
        let present: HashSet<_> = self.rows.iter().map(|row| row.id.clone()).collect();
        if self.resumed > 0 {
            let (known, of) =
                (planned.iter().filter(|cell| present.contains(&cell.subject.id)).count(), planned.len());
            notes::note(&format!("{known} of {of} cells have a result already"));
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
            notes::warning(&format!("the fault {fault} is switched on: cells are meant to fail"));
        }
        // Before the bar: it may have something to say.
        let executable = self.executable.as_ref();
        let route = match (&chosen.way, executable) {
            (Way::Native | Way::Import, _) | (_, None) => None,
            _ if left.is_empty() => None,
            (way, Some(executable)) => Some(ways::prepare(way, executable, source, &request.elsewhere)?),
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
                let file = request.elsewhere.import.as_deref().expect("the way is refused without a file");
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
                    slow: request.attempts.slow,
                    jobs: request.attempts.jobs.map(usize::from),
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
                    environment: source.environment,
                    prefix: &[],
                    executable,
                    matrix: source.path.as_deref(),
                    seed: identity.seed,
                    fault: identity.fault.as_deref(),
                    inject_errors: identity.inject_errors,
                    repeat: identity.repeat,
                    slow: request.attempts.slow.unwrap_or(NonZeroU32::MIN),
                    jobs: request.attempts.jobs.map_or_else(provenance::cpus, usize::from),
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
    source: &Source<'_>,
    chosen: &Chosen<'_>,
    mut each: impl FnMut(CellResult),
) -> Result<Run, Error> {
    let mut imported = ways::import::read(file, chosen.target)?;
    if imported.run.matrix != source.hash {
        notes::warning(
            "the imported results were made with another matrix: equal ids may mean different cells",
        );
    }
    if !imported.complete {
        notes::warning("the imported results are not complete");
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
