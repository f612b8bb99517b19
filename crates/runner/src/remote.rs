//! Talks to an executor: tells it which cells to run, takes its results, and starts it again when the line is cut.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use matrix::{Selection, Target};
use metadata::{CellResult, Run, Seed, Status, Subject};
use report::first_line;

use crate::pipes::{self, Feed, Limit, Lines, Tail, TooMuch};
use crate::plan::Planned;
use crate::provenance::UNKNOWN;
use crate::signals::Stop;
use crate::stream::{FORMAT, Line};
use crate::ways::Route;
use crate::{notes, supervise};

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
/// Its end is in the reason.
const STDERR: Limit = Limit { keep: 4 << 10, total: 64 << 20 };
/// Of one line.
const LINE_BYTES: usize = 16 << 20;
/// Of everything that is no result: a console's messages.
const STRANGE_BYTES: usize = 16 << 20;
/// A line counts as so many bytes at least: each takes time.
const STRANGE_LINE: usize = 64;
/// So many lines of it are shown.
const SHOWN: usize = 100;
const MORE: usize = SHOWN + 1;
/// So many lines an executor may still write between two looks when it has said everything.
const LEAVE_LINES: usize = 10_000;
/// So many bytes of ids are arguments on every system.
const ARGUMENT_BYTES: usize = 16 * 1024;

/// What all cells have in common.
pub struct Settings<'a> {
    /// The target, for which the executor must be built.
    pub target: &'a Target,
    /// SHA-256 of the executable, which must be the executor's, too.
    pub executable: &'a str,
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
                began(*run);
                !std::mem::replace(&mut has_begun, true)
            }
            Line::Cell(row) => match left.remove(row.id.as_str()) {
                Some(cell) => {
                    each(as_planned(*row, cell.subject.clone()));
                    true
                }
                None if handover == Handover::Arguments => false,
                None => {
                    notes::warning(&format!("a result that was not asked for: {}", row.id));
                    false
                }
            },
            Line::End { .. } => true,
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
        notes::warning(&format!("{}; {} cells are left, once more", first_line(&why), left.len()));
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
    quietly(&route.finish);
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
    line: impl FnMut(Line) -> bool,
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
    let mut streams = match Streams::of(&mut child, order) {
        Ok(streams) => streams,
        Err(error) => {
            end(&mut child, route);
            return End::Wrong(format!("the executor cannot be listened to: {error}"));
        }
    };
    match streams.listen(settings, stop, longest, line) {
        Heard::Complete => {
            streams.leave(&mut child, route);
            End::Complete
        }
        Heard::Ended => {
            let status = streams.leave(&mut child, route);
            let said = streams.stderr.text();
            let colon = if said.trim().is_empty() { "" } else { ": " };
            End::Cut(format!("the executor ended ({status}){colon}{}", said.trim()))
        }
        Heard::Other(other) => {
            end(&mut child, route);
            other
        }
    }
}

/// What came from an executor at last.
enum Heard {
    /// That nothing is missing.
    Complete,
    /// The end of its output.
    Ended,
    /// It has to be ended.
    Other(End),
}

/// The standard streams of an executor.
struct Streams {
    /// The executor lives as long as this is open.
    ids: Option<Feed>,
    lines: Lines<ChildStdout>,
    stderr: Tail<ChildStderr>,
}

impl Streams {
    /// With the ids and an empty line on their way.
    fn of(child: &mut Child, order: &[&str]) -> std::io::Result<Self> {
        let ids = order.iter().fold(String::new(), |text, id| text + id + "\n") + "\n";
        Ok(Self {
            ids: Some(Feed::new(child.stdin.take(), ids)?),
            lines: Lines::new(child.stdout.take(), LINE_BYTES)?,
            stderr: Tail::new(child.stderr.take(), "standard error", STDERR)?,
        })
    }

    /// Passes the executor's lines on until nothing more is to be expected from it. `line` says whether one was of use.
    fn listen(
        &mut self,
        settings: &Settings<'_>,
        stop: &Stop,
        longest: Duration,
        mut line: impl FnMut(Line) -> bool,
    ) -> Heard {
        let mut silence = GRACE;
        let mut heard = Instant::now();
        let mut strange = Strange::default();
        loop {
            let text = match self.next() {
                Ok(text) => text,
                Err(too_much) => return Heard::Other(End::Cut(format!("the executor: {too_much}"))),
            };
            if let Some(text) = text {
                heard = Instant::now();
                let of_use = match Line::find(&text) {
                    (Some(found), _) => {
                        if let Some(why) = objection(&found, settings) {
                            return Heard::Other(End::Wrong(why));
                        }
                        if let Line::Begin { slow, .. } = found {
                            let longest = longest.saturating_mul(slow.get());
                            silence = longest.saturating_mul(settings.repeat).saturating_add(GRACE);
                        }
                        let is_end = matches!(found, Line::End { .. });
                        let of_use = line(found);
                        if is_end {
                            return Heard::Complete;
                        }
                        of_use
                    }
                    (None, other) => {
                        strange.show(other);
                        false
                    }
                };
                if let Err(too_much) = strange.count(if of_use { 0 } else { text.len().max(STRANGE_LINE) }) {
                    return Heard::Other(End::Cut(format!("the executor: {too_much}")));
                }
            } else if !self.lines.is_open() {
                return Heard::Ended;
            } else {
                self.wait();
            }
            if stop.asked() {
                return Heard::Other(End::Stopped);
            }
            if heard.elapsed() > silence {
                let why = format!("nothing came from the executor for {} s", silence.as_secs());
                return Heard::Other(End::Cut(why));
            }
        }
    }

    fn next(&mut self) -> Result<Option<String>, TooMuch> {
        if let Some(ids) = &mut self.ids {
            ids.write();
        }
        self.stderr.read()?;
        self.lines.next_line()
    }

    fn wait(&self) {
        let read = [self.lines.end(), self.stderr.end()];
        pipes::wait(&read, self.ids.as_ref().and_then(Feed::end), LOOK);
    }

    /// Waits for an executor that has said everything, and takes what else comes: whoever writes must not die of it.
    /// What does not end has nothing left to do.
    fn leave(&mut self, child: &mut Child, route: &Route) -> String {
        self.ids = None;
        let deadline = Instant::now() + LEAVE;
        loop {
            let ended = child.try_wait();
            // After the look at the process: its last words are there.
            let rest = std::iter::repeat_with(|| self.next()).take_while(|next| matches!(next, Ok(Some(_))));
            let lines = rest.take(LEAVE_LINES).count();
            match ended {
                Ok(Some(status)) => return status.to_string(),
                Err(error) => return error.to_string(),
                Ok(None) if Instant::now() < deadline && lines < LEAVE_LINES => self.wait(),
                Ok(None) => {
                    end(child, route);
                    return "killed".to_owned();
                }
            }
        }
    }
}

/// What is not the executor's, or of no use.
#[derive(Default)]
struct Strange {
    lines: usize,
    bytes: usize,
}

impl Strange {
    /// Shows a line that is not the executor's: a console's.
    fn show(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.lines += 1;
        match self.lines {
            ..=SHOWN => notes::note(&format!("not from the executor: {}", first_line(line))),
            MORE => notes::note("more lines that are not from the executor are not shown"),
            _ => {}
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.bytes += bytes;
        TooMuch::unless(self.bytes <= STRANGE_BYTES, "standard output that is no result", STRANGE_BYTES)
    }
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
    // An executor that cannot read its own file says so.
    if run.executable != settings.executable && run.executable != UNKNOWN {
        return Some(format!(
            "the executor is another executable: SHA-256 {}, not {}",
            run.executable, settings.executable
        ));
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

fn end(child: &mut Child, route: &Route) {
    supervise::kill_group(child);
    let _ = child.wait();
    quietly(&route.clean_up);
}

/// Runs a command, if there is one, of which nothing is of interest.
fn quietly(words: &[String]) {
    if let Some((program, arguments)) = words.split_first() {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = command.status();
    }
}
