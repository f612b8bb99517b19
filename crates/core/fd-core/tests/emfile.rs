//! A start without enough descriptors. The test is alone in its process, because it lowers the limit of the
//! process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use pollmatrix_fd_core::Runtime;
use pollmatrix_fd_core::error::StartError;

#[test]
fn a_start_without_descriptors_fails_and_closes_everything() {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    // Counts the open numbers.
    let open = || {
        (0..256).filter(|fd| nix::fcntl::fcntl(borrow(*fd), nix::fcntl::FcntlArg::F_GETFD).is_ok()).count()
    };
    let before = open();
    // Each of the four threads needs a pipe. The limit allows two pipes.
    setrlimit(Resource::RLIMIT_NOFILE, before as nix::sys::resource::rlim_t + 5, hard).unwrap();
    let started = Runtime::builder().group(4).capacity(256).start(pollmatrix_poller_poll::backend);
    setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    let Err(StartError::System { what, source }) = started else { panic!("it starts") };
    assert_eq!(source.raw_os_error(), Some(nix::libc::EMFILE), "{what}: {source}");
    assert_eq!(open(), before, "descriptors remain open");
}

fn borrow(fd: i32) -> std::os::fd::BorrowedFd<'static> {
    // SAFETY: the number is only asked about.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) }
}
