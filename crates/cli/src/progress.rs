//! What a person sees while cells run: a bar on a terminal, a line per cell elsewhere. All of it on standard
//! error: standard output is the result's.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
pub use report::first_line;
use report::{CellResult, Status};

use crate::output;

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
}

impl Progress {
    /// Of `total` cells, `done` have a result already.
    pub fn new(total: usize, done: usize) -> Self {
        let bar = (std::io::stderr().is_terminal() && total > done).then(|| {
            let bar = ProgressBar::new(total as u64).with_position(done as u64);
            let template = "{bar:30} {pos}/{len} {elapsed} (left: {eta}) {wide_msg}";
            bar.set_style(ProgressStyle::with_template(template).expect("the template is well-formed"));
            bar
        });
        let ticker = bar.as_ref().and_then(tick);
        Self { bar, _ticker: ticker, target: None, done, total, failed: 0 }
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
            bar.set_message(self.message());
        }
    }

    fn message(&self) -> String {
        match &self.target {
            Some(target) => format!("{target}, {} failed", self.failed),
            None => format!("{} failed", self.failed),
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
        match &self.bar {
            Some(bar) => {
                // Passing cells only move the bar.
                if result.status.is_failure() {
                    bar.println(line);
                }
                bar.set_message(self.message());
                bar.inc(1);
            }
            None => {
                let seconds = result.duration_ms as f64 / 1000.0;
                output::say(&format!("[{:width$}/{}] {line} ({seconds:.2} s)", self.done, self.total));
            }
        }
    }

    /// A step that is no cell's result is done; with something to say of it, perhaps.
    pub fn step(&mut self, line: Option<String>) {
        self.done += 1;
        let width = self.total.to_string().len();
        match (&self.bar, line) {
            (Some(bar), line) => {
                line.into_iter().for_each(|line| bar.println(line));
                bar.inc(1);
            }
            (None, Some(line)) => output::say(&format!("[{:width$}/{}] {line}", self.done, self.total)),
            (None, None) => {}
        }
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
