//! The standard error of adapters.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{ChildStderr, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The maximum length of a line. Longer lines are passed on in parts.
const LONGEST: u64 = 4096;

type Show = fn(&str);

static SHOW: OnceLock<Show> = OnceLock::new();

/// Passes each line that adapters write to standard error from now on to `show`. Otherwise adapters write to
/// the standard error of this process, which is right if another process reads that.
pub fn show_messages(show: fn(&str)) {
    let _ = SHOW.set(show);
}

/// Returns the destination of an adapter's standard error.
pub(super) fn stderr() -> Stdio {
    if SHOW.get().is_some() { Stdio::piped() } else { Stdio::inherit() }
}

/// The lines that are not shown yet. The channel carries no messages: it is closed when the last line has
/// been shown.
pub(super) struct Messages(Receiver<()>);

impl Messages {
    /// Starts a thread that passes on the lines of a pipe until it ends.
    ///
    /// # Errors
    /// The error of creating the thread.
    pub(super) fn pass_on(stderr: Option<ChildStderr>) -> io::Result<Option<Self>> {
        let (Some(stderr), Some(&show)) = (stderr, SHOW.get()) else { return Ok(None) };
        let (sender, receiver) = channel();
        thread::Builder::new().spawn(move || {
            let _closed_at_the_end = sender;
            each_line(stderr, show);
        })?;
        Ok(Some(Self(receiver)))
    }

    /// Waits until all lines have been shown, at most for `limit`: a child of the adapter may hold the pipe
    /// open.
    pub(super) fn wait(&self, limit: Duration) {
        let _ = self.0.recv_timeout(limit);
    }
}

fn each_line(pipe: impl Read, show: impl Fn(&str)) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    while let Ok(1..) = pipe.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
        show(String::from_utf8_lossy(&line).trim_end_matches('\n'));
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn lines_are_passed_on_one_by_one_and_long_ones_in_parts() {
        let shown = RefCell::new(Vec::new());
        let text = format!("one\n\ntwo\r\n{}\nlast", "x".repeat(5000));
        each_line(text.as_bytes(), |line| shown.borrow_mut().push(line.to_owned()));
        let expected =
            ["one".into(), String::new(), "two\r".into(), "x".repeat(4096), "x".repeat(904), "last".into()];
        assert_eq!(shown.into_inner(), expected);
    }
}
