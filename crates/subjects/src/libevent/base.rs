//! libevent's objects, each freed once and used while its base lives.

use std::ffi::{CStr, c_int, c_short, c_void};
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use libc::timeval;
use nix::errno::Errno;
use selector::{Event, Record, Token};

use super::{ffi, making};

/// An event base that uses one method, and may be used from every thread.
pub struct Base(*mut ffi::EventBase);

// SAFETY: evthread_use_pthreads was called before it was made: libevent takes its lock in each call.
unsafe impl Send for Base {}
// SAFETY: as above.
unsafe impl Sync for Base {}

impl Base {
    /// A base over this method and no other.
    pub fn over(method: &'static CStr) -> io::Result<Self> {
        prepare()?;
        let supported = supported();
        if !supported.contains(&method) {
            let reason = format!("libevent has no {} here", method.to_string_lossy());
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        // SAFETY: no precondition; null is looked for.
        let config = unsafe { ffi::event_config_new() };
        if config.is_null() {
            return Err(io::Error::other("event_config_new: no memory"));
        }
        for other in supported.iter().filter(|other| **other != method) {
            // SAFETY: the configuration is ours, the name is a string that libevent copies.
            unsafe { ffi::event_config_avoid_method(config, other.as_ptr()) };
        }
        // The variables EVENT_NOEPOLL and the like are somebody else's choice.
        // SAFETY: the configuration is ours.
        unsafe { ffi::event_config_set_flag(config, ffi::EVENT_BASE_FLAG_IGNORE_ENV) };
        let base = making::base(config);
        // SAFETY: its last use: nobody makes a base of it any more, and the base does not refer to it.
        unsafe { ffi::event_config_free(config) };
        let base = Self(base?);
        // SAFETY: the base lives, and the name is a constant of libevent.
        let used = unsafe { CStr::from_ptr(ffi::event_base_get_method(base.0)) };
        if used != method {
            return Err(io::Error::other(format!("libevent has chosen {}", used.to_string_lossy())));
        }
        Ok(base)
    }

    /// Its method has this feature.
    pub fn has(&self, feature: c_int) -> bool {
        // SAFETY: the base lives.
        unsafe { ffi::event_base_get_features(self.0) & feature != 0 }
    }

    /// One round of the loop: until a callback was called. Only one thread may be in it.
    pub fn round(&self, flags: c_int) -> Result<(), Errno> {
        Errno::clear();
        // SAFETY: the base lives.
        match unsafe { ffi::event_base_loop(self.0, flags | ffi::EVLOOP_ONCE | ffi::EVLOOP_NO_EXIT_ON_EMPTY) }
        {
            -1 => Err(Errno::last()),
            _ => Ok(()),
        }
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        // SAFETY: it is the last use: every event has a reference to the base.
        unsafe { ffi::event_base_free(self.0) }
    }
}

fn prepare() -> io::Result<()> {
    static PREPARED: OnceLock<c_int> = OnceLock::new();
    extern "C" fn be_silent(_severity: c_int, _message: *const std::ffi::c_char) {}
    // SAFETY: all are called before any base is made. What would be logged is the answer of the call.
    let prepared = PREPARED.get_or_init(|| unsafe {
        ffi::event_set_log_callback(Some(be_silent));
        ffi::event_set_fatal_callback(Some(making::ends_the_process));
        ffi::evthread_use_pthreads()
    });
    if *prepared == 0 { Ok(()) } else { Err(io::Error::other("evthread_use_pthreads failed")) }
}

/// The methods that this libevent has. Asked once: each call of `event_get_supported_methods` frees the array that the
/// call before it returned, which another thread may be reading.
fn supported() -> &'static [&'static CStr] {
    static SUPPORTED: OnceLock<Vec<&'static CStr>> = OnceLock::new();
    // SAFETY: an array of constant names that ends with null. No other call frees it while it is read.
    SUPPORTED.get_or_init(|| unsafe {
        let names = ffi::event_get_supported_methods();
        let names = (0..).map(|index| *names.add(index)).take_while(|name| !name.is_null());
        names.map(|name| CStr::from_ptr(name)).collect()
    })
}

/// What callbacks have told in the current round.
pub struct Heard {
    base: Arc<Base>,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    events: Vec<Event>,
    room: usize,
}

impl Heard {
    /// Nothing yet.
    pub fn new(base: Arc<Base>) -> Self {
        Self { base, told: Mutex::default() }
    }

    /// From now on there is room for so many.
    pub fn begin(&self, room: usize) {
        *self.lock() = Told { events: Vec::new(), room };
    }

    /// What was told since the begin.
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.lock().events)
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, token: Token, what: c_short) {
        let mut told = self.lock();
        told.events.push(Event { token, record: record(what) });
        if told.events.len() >= told.room {
            // The others stay active, and are called in the next round.
            // SAFETY: the base lives; a callback may call it.
            unsafe { ffi::event_base_loopbreak(self.base.0) };
        }
    }
}

fn record(what: c_short) -> Record {
    let words =
        [(ffi::EV_READ, "READ"), (ffi::EV_WRITE, "WRITE"), (ffi::EV_CLOSED, "CLOSED"), (ffi::EV_ET, "ET")];
    Record::Names(words.into_iter().filter(|(bit, _)| what & bit != 0).map(|(_, name)| name.into()).collect())
}

/// Whom an event's callback tells, and in which name.
struct Listener {
    token: Token,
    heard: Arc<Heard>,
}

/// An event of a base.
pub struct OwnedEvent {
    event: *mut ffi::RawEvent,
    /// The callback's argument.
    listener: Option<Box<Listener>>,
    _base: Arc<Base>,
}

// SAFETY: libevent locks the base in each call about an event. The argument is only read, and only by the callback,
// which does not run any more when event_del has returned.
unsafe impl Send for OwnedEvent {}
// SAFETY: as above.
unsafe impl Sync for OwnedEvent {}

impl OwnedEvent {
    /// An event of a descriptor.
    pub fn of(fd: RawFd, what: c_short, token: Token, heard: &Arc<Heard>) -> Result<Self, Errno> {
        let listener = Box::new(Listener { token, heard: Arc::clone(heard) });
        Self::new(&heard.base, fd, what, tell, Some(listener))
    }

    /// One that is no descriptor's: a timer, or made active by hand. It ends a round and tells nobody.
    pub fn silent(base: &Arc<Base>) -> Result<Self, Errno> {
        Self::new(base, -1, 0, ignore, None)
    }

    fn new(
        base: &Arc<Base>,
        fd: RawFd,
        what: c_short,
        callback: ffi::Callback,
        listener: Option<Box<Listener>>,
    ) -> Result<Self, Errno> {
        let argument = listener.as_deref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the base lives as long as the event, which has a reference to it; so does the argument, which it
        // owns.
        let event =
            unsafe { ffi::event_new(base.0, fd, what, callback, argument.cast::<c_void>().cast_mut()) };
        if event.is_null() {
            return Err(Errno::EINVAL);
        }
        Ok(Self { event, listener, _base: Arc::clone(base) })
    }

    /// What its events are called.
    pub fn token(&self) -> Option<Token> {
        self.listener.as_ref().map(|listener| listener.token)
    }

    /// Makes it pending.
    pub fn add(&self, limit: Option<Duration>) -> Result<(), Errno> {
        let limit = limit.map(timeval_of);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        Errno::clear();
        // SAFETY: the event lives; the limit is read during the call.
        if unsafe { ffi::event_add(self.event, limit) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    /// Makes it not pending. When it returns, no callback of it runs.
    pub fn delete(&self) -> Result<(), Errno> {
        Errno::clear();
        // SAFETY: the event lives.
        if unsafe { ffi::event_del(self.event) } == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    /// Makes it active, and wakes the loop.
    pub fn activate(&self) {
        // SAFETY: the event lives.
        unsafe { ffi::event_active(self.event, c_int::from(ffi::EV_TIMEOUT), 0) }
    }
}

impl Drop for OwnedEvent {
    fn drop(&mut self) {
        // SAFETY: the last use. It is deleted first, which waits for a callback of it: its argument is dropped
        // afterwards.
        unsafe { ffi::event_free(self.event) }
    }
}

extern "C" fn tell(_fd: c_int, what: c_short, argument: *mut c_void) {
    // SAFETY: the argument is the event's listener, which is dropped after the event.
    let listener = unsafe { &*argument.cast::<Listener>().cast_const() };
    listener.heard.hear(listener.token, what);
}

extern "C" fn ignore(_fd: c_int, _what: c_short, _argument: *mut c_void) {}

/// Rounded up; what is longer than a few decades is a few decades.
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

    /// libevent's own list of methods is made anew by each call, and the old one is freed.
    #[test]
    fn threads_make_bases_at_the_same_time() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50_000).for_each(|_| assert!(supported().contains(&c"poll"))));
                scope.spawn(|| Base::over(c"poll").unwrap());
            }
        });
    }

    #[test]
    fn words_are_those_of_the_flags() {
        assert_eq!(record(ffi::EV_READ | ffi::EV_CLOSED).to_string(), "READ|CLOSED");
        assert_eq!(record(ffi::EV_WRITE | ffi::EV_ET).to_string(), "WRITE|ET");
        assert_eq!(record(0).to_string(), "-");
    }
}
