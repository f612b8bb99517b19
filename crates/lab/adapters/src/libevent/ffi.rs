//! Declarations from event2/event.h and event2/thread.h of libevent 2.1.

use std::ffi::{c_char, c_int, c_short, c_void};

use libc::timeval;

#[repr(C)]
pub struct EventBase {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct EventConfig {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct RawEvent {
    _opaque: [u8; 0],
}

pub type Callback = extern "C" fn(fd: c_int, what: c_short, argument: *mut c_void);
pub type LogCallback = extern "C" fn(severity: c_int, message: *const c_char);
pub type FatalCallback = extern "C" fn(code: c_int);

pub const EV_TIMEOUT: c_short = 0x01;
pub const EV_READ: c_short = 0x02;
pub const EV_WRITE: c_short = 0x04;
pub const EV_PERSIST: c_short = 0x10;
pub const EV_ET: c_short = 0x20;
pub const EV_CLOSED: c_short = 0x80;

pub const EVLOOP_ONCE: c_int = 0x01;
pub const EVLOOP_NONBLOCK: c_int = 0x02;
pub const EVLOOP_NO_EXIT_ON_EMPTY: c_int = 0x04;

pub const EV_FEATURE_ET: c_int = 0x01;
pub const EV_FEATURE_EARLY_CLOSE: c_int = 0x08;

pub const EVENT_BASE_FLAG_IGNORE_ENV: c_int = 0x02;

unsafe extern "C" {
    pub fn evthread_use_pthreads() -> c_int;
    pub fn event_set_log_callback(callback: Option<LogCallback>);
    pub fn event_set_fatal_callback(callback: Option<FatalCallback>);
    pub fn event_get_version() -> *const c_char;
    pub fn event_get_supported_methods() -> *mut *const c_char;

    pub fn event_config_new() -> *mut EventConfig;
    pub fn event_config_free(config: *mut EventConfig);
    pub fn event_config_avoid_method(config: *mut EventConfig, method: *const c_char) -> c_int;
    pub fn event_config_set_flag(config: *mut EventConfig, flag: c_int) -> c_int;

    pub fn event_base_new_with_config(config: *const EventConfig) -> *mut EventBase;
    pub fn event_base_free(base: *mut EventBase);
    pub fn event_base_get_method(base: *const EventBase) -> *const c_char;
    pub fn event_base_get_features(base: *const EventBase) -> c_int;
    pub fn event_base_loop(base: *mut EventBase, flags: c_int) -> c_int;
    pub fn event_base_loopbreak(base: *mut EventBase) -> c_int;

    pub fn event_new(
        base: *mut EventBase,
        fd: c_int,
        events: c_short,
        callback: Callback,
        argument: *mut c_void,
    ) -> *mut RawEvent;
    pub fn event_free(event: *mut RawEvent);
    pub fn event_add(event: *mut RawEvent, timeout: *const timeval) -> c_int;
    pub fn event_del(event: *mut RawEvent) -> c_int;
    pub fn event_active(event: *mut RawEvent, what: c_int, calls: c_short);
}
