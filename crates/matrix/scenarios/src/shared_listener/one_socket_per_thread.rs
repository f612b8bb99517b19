//! Each thread has a listening socket of its own, and all of them have one address (SO_REUSEPORT).
//!
//! nginx let one of its workers accept at a time, though each had a socket of its own: the clients of the
//! other sockets waited. The kernel decides for each connection which socket gets it, and no other socket
//! ever does: a thread that is busy or stopped delays its own clients only. The close of a socket drops those
//! who wait in its queue (Linux moves them with `net.ipv4.tcp_migrate_req`), and the others get all later
//! ones.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, listen, socket};

use super::acceptor::Acceptor;
use super::calls::{Answer, call, check_greeted, end_of, greeting};
use crate::patience::wait_until;
use crate::prelude::*;
use crate::transport::{Address, set_nonblocking};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "shared-listener/one-socket-per-thread",
    title: "Each thread accepts from its own socket of a shared address, though another one is busy, stopped or closed",
    layer: Layer::Contract,
    clauses: &["S3", "S4", "S18", "L1", "L5"],
    axes: Axes { transports: &[Transport::Tcp], threads: &[2, 4], ..super::AXES },
    run,
};

/// Clients of each part, for each socket on average.
const CLIENTS: usize = 8;
/// The most clients until a socket has had one. Of a hundred, one of four sockets gets none in (3/4)^100:
/// once in 10^12 runs.
const MOST_CLIENTS: usize = 100;

/// The thread of a socket, and how it accepts.
struct Socket {
    thread: ThreadId,
    handle: FdHandle,
    acceptor: Arc<Acceptor>,
}

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    let (mut sockets, address) = sockets(&harness)?;
    sleepers.wait(&harness)?;
    for socket in &sockets {
        harness.registration(socket.handle).want_recv()?;
        harness.wait_until_polled(socket.handle, socket.thread.mask())?;
    }
    for _ in 0..CLIENTS * sockets.len() {
        check_greeted(test, "a client while all threads accept", call(&address)?, "L1");
    }

    // One thread is in its handler. The clients of its socket wait, and no others.
    let busy = sockets.remove(test.seed as usize % sockets.len());
    let (gate, held) = busy.acceptor.hold();
    let before: Vec<_> = sockets.iter().map(|socket| socket.acceptor.greeted()).collect();
    let each_accepts = || {
        let others = sockets.iter().zip(&before).all(|(socket, before)| socket.acceptor.greeted() > *before);
        others && gate.arrived() > 0
    };
    let clients = connect_until(&address, each_accepts)?;
    drop(held);
    for client in clients {
        check_greeted(test, "a client while one thread was busy", greeting(client)?, "L1");
    }
    for socket in sockets.iter().chain([&busy]) {
        let threads = socket.acceptor.tallies();
        let strangers = threads.keys().filter(|thread| **thread != socket.thread).count();
        test.check_eq(
            format!("other threads that had thread {}'s clients", socket.thread),
            0,
            strangers,
            "S3, L5",
        );
    }

    // Clients wait for a socket that is stopped, and then closed.
    harness.registration(busy.handle).stop_recv()?;
    harness.fence_all()?;
    let runs = busy.acceptor.runs();
    let number = busy.handle.number();
    let clients = connect_until(&address, || descriptors::readable(number))?;
    harness.registration(busy.handle).delete()?;
    let answers = clients.into_iter().map(end_of).collect::<Result<Vec<_>>>()?;
    let dropped = answers.iter().filter(|answer| !matches!(answer, Answer::Greeted(_))).count();
    test.record_counter("clients dropped with their socket", dropped as u64);
    test.check_eq("handler runs of the stopped socket", runs, busy.acceptor.runs(), "S18");
    // A thread that waits in poll(2) has the socket in the kernel until then.
    harness.fence_all()?;
    for _ in 0..CLIENTS * sockets.len() {
        check_greeted(test, "a client after the close of one socket", call(&address)?, "L1");
    }
    harness.finish(test, &[])
}

/// Creates a socket for each thread, all with one address, and registers them without interest.
fn sockets(harness: &Harness) -> Result<(Vec<Socket>, Address)> {
    let mut address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let mut sockets = Vec::new();
    for thread in harness.threads() {
        let listener = TcpListener::from(bound(address)?);
        if let SocketAddr::V4(own) = listener.local_addr()? {
            address = own;
        }
        let acceptor = Acceptor::new();
        let handle = harness.insert(listener.into(), acceptor.clone(), thread)?;
        sockets.push(Socket { thread, handle, acceptor });
    }
    Ok((sockets, Address::Tcp(address.into())))
}

/// Creates a listening socket whose address others may share.
fn bound(address: SocketAddrV4) -> Result<OwnedFd> {
    let fd = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None)?;
    share_port(&fd)?;
    bind(fd.as_raw_fd(), &SockaddrIn::from(address))?;
    listen(&fd, Backlog::new(128)?)?;
    set_nonblocking(&fd)?;
    Ok(fd)
}

/// Lets other sockets have the same address. With SO_REUSEPORT, one of them gets all connections.
#[cfg(target_os = "freebsd")]
fn share_port(fd: &OwnedFd) -> Result {
    Ok(nix::sys::socket::setsockopt(fd, nix::sys::socket::sockopt::ReusePortLb, &true)?)
}

/// Lets other sockets have the same address.
#[cfg(not(any(target_os = "freebsd", target_os = "illumos", target_os = "solaris")))]
fn share_port(fd: &OwnedFd) -> Result {
    Ok(nix::sys::socket::setsockopt(fd, nix::sys::socket::sockopt::ReusePort, &true)?)
}

/// No two listeners have one address here.
#[cfg(any(target_os = "illumos", target_os = "solaris"))]
fn share_port(_: &OwnedFd) -> Result {
    Err(Failure::Unsupported("this system has no SO_REUSEPORT".into()))
}

/// Lets clients connect until `holds`. The kernel decides which socket gets each.
///
/// # Errors
/// `Unsupported` if it never holds, on a system that gives all connections to one socket.
fn connect_until(address: &Address, holds: impl Fn() -> bool) -> Result<Vec<FarEnd>> {
    let mut clients = Vec::new();
    while clients.len() < MOST_CLIENTS && !holds() {
        clients.push(address.connect()?);
        // Time for the threads: fewer clients are needed.
        std::thread::sleep(Duration::from_millis(1));
    }
    if wait_until(&holds) {
        return Ok(clients);
    }
    let what = format!("one of the sockets got none of {} clients, or does not accept", clients.len());
    let spreads = cfg!(any(target_os = "linux", target_os = "freebsd"));
    Err(if spreads { Failure::Wrong(what) } else { Failure::Unsupported(what) })
}
