//! A runtime that cannot have its descriptors. Alone in its process, because it lowers the process's limit.

use fd_core::Runtime;
use fd_core::error::StartError;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

#[test]
fn a_start_without_descriptors_says_so_and_leaves_nothing() {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    // The next free number tells how many are open below it; a fence of nothing beyond.
    let open = || {
        (0..256).filter(|fd| nix::fcntl::fcntl(borrow(*fd), nix::fcntl::FcntlArg::F_GETFD).is_ok()).count()
    };
    let before = open();
    // Each of the four threads needs a pipe: two fit.
    setrlimit(Resource::RLIMIT_NOFILE, before as nix::sys::resource::rlim_t + 5, hard).unwrap();
    let started = Runtime::builder().group(4).capacity(256).start(poller_poll::backend);
    setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    let Err(StartError::System { what, source }) = started else { panic!("it started") };
    assert_eq!(source.raw_os_error(), Some(nix::libc::EMFILE), "{what}: {source}");
    assert_eq!(open(), before, "descriptors were left behind");
}

fn borrow(fd: i32) -> std::os::fd::BorrowedFd<'static> {
    // SAFETY: only asked whether it is open.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) }
}
