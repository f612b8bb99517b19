//! The declarations of `sys/event.h`: those of the system, or those of a library that provides kqueue(2).

#[cfg(not(kqueue_library))]
pub(crate) use libc::{
    EV_ADD, EV_CLEAR, EV_DELETE, EV_DISABLE, EV_DISPATCH, EV_ENABLE, EV_EOF, EV_ERROR, EV_ONESHOT,
    EV_RECEIPT, EVFILT_PROC, EVFILT_READ, EVFILT_SIGNAL, EVFILT_TIMER, EVFILT_USER, EVFILT_VNODE,
    EVFILT_WRITE, NOTE_TRIGGER, kevent, kqueue,
};

#[cfg(kqueue_library)]
pub(crate) use library::*;

/// The declarations of libkqueue, which are those of FreeBSD 8.
#[cfg(kqueue_library)]
mod library {
    use std::ffi::{c_int, c_short, c_uint, c_ushort, c_void};

    /// One change, receipt or event.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    #[allow(non_camel_case_types, reason = "the name in the header")]
    pub(crate) struct kevent {
        pub(crate) ident: libc::uintptr_t,
        pub(crate) filter: c_short,
        pub(crate) flags: c_ushort,
        pub(crate) fflags: c_uint,
        pub(crate) data: libc::intptr_t,
        pub(crate) udata: *mut c_void,
    }

    pub(crate) const EVFILT_READ: i16 = -1;
    pub(crate) const EVFILT_WRITE: i16 = -2;
    pub(crate) const EVFILT_VNODE: i16 = -4;
    pub(crate) const EVFILT_PROC: i16 = -5;
    pub(crate) const EVFILT_SIGNAL: i16 = -6;
    pub(crate) const EVFILT_TIMER: i16 = -7;
    pub(crate) const EVFILT_USER: i16 = -11;
    /// A filter that only libkqueue has. It returns facts about the library.
    pub(crate) const EVFILT_LIBKQUEUE: i16 = -12;

    pub(crate) const EV_ADD: u16 = 0x0001;
    pub(crate) const EV_DELETE: u16 = 0x0002;
    pub(crate) const EV_ENABLE: u16 = 0x0004;
    pub(crate) const EV_DISABLE: u16 = 0x0008;
    pub(crate) const EV_ONESHOT: u16 = 0x0010;
    pub(crate) const EV_CLEAR: u16 = 0x0020;
    pub(crate) const EV_RECEIPT: u16 = 0x0040;
    pub(crate) const EV_DISPATCH: u16 = 0x0080;
    pub(crate) const EV_ERROR: u16 = 0x4000;
    pub(crate) const EV_EOF: u16 = 0x8000;

    pub(crate) const NOTE_TRIGGER: u32 = 0x0100_0000;
    /// The version, one number per byte.
    pub(crate) const NOTE_VERSION: u32 = 0x0001;

    unsafe extern "C" {
        pub(crate) fn kqueue() -> c_int;
        pub(crate) fn kevent(
            queue: c_int,
            changes: *const kevent,
            change_count: c_int,
            events: *mut kevent,
            event_count: c_int,
            timeout: *const libc::timespec,
        ) -> c_int;
    }

    /// Waits until the library has closed its descriptors of closed queues, which its own thread does.
    /// Does nothing with a library that lacks the function.
    pub(crate) fn settle() {
        // SAFETY: the name is a C string.
        let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"libkqueue_drain_pending_close".as_ptr()) };
        if !function.is_null() {
            // SAFETY: the function of this name has no arguments and no result.
            let settle = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn()>(function) };
            settle();
        }
    }

    // The layout of libkqueue's header on a 64-bit system.
    #[cfg(target_pointer_width = "64")]
    const _: () = assert!(size_of::<kevent>() == 32 && align_of::<kevent>() == 8);
}
