//! Threads that share a listener are busy, and the others accept.
//!
//! A listener is shared so that no client waits for a busy thread. That holds only if every thread that
//! sleeps polls the listener: an update that wakes one of them can wake a busy one, or the only one that
//! polls it can become busy.

use std::collections::BTreeMap;

use super::acceptor::Acceptor;
use super::calls::{call, check_greeted, greeting};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/busy-sharers",
    title: "While threads that share a listener are busy, another one that shares it accepts",
    layer: Layer::Contract,
    clauses: &["S11", "L1", "L3", "L11"],
    axes: Axes { threads: &[2, 4], ..super::AXES },
    run,
};

/// The clients of each thread that is alone.
const CLIENTS: u64 = 3;

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let harness = Harness::start(test)?;
    let gates = harness.threads().into_iter().map(|thread| (thread, Gate::new())).collect();
    let server = Arc::new(Server { acceptor: Acceptor::new(), gates });
    let guards: Vec<_> = server.gates.values().map(Gate::guard).collect();
    let mut fixture = ListenerFixture::of_first_group(test, harness, server.clone())?;
    held_in_handlers(test, &fixture, &server, &sleepers, guards)?;
    for idle in fixture.sharers.clone() {
        stop(&mut fixture, &sleepers)?;
        held_in_tasks(test, &fixture, &server, idle)?;
    }
    fixture.check_converged(test, "at the end")?;
    fixture.harness.finish(test, &[])
}

/// The handler of the listener: an [`Acceptor`] behind a gate for each thread.
struct Server {
    acceptor: Arc<Acceptor>,
    gates: BTreeMap<ThreadId, Gate>,
}

impl Handler for Server {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        if let Some(gate) = self.gates.get(&ready.context().id()) {
            gate.pass();
        }
        self.acceptor.ready(ready);
    }
}

/// Starts the listener while all threads sleep. Every sharing thread reports the first client, and is held in
/// its handler. One of them continues, and serves all clients while the others are held.
fn held_in_handlers(
    test: &mut TestContext,
    fixture: &ListenerFixture,
    server: &Server,
    sleepers: &Sleepers,
    guards: Vec<GateGuard>,
) -> Result {
    sleepers.wait(&fixture.harness)?;
    fixture.call(Caller::Outside, Action::Start)?;
    let mut waiting = Some(fixture.address.connect()?);
    for thread in &fixture.sharers {
        let gate = &server.gates[thread];
        let reported = format!("thread {thread} reports the first client");
        fixture.harness.wait_until(&reported, || gate.arrived() >= 1)?;
    }
    let free = fixture.sharers[test.seed as usize % fixture.sharers.len()];
    server.gates[&free].open();
    for client in 0..CLIENTS {
        let answer = match waiting.take() {
            Some(waiting) => greeting(waiting)?,
            None => call(&fixture.address)?,
        };
        check_greeted(test, format!("client {client}, while all but thread {free} are held"), answer, "L1");
    }
    let tallies = server.acceptor.tallies();
    let accepted = tallies.get(&free).map_or(0, |tally| tally.accepted);
    test.check_eq(format!("accepted by thread {free}"), CLIENTS, accepted, "L1");
    drop(guards);
    Ok(())
}

/// Starts the listener while all sharing threads but `idle` are held in a task.
fn held_in_tasks(
    test: &mut TestContext,
    fixture: &ListenerFixture,
    server: &Server,
    idle: ThreadId,
) -> Result {
    let busy = fixture.sharers.iter().filter(|thread| **thread != idle);
    let held = busy.map(|thread| fixture.harness.hold(*thread)).collect::<Result<Vec<_>, _>>()?;
    let guards: Vec<_> = held.iter().map(Gate::guard).collect();
    let before = server.acceptor.tally(idle).accepted;
    fixture.call(Caller::Outside, Action::Start)?;
    for client in 0..CLIENTS {
        let answer = call(&fixture.address)?;
        check_greeted(test, format!("client {client}, while all but thread {idle} run a task"), answer, "L1");
    }
    // It has accepted the client that waited at the start, too.
    let accepted = server.acceptor.tally(idle).accepted - before;
    test.check_eq(format!("accepted by thread {idle} alone"), CLIENTS + 1, accepted, "L1");
    drop(guards);
    Ok(())
}

/// Stops the listener, and takes it out of every poller. A client waits for the next start.
fn stop(fixture: &mut ListenerFixture, sleepers: &Sleepers) -> Result {
    fixture.call(Caller::Outside, Action::Stop)?;
    // A handler that still runs would accept the client.
    sleepers.wait(&fixture.harness)?;
    drop(fixture.connect_to_stopped()?);
    fixture.wait_until_dropped("between two starts")?;
    sleepers.wait(&fixture.harness)
}
