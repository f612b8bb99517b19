//! A shared listener reaches the limit of descriptors.
//!
//! `accept` fails with EMFILE and leaves the connection in the queue, so a level-triggered listener is
//! reported again at once, to every thread: a server that only logs the error spins on all of them. The
//! handler stops the listener, which costs each poller one more report (removal is lazy, L6), and starts it
//! again when descriptors are available.

use std::os::fd::OwnedFd;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fd_core::poller::Trigger;
use nix::errno::Errno;

use super::acceptor::{accept_some, greet};
use super::calls::{greeting, numbers};
use super::fixture::{Action, Caller, ListenerFixture};
use crate::descriptor_limit::DescriptorLimit;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/accept-emfile",
    title: "Accepting at the descriptor limit neither spins nor loses a connection",
    layer: Layer::Contract,
    clauses: &["S18", "L1", "L6"],
    axes: Axes { transports: &[Transport::Tcp, Transport::Unix], threads: &[1, 4], ..Axes::PLAIN },
    run,
};

const CLIENTS: usize = 12;
/// Descriptors that are available below the limit.
const ROOM: usize = 3;

/// Keeps its connections and stops the listener at the limit. When restarts are allowed, it closes its
/// connections and continues a moment later.
struct Server {
    me: Weak<Self>,
    trigger: Trigger,
    connections: Mutex<Vec<OwnedFd>>,
    greeted: AtomicU64,
    refused: AtomicU64,
    may_restart: AtomicBool,
    restarts_due: AtomicU64,
    restarts: AtomicU64,
}

impl Server {
    fn new(trigger: Trigger) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            trigger,
            connections: Mutex::default(),
            greeted: AtomicU64::default(),
            refused: AtomicU64::default(),
            may_restart: AtomicBool::default(),
            restarts_due: AtomicU64::default(),
            restarts: AtomicU64::default(),
        })
    }

    fn load(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::SeqCst)
    }

    /// Closes the connections and starts the listener again.
    fn restart(&self, context: &Context, handle: FdHandle) {
        unpoisoned(&self.connections).clear();
        let _ = context.registration(handle).want_recv();
        if self.trigger == Trigger::Edge {
            // A handler that stopped before EAGAIN has consumed the edge, and must try again itself.
            let _ = context.enter(handle, |ready| self.ready(ready));
        }
        self.restarts.fetch_add(1, Ordering::SeqCst);
    }
}

impl Handler for Server {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let accepted = accept_some(ready, u64::MAX, |connection| {
            greet(&connection, self.greeted.fetch_add(1, Ordering::SeqCst))?;
            unpoisoned(&self.connections).push(connection);
            Ok(())
        });
        match accepted {
            Ok(_) => {}
            Err(error) if error.raw_os_error() == Some(Errno::EMFILE as i32) => {
                let _ = ready.registration().stop_recv();
                self.refused.fetch_add(1, Ordering::SeqCst);
                if self.may_restart.load(Ordering::SeqCst) {
                    self.restarts_due.fetch_add(1, Ordering::SeqCst);
                    let (me, handle) = (self.me.clone(), ready.handle());
                    ready.context().after(Duration::from_millis(1), move |context| {
                        if let Some(me) = me.upgrade() {
                            me.restart(context, handle);
                        }
                    });
                }
            }
            // The panic ends the runtime, which the scenario then reports.
            Err(error) => panic!("accepting: {error}"),
        }
    }
}

fn run(test: &mut TestContext) -> Result {
    let server = Server::new(test.trigger);
    let mut fixture = ListenerFixture::shared(test, server.clone())?;
    let clients: Result<Vec<_>, _> = (0..CLIENTS).map(|_| fixture.address.connect()).collect();
    let clients = clients?;
    let sharers = fixture.sharers.len() as u64;
    let limit = DescriptorLimit::leave(ROOM)?;

    fixture.call(Caller::Outside, Action::Start)?;
    fixture.harness.wait_until("accept answers EMFILE", || Server::load(&server.refused) > 0)?;
    if test.trigger == Trigger::Level {
        fixture.wait_until_dropped("stopped at the limit")?;
    }
    fixture.harness.fence_all()?;
    let threads = fixture.harness.threads();
    fixture.check_quiet(test, &threads, "stopped at the limit")?;
    test.check_eq("accepted at the limit", ROOM as u64, Server::load(&server.greeted), "accept(2), EMFILE");
    let refused = Server::load(&server.refused);
    let expected = format!("1 to {sharers}: at most once on each thread");
    test.check("EMFILE answers", expected, refused, "S18", (1..=sharers).contains(&refused));

    server.may_restart.store(true, Ordering::SeqCst);
    server.restarts_due.fetch_add(1, Ordering::SeqCst);
    let (restarting, handle) = (Arc::clone(&server), fixture.handle);
    fixture.harness.on(fixture.sharers[0], move |context| restarting.restart(context, handle))?;
    fixture.harness.wait_until("every waiting client is accepted", || {
        Server::load(&server.greeted) == CLIENTS as u64
            && Server::load(&server.restarts) == Server::load(&server.restarts_due)
    })?;
    limit.restore()?;
    fixture.check_converged(test, "at the end")?;
    let answers: Result<Vec<_>, _> = clients.into_iter().map(greeting).collect();
    let expected: Vec<_> = (0..CLIENTS as u64).collect();
    test.check_debug("greetings", expected, numbers(&answers?), "L1");
    let (refused, restarts) = (Server::load(&server.refused), Server::load(&server.restarts));
    let most = (restarts + 1) * sharers;
    test.check("EMFILE answers in all", format!("at most {most}"), refused, "S18", refused <= most);
    test.record_counter("emfile", refused);
    test.record_counter("restarts", restarts);
    unpoisoned(&server.connections).clear();
    fixture.harness.finish(test, &[])
}
