//! Shows the progress of a command that has no cells: on a terminal in one line that changes, otherwise with
//! a line now and then.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use matrix::output;
use matrix::progress::{WIDE, columns};

/// The interval between two lines of progress without a terminal.
const LINE: Duration = Duration::from_secs(10);

/// The progress that is shown.
pub struct Shown {
    bar: Option<ProgressBar>,
    last: Instant,
}

impl Shown {
    /// Starts. `total` is the position of the end.
    pub fn new(total: u64) -> Self {
        let bar = columns().map(|columns| {
            let bar = ProgressBar::new(total.max(1));
            let template = if columns < WIDE { "{wide_msg}" } else { "{bar:20} {wide_msg}" };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.expect("the template is well-formed"));
            bar
        });
        Self { bar, last: Instant::now() }
    }

    /// Shows the position, and this text.
    pub fn update(&mut self, position: u64, line: impl FnOnce() -> String) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(position);
                bar.set_message(line());
            }
            None if self.last.elapsed() >= LINE => {
                self.last = Instant::now();
                output::print_error_line(&line());
            }
            None => {}
        }
    }

    /// Removes the line that changes.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
