//! The properties that scenarios rely on. They do not depend on the names that a poller has for its events.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use metadata::Mode;
use nix::errno::Errno;
use selector::{Changed, Interest, Selector, Token, Unsupported};

use super::Check;
use super::context::{Context, NotPassed, ROOM, Verdict, expect_only, failed, text};

struct ContractCheck {
    name: &'static str,
    claim: &'static str,
    run: fn(&Context) -> Verdict,
}

#[rustfmt::skip]
const CHECKS: &[ContractCheck] = &[
    ContractCheck { name: "readable", run: readable,
        claim: "a pipe with a byte in it is reported in every mode of the poller" },
    ContractCheck { name: "empty-silent", run: empty_silent,
        claim: "an empty pipe is not reported before a later event" },
    ContractCheck { name: "writable", run: writable,
        claim: "a socket with room is reported to a registration for writing" },
    ContractCheck { name: "interest-honoured", run: interest_honoured,
        claim: "a socket with room is not reported to a registration for reading" },
    ContractCheck { name: "half-closed", run: half_closed,
        claim: "a registration for reading is reported when the peer shuts its side" },
    ContractCheck { name: "hung-up", run: hung_up,
        claim: "a registration for reading is reported when the last writer closes" },
    ContractCheck { name: "token-round-trip", run: token_round_trip,
        claim: "an event has the token of its registration" },
    ContractCheck { name: "modified", run: modified,
        claim: "after a modification, events follow the new interest and have the new token" },
    ContractCheck { name: "removed-silent", run: removed_silent,
        claim: "a ready descriptor is not reported after its removal" },
    ContractCheck { name: "added-again", run: added_again,
        claim: "a removed descriptor can be added again" },
    ContractCheck { name: "level-repeats", run: level_repeats,
        claim: "level: each wait reports the descriptor as long as it is ready" },
    ContractCheck { name: "edge-once", run: edge_once,
        claim: "edge: the descriptor is reported once, and again when more data arrives" },
    ContractCheck { name: "one-shot-once", run: one_shot_once,
        claim: "one-shot: the descriptor is reported once until it is modified or added again" },
    ContractCheck { name: "other-modes", run: other_modes,
        claim: "a mode that is not among the poller's modes is answered by unsupported" },
    ContractCheck { name: "room", run: room,
        claim: "a wait returns at most as many events as there is room, and loses none" },
    ContractCheck { name: "timeout-not-early", run: timeout_not_early,
        claim: "a wait without an event takes at least its timeout" },
    ContractCheck { name: "woken-before", run: woken_before,
        claim: "a wake-up ends the next wait, and only that one" },
    ContractCheck { name: "woken-meanwhile", run: woken_meanwhile,
        claim: "a wake-up from another thread ends the wait" },
    ContractCheck { name: "copy-closed", run: copy_closed,
        claim: "after closed, the poller has no copy of the descriptor, so the other end sees the close" },
    ContractCheck { name: "number-again", run: number_again,
        claim: "a number that was closed and is open again can be registered again" },
    ContractCheck { name: "close", run: close,
        claim: "after close, waits return EBADF; without support for it, the poller continues to work" },
];

type Make<'a> = &'a dyn Fn() -> io::Result<Box<dyn Selector>>;

/// Runs every wanted check, each with a poller of its own.
pub fn all(make: Make<'_>, patience: Duration, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    let run = |check: &ContractCheck| {
        let verdict = make()
            .map_err(NotPassed::from)
            .and_then(|selector| Context::new(selector, patience))
            .and_then(|context| (check.run)(&context).and_then(|()| context.expect_alive()));
        Check { name: check.name, claim: check.claim, outcome: verdict.into() }
    };
    CHECKS.iter().filter(|check| wanted(check.name)).map(run).collect()
}

fn readable(context: &Context) -> Verdict {
    for mode in context.selector.capabilities().modes {
        let mut pipe = context.readable_pipe()?;
        let fd = pipe.fd;
        let in_mode = |not_passed| match not_passed {
            NotPassed::Failed(seen) => NotPassed::Failed(format!("{mode:?}: {seen}")),
            NotPassed::Unsupported(reason) => NotPassed::Failed(format!(
                "{mode:?} is among the poller's modes, but answered by unsupported: {reason}"
            )),
        };
        context.add(fd, 1, Interest::READ, mode).map_err(in_mode)?;
        context.expect_ready(1).map_err(in_mode)?;
        // A one-shot event may have removed the registration.
        let _ = context.selector.remove(fd);
        pipe.close(&*context.selector)?;
    }
    Ok(())
}

fn empty_silent(context: &Context) -> Verdict {
    let pipe = context.pipe()?;
    context.add(pipe.fd, 1, Interest::READ, context.mode)?;
    context.expect_silence()
}

fn writable(context: &Context) -> Verdict {
    let ends = context.connection()?;
    context.add(ends.fd, 1, Interest::WRITE, context.mode)?;
    context.expect_ready(1)
}

fn interest_honoured(context: &Context) -> Verdict {
    let ends = context.connection()?;
    context.add(ends.fd, 1, Interest::READ, context.mode)?;
    context.expect_silence()
}

fn half_closed(context: &Context) -> Verdict {
    let ends = context.connection()?;
    context.add(ends.fd, 1, Interest::READ, context.mode)?;
    context.expect_silence()?;
    ends.shut_peer()?;
    context.expect_ready(1)
}

fn hung_up(context: &Context) -> Verdict {
    let mut pipe = context.pipe()?;
    context.add(pipe.fd, 1, Interest::READ, context.mode)?;
    context.expect_silence()?;
    pipe.close_peer();
    context.expect_ready(1)
}

/// Tokens beyond the range of an `int` and an `unsigned`, and beyond the integers that a double represents
/// exactly.
const TOKENS: [Token; 5] = [0, 1, 1 << 31, (1 << 32) + 7, (1 << 53) + 1];

fn token_round_trip(context: &Context) -> Verdict {
    let pipes = TOKENS.iter().map(|_| context.pipe()).collect::<Result<Vec<_>, _>>()?;
    for (token, pipe) in TOKENS.into_iter().zip(&pipes) {
        context.add(pipe.fd, token, Interest::READ, context.mode)?;
    }
    for (token, pipe) in TOKENS.into_iter().zip(&pipes) {
        pipe.send()?;
        context.expect_ready(token)?;
        pipe.read(&*context.selector)?;
        context.remove(pipe.fd)?;
    }
    Ok(())
}

fn modified(context: &Context) -> Verdict {
    let ends = context.connection()?;
    let fd = ends.fd;
    context.add(fd, 1, Interest::READ, context.mode)?;
    context.expect_silence()?;
    context.modify(fd, 2, Interest::WRITE, context.mode)?;
    context.expect_ready(2)?;
    context.modify(fd, 3, Interest::READ, context.mode)?;
    context.expect_silence()
}

fn removed_silent(context: &Context) -> Verdict {
    let pipe = context.readable_pipe()?;
    context.add(pipe.fd, 1, Interest::READ, context.mode)?;
    context.remove(pipe.fd)?;
    context.expect_silence()
}

fn added_again(context: &Context) -> Verdict {
    let pipe = context.readable_pipe()?;
    let fd = pipe.fd;
    context.add(fd, 1, Interest::READ, context.mode)?;
    context.remove(fd)?;
    context.add(fd, 2, Interest::READ, context.mode)?;
    context.expect_ready(2)
}

/// Returns `Unsupported` if the poller has no such mode.
fn require(context: &Context, mode: Mode) -> Verdict {
    if context.selector.capabilities().modes.contains(&mode) {
        return Ok(());
    }
    Err(NotPassed::Unsupported(format!("there is no {mode:?}")))
}

fn level_repeats(context: &Context) -> Verdict {
    require(context, Mode::Level)?;
    let pipe = context.readable_pipe()?;
    context.add(pipe.fd, 1, Interest::READ, Mode::Level)?;
    for _ in 0..3 {
        context.expect_ready(1)?;
    }
    pipe.read(&*context.selector)?;
    context.expect_silence()
}

fn edge_once(context: &Context) -> Verdict {
    require(context, Mode::Edge)?;
    let pipe = context.readable_pipe()?;
    context.add(pipe.fd, 1, Interest::READ, Mode::Edge)?;
    context.expect_ready(1)?;
    context.expect_silence()?;
    pipe.send()?;
    context.expect_ready(1)
}

fn one_shot_once(context: &Context) -> Verdict {
    require(context, Mode::OneShot)?;
    let pipe = context.readable_pipe()?;
    let fd = pipe.fd;
    context.add(fd, 1, Interest::READ, Mode::OneShot)?;
    context.expect_ready(1)?;
    pipe.send()?;
    context.expect_silence()?;
    if let Changed::Refused(_) = context.selector.modify(fd, 2, Interest::READ, Mode::OneShot) {
        context.add(fd, 2, Interest::READ, Mode::OneShot)?;
    }
    context.expect_ready(2)
}

fn other_modes(context: &Context) -> Verdict {
    let has = context.selector.capabilities().modes;
    let pipe = context.readable_pipe()?;
    for mode in Mode::ALL.iter().filter(|mode| !has.contains(mode)) {
        match context.selector.add(pipe.fd, 1, Interest::READ, *mode) {
            Changed::Unsupported(Unsupported(reason)) if !reason.is_empty() => {}
            other => {
                return failed(format!(
                    "{mode:?} is not among the poller's modes, but add answers {other:?}"
                ));
            }
        }
    }
    context.expect_silence()
}

fn room(context: &Context) -> Verdict {
    context.selector.limits_room()?;
    let pipes = (0..3).map(|_| context.readable_pipe()).collect::<Result<Vec<_>, _>>()?;
    for (token, pipe) in (0..).zip(&pipes) {
        context.add(pipe.fd, token, Interest::READ, context.mode)?;
    }
    let mut left: Vec<Token> = vec![0, 1, 2];
    while !left.is_empty() {
        let events = context.wait(1, context.patience)?;
        let Some(event) = events.first() else {
            return failed(format!("with room for one event, tokens {left:?} are ready, but not reported"));
        };
        if !left.contains(&event.token) {
            return failed(format!("tokens {left:?} are ready, but reported: {}", text(&events)));
        }
        // Reported descriptors are removed, because a poller may begin with the first one each time.
        context.remove(pipes[event.token as usize].fd)?;
        left.retain(|token| *token != event.token);
    }
    Ok(())
}

fn timeout_not_early(context: &Context) -> Verdict {
    for timeout in [1, 20, 60].map(Duration::from_millis) {
        // A wait that an event ends early must not shorten the next one.
        let mut pipe = context.readable_pipe()?;
        let fd = pipe.fd;
        context.add(fd, 1, Interest::READ, context.mode)?;
        expect_only(1, &context.wait(ROOM, timeout / 2)?)?;
        context.remove(fd)?;
        pipe.close(&*context.selector)?;
        let begun = Instant::now();
        let events = context.wait(ROOM, timeout)?;
        let took = begun.elapsed();
        if !events.is_empty() {
            return failed(format!("nothing is ready, but reported: {}", text(&events)));
        }
        if took < timeout {
            return failed(format!("a wait of {timeout:?} took {took:?}"));
        }
    }
    Ok(())
}

fn woken_before(context: &Context) -> Verdict {
    context.selector.wake()?;
    let begun = Instant::now();
    let events = context.wait(ROOM, context.patience)?;
    if !events.is_empty() {
        return failed(format!("a wake-up must not be an event, but reported: {}", text(&events)));
    }
    if begun.elapsed() >= context.patience {
        return failed("a wake-up before the wait did not end it");
    }
    let pipe = context.readable_pipe()?;
    context.add(pipe.fd, 1, Interest::READ, context.mode)?;
    context.expect_ready(1)
}

fn woken_meanwhile(context: &Context) -> Verdict {
    // The wake-up may also come before the wait. Both orders must work, and both occur here.
    for delay in (0..20).map(|step| Duration::from_micros(step * 200)) {
        let begun = Instant::now();
        let (woken, waited) = thread::scope(|scope| {
            let wait = || context.wait(ROOM, context.patience);
            let waiting = thread::Builder::new().spawn_scoped(scope, wait)?;
            thread::sleep(delay);
            Ok::<_, io::Error>((context.selector.wake(), waiting.join()))
        })?;
        woken?;
        let Ok(waited) = waited else { return failed("the wait panicked") };
        let events = waited?;
        if !events.is_empty() {
            return failed(format!("a wake-up must not be an event, but reported: {}", text(&events)));
        }
        if begun.elapsed() >= context.patience {
            return failed(format!("a wake-up {delay:?} after its beginning did not end the wait"));
        }
    }
    let pipe = context.readable_pipe()?;
    context.add(pipe.fd, 1, Interest::READ, context.mode)?;
    context.expect_ready(1)
}

fn copy_closed(context: &Context) -> Verdict {
    let mut pipe = context.pipe()?;
    context.add(pipe.fd, 1, Interest::READ, context.mode)?;
    context.remove(pipe.fd)?;
    if context.selector.actor().is_some() {
        // Such a poller may hold what it has registered until its next wait.
        context.wait(ROOM, Duration::ZERO)?;
    }
    pipe.close(&*context.selector)?;
    pipe.expect_end(context.patience)
}

fn number_again(context: &Context) -> Verdict {
    let mut first = context.pipe()?;
    if context.selector.actor().is_some() {
        return Err(NotPassed::Unsupported("the descriptors of this poller have names, not numbers".into()));
    }
    context.add(first.fd, 1, Interest::READ, context.mode)?;
    context.remove(first.fd)?;
    let _former_writer = first.replace(context.readable_pipe()?)?;
    context.expect_closed(first.fd)?;
    context.add(first.fd, 2, Interest::READ, context.mode)?;
    context.expect_ready(2)
}

fn close(context: &Context) -> Verdict {
    let pipe = context.readable_pipe()?;
    context.add(pipe.fd, 1, Interest::READ, context.mode)?;
    match context.selector.close() {
        Err(unsupported) => {
            context.expect_alive()?;
            expect_only(1, &context.events_before_fence()?)?;
            Err(unsupported.into())
        }
        Ok(Err(errno)) => failed(format!("close: {errno:?}")),
        Ok(Ok(())) => match context.selector.wait(ROOM, Some(Duration::ZERO)) {
            Err(Errno::EBADF) => Ok(()),
            other => failed(format!("the poller is closed, but a wait answers {other:?}")),
        },
    }
}
