//! A listener is deleted by a thread that holds the lock its handlers wait for.
//!
//! Delete used to wait until nobody ran the handler. A listener's handlers take the listener's lock, and so does
//! whoever deletes the listener: one waited for the running bit, the other for the lock (bug 45; from another group,
//! bug 64). Delete does not wait: the last user closes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fd_core::error::DeleteError;
use fd_core::{Handler, ReadyGuard, RegistrationRef};
use metadata::{Axes, Layer, Transport};

use super::acceptor::{Acceptor, lock};
use super::calls::{call, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::catalogue::Scenario;
use crate::gate::Gate;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::threads::spawn;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/delete-holding-handler-lock",
    title: "Deleting a listener does not wait for a handler that waits for the deleter",
    layer: Layer::Contract,
    clauses: &["S5", "L4", "L7", "bug 45", "bug 64"],
    axes: Axes {
        transports: &[Transport::Tcp, Transport::Unix],
        threads: &[2, 4],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

/// How long the delete may take before it is taken to wait. It is a few hundred instructions.
const PROMPT: Duration = Duration::from_secs(10);

/// A handler that takes the lock before it accepts.
struct Locking {
    lock: Arc<Mutex<()>>,
    inside: Gate,
    /// The scenario has seen enough: a handler that waits for the lock goes on without it.
    enough: Arc<AtomicBool>,
    acceptor: Arc<Acceptor>,
}

impl Handler for Locking {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        self.inside.pass();
        while !self.enough.load(Ordering::SeqCst) {
            if let Ok(_held) = self.lock.try_lock() {
                return self.acceptor.ready(ready);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    // A sharer, a thread of another group if there is one, and an outsider.
    let last = harness.thread(test.params.threads - 1);
    for deleter in [Caller::Worker(harness.thread(1)), Caller::Worker(last), Caller::Outside] {
        let prompt;
        (harness, prompt) = once(test, harness, deleter)?;
        if !prompt {
            break;
        }
    }
    harness.finish(test, &[])
}

/// One delete under the lock. Says whether it was prompt.
fn once(test: &mut TestContext, harness: Harness, deleter: Caller) -> Result<(Harness, bool), Failure> {
    let who = format!("deleted by {deleter:?}");
    let (acceptor, inside, enough) = (Acceptor::new(), Gate::new(), Arc::<AtomicBool>::default());
    inside.open();
    let handler = Locking {
        lock: Arc::default(),
        inside: inside.clone(),
        enough: Arc::clone(&enough),
        acceptor: Arc::clone(&acceptor),
    };
    let the_lock = Arc::clone(&handler.lock);
    let group = harness.thread(0).group();
    let mut fixture =
        ListenerFixture::with(test, harness, Arc::new(handler), |thread| thread.group() == group)?;
    fixture.call(Caller::Outside, Action::Start)?;
    // Not only the deleter's poller has it.
    fixture.check_converged(test, &who)?;
    let closed = fixture.harness.core().registration_counts().closed;

    let (locked, release) = (Gate::new(), Gate::new());
    let guard = release.guard();
    locked.open();
    let deleted = delete_locked(&fixture, deleter, the_lock, [locked.clone(), inside.clone(), release])?;
    if !locked.wait_for(1) {
        return Err(Failure::Wrong(format!("{who}: the deleter did not get the lock")));
    }
    let client = fixture.address.connect().map_err(Failure::broken)?;
    let Ok(answer) = deleted.recv_timeout(PROMPT) else {
        let observed = format!("still in it after {PROMPT:?}, with a handler waiting for the deleter's lock");
        test.check(format!("{who}: delete"), "returns at once", observed, "L7, bug 45", false);
        enough.store(true, Ordering::SeqCst);
        drop(guard);
        // The handler goes, and the delete returns: nothing hangs for ever.
        let _ = deleted.recv_timeout(PROMPT);
        return Ok((fixture.harness, false));
    };
    test.check_eq(format!("{who}: delete"), "Ok(())".into(), format!("{answer:?}"), "L7, bug 45");

    // Still in the handler: nothing is closed under it.
    let entry = fixture.entry()?;
    test.check_eq(format!("{who}: thread mask"), 0, entry.thread_mask.bits(), "S6");
    test.check(format!("{who}: running"), "some", entry.running.bits(), "S5", !entry.running.is_empty());
    test.check_eq(
        format!("{who}: closed under the handler"),
        closed,
        fixture.harness.core().registration_counts().closed,
        "S5",
    );
    drop(guard);
    let answer = greeting(client)?;
    test.check_eq(
        format!("{who}: the client that called before"),
        "Greeted(0)".into(),
        format!("{answer:?}"),
        "S5",
    );
    fixture.harness.fence_all()?;
    test.check_eq(
        format!("{who}: closes when its last user leaves"),
        closed + 1,
        fixture.harness.core().registration_counts().closed,
        "L4",
    );
    let answer = call(&fixture.address)?;
    test.check_eq(
        format!("{who}: a later call"),
        "Refused".into(),
        format!("{answer:?}"),
        "close(2), connect(2)",
    );
    Ok((fixture.harness, true))
}

/// Lets `deleter` take the lock, say so at the first gate, wait at the second until a handler is inside, delete, and
/// hold the lock until the third is open. What delete answers is received when it does.
fn delete_locked(
    fixture: &ListenerFixture,
    deleter: Caller,
    the_lock: Arc<Mutex<()>>,
    gates: [Gate; 3],
) -> Result<Receiver<Result<(), DeleteError>>, Failure> {
    let (answer, answered) = channel();
    let handle = fixture.handle;
    let act = move |fd: &RegistrationRef<'_>| {
        let [locked, inside, release] = gates;
        let held = lock(&the_lock);
        locked.pass();
        if inside.wait_for(1) {
            let _ = answer.send(fd.delete());
        }
        release.pass();
        drop(held);
    };
    match deleter {
        Caller::Worker(thread) => {
            let _ = fixture.harness.core().post(thread, move |context| act(&context.registration(handle)));
        }
        Caller::Outside => {
            let core = Arc::clone(fixture.harness.core());
            spawn(move || act(&core.registration(handle)))?;
        }
    }
    Ok(answered)
}
