//! The guarantees of every selector of this system, independent of its kernel's answers.
//!
//! Where one thread waits and another acts, either can come first, and each test must pass in both orders. On
//! Linux the tests read from /proc whether the thread sleeps, so that both orders occur. A lost wake-up makes
//! a test hang; a lost event makes it fail at its time limit.

#![allow(clippy::disallowed_methods, reason = "a test that cannot start a thread may panic")]

use std::collections::BTreeSet;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::sys::socket::{MsgFlags, send};
use pollmatrix_matrix::backends;
use selector::{Changed, Event, Interest, MakeSelector, Mode, Selector, Token};

/// The time limit for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);

fn selectors() -> impl Iterator<Item = Box<dyn Selector>> {
    backends::here().map(|backend| (backend.selector)().unwrap())
}

/// Returns every selector with each of its modes, a new selector for each.
fn selectors_by_mode() -> impl Iterator<Item = (Box<dyn Selector>, Mode)> {
    let modes = |make: &MakeSelector| make().unwrap().capabilities().modes;
    let makes = backends::here().map(|backend| backend.selector);
    makes.flat_map(move |make| modes(&make).into_iter().map(move |mode| (make().unwrap(), mode)))
}

fn readable_pipe() -> (PipeReader, PipeWriter, RawFd) {
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(b"x").unwrap();
    let fd = reader.as_raw_fd();
    (reader, writer, fd)
}

fn tokens(events: &[Event]) -> Vec<Token> {
    events.iter().map(|event| event.token).collect()
}

/// Returns the tokens of a wait that must return an event.
fn waited(selector: &dyn Selector) -> Vec<Token> {
    tokens(&selector.wait(8, Some(PATIENCE)).unwrap())
}

fn assert_done(changed: Changed, selector: &dyn Selector) {
    assert_eq!(changed, Changed::Done, "{}", selector.name());
}

/// Asserts that no other event is pending: adds a readable descriptor, and expects its event alone.
fn only_a_fence(selector: &dyn Selector) {
    const FENCE: Token = 1_000_000;
    let (_reader, _writer, fd) = readable_pipe();
    assert_done(selector.add(fd, FENCE, Interest::READ, Mode::Level), selector);
    assert_eq!(waited(selector), [FENCE], "{}", selector.name());
    assert_done(selector.remove(fd), selector);
}

#[test]
fn a_registration_is_added_and_removed() {
    for selector in selectors() {
        let (name, (_reader, _writer, fd)) = (selector.name(), readable_pipe());
        assert_done(selector.add(fd, 7, Interest::READ, Mode::Level), &*selector);
        for _ in 0..2 {
            assert_eq!(waited(&*selector), [7], "{name}");
        }
        assert_done(selector.remove(fd), &*selector);
        only_a_fence(&*selector);
        let Changed::Refused(refusals) = selector.remove(fd) else { panic!("{name}") };
        assert!(refusals.iter().all(|refusal| refusal.errno == Errno::ENOENT), "{name}: {refusals:?}");
    }
}

/// The token, too: later batches have the new one.
#[test]
fn a_modification_replaces_interest_and_token() {
    for selector in selectors() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let fd = ours.as_raw_fd();
        assert_done(selector.add(fd, 1, Interest::READ, Mode::Level), &*selector);
        only_a_fence(&*selector);
        assert_done(selector.modify(fd, 2, Interest::WRITE, Mode::Level), &*selector);
        assert_eq!(waited(&*selector), [2], "{}", selector.name());
        assert_done(selector.modify(fd, 3, Interest::NONE, Mode::Level), &*selector);
        only_a_fence(&*selector);
    }
}

#[test]
fn events_have_all_bits_of_their_tokens() {
    let biggest = Token::try_from(usize::MAX).unwrap() - 1;
    for selector in selectors() {
        for token in [0, 1, 1 << 31, biggest] {
            let (_reader, _writer, fd) = readable_pipe();
            assert_done(selector.add(fd, token, Interest::READ, Mode::Level), &*selector);
            assert_eq!(waited(&*selector), [token], "{}", selector.name());
            assert_done(selector.remove(fd), &*selector);
        }
    }
}

/// Tests how often each mode reports unchanged readiness, and that a modification makes the modes report it
/// again that had stopped.
#[test]
fn each_mode_reports_as_often_as_documented() {
    for (selector, mode) in selectors_by_mode() {
        let name = format!("{} {mode:?}", selector.name());
        let (mut reader, mut writer, fd) = readable_pipe();
        assert_done(selector.add(fd, 1, Interest::READ, mode), &*selector);
        assert_eq!(waited(&*selector), [1], "{name}");
        match mode {
            Mode::Level | Mode::Exclusive => assert_eq!(waited(&*selector), [1], "{name}"),
            Mode::Edge | Mode::ExclusiveEdge => {
                only_a_fence(&*selector);
                writer.write_all(b"y").unwrap();
                assert_eq!(waited(&*selector), [1], "{name}: more data is an edge");
                only_a_fence(&*selector);
            }
            Mode::OneShot | Mode::Dispatch | Mode::EdgeOneShot => {
                only_a_fence(&*selector);
                writer.write_all(b"y").unwrap();
                only_a_fence(&*selector);
            }
        }
        if matches!(mode, Mode::Edge | Mode::OneShot | Mode::Dispatch | Mode::EdgeOneShot) {
            assert_done(selector.modify(fd, 2, Interest::READ, mode), &*selector);
            assert_eq!(waited(&*selector), [2], "{name}: modified");
            only_a_fence(&*selector);
        }
        reader.read_exact(&mut [0]).unwrap();
    }
}

#[test]
fn an_unsupported_mode_is_refused_and_changes_nothing() {
    for selector in selectors() {
        let (_reader, _writer, fd) = readable_pipe();
        for &mode in Mode::ALL {
            let supported = selector.capabilities().modes.contains(&mode);
            assert_eq!(selector.views(mode).is_empty(), !supported, "{} {mode:?}", selector.name());
            if !supported {
                let added = selector.add(fd, 1, Interest::READ, mode);
                assert!(matches!(added, Changed::Unsupported(_)), "{} {mode:?}", selector.name());
            }
        }
        only_a_fence(&*selector);
    }
}

/// The names under which answers are published.
#[test]
fn views_have_the_published_names() {
    for selector in selectors() {
        let apis = |mode| selector.views(mode).iter().map(|view| view.api).collect::<Vec<_>>();
        let (level, edge) = match selector.name() {
            "epoll" => (vec!["epoll-add-before", "epoll-add-after"], vec!["epoll-add-before"]),
            "kqueue" => (vec!["kqueue-add-before", "kqueue-add-after"], vec!["kqueue-add-before"]),
            "poll" => (vec!["poll", "poll-events0"], vec![]),
            "select" => (vec!["select"], vec![]),
            other => panic!("{other}"),
        };
        assert_eq!((apis(Mode::Level), apis(Mode::Edge)), (level, edge));
    }
}

#[test]
fn a_batch_never_exceeds_its_capacity() {
    for selector in selectors() {
        let pipes: Vec<_> = (0..3).map(|_| readable_pipe()).collect();
        for (token, (_, _, fd)) in (0..).zip(&pipes) {
            assert_done(selector.add(*fd, token, Interest::READ, Mode::Level), &*selector);
        }
        let two = selector.wait(2, None).unwrap();
        assert_eq!(tokens(&two).into_iter().collect::<BTreeSet<_>>().len(), 2, "{}", selector.name());
        let all: BTreeSet<_> = waited(&*selector).into_iter().collect();
        assert_eq!(all, BTreeSet::from([0, 1, 2]), "{}", selector.name());
    }
}

#[test]
fn urgent_data_is_reported_where_supported() {
    for selector in selectors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (theirs, _) = listener.accept().unwrap();
        let urgent = Interest { urgent: true, ..Interest::NONE };
        match selector.add(ours.as_raw_fd(), 1, urgent, Mode::Level) {
            Changed::Unsupported(_) => assert_eq!(selector.name(), "kqueue"),
            changed => {
                assert_done(changed, &*selector);
                only_a_fence(&*selector);
                assert_eq!(send(theirs.as_raw_fd(), b"!", MsgFlags::MSG_OOB), Ok(1));
                let events = selector.wait(8, Some(PATIENCE)).unwrap();
                let written: Vec<_> = events.iter().map(|event| event.record.to_string()).collect();
                assert!(
                    matches!(&written[..], [one] if ["PRI", "--x", "X"].contains(&&**one)),
                    "{written:?}"
                );
            }
        }
    }
}

#[test]
fn each_selector_has_a_notation_for_no_event() {
    for selector in selectors() {
        let expected = match selector.name() {
            "poll" => "-",
            "select" => "---",
            _ => "silent",
        };
        assert_eq!(selector.no_event(), expected);
    }
}

#[test]
fn a_wake_up_before_the_wait_ends_that_one_and_is_no_event() {
    let pause = Duration::from_millis(20);
    for selector in selectors() {
        for wakes in [1, 2, 1000] {
            (0..wakes).for_each(|_| selector.wake().unwrap());
            assert_eq!(selector.wait(8, None), Ok(vec![]), "{}", selector.name());
            let before = Instant::now();
            assert_eq!(selector.wait(8, Some(pause)), Ok(vec![]), "{}", selector.name());
            assert!(before.elapsed() >= pause, "{}: one wake-up for two waits", selector.name());
        }
    }
}

#[test]
fn every_wake_up_of_another_thread_ends_a_wait() {
    const ROUNDS: usize = 500;
    for selector in selectors() {
        let (selector, ended) = (Arc::<dyn Selector>::from(selector), Arc::new(AtomicUsize::new(0)));
        let waiter = Waiter::start({
            let (selector, ended) = (selector.clone(), ended.clone());
            move || {
                for _ in 0..ROUNDS {
                    assert_eq!(selector.wait(8, None), Ok(vec![]), "{}", selector.name());
                    ended.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        for round in 0..ROUNDS {
            if round % 2 == 1 {
                waiter.wait_until_asleep();
            }
            selector.wake().unwrap();
            while ended.load(Ordering::SeqCst) == round && !waiter.thread.is_finished() {
                thread::yield_now();
            }
        }
        waiter.thread.join().unwrap();
    }
}

/// A14: on Linux a thread that waits on a closed epoll descriptor continues to sleep, and every other call
/// fails.
#[cfg(target_os = "linux")]
#[test]
fn a_close_wakes_no_thread_and_a_wake_up_still_reaches_the_waiter() {
    let selector = Arc::<dyn Selector>::from(poller_epoll::selector().unwrap());
    let waiter = Waiter::start({
        let selector = selector.clone();
        move || selector.wait(8, None)
    });
    waiter.wait_until_asleep();
    assert_eq!(selector.close(), Ok(Ok(())));
    assert_eq!(selector.wait(8, None), Err(Errno::EBADF));
    selector.wake().unwrap();
    assert_eq!(waiter.thread.join().unwrap(), Ok(vec![]));
}

/// A thread whose sleep can be observed, on Linux.
struct Waiter<T> {
    thread: JoinHandle<T>,
    #[cfg(target_os = "linux")]
    stat: std::path::PathBuf,
}

impl<T: Send + 'static> Waiter<T> {
    #[cfg(target_os = "linux")]
    fn start(wait: impl FnOnce() -> T + Send + 'static) -> Self {
        let (send, receive) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            send.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            wait()
        });
        Self { thread, stat: std::path::Path::new("/proc").join(receive.recv().unwrap()).join("stat") }
    }

    #[cfg(not(target_os = "linux"))]
    fn start(wait: impl FnOnce() -> T + Send + 'static) -> Self {
        Self { thread: thread::spawn(wait) }
    }

    /// Returns when the thread sleeps or has ended. On systems other than Linux, returns at an arbitrary
    /// moment.
    fn wait_until_asleep(&self) {
        #[cfg(target_os = "linux")]
        {
            let begun = Instant::now();
            let awake = |stat: String| stat.rsplit(") ").next().is_some_and(|rest| !rest.starts_with('S'));
            while std::fs::read_to_string(&self.stat).is_ok_and(awake) {
                assert!(begun.elapsed() < PATIENCE, "the thread does not sleep");
                thread::yield_now();
            }
        }
        #[cfg(not(target_os = "linux"))]
        thread::yield_now();
    }
}

/// A12: with the capability, a waiting thread sees the registrations of another thread; without it, after a
/// wake-up.
#[test]
fn a_registration_during_a_wait_is_seen_or_needs_a_wake_up() {
    for selector in selectors() {
        let selector = Arc::<dyn Selector>::from(selector);
        for token in 0..200 {
            let (_reader, _writer, fd) = readable_pipe();
            let waiter = Waiter::start({
                let selector = selector.clone();
                move || {
                    let mut seen = vec![];
                    while seen.is_empty() {
                        seen = tokens(&selector.wait(8, None).unwrap());
                    }
                    seen
                }
            });
            if token % 2 == 1 {
                waiter.wait_until_asleep();
            }
            assert_done(selector.add(fd, token, Interest::READ, Mode::Level), &*selector);
            if selector.capabilities().changes_seen_by_waiters.is_err() {
                selector.wake().unwrap();
            }
            assert_eq!(waiter.thread.join().unwrap(), [token], "{}", selector.name());
            assert_done(selector.remove(fd), &*selector);
        }
    }
}

#[test]
fn a_signal_interrupts_a_wait() {
    extern "C" fn nothing(_: libc_int) {}
    let action = SigAction::new(SigHandler::Handler(nothing), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler does nothing.
    unsafe { sigaction(Signal::SIGUSR1, &action).unwrap() };
    for selector in selectors() {
        let name = selector.name().to_owned();
        let waiter = thread::spawn(move || selector.wait(8, None));
        // One of the signals arrives while the thread waits.
        while !waiter.is_finished() {
            // The thread can have ended already.
            let _ = pthread_kill(waiter.as_pthread_t(), Signal::SIGUSR1);
            thread::yield_now();
        }
        assert_eq!(waiter.join().unwrap(), Err(Errno::EINTR), "{name}");
    }
}

/// The argument of a signal handler.
#[expect(non_camel_case_types, reason = "C's name")]
type libc_int = i32;

/// T02, whatever the unit of the call's timeout.
#[test]
fn no_timeout_ends_early() {
    for selector in selectors() {
        for nanoseconds in [1, 300_000, 1_000_000, 1_000_001, 2_500_000] {
            let timeout = Duration::from_nanos(nanoseconds);
            for _ in 0..5 {
                let before = Instant::now();
                assert_eq!(selector.wait(8, Some(timeout)), Ok(vec![]), "{}", selector.name());
                let after = before.elapsed();
                assert!(after >= timeout, "{}: {after:?} of {timeout:?}", selector.name());
            }
        }
    }
}

/// Even if another poller has its descriptor number by then.
#[test]
fn calls_on_a_closed_selector_fail() {
    for (backend, selector) in backends::here().zip(selectors()) {
        let make = backend.selector;
        let (name, (_reader, _writer, fd)) = (selector.name(), readable_pipe());
        match selector.close() {
            Err(_) => assert!(["poll", "select"].contains(&name)),
            Ok(closed) => {
                assert_eq!(closed, Ok(()), "{name}");
                let _others: Vec<_> = (0..8).map(|_| make().unwrap()).collect();
                assert_eq!(selector.wait(8, Some(Duration::ZERO)), Err(Errno::EBADF), "{name}");
                assert_eq!(selector.close(), Ok(Err(Errno::EBADF)), "{name}");
                let Changed::Refused(refusals) = selector.add(fd, 1, Interest::READ, Mode::Level) else {
                    panic!("{name}")
                };
                assert!(refusals.iter().all(|refusal| refusal.errno == Errno::EBADF), "{name}: {refusals:?}");
            }
        }
    }
}

#[test]
fn dropped_selectors_leave_no_descriptor_open() {
    for _ in 0..2000 {
        for selector in selectors() {
            let _ = selector.close();
        }
        selectors().for_each(drop);
    }
    // A new descriptor gets the lowest free number.
    assert!(pipe().unwrap().0.as_raw_fd() < 500);
}
