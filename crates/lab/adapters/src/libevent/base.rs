//! libevent's objects. Each is freed once, and is used only while its base exists.

use std::ffi::{CStr, c_int, c_short, c_void};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use libc::timeval;
use nix::errno::Errno;
use selector::{Event, Record, Token};

use super::{creation, ffi};
use crate::library::names;

/// An event base with one method. Every thread may use it.
pub struct Base(*mut ffi::EventBase);

// SAFETY: evthread_use_pthreads was called before the base was created, so libevent locks the base in each
// call.
unsafe impl Send for Base {}
// SAFETY: as above.
unsafe impl Sync for Base {}

impl Base {
    /// Creates a base with this method and no other.
    pub fn over(method: &'static CStr) -> io::Result<Self> {
        prepare()?;
        let supported = supported();
        if !supported.contains(&method) {
            let reason = format!("libevent has no {} here", method.to_string_lossy());
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        // SAFETY: it has no precondition; null is checked below.
        let config = unsafe { ffi::event_config_new() };
        if config.is_null() {
            return Err(io::Error::other("event_config_new: no memory"));
        }
        for other in supported.iter().filter(|other| **other != method) {
            // SAFETY: this function owns the configuration; libevent copies the name.
            unsafe { ffi::event_config_avoid_method(config, other.as_ptr()) };
        }
        // Environment variables such as EVENT_NOEPOLL must not change the method.
        // SAFETY: this function owns the configuration.
        unsafe { ffi::event_config_set_flag(config, ffi::EVENT_BASE_FLAG_IGNORE_ENV) };
        let base = creation::base(config);
        // SAFETY: this is the last use: no thread creates a base with it any more, and the base does not
        // refer to it.
        unsafe { ffi::event_config_free(config) };
        let base = Self(base?);
        // SAFETY: the base exists, and the name is a constant of libevent.
        let used = unsafe { CStr::from_ptr(ffi::event_base_get_method(base.0)) };
        if used != method {
            return Err(io::Error::other(format!("libevent has chosen {}", used.to_string_lossy())));
        }
        Ok(base)
    }

    /// Returns whether the method has this feature.
    pub fn has(&self, feature: c_int) -> bool {
        // SAFETY: the base exists.
        unsafe { ffi::event_base_get_features(self.0) & feature != 0 }
    }

    /// Runs one iteration of the loop, which ends after a callback. Only one thread may run it at a time.
    pub fn iterate(&self, flags: c_int) -> Result<(), Errno> {
        Errno::clear();
        // SAFETY: the base exists.
        match unsafe { ffi::event_base_loop(self.0, flags | ffi::EVLOOP_ONCE | ffi::EVLOOP_NO_EXIT_ON_EMPTY) }
        {
            -1 => Err(Errno::last()),
            _ => Ok(()),
        }
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        // SAFETY: this is the last use: every event has a reference to the base.
        unsafe { ffi::event_base_free(self.0) }
    }
}

/// Sets libevent's callbacks and locks, once per process.
fn prepare() -> io::Result<()> {
    static PREPARED: OnceLock<c_int> = OnceLock::new();
    extern "C" fn discard_message(_severity: c_int, _message: *const std::ffi::c_char) {}
    // Messages are discarded, because each call returns its error.
    // SAFETY: these functions are called before any base is created.
    let prepared = PREPARED.get_or_init(|| unsafe {
        ffi::event_set_log_callback(Some(discard_message));
        ffi::event_set_fatal_callback(Some(creation::ends_the_process));
        ffi::evthread_use_pthreads()
    });
    if *prepared == 0 { Ok(()) } else { Err(io::Error::other("evthread_use_pthreads failed")) }
}

/// Returns the methods that libevent supports on this system. Asks libevent once, because each call of
/// `event_get_supported_methods` frees the array of the previous call, which another thread may be reading.
fn supported() -> &'static [&'static CStr] {
    static SUPPORTED: OnceLock<Vec<&'static CStr>> = OnceLock::new();
    // SAFETY: libevent returns an array of constant names that ends with null. No other call frees it.
    SUPPORTED.get_or_init(|| unsafe {
        let names = ffi::event_get_supported_methods();
        let names = (0..).map(|index| *names.add(index)).take_while(|name| !name.is_null());
        names.map(|name| CStr::from_ptr(name)).collect()
    })
}

/// Collects the events of the callbacks of an iteration.
pub struct Collector {
    base: Arc<Base>,
    batch: Mutex<Batch>,
}

#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    room: usize,
}

impl Collector {
    /// Creates a collector without events.
    pub fn new(base: Arc<Base>) -> Self {
        Self { base, batch: Mutex::default() }
    }

    /// Starts a batch with this room.
    pub fn begin(&self, room: usize) {
        *self.lock() = Batch { events: Vec::new(), room };
    }

    /// Returns the events of the batch.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.lock().events)
    }

    fn lock(&self) -> MutexGuard<'_, Batch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn collect(&self, token: Token, flags: c_short) {
        let mut batch = self.lock();
        batch.events.push(Event { token, record: record(flags) });
        if batch.events.len() >= batch.room {
            // The other events stay active for the next iteration.
            // SAFETY: the base exists; a callback may call this function.
            unsafe { ffi::event_base_loopbreak(self.base.0) };
        }
    }
}

fn record(flags: c_short) -> Record {
    let words =
        [(ffi::EV_READ, "READ"), (ffi::EV_WRITE, "WRITE"), (ffi::EV_CLOSED, "CLOSED"), (ffi::EV_ET, "ET")];
    names(words.map(|(bit, name)| (flags & bit != 0, name)))
}

/// The argument of an event's callback.
struct CallbackArgument {
    token: Token,
    collector: Arc<Collector>,
}

/// An event of a base, in libevent's sense: a registration or a timer.
pub struct OwnedEvent {
    event: *mut ffi::RawEvent,
    /// The argument of the callback.
    argument: Option<Box<CallbackArgument>>,
    _base: Arc<Base>,
}

// SAFETY: libevent locks the base in each call on an event. Only the callback uses the argument, and only to
// read it. The callback does not run after event_del has returned.
unsafe impl Send for OwnedEvent {}
// SAFETY: as above.
unsafe impl Sync for OwnedEvent {}

impl OwnedEvent {
    /// Creates the event of a descriptor.
    pub fn of(fd: RawFd, flags: c_short, token: Token, collector: &Arc<Collector>) -> Result<Self, Errno> {
        let argument = Box::new(CallbackArgument { token, collector: Arc::clone(collector) });
        Self::new(&collector.base, fd, flags, collect_event, Some(argument))
    }

    /// Creates an event without a descriptor: a timer, or one that `activate` makes active. It ends an
    /// iteration without an event in the batch.
    pub fn internal(base: &Arc<Base>) -> Result<Self, Errno> {
        Self::new(base, -1, 0, ignore, None)
    }

    fn new(
        base: &Arc<Base>,
        fd: RawFd,
        flags: c_short,
        callback: ffi::Callback,
        argument: Option<Box<CallbackArgument>>,
    ) -> Result<Self, Errno> {
        let pointer = argument.as_deref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the base and the argument outlive the event, because the new object has a reference to the
        // base and owns the argument.
        let event =
            unsafe { ffi::event_new(base.0, fd, flags, callback, pointer.cast::<c_void>().cast_mut()) };
        if event.is_null() {
            return Err(Errno::EINVAL);
        }
        Ok(Self { event, argument, _base: Arc::clone(base) })
    }

    /// Returns the token of the registration.
    pub fn token(&self) -> Option<Token> {
        self.argument.as_ref().map(|argument| argument.token)
    }

    /// Makes the event pending.
    pub fn add(&self, limit: Option<Duration>) -> Result<(), Errno> {
        let limit = limit.map(timeval_of);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        Errno::clear();
        // SAFETY: the event exists; libevent reads the limit only during the call.
        if unsafe { ffi::event_add(self.event, limit) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    /// Makes the event not pending. When this returns, its callback does not run.
    pub fn delete(&self) -> Result<(), Errno> {
        Errno::clear();
        // SAFETY: the event exists.
        if unsafe { ffi::event_del(self.event) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    /// Makes the event active, and wakes the loop.
    pub fn activate(&self) {
        // SAFETY: the event exists.
        unsafe { ffi::event_active(self.event, c_int::from(ffi::EV_TIMEOUT), 0) }
    }
}

impl Drop for OwnedEvent {
    fn drop(&mut self) {
        // SAFETY: this is the last use. libevent deletes the event first, which waits for its callback. The
        // argument is dropped afterwards.
        unsafe { ffi::event_free(self.event) }
    }
}

extern "C" fn collect_event(_fd: c_int, flags: c_short, argument: *mut c_void) {
    // SAFETY: the pointer is the argument of the event, which is dropped after the event.
    let argument = unsafe { &*argument.cast::<CallbackArgument>().cast_const() };
    argument.collector.collect(argument.token, flags);
}

extern "C" fn ignore(_fd: c_int, _flags: c_short, _argument: *mut c_void) {}

/// Converts a limit, rounded up, and cut to a few decades.
fn timeval_of(limit: Duration) -> timeval {
    const LONGEST: u64 = 1 << 30;
    let micros = limit.as_nanos().div_ceil(1000).min(u128::from(LONGEST) * 1_000_000);
    timeval { tv_sec: (micros / 1_000_000) as _, tv_usec: (micros % 1_000_000) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_never_shortened() {
        let of = |limit| {
            let timeval { tv_sec, tv_usec } = timeval_of(limit);
            Duration::new(tv_sec as u64, tv_usec as u32 * 1000)
        };
        assert_eq!(of(Duration::from_nanos(1)), Duration::from_micros(1));
        assert_eq!(of(Duration::new(2, 999_999_001)), Duration::from_secs(3));
        assert_eq!(of(Duration::MAX), Duration::from_secs(1 << 30));
    }

    /// Each call of libevent builds its list of methods anew and frees the old one.
    #[test]
    fn threads_create_bases_at_the_same_time() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50_000).for_each(|_| assert!(supported().contains(&c"poll"))));
                scope.spawn(|| Base::over(c"poll").unwrap());
            }
        });
    }

    #[test]
    fn a_record_has_the_names_of_the_flags() {
        assert_eq!(record(ffi::EV_READ | ffi::EV_CLOSED).to_string(), "READ|CLOSED");
        assert_eq!(record(ffi::EV_WRITE | ffi::EV_ET).to_string(), "WRITE|ET");
        assert_eq!(record(0).to_string(), "wordless");
    }
}
