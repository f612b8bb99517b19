//! Typed registrations: the source that a handler is lent, gets back, or sees closed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::fcntl::{FcntlArg, fcntl};
use pollmatrix_fd_core::error::{EnterError, InsertError, InsertRefused, MoveError};
use pollmatrix_fd_core::ids::{GroupId, ThreadId, ThreadMask};
use pollmatrix_fd_core::{
    Context, Duplicate, FdCore, FdHandle, Handler, InsertOptions, IntoSource, OwnerId, ReadyGuard, Runtime,
    State,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn start(threads: usize) -> Runtime {
    Runtime::builder().group(threads).start(pollmatrix_poller_poll::backend).unwrap()
}

fn group() -> GroupId {
    GroupId::new(1).unwrap()
}

fn thread(index: usize) -> ThreadId {
    ThreadId::new(group(), index).unwrap()
}

/// The arguments that no test is about.
fn place() -> (GroupId, ThreadMask, InsertOptions) {
    (group(), thread(0).mask(), InsertOptions::default())
}

fn insert<I: IntoSource>(core: &FdCore, source: I, handler: impl Handler<I::Source>) -> FdHandle {
    let (group, threads, options) = place();
    core.insert(source, handler, group, threads, options).unwrap()
}

fn idle(_: &ReadyGuard<'_, UnixStream>) {}

fn sockets() -> (UnixStream, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    far.set_read_timeout(Some(PATIENCE)).unwrap();
    (near, far)
}

/// Runs `action` on a thread and returns its answer.
fn on<R: Send + 'static>(
    core: &FdCore,
    thread: ThreadId,
    action: impl FnOnce(&Context) -> R + Send + 'static,
) -> R {
    let (sender, receiver) = channel();
    core.post(thread, move |context| sender.send(action(context)).unwrap()).unwrap();
    receiver.recv_timeout(PATIENCE).unwrap()
}

/// A server without a second descriptor of anything: each handler uses its own source.
#[test]
fn handlers_use_their_own_sources() {
    struct Echo;
    impl Handler<TcpStream> for Echo {
        fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
            let mut bytes = [0; 64];
            match ready.source().read(&mut bytes) {
                Ok(count @ 1..) => ready.source().write_all(&bytes[..count]).unwrap(),
                _ => ready.registration().delete().unwrap(),
            }
        }
    }
    let runtime = start(1);
    let core = Arc::clone(runtime.core());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let accept = move |ready: &ReadyGuard<'_, TcpListener>| {
        let (stream, _) = ready.source().accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let core = ready.context().core();
        let handle = insert(core, stream, Echo);
        core.registration(handle).want_recv().unwrap();
    };
    let handle = insert(&core, listener, accept);
    core.registration(handle).want_recv().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.write_all(b"hello").unwrap();
    let mut echo = [0; 5];
    client.read_exact(&mut echo).unwrap();
    assert_eq!(&echo, b"hello");
    assert!(!core.entry(handle).unwrap().state.contains(State::CLONED));
    runtime.stop().unwrap();
}

/// Sends what it takes back, and when it is dropped, whether its source is open then.
struct Ending<S> {
    number: RawFd,
    released: Sender<S>,
    dropped: Sender<bool>,
}

fn is_open(number: RawFd) -> bool {
    // SAFETY: the number is only asked about.
    fcntl(unsafe { BorrowedFd::borrow_raw(number) }, FcntlArg::F_GETFD).is_ok()
}

impl<S: Send + 'static> Handler<S> for Ending<S> {
    fn ready(&self, _: &ReadyGuard<'_, S>) {}

    fn released(&self, source: S) {
        self.released.send(source).unwrap();
    }
}

impl<S> Drop for Ending<S> {
    fn drop(&mut self) {
        self.dropped.send(is_open(self.number)).unwrap();
    }
}

/// A copy with a number that no other test uses: the system gives out the lowest numbers first.
fn at_number_above(source: UnixStream, least: RawFd) -> UnixStream {
    let number = fcntl(&source, FcntlArg::F_DUPFD_CLOEXEC(least)).unwrap();
    // SAFETY: fcntl has just made it.
    unsafe { UnixStream::from_raw_fd(number) }
}

fn ending(core: &FdCore, least: RawFd) -> (FdHandle, UnixStream, Receiver<UnixStream>, Receiver<bool>) {
    let (near, far) = sockets();
    let near = at_number_above(near, least);
    let ((released, source), (dropped, was_open)) = (channel(), channel());
    let handler = Ending { number: near.as_raw_fd(), released, dropped };
    let handle = insert(core, near, handler);
    (handle, far, source, was_open)
}

#[test]
fn a_disowned_source_comes_back_as_it_was_and_before_its_handler_is_dropped() {
    let runtime = start(1);
    let (handle, mut far, source, was_open) = ending(runtime.core(), 150);
    runtime.core().registration(handle).disown().unwrap();
    let mut near: UnixStream = source.recv_timeout(PATIENCE).unwrap();
    assert_eq!(was_open.recv_timeout(PATIENCE), Ok(true));
    near.write_all(b"x").unwrap();
    far.read_exact(&mut [0]).unwrap();
    runtime.stop().unwrap();
}

#[test]
fn a_deleted_source_is_closed_before_its_handler_is_dropped() {
    let runtime = start(1);
    let (handle, mut far, source, was_open) = ending(runtime.core(), 200);
    runtime.core().registration(handle).delete().unwrap();
    assert_eq!(was_open.recv_timeout(PATIENCE), Ok(false));
    assert!(source.recv().is_err(), "it was not released");
    assert_eq!(far.read(&mut [0]).unwrap(), 0);
    runtime.stop().unwrap();
}

#[test]
fn a_source_in_blocking_mode_is_refused_unless_the_caller_vouches_for_it() {
    let runtime = start(1);
    let core = runtime.core();
    let (group, threads, options) = place();
    let idle = |_: &ReadyGuard<'_, UnixStream>| {};
    let (near, _far) = UnixStream::pair().unwrap();
    let fd = near.as_raw_fd();
    let before = (core.registration_counts(), core.table().used());
    let refused = core.insert(near, idle, group, threads, options).unwrap_err();
    assert_eq!(refused.reason, InsertRefused::Blocking { fd });
    assert!(refused.to_string().contains("set_nonblocking(true)"), "{refused}");
    assert_eq!((core.registration_counts(), core.table().used()), before);
    let InsertError { source, handler, .. } = refused;
    let vouched = InsertOptions { assume_nonblocking: true, ..options };
    let handle = core.insert(source, handler, group, threads, vouched).unwrap();
    core.registration(handle).delete().unwrap();
    runtime.stop().unwrap();
}

/// Owns a descriptor that it has closed.
struct Closed(RawFd);

impl AsFd for Closed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the number is only asked about.
        unsafe { BorrowedFd::borrow_raw(self.0) }
    }
}

impl From<Closed> for OwnedFd {
    fn from(_: Closed) -> Self {
        unreachable!("it is refused")
    }
}

#[test]
fn a_source_that_is_not_open_is_refused() {
    let runtime = start(1);
    let (group, threads, options) = place();
    let refused =
        runtime.core().insert(Closed(1000), |_: &ReadyGuard<'_, Closed>| {}, group, threads, options);
    assert_eq!(refused.unwrap_err().reason, InsertRefused::NotOpen { fd: 1000 });
    runtime.stop().unwrap();
}

/// Suspect 17: both of two descriptors of one open file are known to be that, without the caller's help.
#[test]
fn a_duplicate_and_its_original_are_both_marked_as_cloned() {
    let runtime = start(1);
    let core = runtime.core();
    let (near, mut far) = sockets();
    let original = insert(core, near, idle);
    let is_cloned = |handle| core.entry(handle).unwrap().state.contains(State::CLONED);
    assert!(!is_cloned(original));
    let duplicate = core.registration(original).duplicate().unwrap().map(UnixStream::from);
    let answer = |ready: &ReadyGuard<'_, UnixStream>| {
        ready.source().write_all(b"copy").unwrap();
        ready.registration().stop_both().unwrap();
    };
    let copy = insert(core, duplicate, answer);
    assert!(is_cloned(original) && is_cloned(copy));
    core.registration(copy).want_send().unwrap();
    let mut bytes = [0; 4];
    far.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"copy");
    runtime.stop().unwrap();
}

#[test]
fn a_duplicate_that_is_refused_comes_back_as_one() {
    let runtime = start(1);
    let core = runtime.core();
    let (group, _, options) = place();
    let (near, _far) = sockets();
    let idle = |_: &ReadyGuard<'_>| {};
    let original = insert(core, OwnedFd::from(near), idle);
    let duplicate = core.registration(original).duplicate().unwrap();
    let refused = core.insert(duplicate, idle, group, ThreadMask::NONE, options).unwrap_err();
    let duplicate: Duplicate = refused.source;
    let copy = insert(core, duplicate, idle);
    assert!(core.entry(copy).unwrap().state.contains(State::CLONED));
    runtime.stop().unwrap();
}

#[test]
fn an_entered_source_has_the_type_that_was_inserted() {
    let runtime = start(1);
    let core = runtime.core();
    let (near, mut far) = sockets();
    let handle = insert(core, near, idle);
    let write = |ready: &ReadyGuard<'_, UnixStream>| ready.source().write_all(b"x").is_ok();
    assert_eq!(on(core, thread(0), move |context| context.enter(handle, write)), Ok(true));
    far.read_exact(&mut [0]).unwrap();
    let other = on(core, thread(0), move |context| context.enter(handle, |_: &ReadyGuard<'_, TcpStream>| ()));
    assert_eq!(other, Err(EnterError::WrongType));
    assert!(core.entry(handle).unwrap().running.is_empty(), "L9");
    runtime.stop().unwrap();
}

/// A takeover names its owner by a copy of the handler, or as the registration knows it.
#[test]
fn an_owner_is_the_handler_that_the_caller_keeps_or_the_one_that_the_registration_names() {
    let runtime = start(2);
    let core = runtime.core();
    let ((near, _far), (other, _other_far)) = (sockets(), sockets());
    let kept: Arc<dyn Handler<UnixStream>> = Arc::new(|_: &ReadyGuard<'_, UnixStream>| {});
    let shared = insert(core, near, Arc::clone(&kept));
    let log = Mutex::new(0);
    let given = move |_: &ReadyGuard<'_, UnixStream>| *log.lock().unwrap() += 1;
    let plain = insert(core, other, given);
    let owner = |handle| core.registration(handle).owner().unwrap();
    assert_eq!(owner(shared), OwnerId::of(&kept));
    assert_ne!(owner(plain), owner(shared));
    for (handle, right, wrong) in
        [(shared, owner(shared), owner(plain)), (plain, owner(plain), owner(shared))]
    {
        assert_eq!(core.entry(handle).unwrap().owner, right);
        let attempt = |expected| on(core, thread(1), move |context| context.takeover(handle, expected));
        assert_eq!(attempt(wrong), Err(MoveError::WrongOwner));
        assert_eq!(attempt(right), Ok(()));
    }
    runtime.stop().unwrap();
}

#[test]
fn public_types_print_their_names_and_identities() {
    let builder = Runtime::builder().group(1).capacity(256).signal(nix::libc::SIGUSR2, |_| ());
    let shown = format!("{builder:?}");
    let signal = nix::libc::SIGUSR2;
    assert_eq!(shown, format!("Builder {{ groups: [1], capacity: Some(256), signals: [{signal}], .. }}"));
    let prepared = builder.prepare(pollmatrix_poller_poll::backend).unwrap();
    let core = Arc::clone(prepared.core());
    let (group, _, options) = place();
    let (near, _far) = sockets();
    let idle = |_: &ReadyGuard<'_, UnixStream>| {};
    let refused = core.insert(near, idle, group, ThreadMask::NONE, options).unwrap_err();
    assert_eq!(format!("{refused:?}"), "InsertError { reason: NoThread { group: G1 }, .. }");
    let handle = insert(&core, refused.source, refused.handler);
    let of = |name: &str, shown: String| assert!(shown.starts_with(name), "{shown} is not of {name}");
    of("Prepared { core: FdCore { backend: \"poll\", table: FdTable { id: ", format!("{prepared:?}"));
    let runtime = prepared.start().unwrap();
    of("Runtime { core: FdCore {", format!("{runtime:?}"));
    let shown = format!("{:?}", core.registration(handle));
    assert_eq!(shown, format!("RegistrationRef {{ handle: {handle:?}, caller: None, .. }}"));
    let shown = on(&core, thread(0), move |context| {
        context.enter(handle, |ready: &ReadyGuard<'_, UnixStream>| format!("{ready:?}"))
    });
    let expected = format!("ReadyGuard {{ handle: {handle:?}, thread: G1/T0, events: NONE, .. }}");
    assert_eq!(shown, Ok(expected));
    runtime.stop().unwrap();
}

thread_local! {
    /// How often this thread has allocated since [`allocations`] began, and how many bytes.
    static ALLOCATED: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

struct Counting;

/// An idle timeout is moved at every read.
#[test]
fn a_timeout_that_is_moved_allocates_nothing() {
    let runtime = start(1);
    let core = runtime.core();
    let (near, _far) = sockets();
    let handle = insert(core, near, idle);
    let (sender, receiver) = channel();
    let move_often = move |context: &Context| {
        let registration = context.registration(handle);
        registration.set_timeout(Some(PATIENCE)).unwrap();
        let (_, allocated) = allocations(|| {
            (0..1000).for_each(|_| registration.set_timeout(Some(PATIENCE)).unwrap());
        });
        sender.send(allocated).unwrap();
    };
    core.post(thread(0), move_often).unwrap();
    assert_eq!(receiver.recv().unwrap(), (0, 0));
    runtime.stop().unwrap();
}

/// A source that counts the calls of its code.
struct Counted(UnixStream, std::sync::atomic::AtomicU32);

impl AsFd for Counted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.0.as_fd()
    }
}

impl From<Counted> for OwnedFd {
    fn from(counted: Counted) -> Self {
        counted.0.into()
    }
}

/// Its code could end the registration, which would wait for the call that it is called from.
#[test]
fn a_copy_is_made_without_the_code_of_the_source() {
    let runtime = start(1);
    let core = runtime.core();
    let (group, threads, options) = place();
    let (near, _far) = sockets();
    let handler = |_: &ReadyGuard<'_, Counted>| {};
    let handle = core.insert(Counted(near, 0.into()), handler, group, threads, options).unwrap();
    let calls = || {
        let (sender, receiver) = std::sync::mpsc::channel();
        let count = move |ready: &ReadyGuard<'_, Counted>| {
            sender.send(ready.source().1.load(std::sync::atomic::Ordering::SeqCst)).unwrap();
        };
        core.post(core.threads().next().unwrap(), move |context| context.enter(handle, count).unwrap())
            .unwrap();
        receiver.recv().unwrap()
    };
    let before = calls();
    let copy = core.registration(handle).duplicate().unwrap();
    assert_eq!(calls(), before);
    drop(copy);
    runtime.stop().unwrap();
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let counted = |(count, bytes)| (count + 1, bytes + layout.size());
        let _ = ALLOCATED.try_with(|allocated| allocated.set(allocated.get().map(counted)));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread allocates in `action`, and how many bytes.
fn allocations<R>(action: impl FnOnce() -> R) -> (R, (usize, usize)) {
    ALLOCATED.set(Some((0, 0)));
    let answer = action();
    (answer, ALLOCATED.take().unwrap())
}

/// Beside the 80 bytes of the table, a registration needs its handler and its source only.
#[test]
fn a_registration_allocates_its_handler_and_its_source_once() {
    let runtime = start(1);
    let core = runtime.core();
    let (group, threads, options) = place();
    let (near, _far) = sockets();
    let sizes = [1_u64, 2, 3, 4, 5, 6];
    let handler = move |_: &ReadyGuard<'_, UnixStream>| assert_eq!(sizes.len(), 6);
    let held = size_of_val(&handler) + size_of_val(&near).next_multiple_of(align_of_val(&handler));
    let (inserted, allocated) = allocations(|| core.insert(near, handler, group, threads, options));
    assert_eq!(allocated, (1, held));
    let handle = inserted.unwrap();
    let (taken, allocated) = allocations(|| core.registration(handle).delete());
    assert_eq!((taken, allocated), (Ok(()), (0, 0)));
    runtime.stop().unwrap();
}
