//! Every connection of a shared listener is accepted by exactly one thread.
//!
//! Each accepted connection becomes a registration of the thread that accepted it, is answered, and deletes itself:
//! descriptor numbers are re-used by all threads all the time. In the history, that was where updates of one life
//! ended in the next (bugs 22 and 65), and where a close hit another thread's descriptor (bug 43).

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use fd_core::ids::{ThreadId, ThreadMask};
use fd_core::{Handler, InsertOptions, ReadyGuard};
use metadata::{Axes, Layer, Transport};

use super::acceptor::{accept_some, lock};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::threads::spawn_in;
use crate::transport::{self, Address, Listener};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/accept-once",
    title: "Every connection is accepted exactly once",
    layer: Layer::Contract,
    clauses: &["S4", "S7", "L1", "bug 20", "bug 43", "bug 65"],
    axes: Axes {
        transports: &[Transport::Tcp, Transport::Unix],
        threads: &[1, 2, 4, 8],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

/// Clients that call at a time, and how often each does.
const CLIENTS: u64 = 4;
const CALLS: u64 = 30;

/// Which thread was told which identity.
type Book = Mutex<Vec<(u64, ThreadId)>>;

/// The owner of the listener, or of one group's copy of it.
struct Acceptor {
    options: InsertOptions,
    book: Arc<Book>,
    accepted: Arc<Mutex<u64>>,
}

impl Handler for Acceptor {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let context = ready.context();
        let accepted = accept_some(ready, |connection| {
            *lock(&self.accepted) += 1;
            let talk = Arc::new(Talk { book: Arc::clone(&self.book), heard: Mutex::default() });
            let me = context.id();
            let handle = context.core().insert(connection, talk, me.group(), me.mask(), self.options);
            let handle = handle.map_err(std::io::Error::other)?;
            context.registration(handle).want_recv().map_err(std::io::Error::other)
        });
        // Ends the runtime, which the scenario then reports.
        accepted.unwrap_or_else(|error| panic!("accepting: {error}"));
    }
}

/// The owner of one accepted connection: hears an identity, notes it, says it back, and hangs up.
struct Talk {
    book: Arc<Book>,
    heard: Mutex<Vec<u8>>,
}

impl Handler for Talk {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let mut heard = lock(&self.heard);
        let end = transport::read_all(ready, &mut heard).unwrap_or(true);
        if let Ok(identity) = <[u8; 8]>::try_from(heard.as_slice()) {
            lock(&self.book).push((u64::from_be_bytes(identity), ready.context().id()));
            let _ = nix::unistd::write(ready, &identity);
        } else if !end {
            return;
        }
        let _ = ready.registration().delete();
    }
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let harness = Harness::start(test)?;
    let directory = tempfile::tempdir().map_err(Failure::broken)?;
    let listener = Listener::new(test.params.transport, directory.path()).map_err(Failure::broken)?;
    let (book, accepted) = (Arc::<Book>::default(), Arc::<Mutex<u64>>::default());

    // A mask belongs to one group: each group has a descriptor of its own.
    let mut descriptor = Some(listener.fd);
    let mut handles = Vec::new();
    for group in harness.core().table().groups() {
        let (core, mask, options) = (harness.core(), ThreadMask::ALL, harness.options());
        let (book, accepted) = (Arc::clone(&book), Arc::clone(&accepted));
        let acceptor = Acceptor { options, book, accepted };
        let inserted = match descriptor.take() {
            Some(fd) => core.insert(fd, acceptor, group, mask, options).map_err(Failure::broken),
            None => {
                let copy = core.registration(handles[0]).duplicate().map_err(Failure::broken)?;
                core.insert(copy, acceptor, group, mask, options).map_err(Failure::broken)
            }
        };
        let handle = inserted?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        handles.push(handle);
    }

    let address = &listener.address;
    let calls = std::thread::scope(|scope| {
        let client = |client| move || (0..CALLS).map(|call| say(address, client * CALLS + call)).collect();
        let clients: Result<Vec<_>, Failure> =
            (0..CLIENTS).map(|number| spawn_in(scope, client(number))).collect();
        let calls = clients?.into_iter().map(|client| client.join().expect("a client never panics"));
        Ok::<_, Failure>(calls.collect::<Vec<_>>())
    })?;
    let calls: Result<Vec<Vec<bool>>, Failure> = calls.into_iter().collect();
    let answered = calls?.into_iter().flatten().filter(|echo| *echo).count() as u64;

    // Whoever saw the end of its connection saw the close counted.
    test.check_eq(
        "connections closed",
        CLIENTS * CALLS,
        harness.core().registration_counts().closed,
        "S4, L4",
    );
    let mut told = lock(&book).clone();
    told.sort_unstable();
    let identities: Vec<_> = told.iter().map(|(identity, _)| *identity).collect();
    let all: Vec<_> = (0..CLIENTS * CALLS).collect();
    test.check_eq(
        "connections accepted",
        CLIENTS * CALLS,
        *lock(&accepted),
        "accept(2): a connection leaves the queue",
    );
    test.check_eq("identities heard", format!("{all:?}"), format!("{identities:?}"), "S4, S7");
    test.check_eq("clients that heard their own identity", CLIENTS * CALLS, answered, "S7");
    for thread in harness.threads() {
        let served = told.iter().filter(|(_, by)| *by == thread).count();
        test.count(format!("accepted {thread}"), served as u64);
    }
    harness.finish(test, &[])
}

/// Says an identity. Returns whether it came back.
fn say(address: &Address, identity: u64) -> Result<bool, Failure> {
    let failed = |error| Failure::Wrong(format!("client {identity} was not served: {error}"));
    let mut connection = address.connect().map_err(failed)?;
    connection.write_all(&identity.to_be_bytes()).map_err(failed)?;
    let mut echo = Vec::new();
    connection.read_to_end(&mut echo).map_err(failed)?;
    Ok(echo == identity.to_be_bytes())
}
