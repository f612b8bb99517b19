//! Forced interleavings, written as they are drawn: one column per thread, one line per step, time runs down.
//!
//! ```text
//!     us     | old                    | new
//!     writes |                        |
//!            | at ReportBeforeRunning |
//!            |                        | takes = Ok(())
//!            | ends                   |
//! ```
//!
//! Each line has one step, in the column of the thread that makes it:
//!
//! - `at POINT`: it goes on from wherever it is, comes to this checkpoint, and is held there.
//! - `WORD`: it does what the script's [`Interleaving::does`] says of this word, to the end.
//! - `WORD at POINT`: it begins to, and is held at the checkpoint on the way.
//! - `ends`: it goes on to the end of what it is doing: of a word, or of its turn.
//! - `goes on`: it is let go, and nobody waits for it: somebody whom a later line lets go may be in its way.
//! - `= ANSWER` behind a word, or behind the `ends` of one, is what it must have answered.
//!
//! The first line names the columns. `us` is the scenario's own thread. Everybody is let go when the script is over,
//! and everybody must have come to an end in it. If a step fails, the trace shows the drawing and the line.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use fd_core::{Context, FdCore, FdHandle, RegistrationRef};

use crate::harness::Harness;
use crate::hold::{Checkpoints, Held};
use crate::test_context::{Failure, TestContext, patience};

/// The thread that says a word: a worker thread, or one of no group.
pub(crate) struct Participant<'a> {
    core: &'a Arc<FdCore>,
    context: Option<&'a Context>,
}

impl Participant<'_> {
    /// The calls on a descriptor, as this thread.
    pub(crate) fn registration(&self, handle: FdHandle) -> RegistrationRef<'_> {
        self.context.map_or_else(|| self.core.registration(handle), |context| context.registration(handle))
    }

    /// The worker thread's side of the core. `None` for a thread of no group.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.context
    }
}

type Word = Arc<dyn Fn(&Participant<'_>) -> String + Send + Sync>;
type OwnWord<'s> = Box<dyn FnMut() -> Result<String, Failure> + 's>;

/// A name in the first line, and whose it is.
type Column = (String, Actor);

#[derive(Clone, Copy)]
enum Actor {
    Us,
    Worker(ThreadId),
    /// A thread of no group, made for each word.
    Outsider,
}

/// A drawing and its cast; see the module's own text.
pub(crate) struct Interleaving<'s> {
    title: String,
    source: &'static str,
    fd: FdHandle,
    actors: BTreeMap<&'static str, Actor>,
    words: BTreeMap<&'static str, Word>,
    own_words: BTreeMap<&'static str, OwnWord<'s>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    At(Point),
    Do { word: String, at: Option<Point>, answer: Option<String> },
    Ends { answer: Option<String> },
    GoesOn,
}

struct Line {
    column: usize,
    step: Step,
    /// Where it is in the drawing.
    row: usize,
}

impl<'s> Interleaving<'s> {
    /// An interleaving about one registration. `source` is why its answers are the right ones.
    pub(crate) fn about(fd: FdHandle, title: impl Into<String>, source: &'static str) -> Self {
        let actors = BTreeMap::from([("us", Actor::Us)]);
        Self { title: title.into(), source, fd, actors, words: BTreeMap::new(), own_words: BTreeMap::new() }
    }

    /// A column of this worker thread.
    pub(crate) fn worker(mut self, name: &'static str, thread: ThreadId) -> Self {
        self.actors.insert(name, Actor::Worker(thread));
        self
    }

    /// A column of a thread of no group.
    pub(crate) fn outsider(mut self, name: &'static str) -> Self {
        self.actors.insert(name, Actor::Outsider);
        self
    }

    /// A column of this worker thread, or of a thread of no group.
    pub(crate) fn caller(self, name: &'static str, thread: Option<ThreadId>) -> Self {
        match thread {
            Some(thread) => self.worker(name, thread),
            None => self.outsider(name),
        }
    }

    /// What a thread does when its column says `word`, and what that answers.
    pub(crate) fn does<A: Debug>(
        mut self,
        word: &'static str,
        action: impl Fn(&Participant<'_>) -> A + Send + Sync + 'static,
    ) -> Self {
        self.words.insert(word, Arc::new(move |participant| format!("{:?}", action(participant))));
        self
    }

    /// What the scenario's own thread does when `us` says `word`, and what that answers.
    pub(crate) fn we<A: Debug>(
        mut self,
        word: &'static str,
        mut action: impl FnMut() -> Result<A, Failure> + 's,
    ) -> Self {
        self.own_words.insert(word, Box::new(move || action().map(|answer| format!("{answer:?}"))));
        self
    }

    /// Plays the drawing.
    ///
    /// # Errors
    /// [`Failure::Wrong`] with the drawing, if a thread does not come where it should or answers otherwise;
    /// [`Failure::Broken`] if the drawing makes no sense.
    pub(crate) fn play(
        mut self,
        test: &mut TestContext,
        harness: &mut Harness,
        drawing: &str,
    ) -> Result<(), Failure> {
        let (columns, lines) = self.read(drawing)?;
        let points = Checkpoints::watch();
        let mut cast: Vec<_> = columns.iter().map(|(name, actor)| Sequencer::new(name, *actor)).collect();
        for (index, sequencer) in cast.iter_mut().enumerate() {
            sequencer.prepare(&points, self.fd, &lines, index, 0);
        }
        for (done, line) in lines.iter().enumerate() {
            let wrong = |what: String| {
                let drawn = drawn(drawing, Some(line.row));
                Failure::Wrong(format!("{}: {}: {what}\n{drawn}", self.title, columns[line.column].0))
            };
            let sequencer = &mut cast[line.column];
            let answered = match &line.step {
                Step::At(point) => {
                    sequencer.go();
                    sequencer.wait_for_hold(*point).map_err(wrong)?;
                    None
                }
                Step::Do { word, at, answer } => {
                    if sequencer.busy.is_some() || sequencer.held.is_some() {
                        let what =
                            format!("{} begins '{word}' before it has ended what it does", sequencer.name);
                        return Err(Failure::Broken(format!("{what}\n{}", drawn(drawing, Some(line.row)))));
                    }
                    if let Actor::Us = sequencer.actor {
                        let own = self.own_words.get_mut(word.as_str()).ok_or_else(|| unknown(word))?;
                        let answered = own().map_err(|failure| match failure {
                            Failure::Wrong(what) => wrong(what),
                            other => other,
                        })?;
                        Some((word.clone(), answered, answer))
                    } else {
                        if let Some(point) = at {
                            sequencer.arm(&points, self.fd, *point);
                        }
                        let action = self.words.get(word.as_str()).ok_or_else(|| unknown(word))?;
                        sequencer.begin(harness, word, action);
                        match at {
                            Some(point) => {
                                sequencer.go();
                                sequencer.wait_for_hold(*point).map_err(wrong)?;
                                None
                            }
                            None => Some((word.clone(), sequencer.end(harness).map_err(wrong)?, answer)),
                        }
                    }
                }
                Step::Ends { answer } => {
                    let word = sequencer.busy.as_ref().map_or("ends", |(word, _)| word).to_owned();
                    sequencer.go();
                    Some((word, sequencer.end(harness).map_err(wrong)?, answer))
                }
                Step::GoesOn => {
                    sequencer.go();
                    None
                }
            };
            if let Some((word, observed, Some(expected))) = answered {
                let what = format!("{}: {} {word}", self.title, columns[line.column].0);
                test.check(what, expected.clone(), &observed, self.source, *expected == observed);
                if *expected != observed {
                    return Err(wrong(format!("'{word}' answered {observed} instead of {expected}")));
                }
            }
            cast[line.column].prepare(&points, self.fd, &lines, line.column, done + 1);
        }
        for sequencer in &cast {
            if sequencer.busy.is_some() || sequencer.held.is_some() {
                let drawn = drawn(drawing, None);
                return Err(Failure::Broken(format!(
                    "{} never ends in this script\n{drawn}",
                    sequencer.name
                )));
            }
        }
        Ok(())
    }

    /// The columns, and the steps in order.
    fn read(&self, drawing: &str) -> Result<(Vec<Column>, Vec<Line>), Failure> {
        let broken = |row: usize, what: &str| {
            Failure::Broken(format!("{}: {what}\n{}", self.title, drawn(drawing, Some(row))))
        };
        let mut rows =
            drawing.lines().enumerate().filter(|(_, row)| row.contains('|') || !row.trim().is_empty());
        let (row, header) = rows.next().ok_or_else(|| broken(0, "an empty drawing"))?;
        let mut columns = Vec::new();
        for name in header.split('|').map(str::trim) {
            let actor = self.actors.get(name).ok_or_else(|| broken(row, "a column of nobody"))?;
            columns.push((name.to_owned(), *actor));
        }
        let mut lines = Vec::new();
        for (row, text) in rows {
            let cells: Vec<_> = text.split('|').map(str::trim).collect();
            let mut steps = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
            let (Some((column, cell)), None) = (steps.next(), steps.next()) else {
                return Err(broken(row, "a line has one step"));
            };
            let step = Step::read(cell).ok_or_else(|| broken(row, "no such step"))?;
            if column >= columns.len() {
                return Err(broken(row, "a step in no column"));
            }
            lines.push(Line { column, step, row });
        }
        Ok((columns, lines))
    }
}

fn unknown(word: &str) -> Failure {
    Failure::Broken(format!("nobody has said what '{word}' does"))
}

/// The drawing, with a mark at one of its lines.
fn drawn(drawing: &str, marked: Option<usize>) -> String {
    drawing.lines().enumerate().fold(String::new(), |mut text, (row, line)| {
        let mark = if Some(row) == marked { "-->" } else { "   " };
        let _ = writeln!(text, "{mark} {}", line.trim_end());
        text
    })
}

impl Step {
    fn read(cell: &str) -> Option<Self> {
        let (what, answer) = match cell.split_once('=') {
            Some((what, answer)) => (what.trim(), Some(answer.trim().to_owned())),
            None => (cell, None),
        };
        let words: Vec<_> = what.split_whitespace().collect();
        match (words[..].as_ref(), &answer) {
            (["at", point], None) => Point::named(point).map(Self::At),
            (["goes", "on"], None) => Some(Self::GoesOn),
            (["ends"], _) => Some(Self::Ends { answer }),
            ([word, "at", point], None) => {
                Point::named(point).map(|at| Self::Do { word: (*word).into(), at: Some(at), answer })
            }
            ([word], _) => Some(Self::Do { word: (*word).into(), at: None, answer }),
            _ => None,
        }
    }
}

/// One column while it is played.
struct Sequencer {
    name: String,
    actor: Actor,
    held: Option<Held>,
    /// The hold that it will come to next.
    next: Option<Held>,
    busy: Option<(String, Receiver<String>)>,
}

impl Sequencer {
    fn new(name: &str, actor: Actor) -> Self {
        Self { name: name.into(), actor, held: None, next: None, busy: None }
    }

    /// The name of its thread.
    fn thread(&self) -> String {
        match self.actor {
            Actor::Worker(thread) => format!("worker {thread}"),
            Actor::Us | Actor::Outsider => format!("outsider {}", self.name),
        }
    }

    /// Closes the next gate on its way while it cannot be there yet: before another column's step sends it there.
    fn prepare(&mut self, points: &Checkpoints, fd: FdHandle, lines: &[Line], column: usize, from: usize) {
        let next = lines[from..].iter().find(|line| line.column == column);
        if let Some(Line { step: Step::At(point), .. }) = next {
            self.arm(points, fd, *point);
        }
    }

    fn arm(&mut self, points: &Checkpoints, fd: FdHandle, point: Point) {
        let number = if point.concerns_descriptor() { fd.number() } else { -1 };
        self.next = Some(points.hold_thread(&self.thread(), point, number));
    }

    fn go(&mut self) {
        if let Some(held) = self.held.take() {
            held.release();
        }
    }

    fn wait_for_hold(&mut self, point: Point) -> Result<(), String> {
        let Some(next) = self.next.take() else { return Err(format!("nothing holds it at {point:?}")) };
        next.reached().map_err(|_| format!("did not come to {point:?}"))?;
        self.held = Some(next);
        Ok(())
    }

    fn begin(&mut self, harness: &Harness, word: &str, action: &Word) {
        let (answer, answered) = channel();
        let action = Arc::clone(action);
        self.busy = Some((word.to_owned(), answered));
        if let Actor::Worker(thread) = self.actor {
            let _ = harness.core().post(thread, move |context| {
                let participant = Participant { core: context.core(), context: Some(context) };
                let _ = answer.send(action(&participant));
            });
            return;
        }
        let core = Arc::clone(harness.core());
        let speak = move || {
            let answered = action(&Participant { core: &core, context: None });
            // Before the answer: the lab's end looks for what the core has open.
            drop((core, action));
            let _ = answer.send(answered);
        };
        // A thread that cannot be had answers nothing, and that is said.
        let _ = std::thread::Builder::new().name(self.thread()).spawn(speak);
    }

    /// Waits until it has ended what it does. Returns the answer of its word.
    fn end(&mut self, harness: &mut Harness) -> Result<String, String> {
        if let Some((word, answered)) = self.busy.take() {
            return answered.recv_timeout(patience()).map_err(|_| format!("'{word}' did not end"));
        }
        if let Actor::Worker(thread) = self.actor {
            harness.fence(thread).map_err(|failure| format!("its turn did not end: {failure}"))?;
        }
        Ok(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(word: &str, at: Option<Point>, answer: Option<&str>) -> Step {
        Step::Do { word: word.into(), at, answer: answer.map(Into::into) }
    }

    #[test]
    fn a_cell_is_a_step() {
        let at = Point::ExitBegun;
        for (cell, expected) in [
            ("at ExitBegun", Some(Step::At(at))),
            ("takes", Some(step("takes", None, None))),
            ("takes = Err(Busy)", Some(step("takes", None, Some("Err(Busy)")))),
            ("takes at ExitBegun", Some(step("takes", Some(at), None))),
            ("ends", Some(Step::Ends { answer: None })),
            ("ends = Ok(())", Some(Step::Ends { answer: Some("Ok(())".into()) })),
            ("goes on", Some(Step::GoesOn)),
            ("at Nowhere", None),
            ("takes at Nowhere", None),
            ("takes at ExitBegun = Ok(())", None),
            ("goes away", None),
        ] {
            assert_eq!(Step::read(cell), expected, "{cell}");
        }
    }

    #[test]
    fn the_trace_marks_the_line() {
        let drawing = "a | b\nx |\n  | y";
        assert_eq!(drawn(drawing, Some(1)), "    a | b\n--> x |\n      | y\n");
    }
}
