//! Forced interleavings, written as drawings: one column per thread, one line per step, time runs down.
//!
//! ```text
//!     main   | old                    | new
//!     writes |                        |
//!            | at ReportBeforeRunning |
//!            |                        | takes = Ok(())
//!            | ends                   |
//! ```
//!
//! Each line has one step, in the column of the thread that performs it:
//!
//! - `at POINT`: the thread continues from where it is, reaches this checkpoint, and is held there.
//! - `ACTION`: the thread performs the action of this name ([`Interleaving::action`]) completely.
//! - `ACTION at POINT`: the thread begins the action, and is held at the checkpoint on the way.
//! - `ends`: the thread completes its action, or its iteration if it performs none. Two fences then wake it.
//! - `continues`: the thread is released, and the drawing does not wait for it: it may depend on a thread
//!   that a later line releases.
//! - `= RESULT` behind an action, or behind its `ends`, is the expected result of the action.
//!
//! The first line names the columns. `main` is the scenario's own thread. All threads are released at the end
//! of the drawing, and each must have completed its action by then. If a step fails, the trace shows the
//! drawing and marks the line.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use fd_core::{Context, FdCore, FdHandle, RegistrationRef};
use metadata::Act;

use crate::checkpoints::{Checkpoints, HeldThread};
use crate::failure::{Failure, Result};
use crate::harness::Harness;
use crate::patience::patience;
use crate::test_context::TestContext;
use crate::timeline;

/// The thread that performs an action: a worker thread, or a thread of no group.
pub(crate) struct Participant<'a> {
    core: &'a Arc<FdCore>,
    context: Option<&'a Context>,
}

impl Participant<'_> {
    /// Returns the calls on a registration, made by this thread.
    pub(crate) fn registration(&self, handle: FdHandle) -> RegistrationRef<'_> {
        self.context.map_or_else(|| self.core.registration(handle), |context| context.registration(handle))
    }

    /// Returns the worker thread's context. `None` for a thread of no group.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.context
    }
}

type Action = Arc<dyn Fn(&Participant<'_>) -> String + Send + Sync>;
type MainAction<'s> = Box<dyn FnMut() -> Result<String> + 's>;

/// A name in the first line, and the thread that it stands for.
type Column = (String, Role);

#[derive(Clone, Copy)]
enum Role {
    /// The scenario's own thread.
    Main,
    Worker(ThreadId),
    /// A thread of no group, started for each action.
    Outsider,
}

/// The threads and the actions of a drawing; see the documentation of this module.
pub(crate) struct Interleaving<'s> {
    title: String,
    source: &'static str,
    fd: FdHandle,
    roles: BTreeMap<&'static str, Role>,
    actions: BTreeMap<&'static str, Action>,
    main_actions: BTreeMap<&'static str, MainAction<'s>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    At(Point),
    Perform { action: String, at: Option<Point>, result: Option<String> },
    Ends { result: Option<String> },
    Continues,
}

struct Line {
    column: usize,
    step: Step,
    /// Its line number in the drawing.
    row: usize,
}

/// The name of a completed action, and its result.
type Completed = (String, String);

impl<'s> Interleaving<'s> {
    /// An interleaving about one registration. `source` justifies the expected results.
    pub(crate) fn about(fd: FdHandle, title: impl Into<String>, source: &'static str) -> Self {
        Self {
            title: title.into(),
            source,
            fd,
            roles: BTreeMap::from([("main", Role::Main)]),
            actions: BTreeMap::new(),
            main_actions: BTreeMap::new(),
        }
    }

    /// Adds a column for this worker thread.
    pub(crate) fn worker(mut self, name: &'static str, thread: ThreadId) -> Self {
        self.roles.insert(name, Role::Worker(thread));
        self
    }

    /// Adds a column for a thread of no group.
    pub(crate) fn outsider(mut self, name: &'static str) -> Self {
        self.roles.insert(name, Role::Outsider);
        self
    }

    /// Adds a column for this worker thread, or for a thread of no group.
    pub(crate) fn caller(self, name: &'static str, thread: Option<ThreadId>) -> Self {
        match thread {
            Some(thread) => self.worker(name, thread),
            None => self.outsider(name),
        }
    }

    /// Defines an action of the other threads, and its result.
    pub(crate) fn action<A: Debug>(
        mut self,
        name: &'static str,
        action: impl Fn(&Participant<'_>) -> A + Send + Sync + 'static,
    ) -> Self {
        self.actions.insert(name, Arc::new(move |participant| format!("{:?}", action(participant))));
        self
    }

    /// Defines an action of the scenario's own thread, the column `main`, and its result.
    pub(crate) fn main_action<A: Debug>(
        mut self,
        name: &'static str,
        mut action: impl FnMut() -> Result<A> + 's,
    ) -> Self {
        self.main_actions.insert(name, Box::new(move || action().map(|result| format!("{result:?}"))));
        self
    }

    /// Performs the steps of the drawing, one after the other.
    ///
    /// # Errors
    /// [`Failure::Wrong`] with the drawing, if a thread does not reach its checkpoint or an action has
    /// another result; [`Failure::Broken`] if the drawing is invalid.
    pub(crate) fn run(mut self, test: &mut TestContext, harness: &mut Harness, drawing: &str) -> Result {
        let (columns, lines) = self.parse(drawing)?;
        let points = Checkpoints::watch();
        let mut threads: Vec<_> = columns.iter().map(|(name, role)| ColumnThread::new(name, *role)).collect();
        for (index, thread) in threads.iter_mut().enumerate() {
            thread.prepare(&points, self.fd, &lines, index, 0);
        }
        for (done, line) in lines.iter().enumerate() {
            let thread = &mut threads[line.column];
            let column = format!("{}: {}", self.title, thread.name);
            let in_drawing = |what: &str| format!("{column}: {what}\n{}", marked(drawing, Some(line.row)));
            let completed = self.step(thread, &line.step, &points, harness);
            let completed = completed.map_err(|failure| match failure {
                Failure::Wrong(what) => Failure::Wrong(in_drawing(&what)),
                Failure::Broken(what) => Failure::Broken(in_drawing(&what)),
                Failure::Unsupported(_) => failure,
            })?;
            if let (Some((action, observed)), Some(expected)) = (completed, line.step.result()) {
                let holds = *expected == observed;
                test.check(format!("{column} {action}"), expected.clone(), &observed, self.source, holds);
                if !holds {
                    let what = format!("the result of '{action}' is {observed} instead of {expected}");
                    return Err(Failure::Wrong(in_drawing(&what)));
                }
            }
            thread.prepare(&points, self.fd, &lines, line.column, done + 1);
        }
        match threads.iter().find(|thread| thread.is_busy()) {
            Some(thread) => {
                let drawing = marked(drawing, None);
                Err(Failure::Broken(format!("{} never ends in this drawing\n{drawing}", thread.name)))
            }
            None => Ok(()),
        }
    }

    /// Performs one step. Returns the action that it has completed.
    fn step(
        &mut self,
        thread: &mut ColumnThread,
        step: &Step,
        points: &Checkpoints,
        harness: &mut Harness,
    ) -> Result<Option<Completed>> {
        match step {
            Step::At(point) => {
                thread.release();
                thread.wait_until_held(*point)?;
                Ok(None)
            }
            Step::Perform { action, .. } if thread.is_busy() => {
                Err(Failure::Broken(format!("begins '{action}' before its last action has ended")))
            }
            Step::Perform { action, .. } if matches!(thread.role, Role::Main) => {
                let perform = self.main_actions.get_mut(action.as_str()).ok_or_else(|| undefined(action))?;
                timeline::note(Act::Begin, action, -1);
                let result = perform()?;
                timeline::note(Act::Done, &done(action, &result), -1);
                Ok(Some((action.clone(), result)))
            }
            Step::Perform { action, at, .. } => {
                if let Some(point) = at {
                    thread.hold_next(points, self.fd, *point);
                }
                let perform = self.actions.get(action.as_str()).ok_or_else(|| undefined(action))?;
                thread.begin(harness, action, perform);
                match at {
                    Some(point) => {
                        thread.release();
                        thread.wait_until_held(*point)?;
                        Ok(None)
                    }
                    None => Ok(Some((action.clone(), thread.end(harness)?))),
                }
            }
            Step::Ends { .. } => {
                let action = thread.busy.as_ref().map_or("ends", |(action, _)| action).to_owned();
                thread.release();
                Ok(Some((action, thread.end(harness)?)))
            }
            Step::Continues => {
                thread.release();
                Ok(None)
            }
        }
    }

    /// Returns the columns, and the lines with their steps in order.
    fn parse(&self, drawing: &str) -> Result<(Vec<Column>, Vec<Line>)> {
        let invalid = |row: usize, what: &str| {
            Failure::Broken(format!("{}: {what}\n{}", self.title, marked(drawing, Some(row))))
        };
        let mut rows =
            drawing.lines().enumerate().filter(|(_, row)| row.contains('|') || !row.trim().is_empty());
        let (row, header) = rows.next().ok_or_else(|| invalid(0, "an empty drawing"))?;
        let mut columns = Vec::new();
        for name in header.split('|').map(str::trim) {
            let role = self.roles.get(name).ok_or_else(|| invalid(row, "a column without a thread"))?;
            columns.push((name.to_owned(), *role));
        }
        let mut lines = Vec::new();
        for (row, text) in rows {
            let cells: Vec<_> = text.split('|').map(str::trim).collect();
            let mut steps = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
            let (Some((column, cell)), None) = (steps.next(), steps.next()) else {
                return Err(invalid(row, "a line has exactly one step"));
            };
            let step = Step::parse(cell).ok_or_else(|| invalid(row, "an unknown step"))?;
            if column >= columns.len() {
                return Err(invalid(row, "a step outside the columns"));
            }
            lines.push(Line { column, step, row });
        }
        Ok((columns, lines))
    }
}

fn undefined(action: &str) -> Failure {
    Failure::Broken(format!("the action '{action}' is not defined"))
}

/// Returns an action with its result, as a drawing writes it.
fn done(action: &str, result: &str) -> String {
    format!("{action} = {result}")
}

/// Returns the drawing with a mark at one of its lines.
fn marked(drawing: &str, marked: Option<usize>) -> String {
    drawing.lines().enumerate().fold(String::new(), |mut text, (row, line)| {
        let mark = if Some(row) == marked { "-->" } else { "   " };
        let _ = writeln!(text, "{mark} {}", line.trim_end());
        text
    })
}

impl Step {
    fn parse(cell: &str) -> Option<Self> {
        let (text, result) = match cell.split_once('=') {
            Some((text, result)) => (text.trim(), Some(result.trim().to_owned())),
            None => (cell, None),
        };
        let words: Vec<_> = text.split_whitespace().collect();
        match (words[..].as_ref(), &result) {
            (["at", point], None) => Point::named(point).map(Self::At),
            (["continues"], None) => Some(Self::Continues),
            (["ends"], _) => Some(Self::Ends { result }),
            ([action, "at", point], None) => {
                Point::named(point).map(|at| Self::Perform { action: (*action).into(), at: Some(at), result })
            }
            ([action], _) => Some(Self::Perform { action: (*action).into(), at: None, result }),
            _ => None,
        }
    }

    /// Returns the expected result.
    fn result(&self) -> Option<&String> {
        match self {
            Self::Perform { result, .. } | Self::Ends { result } => result.as_ref(),
            Self::At(_) | Self::Continues => None,
        }
    }
}

/// The thread of one column while the drawing runs.
struct ColumnThread {
    name: String,
    role: Role,
    held: Option<HeldThread>,
    /// The gate that it will reach next.
    next: Option<HeldThread>,
    /// The action that it performs.
    busy: Option<(String, Receiver<String>)>,
}

impl ColumnThread {
    fn new(name: &str, role: Role) -> Self {
        Self { name: name.into(), role, held: None, next: None, busy: None }
    }

    fn is_busy(&self) -> bool {
        self.busy.is_some() || self.held.is_some()
    }

    /// Returns the name of the operating system's thread.
    fn os_name(&self) -> String {
        match self.role {
            Role::Worker(thread) => format!("worker {thread}"),
            Role::Main | Role::Outsider => format!("outsider {}", self.name),
        }
    }

    /// Closes the gate of the column's next `at` line now, before a step of another column can send the
    /// thread there.
    fn prepare(&mut self, points: &Checkpoints, fd: FdHandle, lines: &[Line], column: usize, from: usize) {
        let next = lines[from..].iter().find(|line| line.column == column);
        if let Some(Line { step: Step::At(point), .. }) = next {
            self.hold_next(points, fd, *point);
        }
    }

    fn hold_next(&mut self, points: &Checkpoints, fd: FdHandle, point: Point) {
        let number = if point.concerns_descriptor() { fd.number() } else { -1 };
        self.next = Some(points.hold_thread(&self.os_name(), point, number));
    }

    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            held.release();
        }
    }

    fn wait_until_held(&mut self, point: Point) -> Result {
        let next = self.next.take();
        let next = next.ok_or_else(|| Failure::Wrong(format!("no gate holds it at {point:?}")))?;
        next.reached().map_err(|_| Failure::Wrong(format!("did not reach {point:?}")))?;
        self.held = Some(next);
        Ok(())
    }

    fn begin(&mut self, harness: &Harness, name: &str, action: &Action) {
        let (sender, receiver) = channel();
        let perform = Arc::clone(action);
        let of = name.to_owned();
        let action = move |participant: &Participant<'_>| {
            timeline::note(Act::Begin, &of, -1);
            let result = perform(participant);
            timeline::note(Act::Done, &done(&of, &result), -1);
            result
        };
        self.busy = Some((name.to_owned(), receiver));
        if let Role::Worker(thread) = self.role {
            let _ = harness.core().post(thread, move |context| {
                let participant = Participant { core: context.core(), context: Some(context) };
                let _ = sender.send(action(&participant));
            });
            return;
        }
        let core = Arc::clone(harness.core());
        let perform = move || {
            let result = action(&Participant { core: &core, context: None });
            // Before the result is sent: the end of the harness needs the last reference to the core.
            drop((core, action));
            let _ = sender.send(result);
        };
        // If the thread cannot start, the step that waits for the result fails.
        let _ = std::thread::Builder::new().name(self.os_name()).spawn(perform);
    }

    /// Waits until the thread has completed its action or its iteration. Returns the result of the action.
    fn end(&mut self, harness: &mut Harness) -> Result<String> {
        if let Some((action, receiver)) = self.busy.take() {
            let result = receiver.recv_timeout(patience());
            return result.map_err(|_| Failure::Wrong(format!("'{action}' did not end")));
        }
        if let Role::Worker(thread) = self.role {
            let fenced = harness.fence(thread);
            fenced.map_err(|failure| Failure::Wrong(format!("its iteration did not end: {failure}")))?;
        }
        Ok(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(action: &str, at: Option<Point>, result: Option<&str>) -> Step {
        Step::Perform { action: action.into(), at, result: result.map(Into::into) }
    }

    #[test]
    fn a_cell_is_a_step() {
        let at = Point::ExitBegun;
        for (cell, expected) in [
            ("at ExitBegun", Some(Step::At(at))),
            ("takes", Some(step("takes", None, None))),
            ("takes = Err(Busy)", Some(step("takes", None, Some("Err(Busy)")))),
            ("takes at ExitBegun", Some(step("takes", Some(at), None))),
            ("ends", Some(Step::Ends { result: None })),
            ("ends = Ok(())", Some(Step::Ends { result: Some("Ok(())".into()) })),
            ("continues", Some(Step::Continues)),
            ("at Nowhere", None),
            ("takes at Nowhere", None),
            ("takes at ExitBegun = Ok(())", None),
            ("continues at once", None),
        ] {
            assert_eq!(Step::parse(cell), expected, "{cell}");
        }
    }

    #[test]
    fn the_trace_marks_the_line() {
        let drawing = "a | b\nx |\n  | y";
        assert_eq!(marked(drawing, Some(1)), "    a | b\n--> x |\n      | y\n");
    }
}
