//! Shows the progress of a run on standard error: a bar on a terminal, otherwise a line per cell. Standard
//! output is reserved for results.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressStyle};
use metadata::{CellResult, Status, one_line};
use report::first_line;

use crate::output;

/// After this time without a line, a line shows that the run makes progress.
const QUIET: Duration = Duration::from_secs(30);
/// The number of columns from which on a terminal has room for a bar beside the numbers.
pub const WIDE: u16 = 80;

/// Returns the number of columns of the terminal on standard error. Returns `None` if it is not a terminal,
/// or if TERM is `dumb` or not set: then only lines can be written.
pub fn columns() -> Option<u16> {
    let term = Term::stderr();
    (term.is_term() && !console::is_dumb()).then(|| term.size().1)
}

/// Returns the template of the bar. The numbers come first, because a narrow terminal truncates the rest.
fn template(columns: u16) -> &'static str {
    if columns < WIDE {
        "{prefix} {pos}/{len} {elapsed} {wide_msg}"
    } else {
        "{bar:30} {pos}/{len} {elapsed} (left: {eta}) {prefix} {wide_msg}"
    }
}

/// The interval between two updates of the bar.
const TICK: Duration = Duration::from_millis(200);

/// Shows the progress of a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Keeps the thread that updates the bar alive.
    _ticker: Option<Sender<()>>,
    /// The current target, if there are several.
    target: Option<String>,
    done: usize,
    total: usize,
    failed: usize,
    /// When the last line was written.
    last_line: Instant,
}

impl Progress {
    /// Starts with `total` cells, of which `done` have a result already.
    pub fn new(total: usize, done: usize) -> Self {
        let bar = columns().filter(|_| total > done).map(|columns| {
            let bar = ProgressBar::new(total as u64).with_position(done as u64);
            let style = ProgressStyle::with_template(template(columns));
            bar.set_style(style.expect("the template is well-formed"));
            bar
        });
        let ticker = bar.as_ref().and_then(tick);
        Self { bar, _ticker: ticker, target: None, done, total, failed: 0, last_line: Instant::now() }
    }

    /// Starts with the cells of several targets, `total` together.
    pub fn overall(total: usize) -> Self {
        Self { target: Some(String::new()), ..Self::new(total, 0) }
    }

    /// Continues with a target, of whose cells `done` have a result already.
    pub fn begin(&mut self, target: &str, done: usize) {
        self.target = Some(target.to_owned());
        self.done += done;
        if let Some(bar) = &self.bar {
            bar.inc(done as u64);
            bar.set_message(one_line(target).into_owned());
        }
    }

    /// Shows the result of a cell.
    pub fn finished(&mut self, result: &CellResult) {
        self.done += 1;
        self.failed += usize::from(result.status.is_failure());
        let width = self.total.to_string().len();
        let reason = match (&result.reason, result.status) {
            (Some(reason), status) if status != Status::Pass => format!(": {}", first_line(reason)),
            _ => String::new(),
        };
        let target = self.target.as_deref().map(|target| format!("{target} ")).unwrap_or_default();
        let line = format!("{} {target}{}{reason}", result.status, result.id);
        let line = one_line(&line).into_owned();
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(format!("{} failed", self.failed));
                bar.inc(1);
                // Passing cells only move the bar.
                if result.status.is_failure() {
                    bar.println(line);
                }
            }
            None => {
                let seconds = result.duration_ms as f64 / 1000.0;
                output::print_error_line(&format!(
                    "[{:width$}/{}] {line} ({seconds:.2} s)",
                    self.done, self.total
                ));
            }
        }
    }

    /// Counts a step that is not a cell, with a line to show if there is one.
    pub fn step(&mut self, line: Option<String>) {
        let line = line.map(|line| one_line(&line).into_owned());
        self.done += 1;
        let width = self.total.to_string().len();
        match (&self.bar, line) {
            (Some(bar), line) => {
                bar.inc(1);
                line.into_iter().for_each(|line| bar.println(line));
            }
            (None, Some(line)) => self.print(&format!("[{:width$}/{}] {line}", self.done, self.total)),
            (None, None) if self.last_line.elapsed() >= QUIET => {
                self.print(&format!("[{:width$}/{}]", self.done, self.total));
            }
            (None, None) => {}
        }
    }

    fn print(&mut self, line: &str) {
        self.last_line = Instant::now();
        output::print_error_line(line);
    }

    /// Removes the bar.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Updates the bar between results. The ticker of indicatif panics if it cannot start a thread; without the
/// thread of this function, the bar only moves with results.
fn tick(bar: &ProgressBar) -> Option<Sender<()>> {
    let (hold, held) = channel();
    let bar = bar.downgrade();
    let ticks = move || {
        while held.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let Some(bar) = bar.upgrade() else { return };
            bar.tick();
        }
    };
    thread::Builder::new().name("progress".into()).spawn(ticks).ok().map(|_| hold)
}
