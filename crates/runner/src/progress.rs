//! What a person sees while cells run: a bar on a terminal, a line per cell elsewhere. All of it on standard
//! error: standard output is the result's.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressStyle};
use metadata::{CellResult, Status, one_line};
use report::first_line;

use crate::output;

/// Where no line is due for so long, one says that there is progress.
const QUIET: Duration = Duration::from_secs(30);
/// A terminal of so many columns has room for a bar beside the numbers.
pub const WIDE: u16 = 80;

/// How many columns the terminal on standard error has, if something can be drawn there. Elsewhere, and where TERM is `dumb` or
/// not set, only lines can be written.
pub fn columns() -> Option<u16> {
    let term = Term::stderr();
    (term.is_term() && !console::is_dumb()).then(|| term.size().1)
}

/// The numbers first: on a narrow terminal what is behind them is cut.
fn template(columns: u16) -> &'static str {
    if columns < WIDE {
        "{prefix} {pos}/{len} {elapsed} {wide_msg}"
    } else {
        "{bar:30} {pos}/{len} {elapsed} (left: {eta}) {prefix} {wide_msg}"
    }
}

/// Between two moves of the bar.
const TICK: Duration = Duration::from_millis(200);

/// Shows the progress of a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// The bar moves as long as this is there.
    _ticker: Option<Sender<()>>,
    /// The target, if there are several.
    target: Option<String>,
    done: usize,
    total: usize,
    failed: usize,
    /// When the last line was written.
    said: Instant,
}

impl Progress {
    /// Of `total` cells, `done` have a result already.
    pub fn new(total: usize, done: usize) -> Self {
        let bar = columns().filter(|_| total > done).map(|columns| {
            let bar = ProgressBar::new(total as u64).with_position(done as u64);
            let style = ProgressStyle::with_template(template(columns));
            bar.set_style(style.expect("the template is well-formed"));
            bar
        });
        let ticker = bar.as_ref().and_then(tick);
        Self { bar, _ticker: ticker, target: None, done, total, failed: 0, said: Instant::now() }
    }

    /// Of several targets, with so many cells together.
    pub fn overall(total: usize) -> Self {
        Self { target: Some(String::new()), ..Self::new(total, 0) }
    }

    /// Goes on to a target, `done` of whose cells have a result already.
    pub fn begin(&mut self, target: &str, done: usize) {
        self.target = Some(target.to_owned());
        self.done += done;
        if let Some(bar) = &self.bar {
            bar.inc(done as u64);
            bar.set_message(one_line(target).into_owned());
        }
    }

    /// A cell has a result.
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
                output::say(&format!("[{:width$}/{}] {line} ({seconds:.2} s)", self.done, self.total));
            }
        }
    }

    /// A step that is no cell's result is done; with something to say of it, perhaps.
    pub fn step(&mut self, line: Option<String>) {
        let line = line.map(|line| one_line(&line).into_owned());
        self.done += 1;
        let width = self.total.to_string().len();
        match (&self.bar, line) {
            (Some(bar), line) => {
                bar.inc(1);
                line.into_iter().for_each(|line| bar.println(line));
            }
            (None, Some(line)) => self.say(&format!("[{:width$}/{}] {line}", self.done, self.total)),
            (None, None) if self.said.elapsed() >= QUIET => {
                self.say(&format!("[{:width$}/{}]", self.done, self.total));
            }
            (None, None) => {}
        }
    }

    fn say(&mut self, line: &str) {
        self.said = Instant::now();
        output::say(line);
    }

    /// No more results come.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Moves the bar while nothing happens. indicatif's own way to do so panics if there is no thread; without one the bar
/// moves with each result only.
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
