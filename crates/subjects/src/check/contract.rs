//! What scenarios rely on, whatever the poller: nothing here is a matter of its words.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use metadata::Mode;
use nix::errno::Errno;
use nix::unistd::dup2;
use selector::{Changed, Interest, Selector, Token, Unsupported};

use super::Check;
use super::trial::{Flaw, ROOM, Trial, Verdict, expect_only, failed, text};

struct Clause {
    name: &'static str,
    claim: &'static str,
    ask: fn(&Trial) -> Verdict,
}

#[rustfmt::skip]
const CLAUSES: &[Clause] = &[
    Clause { name: "readable", ask: readable,
        claim: "a pipe with a byte in it is reported in every mode that there is" },
    Clause { name: "empty-silent", ask: empty_silent,
        claim: "an empty pipe is not reported before something that comes later" },
    Clause { name: "writable", ask: writable,
        claim: "a socket with room is reported to whom asks for writing" },
    Clause { name: "interest-honoured", ask: interest_honoured,
        claim: "who does not ask for writing is not told that there is room" },
    Clause { name: "half-closed", ask: half_closed,
        claim: "whoever asks for reading is told that the peer has shut its side" },
    Clause { name: "hung-up", ask: hung_up,
        claim: "whoever asks for reading is told that the last writer has gone" },
    Clause { name: "token-round-trip", ask: token_round_trip,
        claim: "an event has the token of its registration, and of no other" },
    Clause { name: "modified", ask: modified,
        claim: "after a modification the new interest and the new token count" },
    Clause { name: "removed-silent", ask: removed_silent,
        claim: "what is ready is not reported after its removal" },
    Clause { name: "added-again", ask: added_again,
        claim: "what was removed can be added again" },
    Clause { name: "level-repeats", ask: level_repeats,
        claim: "level: reported by each wait as long as it is ready" },
    Clause { name: "edge-once", ask: edge_once,
        claim: "edge: reported once, and again when more comes" },
    Clause { name: "one-shot-once", ask: one_shot_once,
        claim: "one-shot: reported once, whatever comes, until it is modified or added again" },
    Clause { name: "other-modes", ask: other_modes,
        claim: "a mode that it does not name among its own is answered by unsupported" },
    Clause { name: "room", ask: room,
        claim: "there are never more events than room, and the rest is not lost" },
    Clause { name: "timeout-not-early", ask: timeout_not_early,
        claim: "a wait in which nothing happens takes at least its timeout" },
    Clause { name: "woken-before", ask: woken_before,
        claim: "a wake-up ends the next wait, and only that" },
    Clause { name: "woken-meanwhile", ask: woken_meanwhile,
        claim: "a wake-up from another thread ends the wait" },
    Clause { name: "copy-closed", ask: copy_closed,
        claim: "what was closed here is closed there: the other end is told" },
    Clause { name: "number-again", ask: number_again,
        claim: "a number that was closed and is used again can be registered again" },
    Clause { name: "close", ask: close,
        claim: "after close, or if there is none, calls are answered" },
];

type Make<'a> = &'a dyn Fn() -> io::Result<Box<dyn Selector>>;

/// Every clause that is wanted, each with a poller of its own.
pub fn all(make: Make<'_>, patience: Duration, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    let ask = |clause: &Clause| {
        let verdict = make()
            .map_err(Flaw::from)
            .and_then(|selector| Trial::new(selector, patience))
            .and_then(|trial| (clause.ask)(&trial).and_then(|()| trial.expect_alive()));
        Check { name: clause.name, claim: clause.claim, outcome: verdict.into() }
    };
    CLAUSES.iter().filter(|clause| wanted(clause.name)).map(ask).collect()
}

fn readable_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(b"x")?;
    Ok((reader, writer))
}

fn readable(trial: &Trial) -> Verdict {
    for mode in trial.selector.capabilities().modes {
        let (reader, _writer) = readable_pipe()?;
        let fd = reader.as_raw_fd();
        let in_mode = |flaw| match flaw {
            Flaw::Failed(seen) => Flaw::Failed(format!("{mode:?}: {seen}")),
            Flaw::Unsupported(why) => {
                Flaw::Failed(format!("{mode:?} is among its modes, and it answers unsupported: {why}"))
            }
        };
        trial.add(fd, 1, Interest::READ, mode).map_err(in_mode)?;
        trial.expect_ready(1).map_err(in_mode)?;
        // Where a one-shot takes the registration out, there is none to remove.
        let _ = trial.selector.remove(fd);
        trial.closed(fd)?;
    }
    Ok(())
}

fn empty_silent(trial: &Trial) -> Verdict {
    let (reader, _writer) = io::pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    trial.expect_silence()
}

fn writable(trial: &Trial) -> Verdict {
    let (ours, _theirs) = UnixStream::pair()?;
    trial.add(ours.as_raw_fd(), 1, Interest::WRITE, trial.mode)?;
    trial.expect_ready(1)
}

fn interest_honoured(trial: &Trial) -> Verdict {
    let (ours, _theirs) = UnixStream::pair()?;
    trial.add(ours.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    trial.expect_silence()
}

fn half_closed(trial: &Trial) -> Verdict {
    let (ours, theirs) = UnixStream::pair()?;
    trial.add(ours.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    trial.expect_silence()?;
    theirs.shutdown(Shutdown::Write)?;
    trial.expect_ready(1)
}

fn hung_up(trial: &Trial) -> Verdict {
    let (reader, writer) = io::pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    trial.expect_silence()?;
    drop(writer);
    trial.expect_ready(1)
}

/// Greater than what an `int`, an `unsigned` and a double hold exactly.
const TOKENS: [Token; 5] = [0, 1, 1 << 31, (1 << 32) + 7, (1 << 53) + 1];

fn token_round_trip(trial: &Trial) -> Verdict {
    let pipes = TOKENS.iter().map(|_| io::pipe()).collect::<io::Result<Vec<_>>>()?;
    for (token, (reader, _)) in TOKENS.into_iter().zip(&pipes) {
        trial.add(reader.as_raw_fd(), token, Interest::READ, trial.mode)?;
    }
    for (token, (reader, writer)) in TOKENS.into_iter().zip(pipes) {
        (&writer).write_all(b"x")?;
        trial.expect_ready(token)?;
        (&reader).read_exact(&mut [0])?;
        trial.remove(reader.as_raw_fd())?;
    }
    Ok(())
}

fn modified(trial: &Trial) -> Verdict {
    let (ours, _theirs) = UnixStream::pair()?;
    let fd = ours.as_raw_fd();
    trial.add(fd, 1, Interest::READ, trial.mode)?;
    trial.expect_silence()?;
    trial.modify(fd, 2, Interest::WRITE, trial.mode)?;
    trial.expect_ready(2)?;
    trial.modify(fd, 3, Interest::READ, trial.mode)?;
    trial.expect_silence()
}

fn removed_silent(trial: &Trial) -> Verdict {
    let (reader, _writer) = readable_pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    trial.remove(reader.as_raw_fd())?;
    trial.expect_silence()
}

fn added_again(trial: &Trial) -> Verdict {
    let (reader, _writer) = readable_pipe()?;
    let fd = reader.as_raw_fd();
    trial.add(fd, 1, Interest::READ, trial.mode)?;
    trial.remove(fd)?;
    trial.add(fd, 2, Interest::READ, trial.mode)?;
    trial.expect_ready(2)
}

/// Only if there is such a mode.
fn has(trial: &Trial, mode: Mode) -> Verdict {
    if trial.selector.capabilities().modes.contains(&mode) {
        return Ok(());
    }
    Err(Flaw::Unsupported(format!("there is no {mode:?}")))
}

fn level_repeats(trial: &Trial) -> Verdict {
    has(trial, Mode::Level)?;
    let (mut reader, _writer) = readable_pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, Mode::Level)?;
    for _ in 0..3 {
        trial.expect_ready(1)?;
    }
    reader.read_exact(&mut [0])?;
    trial.expect_silence()
}

fn edge_once(trial: &Trial) -> Verdict {
    has(trial, Mode::Edge)?;
    let (reader, mut writer) = readable_pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, Mode::Edge)?;
    trial.expect_ready(1)?;
    trial.expect_silence()?;
    writer.write_all(b"y")?;
    trial.expect_ready(1)
}

fn one_shot_once(trial: &Trial) -> Verdict {
    has(trial, Mode::OneShot)?;
    let (reader, mut writer) = readable_pipe()?;
    let fd = reader.as_raw_fd();
    trial.add(fd, 1, Interest::READ, Mode::OneShot)?;
    trial.expect_ready(1)?;
    writer.write_all(b"y")?;
    trial.expect_silence()?;
    if let Changed::Refused(_) = trial.selector.modify(fd, 2, Interest::READ, Mode::OneShot) {
        trial.add(fd, 2, Interest::READ, Mode::OneShot)?;
    }
    trial.expect_ready(2)
}

fn other_modes(trial: &Trial) -> Verdict {
    let all = [Mode::Level, Mode::Edge, Mode::OneShot, Mode::Dispatch, Mode::Exclusive, Mode::ExclusiveEdge];
    let has = trial.selector.capabilities().modes;
    let (reader, _writer) = readable_pipe()?;
    for mode in all.into_iter().filter(|mode| !has.contains(mode)) {
        match trial.selector.add(reader.as_raw_fd(), 1, Interest::READ, mode) {
            Changed::Unsupported(Unsupported(reason)) if !reason.is_empty() => {}
            other => return failed(format!("{mode:?} is not among its modes, and add answers {other:?}")),
        }
    }
    trial.expect_silence()
}

fn room(trial: &Trial) -> Verdict {
    let pipes = (0..3).map(|_| readable_pipe()).collect::<io::Result<Vec<_>>>()?;
    for (token, (reader, _)) in (0..).zip(&pipes) {
        trial.add(reader.as_raw_fd(), token, Interest::READ, trial.mode)?;
    }
    let mut left: Vec<Token> = vec![0, 1, 2];
    while !left.is_empty() {
        let events = trial.wait(1, trial.patience)?;
        let Some(event) = events.first() else {
            return failed(format!("with room for one, tokens {left:?} are ready and not reported"));
        };
        if !left.contains(&event.token) {
            return failed(format!("tokens {left:?} are ready, and reported is: {}", text(&events)));
        }
        // What was reported is taken out, for who begins with the first each time.
        trial.remove(pipes[event.token as usize].0.as_raw_fd())?;
        left.retain(|token| *token != event.token);
    }
    Ok(())
}

fn timeout_not_early(trial: &Trial) -> Verdict {
    for timeout in [1, 20, 60].map(Duration::from_millis) {
        // A wait that ends before its time leaves nothing behind that ends the next one.
        let (reader, _writer) = readable_pipe()?;
        let fd = reader.as_raw_fd();
        trial.add(fd, 1, Interest::READ, trial.mode)?;
        expect_only(1, &trial.wait(ROOM, timeout / 2)?)?;
        trial.remove(fd)?;
        trial.closed(fd)?;
        let begun = Instant::now();
        let events = trial.wait(ROOM, timeout)?;
        let took = begun.elapsed();
        if !events.is_empty() {
            return failed(format!("nothing is ready, and reported is: {}", text(&events)));
        }
        if took < timeout {
            return failed(format!("a wait of {timeout:?} took {took:?}"));
        }
    }
    Ok(())
}

fn woken_before(trial: &Trial) -> Verdict {
    trial.selector.wake().map_err(|Unsupported(reason)| Flaw::Unsupported(reason))?;
    let begun = Instant::now();
    let events = trial.wait(ROOM, trial.patience)?;
    if !events.is_empty() {
        return failed(format!("a wake-up is no event, and reported is: {}", text(&events)));
    }
    if begun.elapsed() >= trial.patience {
        return failed("the wait was not ended by a wake-up that came before it");
    }
    let (reader, _writer) = readable_pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    trial.expect_ready(1)
}

fn woken_meanwhile(trial: &Trial) -> Verdict {
    // It may come before the wait, too: both orders have to hold, and each of them comes up.
    for delay in (0..20).map(|step| Duration::from_micros(step * 200)) {
        let begun = Instant::now();
        let (woken, waited) = thread::scope(|scope| {
            let wait = || trial.wait(ROOM, trial.patience);
            let waiting = thread::Builder::new().spawn_scoped(scope, wait)?;
            thread::sleep(delay);
            Ok::<_, io::Error>((trial.selector.wake(), waiting.join()))
        })?;
        woken.map_err(|Unsupported(reason)| Flaw::Unsupported(reason))?;
        let Ok(waited) = waited else { return failed("the wait panicked") };
        let events = waited?;
        if !events.is_empty() {
            return failed(format!("a wake-up is no event, and reported is: {}", text(&events)));
        }
        if begun.elapsed() >= trial.patience {
            return failed(format!("a wake-up {delay:?} after its begin did not end the wait"));
        }
    }
    let (reader, _writer) = readable_pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    trial.expect_ready(1)
}

fn copy_closed(trial: &Trial) -> Verdict {
    let (reader, mut writer) = io::pipe()?;
    let fd = reader.as_raw_fd();
    trial.add(fd, 1, Interest::READ, trial.mode)?;
    trial.remove(fd)?;
    drop(reader);
    trial.closed(fd)?;
    trial.expect_alive()?;
    match writer.write(b"x") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Ok(_) => failed("the reading end was closed, and writing succeeds: a copy of it is open"),
        Err(error) => failed(format!("writing to a pipe without a reader: {error}")),
    }
}

fn number_again(trial: &Trial) -> Verdict {
    let (first, _first_writer) = io::pipe()?;
    let fd = first.as_raw_fd();
    trial.add(fd, 1, Interest::READ, trial.mode)?;
    trial.remove(fd)?;
    let (second, _second_writer) = readable_pipe()?;
    let mut number = OwnedFd::from(first);
    dup2(&second, &mut number).map_err(io::Error::from)?;
    trial.closed(fd)?;
    trial.add(fd, 2, Interest::READ, trial.mode)?;
    trial.expect_ready(2)
}

fn close(trial: &Trial) -> Verdict {
    let (reader, _writer) = readable_pipe()?;
    trial.add(reader.as_raw_fd(), 1, Interest::READ, trial.mode)?;
    match trial.selector.close() {
        Err(Unsupported(reason)) => {
            trial.expect_alive()?;
            expect_only(1, &trial.hear()?)?;
            Err(Flaw::Unsupported(reason))
        }
        Ok(Err(errno)) => failed(format!("close: {errno:?}")),
        Ok(Ok(())) => match trial.selector.wait(ROOM, Some(Duration::ZERO)) {
            Err(Errno::EBADF) => Ok(()),
            other => failed(format!("it was closed, and a wait answers {other:?}")),
        },
    }
}
