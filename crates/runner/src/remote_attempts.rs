//! Single attempts on another machine. Other than [`remote`](crate::remote), which runs a list of cells, this
//! serves a caller that decides on each attempt from the ends of the previous ones.
//!
//! One executor stays connected and makes the attempts as they are ordered. If the connection is lost, it is
//! made again, and the attempts without an answer are ordered again. A command that does not forward standard
//! input gets the orders as arguments: the executor then starts anew for the orders that wait at that time.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use metadata::{Attempt, Run, start_error};
use report::first_line;

use crate::diagnostics;
use crate::error::Error;
use crate::pipes::{self, Feed};
use crate::remote::{
    ARGUMENT_BYTES, CHECK_INTERVAL, FOREIGN_LINE, FRUITLESS, ForeignOutput, GRACE, Handover, Settings,
    Streams, arguments, kill, mismatch, pause, run_silently,
};
use crate::runners::Route;
use crate::signals::Stop;
use crate::stream::{AttemptOrder, Line, ORDERS};

/// The number of attempts to make in parallel, per processor: cells that hang need no processor.
pub const PER_CPU: usize = 3;
/// How long to wait for further orders before an executor starts that gets them as arguments.
const GATHER: Duration = Duration::from_millis(50);

/// A connection to an executor that makes attempts.
pub struct Connection<'a> {
    orders: Sender<Pending>,
    /// Ends the wait of the thread that serves the orders.
    wake: UnixStream,
    next: AtomicU64,
    machine: Run,
    slow: NonZeroU32,
    lost: &'a Mutex<Option<Error>>,
}

/// An order without an answer.
struct Pending {
    order: AttemptOrder,
    answer: Sender<Attempt>,
}

impl Connection<'_> {
    /// Returns the provenance that the executor reports.
    pub fn machine(&self) -> &Run {
        &self.machine
    }

    /// Returns how many times slower than an ordinary machine the executor's machine is.
    pub fn slow(&self) -> NonZeroU32 {
        self.slow
    }

    /// Makes an attempt, and waits for its end. The number of the order is chosen here. Callable from any
    /// thread.
    ///
    /// Returns `None` if a stop was requested, or the connection cannot be restored, which
    /// [`check`](Self::check) then reports.
    pub fn attempt(&self, order: AttemptOrder) -> Option<Attempt> {
        // Relaxed: the counter publishes no other data.
        let order = AttemptOrder { order: self.next.fetch_add(1, Ordering::Relaxed), ..order };
        let (answer, answered) = channel();
        self.orders.send(Pending { order, answer }).ok()?;
        // If the socket is full, the thread is about to wake.
        let _ = (&self.wake).write(&[0]);
        answered.recv().ok()
    }

    /// Returns the error if the connection was lost and cannot be restored.
    pub fn check(&self) -> Result<(), Error> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// Starts an executor, and calls `work` with the connection to it.
///
/// Returns `None` if a stop was requested before the executor answered.
///
/// # Errors
/// No executor answers, or it differs from the requested one.
pub fn with<R>(
    route: &Route,
    settings: &Settings<'_>,
    stop: &Stop,
    work: impl FnOnce(&Connection<'_>) -> R,
) -> Result<Option<R>, Error> {
    let failed = |source| Error::Io {
        action: "make",
        path: PathBuf::from("a socket"),
        source,
        help: "raise the limit of open files (ulimit -n)",
    };
    let (wake, woken) = UnixStream::pair().map_err(failed)?;
    wake.set_nonblocking(true).and_then(|()| woken.set_nonblocking(true)).map_err(failed)?;
    let (orders, receiver) = channel();
    let (begun, machine) = channel();
    let lost = Mutex::new(None);
    // An executor that makes attempts keeps no results.
    let route = Route { keep: None, ..route.clone() };
    let mut server = Server {
        route: &route,
        settings,
        stop,
        orders: receiver,
        woken,
        pending: BTreeMap::new(),
        closed: false,
        begun: Some(begun),
        slow: settings.slow.unwrap_or(NonZeroU32::MIN),
    };
    thread::scope(|scope| {
        let serve = || {
            if let Err(error) = server.serve() {
                *lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                stop.halt();
            }
            // Ends the waits for answers.
            drop(server);
        };
        thread::Builder::new().spawn_scoped(scope, serve).map_err(|source| Error::Io {
            action: "start",
            path: PathBuf::from("a thread"),
            source,
            help: "raise the limit of processes (ulimit -u)",
        })?;
        let Ok((machine, slow)) = machine.recv() else {
            return lost.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(None), Err);
        };
        let next = AtomicU64::new(0);
        Ok(Some(work(&Connection { orders, wake, next, machine, slow, lost: &lost })))
    })
}

/// Why an executor ended.
enum End {
    /// It made all attempts that were ordered.
    Complete,
    /// The connection was lost, or the executor exited early.
    Cut { why: String, has_begun: bool },
    /// An error that another start would repeat.
    Fatal(Error),
    /// A stop was requested.
    Stopped,
}

/// The thread that serves the orders.
struct Server<'a> {
    route: &'a Route,
    settings: &'a Settings<'a>,
    stop: &'a Stop,
    orders: Receiver<Pending>,
    woken: UnixStream,
    /// The orders without an answer, by number.
    pending: BTreeMap<u64, Pending>,
    /// Whether no further order can come.
    closed: bool,
    /// Receives the provenance of the first executor.
    begun: Option<Sender<(Run, NonZeroU32)>>,
    slow: NonZeroU32,
}

impl Server<'_> {
    /// Serves orders until the connection is dropped.
    fn serve(&mut self) -> Result<(), Error> {
        let mut handover = Handover::Input;
        let mut fruitless = 0;
        loop {
            self.receive();
            if self.stop.requested() {
                break;
            }
            if self.begun.is_none() && self.pending.is_empty() {
                if self.closed {
                    break;
                }
                self.wait();
                continue;
            }
            if handover == Handover::Arguments {
                while self.receive() > 0 {
                    thread::sleep(GATHER);
                }
            }
            let (waiting, was_begun) =
                (self.pending.keys().copied().collect::<Vec<_>>(), self.begun.is_none());
            let end = self.run_executor(handover);
            let progress = !was_begun && self.begun.is_none()
                || waiting.iter().any(|order| !self.pending.contains_key(order));
            match end {
                End::Stopped => break,
                End::Fatal(error) => return Err(error),
                End::Complete if progress || waiting.is_empty() => fruitless = 0,
                End::Complete => {
                    fruitless += 1;
                    self.again("the executor ended without an answer", fruitless)?;
                }
                End::Cut { why, has_begun } => {
                    fruitless = if progress { 0 } else { fruitless + 1 };
                    self.again(&why, fruitless)?;
                    handover = handover.after_end(has_begun, self.route);
                }
            }
        }
        run_silently(&self.route.finish);
        Ok(())
    }

    /// Takes the new orders. Returns their number.
    fn receive(&mut self) -> usize {
        let mut buffer = [0; 64];
        while matches!((&self.woken).read(&mut buffer), Ok(1..)) {}
        let mut count = 0;
        loop {
            match self.orders.try_recv() {
                Ok(pending) => _ = self.pending.insert(pending.order.order, pending),
                Err(TryRecvError::Empty) => return count,
                Err(TryRecvError::Disconnected) => {
                    self.closed = true;
                    return count;
                }
            }
            count += 1;
        }
    }

    fn wait(&self) {
        pipes::wait(&[Some(self.woken.as_fd())], None, CHECK_INTERVAL);
    }

    /// Waits before the next start of an executor.
    ///
    /// # Errors
    /// It is one fruitless start too many.
    fn again(&self, why: &str, fruitless: u32) -> Result<(), Error> {
        if fruitless >= FRUITLESS {
            return Err(Error::NoAttempts { target: self.settings.target.id.clone(), why: why.to_owned() });
        }
        diagnostics::warning(&format!("{}; restarting for {} attempts", first_line(why), self.pending.len()));
        pause(self.stop);
        Ok(())
    }

    /// Starts an executor, and sends it the orders until it ends.
    fn run_executor(&mut self, handover: Handover) -> End {
        let orders = self.pending.values().map(|pending| &pending.order);
        let (list, text, stdin) = match handover {
            Handover::Input => {
                let lines = orders.map(metadata::json_line);
                (
                    "-".to_owned(),
                    std::iter::once(format!("{ORDERS}\n")).chain(lines).collect(),
                    Stdio::piped(),
                )
            }
            Handover::Arguments => (argument(orders), String::new(), Stdio::null()),
        };
        let mut sent = self.pending.keys().next_back().copied();
        let arguments = arguments(self.route, self.settings, vec!["--orders".to_owned(), list]);
        let mut command = self.route.command(&arguments);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let fatal = |why| End::Fatal(Error::NoAttempts { target: self.settings.target.id.clone(), why });
        // A separate process group: Ctrl-C reaches this process only, which then kills the executor.
        let mut child = match command.process_group(0).spawn().map_err(start_error) {
            Ok(child) => child,
            Err(error) => {
                return fatal(format!("cannot start {}: {error}", command.get_program().display()));
            }
        };
        let mut streams = match Streams::of(&mut child, text) {
            Ok(streams) => streams,
            Err(error) => {
                kill(&mut child, self.route);
                return fatal(format!("cannot read from the executor: {error}"));
            }
        };
        let mut ended = false;
        let mut has_begun = false;
        let mut last_line = Instant::now();
        let mut foreign = ForeignOutput::default();
        let end = loop {
            if handover == Handover::Input {
                self.receive();
                let feed = streams.ids.as_mut().expect("it is taken at the end only");
                for (number, pending) in &self.pending {
                    if sent.is_none_or(|sent| sent < *number) {
                        feed.push(&metadata::json_line(&pending.order));
                        sent = Some(*number);
                    }
                }
                // A new connection can be closed before its first order.
                if self.closed && self.pending.is_empty() && !ended {
                    feed.push("\n");
                    ended = true;
                }
            }
            match streams.next() {
                Err(too_much) => break End::Cut { why: format!("the executor: {too_much}"), has_begun },
                Ok(Some(text)) => {
                    last_line = Instant::now();
                    let useful = match Line::find(&text) {
                        (Some(Line::End { .. }), _) => {
                            streams.wait_for_exit(&mut child, self.route);
                            return End::Complete;
                        }
                        (Some(line @ Line::Begin { .. }), _) => match self.begin(line) {
                            Ok(()) => !std::mem::replace(&mut has_begun, true),
                            Err(error) => break End::Fatal(error),
                        },
                        (Some(Line::Attempt { order, attempt }), _) => self.answer(order, *attempt),
                        (Some(Line::Cell(_)), _) => false,
                        (None, _) if Line::is_cut(&text) => {
                            // It can be the answer to any order.
                            break End::Cut { why: "a line of the executor is damaged".into(), has_begun };
                        }
                        (None, other) => {
                            foreign.show(other);
                            false
                        }
                    };
                    let bytes = if useful { 0 } else { text.len().max(FOREIGN_LINE) };
                    if let Err(too_much) = foreign.count(bytes) {
                        break End::Cut { why: format!("the executor: {too_much}"), has_begun };
                    }
                }
                Ok(None) if !streams.lines.is_open() => {
                    let status = streams.wait_for_exit(&mut child, self.route);
                    let stderr = streams.stderr.text();
                    let colon = if stderr.trim().is_empty() { "" } else { ": " };
                    let why = format!("the executor ended ({status}){colon}{}", stderr.trim());
                    return End::Cut { why, has_begun };
                }
                Ok(None) => {
                    // After the last order, the socket is at its end, and would end each wait.
                    let woken = (!self.closed).then(|| self.woken.as_fd());
                    let read = [streams.lines.fd(), streams.stderr.fd(), woken];
                    pipes::wait(&read, streams.ids.as_ref().and_then(Feed::fd), CHECK_INTERVAL);
                }
            }
            if self.stop.requested() {
                break End::Stopped;
            }
            // An executor without orders is silent.
            let idle = has_begun && self.pending.is_empty() && !self.closed;
            if idle {
                last_line = Instant::now();
            } else if last_line.elapsed() > self.silence() {
                let why = format!("no output from the executor for {} s", self.silence().as_secs());
                break End::Cut { why, has_begun };
            }
        };
        kill(&mut child, self.route);
        end
    }

    /// Checks the first line of an executor.
    fn begin(&mut self, line: Line) -> Result<(), Error> {
        if let Some(why) = mismatch(&line, self.settings) {
            return Err(Error::NoAttempts { target: self.settings.target.id.clone(), why });
        }
        let Line::Begin { run, slow, faults, .. } = line else { return Ok(()) };
        if !faults {
            let file = self.route.executable.clone().unwrap_or_else(|| "the executor".into());
            return Err(Error::NoFaultsThere(PathBuf::from(file)));
        }
        self.slow = slow;
        if let Some(begun) = self.begun.take() {
            // The receiver waits for it.
            let _ = begun.send((*run, slow));
        }
        Ok(())
    }

    /// Passes an answer on. Returns whether there was an order for it.
    fn answer(&mut self, order: u64, attempt: Attempt) -> bool {
        let asked =
            |pending: &Pending| (&pending.order.cell, pending.order.seed) == (&attempt.cell, attempt.seed);
        if !self.pending.get(&order).is_some_and(asked) {
            return false;
        }
        let pending = self.pending.remove(&order).expect("it was just found");
        // The thread that ordered it waits for the answer.
        let _ = pending.answer.send(attempt);
        true
    }

    /// Returns how long an executor with orders can be silent.
    fn silence(&self) -> Duration {
        let limits = self.pending.values().map(|pending| pending.order.limit_ms);
        let longest = Duration::from_millis(limits.max().unwrap_or(0));
        longest.saturating_mul(self.slow.get()).saturating_add(GRACE)
    }
}

/// Returns the first of the orders as one argument, as many as every system accepts.
fn argument<'o>(orders: impl Iterator<Item = &'o AttemptOrder>) -> String {
    let mut text = String::from("[");
    for order in orders {
        let line = metadata::json_line(order);
        let next = line.trim_end();
        if text.len() > 1 && text.len() + next.len() > ARGUMENT_BYTES {
            break;
        }
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(next);
    }
    text + "]"
}

#[cfg(test)]
mod tests {
    use metadata::Seed;

    use super::*;

    #[test]
    fn an_argument_holds_as_many_orders_as_every_system_accepts() {
        let order = |order| AttemptOrder {
            order,
            cell: "polling/timer-after-work/pipe-level-1t1g@poll".into(),
            seed: Seed(7),
            fault: Some("delay-overflows".into()),
            limit_ms: 1,
            patience_ms: None,
        };
        let orders: Vec<_> = (0..1000).map(order).collect();
        let read = |text: &str| serde_json::from_str::<Vec<AttemptOrder>>(text).unwrap();
        assert_eq!(read(&argument([].iter())), []);
        assert_eq!(read(&argument(orders[..3].iter())), orders[..3]);
        let text = argument(orders.iter());
        let some = read(&text);
        assert!(text.len() <= ARGUMENT_BYTES + 1 && some.len() > 50, "{} bytes", text.len());
        assert_eq!(some, orders[..some.len()]);
    }
}
