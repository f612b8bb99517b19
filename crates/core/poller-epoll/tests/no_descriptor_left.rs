//! The replacement of a poller without a free descriptor number. The test needs a process of its own, because
//! it lowers the process's limit.
#![cfg(any(target_os = "linux", target_os = "android"))]

use std::fs::File;
use std::io::{Write, pipe};
use std::os::fd::OwnedFd;
use std::time::Duration;

use fd_core::poller::{Change, Event, Interest, Limits, Poller, Trigger};
use fd_core::{FdHandle, FdTable, InsertOptions, Prepared, ReadyGuard, Runtime};
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The number of entries in the FD table.
const CAPACITY: usize = 64;

fn registered(runtime: &Prepared, poller: &mut dyn Poller, fd: OwnedFd) -> FdHandle {
    let core = runtime.core();
    let thread = core.threads().next().unwrap();
    let (group, mask, options) = (
        thread.group(),
        thread.mask(),
        InsertOptions { assume_nonblocking: true, ..InsertOptions::default() },
    );
    let handle = core.insert(fd, |_: &ReadyGuard<'_>| (), group, mask, options).unwrap();
    let change = Change {
        fd: handle.number(),
        generation: handle.generation(),
        known: Interest::NONE,
        wanted: Interest::RECV,
        trigger: Trigger::Level,
        force: false,
    };
    assert_eq!(poller.update(&change), Some(Interest::RECV));
    handle
}

fn reported(poller: &mut dyn Poller, table: &FdTable) -> Vec<i32> {
    let mut batch: Vec<Event> = Vec::with_capacity(8);
    poller.wait(table, Some(Duration::ZERO), &mut batch).unwrap();
    batch.iter().map(|event| event.fd).collect()
}

#[test]
fn a_poller_that_cannot_be_replaced_is_unchanged() {
    let limits = Limits { capacity: CAPACITY, groups: 1, threads: 1 };
    let backend = pollmatrix_poller_epoll::backend(&limits).unwrap();
    let runtime =
        Runtime::builder().group(1).capacity(CAPACITY).prepare(pollmatrix_poller_epoll::backend).unwrap();
    let thread = runtime.core().threads().next().unwrap();
    let mut poller = backend.poller(thread).unwrap();
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(b"x").unwrap();
    let pipe_in_epoll = registered(&runtime, &mut *poller, reader.into()).number();
    let file_always_ready =
        registered(&runtime, &mut *poller, File::open("Cargo.toml").unwrap().into()).number();
    let table = runtime.core().table();
    let both = [pipe_in_epoll, file_always_ready];
    assert_eq!(reported(&mut *poller, table), both);

    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, 0, hard).unwrap();
    for forked in [false, true] {
        let error = poller.rebuild(forked).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::EMFILE as i32));
        assert_eq!(reported(&mut *poller, table), both);
    }
    setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    poller.rebuild(false).unwrap();
    assert_eq!(reported(&mut *poller, table), [0; 0]);
}
