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
use fd_core::{RegistrationRef, Handler, ReadyGuard};
use metadata::{Axes, Layer, Transport};

use super::acceptor::{Acceptor, lock};
use super::calls::{call, greeting};
use super::field::{Action, Caller, Field};
use crate::catalogue::Scenario;
use crate::gate::Gate;
use crate::lab::Lab;
use crate::threads::spawn;
use crate::trial::{Failure, Trial};

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

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    // A sharer, a thread of another group if there is one, and an outsider.
    let last = lab.thread(trial.params.threads - 1);
    for deleter in [Caller::Worker(lab.thread(1)), Caller::Worker(last), Caller::Outside] {
        let prompt;
        (lab, prompt) = once(trial, lab, deleter)?;
        if !prompt {
            break;
        }
    }
    lab.finish(trial, &[])
}

/// One delete under the lock. Says whether it was prompt.
fn once(trial: &mut Trial, lab: Lab, deleter: Caller) -> Result<(Lab, bool), Failure> {
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
    let group = lab.thread(0).group();
    let mut field = Field::with(trial, lab, Arc::new(handler), |thread| thread.group() == group)?;
    field.call(Caller::Outside, Action::Start)?;
    // Not only the deleter's poller has it.
    field.check_converged(trial, &who)?;
    let closed = field.lab.core().registration_counts().closed;

    let (locked, release) = (Gate::new(), Gate::new());
    let guard = release.guard();
    locked.open();
    let deleted = delete_locked(&field, deleter, the_lock, [locked.clone(), inside.clone(), release])?;
    if !locked.wait_for(1) {
        return Err(Failure::Wrong(format!("{who}: the deleter did not get the lock")));
    }
    let client = field.address.connect().map_err(Failure::broken)?;
    let Ok(answer) = deleted.recv_timeout(PROMPT) else {
        let observed = format!("still in it after {PROMPT:?}, with a handler waiting for the deleter's lock");
        trial.check(format!("{who}: delete"), "returns at once", observed, "L7, bug 45", false);
        enough.store(true, Ordering::SeqCst);
        drop(guard);
        // The handler goes, and the delete returns: nothing hangs for ever.
        let _ = deleted.recv_timeout(PROMPT);
        return Ok((field.lab, false));
    };
    trial.check_eq(format!("{who}: delete"), "Ok(())".into(), format!("{answer:?}"), "L7, bug 45");

    // Still in the handler: nothing is closed under it.
    let entry = field.entry()?;
    trial.check_eq(format!("{who}: thread mask"), 0, entry.thread_mask.bits(), "S6");
    trial.check(format!("{who}: running"), "some", entry.running.bits(), "S5", !entry.running.is_empty());
    trial.check_eq(format!("{who}: closed under the handler"), closed, field.lab.core().registration_counts().closed, "S5");
    drop(guard);
    let answer = greeting(client)?;
    trial.check_eq(
        format!("{who}: the client that called before"),
        "Greeted(0)".into(),
        format!("{answer:?}"),
        "S5",
    );
    field.lab.fence_all()?;
    trial.check_eq(
        format!("{who}: closes when its last user leaves"),
        closed + 1,
        field.lab.core().registration_counts().closed,
        "L4",
    );
    let answer = call(&field.address)?;
    trial.check_eq(
        format!("{who}: a later call"),
        "Refused".into(),
        format!("{answer:?}"),
        "close(2), connect(2)",
    );
    Ok((field.lab, true))
}

/// Lets `deleter` take the lock, say so at the first gate, wait at the second until a handler is inside, delete, and
/// hold the lock until the third is open. What delete answers is received when it does.
fn delete_locked(
    field: &Field,
    deleter: Caller,
    the_lock: Arc<Mutex<()>>,
    gates: [Gate; 3],
) -> Result<Receiver<Result<(), DeleteError>>, Failure> {
    let (answer, answered) = channel();
    let handle = field.handle;
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
            field.lab.core().post(thread, move |context| act(&context.registration(handle)));
        }
        Caller::Outside => {
            let core = Arc::clone(field.lab.core());
            spawn(move || act(&core.registration(handle)))?;
        }
    }
    Ok(answered)
}
