//! Talks to an executor: tells it which cells to run, takes its results, and starts it again when the line is cut.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::num::NonZeroU32;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use matrix::{Selection, Target};
use report::{CellResult, Run, Seed, Status, Subject};

use crate::error;
use crate::plan::Planned;
use crate::progress::first_line;
use crate::signals::Stop;
use crate::stream::{FORMAT, Line};
use crate::supervise;
use crate::ways::Route;

/// How often an executor that brought no result is started again.
const FRUITLESS: u32 = 3;
/// Between two starts.
const PAUSE: Duration = Duration::from_secs(2);
/// Between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// For everything that an executor does besides running a cell: starting on a slow machine, above all.
const GRACE: Duration = Duration::from_secs(300);
/// For an executor that has said everything to leave.
const LEAVE: Duration = Duration::from_secs(20);
/// The end of standard error that is kept.
const STDERR_BYTES: usize = 4 * 1024;
/// So many bytes of ids are arguments on every system.
const ARGUMENT_BYTES: usize = 16 * 1024;

/// What all cells have in common.
pub struct Settings<'a> {
    /// The target, for which the executor must be built.
    pub target: &'a Target,
    /// SHA-256 of the matrix file, which must be the executor's, too.
    pub matrix: &'a str,
    /// What was asked for: the cells are some of it.
    pub selection: &'a Selection,
    /// The seed of each first attempt.
    pub seed: Seed,
    /// The fault to switch on.
    pub fault: Option<&'a str>,
    /// One in how many system calls below the core fails.
    pub inject_errors: Option<NonZeroU32>,
    /// Attempts per cell.
    pub repeat: u32,
    /// How many times slower than an ordinary machine that one is. Nothing: the executor finds out.
    pub slow: Option<NonZeroU32>,
    /// Cells at the same time. Nothing: as many as that machine can.
    pub jobs: Option<usize>,
}

/// How an executor learns which cells to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handover {
    /// Their ids come on standard input, whose end is the executor's, too.
    Input,
    /// By its arguments, for a command that does not pass standard input on: a console of a virtual machine. They may say
    /// more than is left.
    Arguments,
}

/// Why an executor's work ended.
enum End {
    /// It said that nothing is missing.
    Complete,
    /// The line was cut, or it died.
    Cut(String),
    /// Starting it again would be the same again.
    Wrong(String),
    /// The user asked for it.
    Stopped,
}

/// Runs `cells` there. `began` gets what the executor says of its machine, `each` every result, both on this thread.
/// A cell that could not be run becomes a result that says why. Returns early if `stop` is asked for.
pub fn run(
    cells: &[Planned],
    route: &Route,
    settings: &Settings<'_>,
    stop: &Stop,
    mut began: impl FnMut(Run),
    mut each: impl FnMut(CellResult),
) {
    let mut left: HashMap<&str, &Planned> =
        cells.iter().map(|cell| (cell.subject.id.as_str(), cell)).collect();
    let longest = cells.iter().map(|cell| cell.timeout).max().unwrap_or_default();
    let mut fruitless = 0;
    let mut handover = Handover::Input;
    while !left.is_empty() {
        let before = left.len();
        let mut has_begun = false;
        let order: Vec<_> =
            cells.iter().map(|cell| cell.subject.id.as_str()).filter(|id| left.contains_key(id)).collect();
        let end = talk(route, &order, handover, settings, stop, longest, |line| match line {
            Line::Begin { run, .. } => {
                has_begun = true;
                began(*run);
            }
            Line::Cell(row) => match left.remove(row.id.as_str()) {
                Some(cell) => each(as_planned(*row, cell.subject.clone())),
                None if handover == Handover::Arguments => {}
                None => error::warning(&format!("a result that was not asked for: {}", row.id)),
            },
            Line::End { .. } => {}
        });
        let why = match end {
            End::Stopped => return,
            End::Complete if left.is_empty() => break,
            End::Complete => "the executor ended without their results".to_owned(),
            End::Wrong(why) => {
                fruitless = FRUITLESS;
                why
            }
            End::Cut(why) => why,
        };
        fruitless = if left.len() < before { 0 } else { fruitless + 1 };
        if fruitless >= FRUITLESS {
            for cell in cells.iter().filter(|cell| left.contains_key(cell.subject.id.as_str())) {
                each(CellResult::without_attempt(cell.subject.clone(), Status::NotRun, why.clone()));
            }
            return;
        }
        error::warning(&format!("{}; {} cells are left, once more", first_line(&why), left.len()));
        // Only a command of the user's is not known to pass standard input on.
        if !has_begun && route.prefix.is_some() {
            handover = match handover {
                Handover::Input => Handover::Arguments,
                Handover::Arguments => Handover::Input,
            };
        }
        let again = Instant::now() + PAUSE;
        while Instant::now() < again && !stop.asked() {
            thread::sleep(LOOK);
        }
    }
    if !route.finish.is_empty() {
        let _ = Command::new(&route.finish[0]).args(&route.finish[1..]).stdin(Stdio::null()).output();
    }
}

/// The executor's row, with the names that things have here: over there nobody knows how it is reached.
fn as_planned(mut row: CellResult, subject: Subject) -> CellResult {
    row.target = subject.target;
    row.reproducer = match row.seed {
        Some(seed) => format!("{} --seed {seed}", subject.command),
        None => subject.command,
    };
    row
}

/// Starts the executor, hands over the ids, and passes its lines on until it ends.
fn talk(
    route: &Route,
    order: &[&str],
    handover: Handover,
    settings: &Settings<'_>,
    stop: &Stop,
    longest: Duration,
    mut line: impl FnMut(Line),
) -> End {
    let (cells, stdin) = match handover {
        Handover::Input => (["--cells", "-", "--lifeline"].map(str::to_owned).to_vec(), Stdio::piped()),
        Handover::Arguments => (named(order, settings.selection), Stdio::null()),
    };
    let mut command = route.command(&arguments(route, settings, cells));
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: Ctrl-C is for this process, which kills that one in its own time.
    let mut child = match command.process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => {
            return End::Wrong(format!("{} cannot be started: {error}", command.get_program().display()));
        }
    };
    // The executor lives as long as its standard input is open.
    let lifeline = child.stdin.take().map(|stdin| hand_over(stdin, order));
    let lines = lines(child.stdout.take());
    let said = supervise::collect(child.stderr.take(), STDERR_BYTES);
    let mut silence = GRACE;
    let mut heard = Instant::now();
    let mut complete = false;
    let mut wrong = None;
    while wrong.is_none() && !complete {
        match lines.recv_timeout(LOOK) {
            Ok(text) => {
                heard = Instant::now();
                match Line::find(&text) {
                    (Some(found), _) => {
                        wrong = objection(&found, settings);
                        complete = matches!(found, Line::End { .. });
                        if let Line::Begin { slow, .. } = found {
                            silence = longest * slow.get() * settings.repeat + GRACE;
                        }
                        if wrong.is_none() {
                            line(found);
                        }
                    }
                    // A console's.
                    (None, other) if other.trim().is_empty() => {}
                    (None, other) => error::note(&format!("not from the executor: {}", first_line(other))),
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if stop.asked() {
            end(&mut child, route);
            return End::Stopped;
        }
        if heard.elapsed() > silence {
            end(&mut child, route);
            return End::Cut(format!("nothing came from the executor for {} s", silence.as_secs()));
        }
    }
    drop(lifeline);
    if let Some(why) = wrong {
        end(&mut child, route);
        return End::Wrong(why);
    }
    // Its output is closed, or complete. What does not end then has nothing left to say.
    let deadline = Instant::now() + LEAVE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.to_string(),
            Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
            Ok(None) => {
                end(&mut child, route);
                break "killed".to_owned();
            }
            Err(error) => break error.to_string(),
        }
    };
    if complete {
        return End::Complete;
    }
    let mut why = format!("the executor ended ({status})");
    let said = said.recv_timeout(LEAVE).unwrap_or_default();
    if let said @ [_, ..] = said.trim_ascii() {
        let _ = write!(why, ": {}", String::from_utf8_lossy(said));
    }
    End::Cut(why)
}

/// What makes a line that of another executor than the one asked for, if something does.
fn objection(line: &Line, settings: &Settings<'_>) -> Option<String> {
    let Line::Begin { format, run, .. } = line else { return None };
    if *format != FORMAT {
        return Some(format!("the executor speaks format {format}, not {FORMAT}: it is of another version"));
    }
    if run.triple != settings.target.triple {
        return Some(format!("the executor is built for {}, not for {}", run.triple, settings.target.triple));
    }
    if run.matrix != settings.matrix {
        return Some(
            "the executor has another matrix: build it again, or give both the same --matrix".into(),
        );
    }
    let asked = (settings.seed, settings.repeat, settings.fault, settings.inject_errors);
    if (run.seed, run.repeat, run.fault.as_deref(), run.inject_errors) != asked {
        return Some("the executor was started with other options: the command changes its arguments".into());
    }
    None
}

/// The arguments that name the cells; what was asked for in all, if they are too many.
fn named(order: &[&str], selection: &Selection) -> Vec<String> {
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
        // Not the shell's child: it must get the signals and the end of the connection itself.
        arguments.push("exec".into());
        arguments.extend(route.executable.clone());
    }
    arguments.push("exec".into());
    arguments.extend(cells);
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            arguments.extend([name.to_owned(), value]);
        }
    };
    option("--seed", Some(settings.seed.to_string()));
    option("--repeat", Some(settings.repeat.to_string()));
    option("--fault", settings.fault.map(str::to_owned));
    option("--slow", settings.slow.map(|times| times.to_string()));
    option("--jobs", settings.jobs.map(|jobs| jobs.to_string()));
    option("--matrix", route.matrix.clone());
    option("--expectations", route.expectations.clone());
    option("--self", route.executable.clone());
    option("--prefix", route.prefix.clone());
    option("--keep", route.keep.as_ref().map(|keep| format!("{keep}-{}", settings.seed)));
    arguments.extend(settings.inject_errors.map(|one_in| format!("--inject-errors={one_in}")));
    arguments
}

/// Writes the ids and an empty line; the end stays open until what is returned is dropped.
fn hand_over(mut stdin: ChildStdin, order: &[&str]) -> Sender<()> {
    let text = order.iter().fold(String::new(), |text, id| text + id + "\n") + "\n";
    let (hold, held) = channel::<()>();
    // On a thread of its own: an executor that does not read must not keep this one from reading.
    thread::spawn(move || {
        // If it is gone already, its output says so.
        let _ = stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush());
        // Nothing is ever sent: it ends when the sender is dropped.
        let _ = held.recv();
    });
    hold
}

fn lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let Some(pipe) = pipe else { return };
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while let Ok(1..) = pipe.read_until(b'\n', &mut line) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

fn end(child: &mut Child, route: &Route) {
    supervise::kill_group(child);
    let _ = child.wait();
    if let Some((program, arguments)) = route.clean_up.split_first() {
        let _ = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    }
}
