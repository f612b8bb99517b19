//! A runtime drains: no connection comes any more, and those that it has go on until they end.
//!
//! HAProxy's threads left their loops at a soft stop while they still had connections, which broke (bug 88).
//! Here the drain waits for every registration of the program, on every thread. The threads sleep when it
//! begins, and nothing but the clients wakes them: one that had left its loop would answer nobody.

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::scope;
use std::time::Duration;

use fd_core::{Runtime, WorkerError};

use crate::prelude::*;
use crate::threads::spawn_in;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/drain-serves-what-it-has",
    title: "A drain serves every connection until it ends, and says how many are left when its time is over",
    layer: Layer::Contract,
    clauses: &["S4", "L1", "L2", "L8", "bug 88"],
    axes: Axes {
        transports: &[Transport::Tcp, Transport::Unix],
        threads: &[1, 2],
        groups: &[1, 2],
        ..Axes::PLAIN
    },
    run,
};

/// Connections of each thread.
const CONNECTIONS: usize = 3;

/// Answers each byte with the next one, and closes the connection at its end.
#[derive(Default)]
struct Server {
    /// Answers while the runtime drained.
    while_draining: AtomicU64,
}

impl Handler for Server {
    fn ready(&self, ready: &ReadyGuard<'_>) {
        let mut requests = Vec::new();
        let has_ended = read_all(ready, &mut requests).unwrap_or(true);
        if ready.context().core().is_draining() {
            self.while_draining.fetch_add(requests.len() as u64, Ordering::SeqCst);
        }
        for request in &mut requests {
            *request = request.wrapping_add(1);
        }
        // The answers fit into any socket buffer. A client that has gone reads none.
        let _ = nix::unistd::write(ready, &requests);
        if has_ended {
            let _ = ready.registration().delete();
        } else {
            let _ = ready.registration().cant_recv();
        }
    }
}

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let harness = Harness::start(test)?;
    let server = Arc::new(Server::default());
    let mut clients = connect(test, &harness, &server)?;
    clients.iter_mut().try_for_each(|client| asks(client, b'a'))?;
    sleepers.wait(&harness)?;
    let count = clients.len() as u64;
    let in_time = patience();
    harness.finish_with(test, &[], |test, runtime| {
        let left = drain_beside(runtime, in_time, move || {
            for mut client in clients {
                asks(&mut client, b'A')?;
                asks(&mut client, b'Z')?;
            }
            Ok(())
        })?;
        test.check_eq("connections left", 0, left, "L8, bug 88");
        Ok(())
    })?;
    let while_draining = server.while_draining.load(Ordering::SeqCst);
    test.check_eq("answers while it drained", 2 * count, while_draining, "L1, bug 88");
    test.stop_if_failed()?;

    // One client does not end.
    let harness = Harness::start(test)?;
    let mut clients = connect(test, &harness, &server)?;
    clients.iter_mut().try_for_each(|client| asks(client, b'a'))?;
    let mut stays = clients.remove(test.seed as usize % clients.len());
    drop(clients);
    harness.wait_until("the other connections end", || harness.closed() + 1 == count)?;
    harness.finish_with(test, &[], |test, runtime| {
        let left = drain_beside(runtime, Duration::from_millis(20), || Ok(()))?;
        test.check_eq("connections left when the time is over", 1, left, "L8");
        let end = stays.read(&mut [0]).map_err(|error| error.kind());
        let is_end = !matches!(end, Ok(1..) | Err(ErrorKind::WouldBlock | ErrorKind::TimedOut));
        test.check("the client that stayed reads", "its end", format!("{end:?}"), "S4", is_end);
        drop(stays);
        Ok(())
    })
}

/// Registers connections on every thread, and returns their clients.
fn connect(test: &TestContext, harness: &Harness, server: &Arc<Server>) -> Result<Vec<FarEnd>> {
    let mut clients = Vec::new();
    for thread in harness.threads() {
        for _ in 0..CONNECTIONS {
            let ends = test.pair()?;
            let _ = ends.far.set_read_timeout(patience());
            harness.insert_recv(ends.near, server.clone(), thread)?;
            clients.push(ends.far);
        }
    }
    Ok(clients)
}

/// Sends a request, and reads its answer.
fn asks(client: &mut FarEnd, request: u8) -> Result {
    let mut answer = [0];
    client.write_all(&[request])?;
    match client.read_exact(&mut answer) {
        Ok(()) if answer == [request.wrapping_add(1)] => Ok(()),
        Ok(()) => Err(Failure::Wrong(format!("{request} is answered with {answer:?}"))),
        Err(error) => Err(Failure::Wrong(format!("a connection breaks: {error}"))),
    }
}

/// Drains the runtime while `clients` run. Returns how many connections were left.
fn drain_beside(runtime: Runtime, timeout: Duration, clients: impl FnOnce() -> Result) -> Result<u64> {
    let core = Arc::clone(runtime.core());
    let (served, drained) = scope(|scope| {
        let drain = spawn_in(scope, move || runtime.drain(timeout))?;
        let begun = crate::patience::wait_until(|| core.is_draining());
        drop(core);
        let never = || Failure::Wrong("the runtime does not drain".into());
        let served = begun.then_some(()).ok_or_else(never).and_then(|()| clients());
        let drained: Result<u64, WorkerError> = drain.join().expect("a drain never panics");
        Ok::<_, Failure>((served, drained))
    })?;
    let left = drained.map_err(|error| Failure::Wrong(error.to_string()))?;
    served.map(|()| left)
}
