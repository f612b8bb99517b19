//! libuv, with uv_poll_t handles, which are level-triggered.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::ring::{Ring, thread_time};

const UV_POLL: c_int = 8;
const UV_READABLE: c_int = 1;
const UV_RUN_DEFAULT: c_int = 0;
const UV_RUN_NOWAIT: c_int = 2;

type PollCallback = extern "C" fn(*mut c_void, c_int, c_int);

// From uv.h.
unsafe extern "C" {
    fn uv_loop_size() -> usize;
    fn uv_handle_size(kind: c_int) -> usize;
    fn uv_handle_type_name(kind: c_int) -> *const std::ffi::c_char;
    fn uv_loop_init(uv: *mut c_void) -> c_int;
    fn uv_loop_close(uv: *mut c_void) -> c_int;
    fn uv_run(uv: *mut c_void, mode: c_int) -> c_int;
    fn uv_stop(uv: *mut c_void);
    fn uv_poll_init(uv: *mut c_void, handle: *mut c_void, fd: c_int) -> c_int;
    fn uv_poll_start(handle: *mut c_void, events: c_int, callback: PollCallback) -> c_int;
    fn uv_close(handle: *mut c_void, callback: Option<extern "C" fn(*mut c_void)>);
    fn uv_handle_set_data(handle: *mut c_void, data: *mut c_void);
    fn uv_handle_get_data(handle: *const c_void) -> *mut c_void;
    fn uv_handle_get_loop(handle: *const c_void) -> *mut c_void;
}

/// The data of a handle.
struct Place<'r> {
    ring: &'r Ring,
    index: usize,
}

extern "C" fn ready(handle: *mut c_void, _: c_int, _: c_int) {
    // SAFETY: the data is a place, which outlives its handle; the loop runs this callback.
    unsafe {
        let place = &*uv_handle_get_data(handle).cast::<Place<'_>>();
        if place.ring.ready(place.index) {
            uv_stop(uv_handle_get_loop(handle));
        }
    }
}

/// Memory for an object of libuv, aligned as malloc(3) does it.
fn memory(size: usize) -> Box<[u128]> {
    vec![0; size.div_ceil(size_of::<u128>())].into()
}

fn check(code: c_int) -> io::Result<()> {
    // libuv's errors are negative errno values.
    if code < 0 { Err(io::Error::from_raw_os_error(-code)) } else { Ok(()) }
}

pub fn run(ring: &Ring) -> io::Result<Duration> {
    // SAFETY: the numbers of handle types have not changed since libuv 1.0; a wrong one is found here.
    let is_poll = unsafe { std::ffi::CStr::from_ptr(uv_handle_type_name(UV_POLL)) } == c"poll";
    if !is_poll {
        return Err(io::Error::other("this libuv numbers its handles in another way"));
    }
    // SAFETY: plain numbers.
    let (mut uv, size) = unsafe { (memory(uv_loop_size()), uv_handle_size(UV_POLL)) };
    let uv: *mut c_void = uv.as_mut_ptr().cast();
    let count = ring.descriptors().count();
    let places: Vec<_> = (0..count).map(|index| Place { ring, index }).collect();
    let mut handles: Vec<_> = (0..count).map(|_| memory(size)).collect();
    // SAFETY: the loop's memory and the handles' are as large as libuv wants, and outlive `uv_loop_close`.
    unsafe {
        check(uv_loop_init(uv))?;
        for ((handle, place), fd) in handles.iter_mut().zip(&places).zip(ring.descriptors()) {
            let handle: *mut c_void = handle.as_mut_ptr().cast();
            check(uv_poll_init(uv, handle, fd.as_raw_fd()))?;
            uv_handle_set_data(handle, std::ptr::from_ref(place).cast_mut().cast());
            check(uv_poll_start(handle, UV_READABLE, ready))?;
        }
        // An iteration registers the handles: they do not count.
        uv_run(uv, UV_RUN_NOWAIT);
        let begin = thread_time();
        ring.start();
        uv_run(uv, UV_RUN_DEFAULT);
        let time = thread_time() - begin;
        handles.iter_mut().for_each(|handle| uv_close(handle.as_mut_ptr().cast(), None));
        uv_run(uv, UV_RUN_DEFAULT);
        check(uv_loop_close(uv))?;
        Ok(time)
    }
}
