//! What subjects write to standard error.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{ChildStderr, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The longest line that is passed on as one.
const LONGEST: u64 = 4096;

type Show = fn(&str);

static SHOW: OnceLock<Show> = OnceLock::new();

/// Passes each line that subjects write to standard error from now on to `show`. Without it, they write to this process's
/// own standard error, which suits a process whose standard error is read by another one.
pub fn show_messages(show: fn(&str)) {
    let _ = SHOW.set(show);
}

/// Where a subject's standard error goes.
pub(super) fn stderr() -> Stdio {
    if SHOW.get().is_some() { Stdio::piped() } else { Stdio::inherit() }
}

/// Lines on their way. Nothing is ever received: the channel is closed when the last one has been shown.
pub(super) struct Messages(Receiver<()>);

impl Messages {
    /// Passes on what comes from a pipe, until it ends.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(super) fn pass_on(stderr: Option<ChildStderr>) -> io::Result<Option<Self>> {
        let (Some(stderr), Some(&show)) = (stderr, SHOW.get()) else { return Ok(None) };
        let (end, ended) = channel();
        thread::Builder::new().spawn(move || {
            let _end = end;
            each_line(stderr, show);
        })?;
        Ok(Some(Self(ended)))
    }

    /// Waits until all of them were shown. A process that the subject has left behind may hold the pipe: then for `limit`.
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
    fn lines_are_passed_on_one_by_one_and_in_parts_if_they_do_not_end() {
        let shown = RefCell::new(Vec::new());
        let text = format!("one\n\ntwo\r\n{}\nlast", "x".repeat(5000));
        each_line(text.as_bytes(), |line| shown.borrow_mut().push(line.to_owned()));
        let expected =
            ["one".into(), String::new(), "two\r".into(), "x".repeat(4096), "x".repeat(904), "last".into()];
        assert_eq!(shown.into_inner(), expected);
    }
}
