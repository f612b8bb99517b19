//! libevent 2, with persistent level-triggered events, and without the locks that the adapter of
//! `pollmatrix-adapters` needs: a base of one thread takes none.

use std::ffi::{CStr, c_char, c_int, c_short, c_void};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use crate::ring::{Ring, thread_time};
use crate::work::Poller;

const EV_READ: c_short = 0x02;
const EV_PERSIST: c_short = 0x10;
const EVLOOP_NO_EXIT_ON_EMPTY: c_int = 0x04;

type Callback = extern "C" fn(c_int, c_short, *mut c_void);

// From event2/event.h.
unsafe extern "C" {
    fn event_get_supported_methods() -> *mut *const c_char;
    fn event_config_new() -> *mut c_void;
    fn event_config_free(config: *mut c_void);
    fn event_config_avoid_method(config: *mut c_void, method: *const c_char) -> c_int;
    fn event_base_new_with_config(config: *const c_void) -> *mut c_void;
    fn event_base_free(base: *mut c_void);
    fn event_base_get_method(base: *const c_void) -> *const c_char;
    fn event_base_loop(base: *mut c_void, flags: c_int) -> c_int;
    fn event_base_loopbreak(base: *mut c_void) -> c_int;
    fn event_new(
        base: *mut c_void,
        fd: c_int,
        what: c_short,
        callback: Callback,
        argument: *mut c_void,
    ) -> *mut c_void;
    fn event_add(event: *mut c_void, timeout: *const c_void) -> c_int;
    fn event_free(event: *mut c_void);
}

/// The argument of a callback.
struct Place<'r> {
    ring: &'r Ring,
    index: usize,
    base: *mut c_void,
}

extern "C" fn ready(_: c_int, _: c_short, argument: *mut c_void) {
    // SAFETY: the argument is a place, which outlives its event.
    let place = unsafe { &*argument.cast::<Place<'_>>() };
    if place.ring.ready(place.index) {
        // SAFETY: the base runs this callback.
        unsafe { event_base_loopbreak(place.base) };
    }
}

/// Makes a base with this method and no other.
fn base(method: &CStr) -> io::Result<*mut c_void> {
    // SAFETY: each object is used while it exists, and the names are constants of libevent, in an array that
    // ends with a null pointer.
    unsafe {
        let config = event_config_new();
        let mut name = event_get_supported_methods();
        while !(*name).is_null() {
            if CStr::from_ptr(*name) != method {
                event_config_avoid_method(config, *name);
            }
            name = name.add(1);
        }
        let base = event_base_new_with_config(config);
        event_config_free(config);
        if base.is_null() || CStr::from_ptr(event_base_get_method(base)) != method {
            return Err(io::Error::other(format!("libevent cannot use {}", method.to_string_lossy())));
        }
        Ok(base)
    }
}

pub fn run(ring: &Ring, poller: Poller) -> io::Result<Duration> {
    let kernel = if cfg!(any(target_os = "linux", target_os = "android")) { c"epoll" } else { c"kqueue" };
    let base = base(match poller {
        Poller::Kernel => kernel,
        Poller::Poll => c"poll",
        Poller::Select => c"select",
    })?;
    let place = |index| Place { ring, index, base };
    let places: Vec<_> = (0..ring.descriptors().count()).map(place).collect();
    let add = |(place, fd): (&Place<'_>, std::os::fd::BorrowedFd<'_>)| {
        let argument = ptr::from_ref(place).cast_mut().cast();
        // SAFETY: the base exists, and the place outlives the event.
        unsafe {
            let event = event_new(base, fd.as_raw_fd(), EV_READ | EV_PERSIST, ready, argument);
            event_add(event, ptr::null());
            event
        }
    };
    let events: Vec<_> = places.iter().zip(ring.descriptors()).map(add).collect();
    let begin = thread_time();
    ring.start();
    // SAFETY: the base and its events exist.
    let result = unsafe { event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY) };
    let time = thread_time() - begin;
    // SAFETY: no callback runs any more.
    unsafe {
        events.into_iter().for_each(|event| event_free(event));
        event_base_free(base);
    }
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(time) }
}
