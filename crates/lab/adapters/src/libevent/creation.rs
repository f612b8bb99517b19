//! The creation of a base, in which libevent may end the process.
//!
//! If there are no descriptors for its signal pair, libevent over poll or select does not return an error: it
//! ends the process. A test has to record that as an answer. Therefore a thread of its own creates the base,
//! and parks where libevent would end the process.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::mpsc::{Sender, channel};
use std::{io, thread};

use super::ffi;

/// `None`: libevent would have ended the process.
type Created = Option<NewBase>;

struct NewBase(*mut ffi::EventBase);

// SAFETY: the thread that has created the base does not use it afterwards.
unsafe impl Send for NewBase {}

struct Configuration(*const ffi::EventConfig);

// SAFETY: the sending thread waits until the receiving thread has created the base or has parked.
unsafe impl Send for Configuration {}

thread_local! {
    /// The channel for the base that this thread creates.
    static RESULT: Cell<Option<Sender<Created>>> = const { Cell::new(None) };
}

/// The callback that libevent calls before it ends the process. A thread that creates a base parks here. On
/// any other thread the callback returns, and libevent ends the process.
pub extern "C" fn ends_the_process(_code: c_int) {
    if let Some(result) = RESULT.take() {
        // The receiver then returns an error.
        let _ = result.send(None);
        loop {
            thread::park();
        }
    }
}

/// Creates a base with this configuration, which may be freed afterwards.
pub fn base(configuration: *const ffi::EventConfig) -> io::Result<*mut ffi::EventBase> {
    let failed = |how| Err(io::Error::other(format!("event_base_new_with_config {how}")));
    let (sender, receiver) = channel();
    let configuration = Configuration(configuration);
    let thread = thread::Builder::new().name("libevent".into()).spawn(move || {
        let Configuration(configuration) = { configuration };
        RESULT.set(Some(sender.clone()));
        // SAFETY: the configuration is valid until the receiver has the result.
        let base = unsafe { ffi::event_base_new_with_config(configuration) };
        RESULT.take();
        // The receiver waits for it.
        let _ = sender.send(Some(NewBase(base)));
    })?;
    match receiver.recv() {
        Ok(Some(NewBase(base))) => {
            // The thread has sent its result, so it ends.
            let _ = thread.join();
            if base.is_null() { failed("fails") } else { Ok(base) }
        }
        _ => failed("ends the process"),
    }
}
