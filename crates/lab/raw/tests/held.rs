//! Scripts over an adapter that makes the descriptors under test itself. Its answers are those of the adapter
//! that takes them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use adapters::testing::lacks;
use metadata::{Mode, Transport};
use pollmatrix_raw::{Observation, PATIENCE, Setting, Stopped, run};
use rstest::rstest;
use selector::MakeSelector;

/// Descriptor numbers and programs that wait for their next use belong to the process: one script at a time,
/// and no program is started beside it, whose child has a copy of each descriptor until it executes it.
///
/// Returns `None` without Python.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    (!lacks("python3")).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

fn adapter(program: &str, poller: &str) -> MakeSelector {
    let path = format!("{}/../../../adapters/python/{program}", env!("CARGO_MANIFEST_DIR"));
    adapters::process(vec!["python3".into(), path, poller.into()], adapters::PATIENCE)
}

fn run_with(
    make: MakeSelector,
    transport: Transport,
    script: &str,
) -> (Vec<Observation>, Result<(), Stopped>) {
    let setting = Setting { transport, mode: Mode::Level, make, queue: None, seed: 1, patience: PATIENCE };
    let (transcript, ended) = run(script, setting);
    (transcript.observations, ended)
}

/// Each of these has an act of the adapter, and an answer that shows whether it was done.
#[rstest]
#[case::written_and_read(
    &[Transport::Tcp, Transport::Unix, Transport::Udp, Transport::Pipe],
    "own and peer are connected, watch own, look at own as idle, peer sends 3, look at own as data, \
     own reads 1?, look at own as after-read, own drains, look at own as drained"
)]
#[case::shut_and_closed(
    &[Transport::Tcp, Transport::Unix],
    "own and peer are connected, watch own, own sends 3, peer reads?, own shuts write, look at own, \
     peer reads? as shut, peer sends 2, peer closes, look at own as closed, own reads twice?, own closes, \
     wait as after-close"
)]
#[case::own_closed(
    &[Transport::Tcp, Transport::Unix, Transport::Udp],
    "own and peer are connected, add own for reading, own closes, wait as closed, peer sends 1?, wait as written"
)]
#[case::pipe_closed(
    &[Transport::Pipe],
    "own and peer are connected, watch own, peer sends 1, peer closes, look at own, own reads twice?"
)]
#[case::listener(
    &[Transport::Tcp, Transport::Unix],
    "own listens backlog 2, watch own, look at own, a reaches own, b reaches own, look at own as pending, \
     own accepts conn, add conn in second?, look at own as accepted"
)]
#[case::accepted_by_the_adapter(
    &[Transport::Tcp, Transport::Unix],
    "listener listens, a reaches listener, listener accepts own, add own for reading, a sends 4, wait, \
     own reads?"
)]
#[case::connecting(
    &[Transport::Tcp],
    "listener listens, own connects to listener?, watch own, look at own as connected"
)]
#[case::refused(&[Transport::Tcp], "own is fresh, watch own, own connects to nobody?, look at own as refused")]
#[case::bound(&[Transport::Tcp, Transport::Udp], "own is fresh, own binds, add own?, wait as bound")]
#[case::filled(
    &[Transport::Unix, Transport::Pipe],
    "peer and own are connected, watch own, own fills, look at own as full, peer drains, look at own as empty"
)]
#[case::looked_at_now(&[Transport::Unix], "own and peer are connected, peer sends 1, look at own for reading")]
#[case::blocked(
    &[Transport::Tcp, Transport::Unix],
    "own and peer are connected, add own for reading, t waits, peer sends 1, t answers as woken, own reads?"
)]
fn an_adapter_that_acts_answers_as_one_that_takes(#[case] transports: &[Transport], #[case] script: &str) {
    let Some(_alone) = alone() else { return };
    for transport in transports {
        let (taking, acting) = (adapter("adapter.py", "poll"), adapter("acting.py", "poll"));
        // A listener cannot be in two programs.
        let (expected, ended) = run_with(taking, *transport, script);
        assert_eq!(ended, Ok(()), "{transport:?}");
        let (observed, ended) = run_with(acting, *transport, script);
        if script.contains("in second") {
            let why = "'conn' is in the program of another poller, and python-poll takes no descriptors";
            assert!(matches!(&ended, Err(Stopped::Unsupported(reason)) if reason == why), "{ended:?}");
            assert!(!observed.is_empty() && expected.starts_with(&observed), "{observed:?}");
            continue;
        }
        assert_eq!(ended, Ok(()), "{transport:?}");
        assert!(!observed.is_empty());
        assert_eq!(observed, expected, "{transport:?}");
    }
}

/// What the adapter has no command for must not be done by this process behind its back.
#[rstest]
#[case::so_error(
    "own and peer are connected, add own, own asks SO_ERROR?",
    "python-poll holds 'own', and has no"
)]
#[case::option(
    "own and peer are connected, add own, own sets SO_RCVLOWAT 3?",
    "python-poll holds 'own', and has no"
)]
#[case::copy(
    "own and peer are connected, copy is a copy of own, add own",
    "python-poll holds 'own', and has no"
)]
#[case::file("own is a file of 3, add own", "python-poll makes the descriptors under test itself")]
#[case::number("own and peer are connected, add own, own moves to 900", "descriptors have other numbers")]
#[case::limit(
    "own listens, add own, a reaches own, descriptors run out, own accepts conn?",
    "python-poll holds the descriptors itself: the limits"
)]
#[case::fork(
    "own and peer are connected, add own, a child is forked, own closes",
    "python-poll holds the descr"
)]
#[case::both_ends(
    "own and peer are connected, add own, add peer",
    "python-poll holds one end, and the script reg"
)]
#[case::second(
    "own and peer are connected, add own, add own in second",
    "'own' is in the program of another"
)]
#[case::registered(
    "own and peer are connected, add own, look at own for reading",
    "'own' is registered, and"
)]
#[case::beside(
    "own listens, other listens beside own, add own, add other",
    "python-poll holds 'other', and has no"
)]
#[case::during_a_wait(
    "own and peer are connected, add own for reading, t waits, own closes",
    "an adapter gets no"
)]
fn an_act_without_a_command_is_unsupported(#[case] script: &str, #[case] reason: &str) {
    let Some(_alone) = alone() else { return };
    let (_, ended) = run_with(adapter("acting.py", "poll"), Transport::Tcp, script);
    assert!(matches!(&ended, Err(Stopped::Unsupported(why)) if why.starts_with(reason)), "{ended:?}");
}

#[test]
fn a_kind_that_the_adapter_does_not_make_is_unsupported() {
    let Some(_alone) = alone() else { return };
    for (transport, script) in [
        (Transport::Fifo, "own and peer are connected, add own"),
        (Transport::UnixDgram, "own and peer are connected, add own"),
        (Transport::Seqpacket, "own is fresh, add own"),
    ] {
        let (_, ended) = run_with(adapter("acting.py", "poll"), transport, script);
        let why = format!("python-poll does not make a {} itself", transport.name());
        assert_eq!(ended, Err(Stopped::Unsupported(why)));
    }
}

/// The adapter takes a copy of a descriptor that moves to the number of a closed one, before it is
/// registered.
#[test]
fn an_adapter_with_numbers_sees_that_a_number_is_used_again() {
    let Some(_alone) = alone() else { return };
    let script = "own and peer are connected, other and far are connected, add own for reading, own closes, \
                  wait as closed, other takes the number of own, wait as idle, far sends 1, wait as reused";
    for (poller, expected) in [("poll", ["NVAL", "silent", "IN"]), ("select", ["EBADF", "silent", "r"])] {
        let (observed, ended) = run_with(adapter("adapter.py", poller), Transport::Unix, script);
        assert_eq!(ended, Ok(()));
        let answers: Vec<_> = observed.iter().map(|observation| observation.answer.to_string()).collect();
        assert_eq!(answers, expected, "{poller}");
    }
}
