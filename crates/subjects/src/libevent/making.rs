//! How a base is made, which may be the end of the process.
//!
//! Without the descriptors of its signal pair, libevent over poll or select does not fail: it ends the process. That is
//! an answer, too, and somebody has to be left to tell it. So a base is made on a thread of its own, which stops for
//! ever where the process would end.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::mpsc::{Sender, channel};
use std::{io, thread};

use super::ffi;

/// `None`: the process would have ended.
type Made = Option<NewBase>;

struct NewBase(*mut ffi::EventBase);

// SAFETY: the thread that has made it uses it no more.
unsafe impl Send for NewBase {}

struct Configuration(*const ffi::EventConfig);

// SAFETY: whoever lends it waits until the thread that it is lent to has made a base or stopped.
unsafe impl Send for Configuration {}

thread_local! {
    /// Whom this thread tells of the base that it makes.
    static TELLS: Cell<Option<Sender<Made>>> = const { Cell::new(None) };
}

/// What libevent calls before it ends the process. It does so if this returns: nobody but a thread that makes a base
/// can stop here.
pub extern "C" fn ends_the_process(_code: c_int) {
    if let Some(tells) = TELLS.take() {
        // Who waits for it gives up.
        let _ = tells.send(None);
        loop {
            thread::park();
        }
    }
}

/// A new base of this configuration, which may be freed afterwards.
pub fn base(configuration: *const ffi::EventConfig) -> io::Result<*mut ffi::EventBase> {
    let failed = |how| Err(io::Error::other(format!("event_base_new_with_config: {how}")));
    let (tells, told) = channel();
    let configuration = Configuration(configuration);
    let thread = thread::Builder::new().name("libevent".into()).spawn(move || {
        let Configuration(configuration) = { configuration };
        TELLS.set(Some(tells.clone()));
        // SAFETY: the configuration lives until it is told of the base.
        let base = unsafe { ffi::event_base_new_with_config(configuration) };
        TELLS.take();
        // Whoever has asked waits for it.
        let _ = tells.send(Some(NewBase(base)));
    })?;
    match told.recv() {
        Ok(Some(NewBase(base))) => {
            // It has told everything, and holds nothing.
            let _ = thread.join();
            if base.is_null() { failed("it cannot be made") } else { Ok(base) }
        }
        _ => failed("it ends the process"),
    }
}
