//! A listener that belongs to one of several threads, as in the commit that gave each thread of HAProxy its
//! own epoll (bug 9), beside one poller that all threads share: there a connection wakes threads in vain.

use std::io::{self, ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use cost::statistics::{Compared, alternately};
use fd_core::{FdCore, InsertOptions, ReadyGuard, Runtime};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use crate::ring::thread_time;
use crate::servers::Row;

/// The threads of the server. The first one has the listener.
const THREADS: usize = 4;
const CLIENTS: usize = 4;
/// How many connections a thread accepts per event.
const BURST: u32 = 64;

/// The pollers of the server's threads.
#[derive(Clone, Copy)]
enum Server {
    /// fd-core: one per thread.
    PerThread,
    /// One epoll for all threads. A thread without the listener skips its events.
    Shared,
}

/// What a server did in a sample.
struct Served {
    connections: u64,
    elapsed: Duration,
    /// The processor time of the server's threads.
    processor: Duration,
    /// How often the threads without the listener returned from a wait with an event.
    woken: u64,
}

/// Runs both servers alternately.
///
/// # Errors
/// The error of a system call.
pub fn compare(pairs: u32, sample: Duration) -> io::Result<(Vec<Row>, [u64; 2])> {
    let mut columns: [Vec<[f64; 2]>; 3] = Default::default();
    let mut woken = [0; 2];
    for both in alternately(pairs, || serve(Server::PerThread, sample), || serve(Server::Shared, sample))? {
        let per_second = |served: &Served| served.connections as f64 / served.elapsed.as_secs_f64();
        let processors = |served: &Served| served.processor.as_secs_f64() / served.elapsed.as_secs_f64();
        columns[0].push([per_second(&both[0]), per_second(&both[1])]);
        columns[1].push([processors(&both[0]), processors(&both[1])]);
        let per_connection = |served: &Served| processors(served) / per_second(served) * 1e6;
        columns[2].push([per_connection(&both[0]), per_connection(&both[1])]);
        (0..2).for_each(|index| woken[index] += both[index].woken);
    }
    let names = ["connections per second", "processors in use", "microseconds of processor per connection"];
    let rows = names.into_iter().zip(&columns);
    Ok((rows.map(|(name, pairs)| Row { name, compared: Compared::of(pairs) }).collect(), woken))
}

/// Runs a server and its clients for a time.
fn serve(server: Server, time: Duration) -> io::Result<Served> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!("pollmatrix-bench-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let address = SocketAddr::from_abstract_name(name)?;
    let listener = UnixListener::bind_addr(&address)?;
    listener.set_nonblocking(true)?;
    let stop = Arc::new(AtomicBool::new(false));
    let clients = (0..CLIENTS).map(|_| {
        let (address, stop) = (address.clone(), Arc::clone(&stop));
        Builder::new().spawn(move || call(&address, &stop))
    });
    let clients: Vec<_> = clients.collect::<io::Result<_>>()?;
    let served = match server {
        Server::PerThread => per_thread(listener, time),
        Server::Shared => shared(listener, time),
    };
    stop.store(true, Ordering::Relaxed);
    clients.into_iter().try_for_each(joined)?;
    served
}

/// The result of a thread, or its panic.
///
/// # Errors
/// The error of the thread.
pub fn joined<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Connects again and again, and reads each connection to its end.
fn call(address: &SocketAddr, stop: &AtomicBool) -> io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        match UnixStream::connect_addr(address) {
            Ok(mut stream) => {
                let _ = stream.read_to_end(&mut Vec::new());
            }
            // The server ends first.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Accepts and answers what waits, at most [`BURST`].
fn accept(listener: &UnixListener, connections: &AtomicU64) {
    for _ in 0..BURST {
        let Ok((mut stream, _)) = listener.accept() else { return };
        // A client that has ended needs no answer.
        let _ = stream.write_all(b"x");
        connections.fetch_add(1, Ordering::Relaxed);
    }
}

fn shared(listener: UnixListener, time: Duration) -> io::Result<Served> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
    let shared =
        Arc::new((epoll, listener, AtomicU64::new(0), AtomicBool::new(false), Barrier::new(THREADS + 1)));
    let threads = (0..THREADS).map(|index| {
        let shared = Arc::clone(&shared);
        Builder::new().spawn(move || {
            let (epoll, listener, connections, stop, begin) = &*shared;
            begin.wait();
            let (start, mut woken) = (thread_time(), 0);
            while !stop.load(Ordering::Relaxed) {
                // The limit ends the thread after the sample.
                let mut events = [EpollEvent::empty(); 256];
                let count = epoll.wait(&mut events, EpollTimeout::from(20_u8))?;
                if count > 0 && index == 0 {
                    accept(listener, connections);
                } else if count > 0 {
                    woken += 1;
                }
            }
            io::Result::Ok((thread_time() - start, woken))
        })
    });
    let threads: Vec<_> = threads.collect::<io::Result<_>>()?;
    let (_, _, connections, stop, begin) = &*shared;
    begin.wait();
    let (start, before) = (Instant::now(), connections.load(Ordering::Relaxed));
    sleep(time);
    let (connections, elapsed) = (connections.load(Ordering::Relaxed) - before, start.elapsed());
    stop.store(true, Ordering::Relaxed);
    let mut served = Served { connections, elapsed, processor: Duration::ZERO, woken: 0 };
    for thread in threads {
        let (processor, woken) = joined(thread)?;
        served.processor += processor;
        served.woken += woken;
    }
    Ok(served)
}

fn per_thread(listener: UnixListener, time: Duration) -> io::Result<Served> {
    let runtime = Runtime::builder().group(THREADS).start(poller_epoll::backend).map_err(io::Error::other)?;
    let core = Arc::clone(runtime.core());
    let first = core.threads().next().ok_or(ErrorKind::NotFound)?;
    let connections = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&connections);
    let handler = move |ready: &ReadyGuard<'_, UnixListener>| accept(ready.source(), &counted);
    let handle = core
        .insert(listener, handler, first.group(), first.mask(), InsertOptions::default())
        .map_err(|error| io::Error::other(error.reason))?;
    let start_processor = processor(&core)?;
    core.registration(handle).want_recv().map_err(io::Error::other)?;
    let woken = || core.activity().0.iter().skip(1).map(|(_, counters)| counters.poll_io).sum::<u64>();
    let (start, before, woken_before) = (Instant::now(), connections.load(Ordering::Relaxed), woken());
    sleep(time);
    let (connections, elapsed) = (connections.load(Ordering::Relaxed) - before, start.elapsed());
    let woken = woken() - woken_before;
    let processor = processor(&core)? - start_processor;
    runtime.stop().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Served { connections, elapsed, processor, woken })
}

/// The processor time of all threads of a runtime.
fn processor(core: &FdCore) -> io::Result<Duration> {
    let (sender, receiver) = channel();
    for thread in core.threads() {
        let sender = sender.clone();
        let note = move |_: &fd_core::Context| {
            let _ = sender.send(thread_time());
        };
        core.post(thread, note).map_err(io::Error::other)?;
    }
    drop(sender);
    Ok(receiver.into_iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_servers_serve_and_only_the_shared_poller_wakes_threads_in_vain() {
        let time = Duration::from_millis(200);
        let [one, all] = [Server::PerThread, Server::Shared].map(|server| serve(server, time).unwrap());
        assert!(one.connections > 0 && all.connections > 0);
        assert_eq!(one.woken, 0);
        assert!(all.woken > 0);
    }
}
