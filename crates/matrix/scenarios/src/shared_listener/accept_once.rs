//! Exactly one thread accepts each connection of a shared listener.
//!
//! The thread that accepts a connection registers it, answers, and deletes it: all threads re-use descriptor
//! numbers all the time. In HAProxy's history, updates of one registration reached the next one there (bugs
//! 22 and 65), and a close hit another thread's descriptor (bug 43).

use std::io::Read;

use fd_core::ids::ThreadMask;

use super::acceptor::accept_some;
use crate::prelude::*;
use crate::threads::spawn_in;
use crate::transport::{self, Address, Listener};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/accept-once",
    title: "Every connection of a shared listener is accepted exactly once",
    layer: Layer::Contract,
    clauses: &["S4", "S7", "L1", "bug 20", "bug 43", "bug 65"],
    axes: Axes { threads: &[1, 2, 4, 8], ..super::AXES },
    run,
};

/// Concurrent clients, and the calls of each.
const CLIENTS: u64 = 4;
const CALLS: u64 = 30;

/// The client identities that the threads have received, with the thread.
type Served = Mutex<Vec<(u64, ThreadId)>>;

/// The handler of the listener, or of one group's copy of it.
struct Acceptor {
    options: InsertOptions,
    served: Arc<Served>,
    accepted: Arc<Mutex<u64>>,
}

impl Handler for Acceptor {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let context = ready.context();
        let accepted = accept_some(ready, u64::MAX, |connection| {
            *unpoisoned(&self.accepted) += 1;
            let connection_handler =
                Arc::new(Connection { served: Arc::clone(&self.served), received: Mutex::default() });
            let thread = context.id();
            let handle = context.core().insert(
                connection,
                connection_handler,
                thread.group(),
                thread.mask(),
                self.options,
            );
            let handle = handle.map_err(std::io::Error::other)?;
            context.registration(handle).want_recv().map_err(std::io::Error::other)
        });
        // The panic ends the runtime, which the scenario then reports.
        accepted.unwrap_or_else(|error| panic!("accepting: {error}"));
    }
}

/// The handler of one accepted connection: reads an identity, records it, sends it back, and closes.
struct Connection {
    served: Arc<Served>,
    received: Mutex<Vec<u8>>,
}

impl Handler for Connection {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let mut received = unpoisoned(&self.received);
        let end = transport::read_all(ready, &mut received).unwrap_or(true);
        if let Ok(identity) = <[u8; 8]>::try_from(received.as_slice()) {
            unpoisoned(&self.served).push((u64::from_be_bytes(identity), ready.context().id()));
            let _ = nix::unistd::write(ready, &identity);
        } else if !end {
            return;
        }
        let _ = ready.registration().delete();
    }
}

fn run(test: &mut TestContext) -> Result {
    let harness = Harness::start(test)?;
    let directory = tempfile::tempdir()?;
    let listener = Listener::new(test.params.transport, directory.path())?;
    let (served, accepted) = (Arc::<Served>::default(), Arc::<Mutex<u64>>::default());

    // A mask belongs to one group, so each group has its own descriptor.
    let mut descriptor = Some(listener.fd);
    let mut handles = Vec::new();
    for group in harness.core().table().groups() {
        let (core, mask, options) = (harness.core(), ThreadMask::ALL, harness.options());
        let (served, accepted) = (Arc::clone(&served), Arc::clone(&accepted));
        let acceptor = Acceptor { options, served, accepted };
        let inserted = match descriptor.take() {
            Some(fd) => core.insert(fd, acceptor, group, mask, options).map_err(Failure::broken),
            None => {
                let copy = core.registration(handles[0]).duplicate()?;
                core.insert(copy, acceptor, group, mask, options).map_err(Failure::broken)
            }
        };
        let handle = inserted?;
        harness.registration(handle).want_recv()?;
        handles.push(handle);
    }

    let address = &listener.address;
    let calls = std::thread::scope(|scope| {
        let client =
            |client| move || (0..CALLS).map(|call| send_identity(address, client * CALLS + call)).collect();
        let clients: Result<Vec<_>> = (0..CLIENTS).map(|number| spawn_in(scope, client(number))).collect();
        let calls = clients?.into_iter().map(|client| client.join().expect("a client never panics"));
        Ok::<_, Failure>(calls.collect::<Vec<_>>())
    })?;
    let calls: Result<Vec<Vec<bool>>> = calls.into_iter().collect();
    let answered = calls?.into_iter().flatten().filter(|echo| *echo).count() as u64;

    // When a client has seen the end of its connection, the close has been counted.
    test.check_eq("connections closed", CLIENTS * CALLS, harness.closed(), "S4, L4");
    let mut sorted = unpoisoned(&served).clone();
    sorted.sort_unstable();
    let identities: Vec<_> = sorted.iter().map(|(identity, _)| *identity).collect();
    let all: Vec<_> = (0..CLIENTS * CALLS).collect();
    let what = "connections accepted";
    test.check_eq(what, CLIENTS * CALLS, *unpoisoned(&accepted), "accept(2): a connection leaves the queue");
    test.check_debug("identities received", all, identities, "S4, S7");
    test.check_eq("clients that received their own identity", CLIENTS * CALLS, answered, "S7");
    for thread in harness.threads() {
        let served = sorted.iter().filter(|(_, by)| *by == thread).count();
        test.record_counter(format!("accepted {thread}"), served as u64);
    }
    harness.finish(test, &[])
}

/// Sends an identity. Returns whether it came back.
fn send_identity(address: &Address, identity: u64) -> Result<bool> {
    let failed = |error| Failure::Wrong(format!("client {identity} was not served: {error}"));
    let mut connection = address.connect().map_err(failed)?;
    connection.write_all(&identity.to_be_bytes()).map_err(failed)?;
    let mut echo = Vec::new();
    connection.read_to_end(&mut echo).map_err(failed)?;
    Ok(echo == identity.to_be_bytes())
}
