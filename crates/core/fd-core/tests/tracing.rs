//! The events for the `tracing` crate.
#![cfg(feature = "tracing")]

use std::fmt::{Debug, Write};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use pollmatrix_fd_core::ids::ThreadId;
use pollmatrix_fd_core::{InsertOptions, OwnerId, ReadyGuard, Runtime};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps each event as a line: level, message, fields.
struct Lines;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // A time differs in each run.
        match field.name() {
            "microseconds" => self.0.push_str(" microseconds"),
            name => write!(self.0, " {name}={value:?}").unwrap(),
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "fd_core"
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        LINES.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn insertions_takeovers_slow_handlers_and_iterations_are_traced() {
    tracing::subscriber::set_global_default(Lines).unwrap();
    let runtime = Runtime::builder().group(2).start(pollmatrix_poller_poll::backend).unwrap();
    let (core, id) = (runtime.core(), ThreadId::FIRST);
    let (near, far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    let slow = |ready: &ReadyGuard<'_, UnixStream>| {
        std::thread::sleep(Duration::from_millis(11));
        ready.registration().delete().unwrap();
    };
    let options = InsertOptions::default();
    let handle = core.insert(near, slow, id.group(), id.mask(), options).unwrap();
    let (fd, generation) = (handle.number(), handle.generation());
    let other = core.threads().nth(1).unwrap();
    let (sender, receiver) = channel();
    let wrong = OwnerId::of(&std::sync::Arc::new(()));
    let owner = core.registration(handle).owner().unwrap();
    core.post(other, move |context| {
        sender.send([wrong, owner].map(|owner| context.takeover(handle, owner).is_ok())).unwrap();
    })
    .unwrap();
    assert_eq!(receiver.recv().unwrap(), [false, true]);
    core.registration(handle).want_recv().unwrap();
    drop(far);
    runtime.drain(Duration::from_secs(60)).unwrap();

    let lines = LINES.lock().unwrap();
    let of_fd = format!("fd={fd} generation={generation}");
    for expected in [
        format!("TRACE message=insert {of_fd} group=1 threads="),
        format!("DEBUG message=takeover refused {of_fd} thread=1/1 reason=the owner is not the expected one"),
        format!("TRACE message=takeover {of_fd} thread=1/1"),
        format!("WARN message=slow handler {of_fd} thread=1/1 microseconds"),
        "TRACE message=iteration thread=1/1 microseconds".to_owned(),
    ] {
        assert!(lines.iter().any(|line| line.starts_with(&expected)), "no {expected:?} in {lines:#?}");
    }
}
