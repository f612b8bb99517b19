//! Talks to an executor: sends it the ids of cells, receives their results, and restarts it when the
//! connection is lost.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::matrix_yml::{Selection, Target};
use metadata::{CellResult, PathNames, PlannedCell, Run, RunSpec, Status};
use report::first_line;

use crate::diagnostics;
use crate::pipes::TooMuchOutput;
use crate::plan::Planned;
use crate::provenance::UNKNOWN;
use crate::runners::Route;
use crate::signals::Stop;
use crate::stream::{FORMAT, Line};
use crate::worker::{CHECK_INTERVAL, Exit, Next, Worker};

/// The number of starts in sequence without a result after which the run gives up.
const FRUITLESS: u32 = 3;
/// The pause between two starts.
const PAUSE: Duration = Duration::from_secs(2);
/// The time for everything that an executor does besides running a cell, mainly starting on a slow machine.
const GRACE: Duration = Duration::from_secs(300);
/// The time that an executor has to exit after its last line.
const EXIT_TIME: Duration = Duration::from_secs(20);
/// The limit of output that is not a result, such as the messages of a console, in bytes.
const FOREIGN_BYTES: usize = 16 << 20;
/// The least number of bytes that a foreign line counts for, because each line takes time.
const FOREIGN_LINE: usize = 64;
/// The number of foreign lines to show.
const SHOWN: usize = 100;
const MORE: usize = SHOWN + 1;
/// The greatest size of ids that every system accepts as arguments, in bytes.
const ARGUMENT_BYTES: usize = 16 * 1024;

/// The settings of all cells of a run.
pub struct Settings<'a> {
    /// The target that the executor must be built for.
    pub target: &'a Target,
    /// The SHA-256 of the executable. The executor must report the same.
    pub executable: &'a str,
    /// The SHA-256 of the matrix file. The executor must report the same.
    pub matrix: &'a str,
    /// The selection of the run, which includes the cells.
    pub selection: &'a Selection,
    /// What is asked of the attempts.
    pub spec: &'a RunSpec,
}

/// How an executor receives the ids of the cells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handover {
    /// On standard input. The executor ends when standard input does.
    Input,
    /// As arguments, for a command that does not forward standard input, such as the console of a virtual
    /// machine. The arguments can select more cells than are left.
    Arguments,
}

impl Handover {
    /// Changes to the other way if the executor has not begun: only a prefix, which the user chooses, may
    /// fail to forward standard input.
    fn after_end(self, has_begun: bool, route: &Route) -> Self {
        match self {
            _ if has_begun || route.prefix.is_none() => self,
            Self::Input => Self::Arguments,
            Self::Arguments => Self::Input,
        }
    }
}

/// Waits before the next start of an executor, unless a stop is requested.
fn pause(stop: &Stop) {
    let next_start = Instant::now() + PAUSE;
    while Instant::now() < next_start && !stop.requested() {
        thread::sleep(CHECK_INTERVAL);
    }
}

/// Why an executor ended.
enum End {
    /// The results are complete.
    Complete,
    /// The connection was lost, or the executor exited early.
    Cut(String),
    /// An error that another start would repeat.
    Fatal(String),
    /// A stop was requested.
    Stopped,
}

/// Runs `cells` with an executor.
///
/// Calls `began` with the provenance that the executor reports, and `each` with every result, both on this
/// thread. A cell that could not be run gets a result with the reason. Returns early if a stop is requested.
pub fn run(
    cells: &[Planned],
    route: &Route,
    settings: &Settings<'_>,
    stop: &Stop,
    mut began: impl FnMut(Run),
    mut each: impl FnMut(CellResult),
) {
    let mut left: HashMap<&str, &Planned> = cells.iter().map(|cell| (cell.spec.id.as_str(), cell)).collect();
    let longest = cells.iter().map(|cell| cell.timeout).max().unwrap_or_default();
    let mut fruitless = 0;
    let mut handover = Handover::Input;
    while !left.is_empty() {
        let before = left.len();
        let mut has_begun = false;
        let order: Vec<_> =
            cells.iter().map(|cell| cell.spec.id.as_str()).filter(|id| left.contains_key(id)).collect();
        let end = run_executor(route, &order, handover, settings, stop, longest, |line| match line {
            Line::Begin { run, .. } => {
                began(*run);
                !std::mem::replace(&mut has_begun, true)
            }
            Line::Cell(result) => match left.remove(result.id.as_str()) {
                Some(cell) => {
                    each(as_planned(*result, cell.spec.clone()));
                    true
                }
                None if handover == Handover::Arguments => false,
                None => {
                    diagnostics::warning(&format!("unrequested result: {}", result.id));
                    false
                }
            },
            Line::End { .. } => true,
        });
        let why = match end {
            End::Stopped => return,
            End::Complete if left.is_empty() => break,
            End::Complete => "the executor ended without a result of this cell".to_owned(),
            End::Fatal(why) => {
                fruitless = FRUITLESS;
                why
            }
            End::Cut(why) => why,
        };
        fruitless = if left.len() < before { 0 } else { fruitless + 1 };
        if fruitless >= FRUITLESS {
            for cell in cells.iter().filter(|cell| left.contains_key(cell.spec.id.as_str())) {
                each(CellResult::without_attempt(cell.spec.clone(), Status::NotRun, why.clone()));
            }
            return;
        }
        diagnostics::warning(&format!(
            "{}; restarting for the remaining {} cells",
            first_line(&why),
            left.len()
        ));
        handover = handover.after_end(has_begun, route);
        pause(stop);
    }
    run_silently(&route.finish);
}

/// Replaces the target and the rerun arguments by those of this machine: the executor does not know how it
/// was started.
fn as_planned(mut result: CellResult, spec: PlannedCell) -> CellResult {
    result.target = spec.target;
    result.reproducer = match result.seed {
        Some(seed) => format!("{} --seed {seed}", spec.command),
        None => spec.command,
    };
    result
}

/// Starts the executor, sends the ids, and passes its lines to `line` until it ends.
fn run_executor(
    route: &Route,
    order: &[&str],
    handover: Handover,
    settings: &Settings<'_>,
    stop: &Stop,
    longest: Duration,
    line: impl FnMut(Line) -> bool,
) -> End {
    let ids = || order.iter().fold(String::new(), |text, id| text + id + "\n") + "\n";
    let (cells, input) = match handover {
        Handover::Input => (["--cells", "-", "--lifeline"].map(str::to_owned).to_vec(), Some(ids())),
        Handover::Arguments => (cell_arguments(order, settings.selection), None),
    };
    let command = route.command(&arguments(route, settings, cells));
    let program = command.get_program().display().to_string();
    let mut worker = match Worker::start(command, input) {
        Ok(worker) => worker,
        Err(error) => return End::Fatal(format!("cannot start {program}: {error}")),
    };
    let end = read_lines(&mut worker, settings, stop, longest, line);
    let exit = match end {
        None | Some(End::Complete) => worker.end(EXIT_TIME),
        Some(_) => {
            drop(worker);
            Exit { status: None, stderr: String::new() }
        }
    };
    if exit.status.is_none() {
        run_silently(&route.clean_up);
    }
    end.unwrap_or_else(|| {
        let stderr = exit.stderr.trim();
        let code = exit.status.and_then(|status| status.code());
        if code.is_some() && code == route.fatal.map(i32::from) {
            return End::Fatal(stderr.to_owned());
        }
        let status = exit.status.map_or_else(|| "killed".to_owned(), |status| status.to_string());
        let colon = if stderr.is_empty() { "" } else { ": " };
        End::Cut(format!("the executor ended ({status}){colon}{stderr}"))
    })
}

/// Passes the executor's lines to `line`, which returns whether the line was useful. Returns why it must be
/// killed, or [`End::Complete`] after its last line. `None`: it closed its output before.
fn read_lines(
    worker: &mut Worker,
    settings: &Settings<'_>,
    stop: &Stop,
    longest: Duration,
    mut line: impl FnMut(Line) -> bool,
) -> Option<End> {
    let mut silence = GRACE;
    let mut last_line = Instant::now();
    let mut foreign = ForeignOutput::default();
    let cut = |too_much: TooMuchOutput| Some(End::Cut(format!("the executor: {too_much}")));
    loop {
        match worker.next(CHECK_INTERVAL) {
            Err(too_much) => return cut(too_much),
            Ok(Next::Closed) => return None,
            Ok(Next::Nothing) => {}
            Ok(Next::Line(text)) => {
                last_line = Instant::now();
                let useful = match Line::find(&text) {
                    (Some(found), _) => {
                        if let Some(why) = mismatch(&found, settings) {
                            return Some(End::Fatal(why));
                        }
                        if let Line::Begin { slow, .. } = found {
                            let longest = longest.saturating_mul(slow.get());
                            silence = longest.saturating_mul(settings.spec.repeat).saturating_add(GRACE);
                        }
                        let is_end = matches!(found, Line::End { .. });
                        let useful = line(found);
                        if is_end {
                            return Some(End::Complete);
                        }
                        useful
                    }
                    (None, other) => {
                        foreign.show(other);
                        false
                    }
                };
                if let Err(too_much) = foreign.count(if useful { 0 } else { text.len().max(FOREIGN_LINE) }) {
                    return cut(too_much);
                }
            }
        }
        if stop.requested() {
            return Some(End::Stopped);
        }
        if last_line.elapsed() > silence {
            return Some(End::Cut(format!("no output from the executor for {} s", silence.as_secs())));
        }
    }
}

/// Counts output that is not a useful line of the executor.
#[derive(Default)]
struct ForeignOutput {
    lines: usize,
    bytes: usize,
}

impl ForeignOutput {
    /// Shows a foreign line, such as one of a console.
    fn show(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.lines += 1;
        match self.lines {
            ..=SHOWN => diagnostics::note(&format!("not from the executor: {}", first_line(line))),
            MORE => diagnostics::note("more lines that are not from the executor are not shown"),
            _ => {}
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), TooMuchOutput> {
        self.bytes += bytes;
        TooMuchOutput::check(self.bytes, "standard output that is not a result", FOREIGN_BYTES)
    }
}

/// Returns how the executor differs from the requested one, if its first line shows a difference, or which
/// name in the line could lead a path elsewhere.
fn mismatch(line: &Line, settings: &Settings<'_>) -> Option<String> {
    if let Err(error) = line.check_path_names() {
        return Some(format!("the executor: {error}"));
    }
    let Line::Begin { format, run, .. } = line else { return None };
    if *format != FORMAT {
        return Some(format!("the executor has another version: it writes format {format}, not {FORMAT}"));
    }
    if run.triple != settings.target.triple {
        return Some(format!("the executor is built for {}, not for {}", run.triple, settings.target.triple));
    }
    if run.matrix != settings.matrix {
        return Some(
            "the executor has another matrix: build it again, or give both the same --matrix".into(),
        );
    }
    // An executor that cannot read its own file reports an unknown hash.
    if run.executable != settings.executable && run.executable != UNKNOWN {
        return Some(format!(
            "the executor is another executable: SHA-256 {}, not {}",
            run.executable, settings.executable
        ));
    }
    if !settings.spec.is_of_run(run) {
        return Some("the executor was started with other options: the command changes its arguments".into());
    }
    None
}

/// Returns the arguments that select the cells: their ids, or the whole selection if the ids are too long.
fn cell_arguments(order: &[&str], selection: &Selection) -> Vec<String> {
    let bytes: usize = order.iter().map(|id| id.len() + 1).sum();
    match selection.arguments() {
        _ if bytes <= ARGUMENT_BYTES => order.iter().map(|&id| id.to_owned()).collect(),
        all if all.is_empty() => vec!["--all".to_owned()],
        some => some,
    }
}

fn arguments(route: &Route, settings: &Settings<'_>, cells: Vec<String>) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    if route.shell {
        // `exec` replaces the shell, so that the executor gets the signals and the end of the connection
        // itself.
        arguments.push("exec".into());
        arguments.extend(route.executable.clone());
    }
    arguments.extend(["worker".into(), "exec".into()]);
    arguments.extend(cells);
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            arguments.extend([name.to_owned(), value]);
        }
    };
    option("--seed", Some(settings.spec.seed.to_string()));
    option("--repeat", Some(settings.spec.repeat.to_string()));
    option("--slow", settings.spec.slow.map(|times| times.to_string()));
    option("--jobs", settings.spec.jobs.map(|jobs| jobs.to_string()));
    option("--matrix", route.matrix.clone());
    option("--expectations", route.expectations.clone());
    option("--behaviours", route.behaviours.clone());
    option("--self", route.executable.clone());
    option("--prefix", route.prefix.clone());
    option("--keep", route.keep.as_ref().map(|keep| format!("{keep}-{}", settings.spec.seed)));
    arguments.extend(settings.spec.timeline.then(|| "--timeline".to_owned()));
    arguments.extend(settings.spec.disturbance_options());
    arguments
}

/// Runs a command, if there is one, and ignores its output and result.
fn run_silently(words: &[String]) {
    if let Some((program, arguments)) = words.split_first() {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = command.status();
    }
}
