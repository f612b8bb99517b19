//! A run of one target's cells, new or resumed, from the journal to the report.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::matrix_yml::{Runner, Selection};
use metadata::{CellResult, Results, Run, RunSpec, Status};

use crate::environment::Environment;
use crate::error::Error;
use crate::executable::Executable;
use crate::journal::{self, Contents, Identity, Journal, Lock};
use crate::plan::{self, Planned, Source};
use crate::progress::Progress;
use crate::runners::{self, Chosen, RunnerOptions};
use crate::schedule::{self, Settings};
use crate::signals::Stop;
use crate::{cell, diagnostics, provenance, remote, report_dir};

/// The options of a run.
#[derive(Clone)]
pub struct Request {
    /// The selected cells.
    pub selection: Selection,
    /// Whether the user selected them. If not, a resumed run keeps its own.
    pub is_selected: bool,
    /// The target and the runner.
    pub runner: RunnerOptions,
    /// What is asked of the attempts.
    pub spec: RunSpec,
    /// Whether the user gave the seed. If not, a resumed run keeps its own.
    pub has_seed: bool,
    /// Whether to resume the interrupted run in the report directory.
    pub resume: bool,
    /// The report directory.
    pub dir: PathBuf,
}

/// Runs the selected cells of one target, and writes the report.
///
/// Returns the results, and the exit code if the run was interrupted. The progress is a part of `overall`, if
/// that is given.
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
    // Checked first, so that a wrong selection does not move a journal aside.
    source.plan(chosen.target, &request.selection)?;

    let dir = request.dir.as_path();
    let _lock = Lock::take(dir)?;
    let mut session = Session::begin(source, chosen, request)?;
    let mut planned = source.plan(chosen.target, &session.identity.selection)?;
    plan::add_rerun_arguments(
        &mut planned,
        &request.runner.to_arguments(),
        &request.spec,
        source.environment,
    )?;
    let ended = session.run_cells(&planned, source, chosen, request, stop, overall)?;

    if let Some(behaviours) = source.environment.behaviours() {
        behaviours.check()?;
    }
    let run = session.provenance(chosen, source.environment, ended.is_some());
    let specs = planned.into_iter().map(|cell| cell.spec).collect();
    let results = Results::new(run, specs, session.results);
    let scenarios = cell::describe(&source.matrix, source.environment, &results.cells);
    let results = Results { scenarios, ..results };
    report_dir::write(dir, &results)?;
    // After the report: if it cannot be written, the run can still be resumed.
    if ended.is_none() {
        session.journal.complete()?;
    }
    Ok((results, ended))
}

/// A run with its journal, new or resumed.
struct Session {
    identity: Identity,
    /// The executable. `None` if results are imported.
    executable: Option<Executable>,
    started: String,
    resumed: u32,
    /// The provenance that the executor reports.
    machine: Option<Run>,
    results: Vec<CellResult>,
    journal: Journal,
}

impl Session {
    fn begin(source: &Source<'_>, chosen: &Chosen<'_>, request: &Request) -> Result<Self, Error> {
        let dir = request.dir.as_path();
        let now = provenance::now();
        let is_native = matches!(chosen.runner, Runner::Native);
        let executable = match chosen.runner {
            Runner::Import => None,
            _ => Some(Executable::hold(&chosen.executable, dir, is_native)?),
        };
        let mut identity = Identity {
            matrix: source.hash.clone(),
            behaviours: source.environment.behaviours().map(|behaviours| behaviours.hash.clone()),
            // A run with imported results is only resumed with the same file.
            executable: match (&executable, &request.runner.import) {
                (None, Some(file)) => file.display().to_string(),
                (Some(executable), _) => executable.hash().unwrap_or_default().to_owned(),
                (None, None) => String::new(),
            },
            spec: request.spec.clone(),
            selection: request.selection.clone(),
            target: chosen.target.id.clone(),
            runner: runners::identity(&chosen.runner, &request.runner),
        };
        if request.resume {
            if let Some(contents) = journal::read(dir)? {
                return Self::resume(contents, identity, executable, request, &now);
            }
            diagnostics::note(&format!("{} has no run to resume: starting a new one", dir.display()));
        }
        if let Some(aside) = journal::move_aside(dir)? {
            diagnostics::note(&format!(
                "the interrupted run in this directory is kept as {}: to continue it, rename it to {} and use --resume",
                aside.display(),
                journal::NAME
            ));
        }
        // A new run has the selection of the request.
        identity.selection = request.selection.clone();
        let journal = Journal::create(dir, &identity, &now)?;
        Ok(Self {
            identity,
            executable,
            started: now,
            resumed: 0,
            machine: None,
            results: Vec::new(),
            journal,
        })
    }

    fn resume(
        contents: Contents,
        mut identity: Identity,
        executable: Option<Executable>,
        request: &Request,
        now: &str,
    ) -> Result<Self, Error> {
        let dir = request.dir.as_path();
        // Options that are omitted keep the values of the interrupted run.
        if !request.has_seed {
            identity.spec.seed = contents.identity.spec.seed;
        }
        if !request.is_selected {
            identity.selection = contents.identity.selection.clone();
        }
        if let Some((difference, help)) = contents.difference(&identity) {
            return Err(Error::ForeignJournal { path: dir.to_path_buf(), difference, help });
        }
        if let Some(loss) = &contents.loss {
            diagnostics::warning(&format!("{loss}, and cells without a result run again"));
        }
        let journal = Journal::resume(dir, &contents, now)?;
        let resumed = contents.resumed + 1;
        Ok(Self {
            identity,
            executable,
            started: contents.started,
            resumed,
            machine: contents.machine,
            results: contents.results,
            journal,
        })
    }

    /// Runs the cells that have no result yet. Returns the exit code if the run was interrupted.
    fn run_cells(
        &mut self,
        planned: &[Planned],
        source: &Source<'_>,
        chosen: &Chosen<'_>,
        request: &Request,
        stop: &Stop,
        overall: Option<&mut Progress>,
    ) -> Result<Option<u8>, Error> {
        let present: HashSet<_> = self.results.iter().map(|result| result.id.clone()).collect();
        if self.resumed > 0 {
            let (known, of) =
                (planned.iter().filter(|cell| present.contains(&cell.spec.id)).count(), planned.len());
            diagnostics::note(&format!("{known} of {of} cells already have a result"));
        }
        let mut left = Vec::new();
        for cell in planned.iter().filter(|cell| !present.contains(&cell.spec.id)) {
            match &cell.unsupported {
                Some(why) => self.results.push(CellResult::without_attempt(
                    cell.spec.clone(),
                    Status::Unsupported,
                    why.clone(),
                )),
                None => left.push(cell.clone()),
            }
        }
        if let Some(fault) = &self.identity.spec.fault {
            diagnostics::warning(&format!("the fault {fault} is switched on: cells are expected to fail"));
        }
        // Before the progress bar, because this can print notes.
        let executable = self.executable.as_ref();
        let route = match (&chosen.runner, executable) {
            (Runner::Native | Runner::Import, _) | (_, None) => None,
            _ if left.is_empty() => None,
            (runner, Some(executable)) => {
                Some(runners::prepare(runner, executable, source, &request.runner)?)
            }
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
        let (identity, results) = (&self.identity, &mut self.results);
        // Two closures write to the journal.
        let journal = RefCell::new(&mut self.journal);
        let each = |result: CellResult| {
            if problem.is_none()
                && let Err(error) = journal.borrow_mut().append(&result)
            {
                problem = Some(error);
                stop.halt();
            }
            progress.finished(&result);
            results.push(result);
        };
        match (executable, route) {
            (None, _) => {
                let file = request.runner.import.as_deref().expect("the runner is refused without a file");
                self.machine = Some(import_cells(file, &left, source, chosen, each)?);
            }
            (Some(_), Some(route)) => {
                let settings = remote::Settings {
                    target: chosen.target,
                    executable: &identity.executable,
                    matrix: &source.hash,
                    selection: &identity.selection,
                    spec: &identity.spec,
                };
                let machine = &mut self.machine;
                let began = |run: Run| {
                    let run = runners::with_system(&chosen.runner, run);
                    // An error here recurs with the first result, which reports it.
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
                    spec: &identity.spec,
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

    fn provenance(&self, chosen: &Chosen<'_>, environment: &Environment, interrupted: bool) -> Run {
        let target = chosen.target.id.clone();
        if let (Some(imported), Runner::Import) = (&self.machine, &chosen.runner) {
            // The executable, the seed and the disturbances are those of the imported results, not of this
            // command.
            return Run {
                target,
                selection: self.identity.selection.describe(),
                runner: chosen.runner.name().to_owned(),
                finished: provenance::now(),
                resumed: self.resumed,
                interrupted,
                ..imported.clone()
            };
        }
        let here = match (&self.machine, &chosen.runner) {
            (Some(machine), _) => Run { target, ..machine.clone() },
            (None, Runner::Native) => Run {
                adapters: environment.versions(),
                columns: environment.columns(),
                ..provenance::run_here(target, String::new())
            },
            (None, _) => provenance::run_unknown(chosen.target),
        };
        Run {
            executable: self.identity.executable.clone(),
            matrix: self.identity.matrix.clone(),
            selection: self.identity.selection.describe(),
            runner: chosen.runner.name().to_owned(),
            emulator: runners::emulator(&chosen.runner),
            seed: self.identity.spec.seed,
            repeat: self.identity.spec.repeat,
            fault: self.identity.spec.fault.clone(),
            inject_errors: self.identity.spec.inject_errors,
            late_data: self.identity.spec.late_data,
            started: self.started.clone(),
            finished: provenance::now(),
            resumed: self.resumed,
            interrupted,
            ..here
        }
    }
}

/// Takes the results of `left` from a file. Returns the provenance in the file.
fn import_cells(
    file: &Path,
    left: &[Planned],
    source: &Source<'_>,
    chosen: &Chosen<'_>,
    mut each: impl FnMut(CellResult),
) -> Result<Run, Error> {
    let mut imported = runners::import::read(file, chosen.target)?;
    if imported.run.matrix != source.hash {
        diagnostics::warning(
            "the imported results were made with another matrix: equal ids may mean different cells",
        );
    }
    if !imported.complete {
        diagnostics::warning("the imported results are not complete");
    }
    for cell in left {
        each(match imported.results.remove(&cell.spec.id) {
            Some(result) => CellResult { target: chosen.target.id.clone(), ..result },
            None => {
                // Without the file's name: a path of this machine says nothing elsewhere.
                let why = "the imported file has no result of this cell".to_owned();
                CellResult::without_attempt(cell.spec.clone(), Status::NotRun, why)
            }
        });
    }
    Ok(imported.run)
}
