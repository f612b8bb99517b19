//! Servers under the same load, each with one thread: fd-core beside a bare epoll loop, mio, and hyper on
//! tokio. 64 clients send a request, and the next one after the answer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use cost::statistics::alternately;
use fd_core::poller::BATCH;
use fd_core::{Context, Handler, InsertOptions, ReadyGuard, Runtime};
use httparse::{EMPTY_HEADER, Request, Status};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use crate::ring::thread_time;
use crate::servers::listener::joined;
use crate::servers::{Row, peers};

const CLIENTS: usize = 64;

/// What the clients send, and what the server answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Protocol {
    /// HTTP/1.1 with persistent connections and a fixed answer
    Http,
    /// The client's 64 bytes
    Echo,
}

impl Protocol {
    pub fn request(self) -> &'static [u8] {
        match self {
            Self::Http => b"GET /index.html HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
            Self::Echo => &[b'x'; 64],
        }
    }

    pub fn answer(self) -> &'static [u8] {
        match self {
            Self::Http => {
                b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 14\r\n\r\nHello, world!\n"
            }
            Self::Echo => self.request(),
        }
    }

    /// Reads what has arrived, and answers every complete request in `pending`. Returns their number.
    ///
    /// # Errors
    /// The connection has ended, has nothing to read, or is wrong.
    pub fn serve(self, mut stream: &TcpStream, pending: &mut Vec<u8>) -> io::Result<u64> {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        pending.extend_from_slice(&bytes[..count]);
        let mut answered = 0;
        while let Some(length) = self.next_request(pending)? {
            stream.write_all(self.answer())?;
            pending.drain(..length);
            answered += 1;
        }
        Ok(answered)
    }

    /// The length of the first request, if it is complete.
    fn next_request(self, pending: &[u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Http => {
                let mut headers = [EMPTY_HEADER; 32];
                match Request::new(&mut headers).parse(pending) {
                    Ok(Status::Complete(length)) => Ok(Some(length)),
                    Ok(Status::Partial) => Ok(None),
                    Err(error) => Err(io::Error::other(error)),
                }
            }
            Self::Echo => Ok((pending.len() >= self.request().len()).then_some(self.request().len())),
        }
    }
}

/// Starts a server on a listener.
pub type Start = fn(Protocol, TcpListener) -> io::Result<Server>;

/// The servers beside fd-core, and what each can serve.
pub const OTHERS: [(&str, Start, &[Protocol]); 3] = [
    ("bare epoll", bare, &[Protocol::Http, Protocol::Echo]),
    ("mio", peers::mio, &[Protocol::Http, Protocol::Echo]),
    ("hyper", peers::hyper, &[Protocol::Http]),
];

/// Runs fd-core's server and another one alternately.
///
/// # Errors
/// The error of a system call.
pub fn compare(protocol: Protocol, other: Start, pairs: u32, sample: Duration) -> io::Result<[Row; 2]> {
    let with = |server: Start| move || measure(protocol, server, sample);
    let both = alternately(pairs, with(fd_core), with(other))?;
    Ok([
        Row::of("requests per second", &both, |served| served.requests as f64 / served.elapsed.as_secs_f64()),
        Row::of("microseconds of processor per request", &both, |served| {
            served.processor.as_secs_f64() * 1e6 / served.requests as f64
        }),
    ])
}

/// What a server did in a sample.
#[derive(Debug)]
struct Served {
    requests: u64,
    elapsed: Duration,
    /// The processor time of the server's thread.
    processor: Duration,
}

/// A running server.
pub struct Server {
    /// Asks its thread for its counters.
    pub note: Box<dyn Fn() -> io::Result<Note>>,
    pub stop: Box<dyn FnOnce() -> io::Result<()>>,
}

/// What a server has done.
#[derive(Clone, Copy)]
pub struct Note {
    /// The processor time of its thread.
    pub processor: Duration,
    /// The requests that it has answered.
    pub requests: u64,
}

/// Binds a listener that does not block.
///
/// # Errors
/// The error of a system call.
pub fn listener() -> io::Result<TcpListener> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn measure(protocol: Protocol, start: Start, time: Duration) -> io::Result<Served> {
    let listener = listener()?;
    let address = listener.local_addr()?;
    let server = start(protocol, listener)?;
    let load = under_load(protocol, protocol.answer().len(), address, time, &server.note)?;
    (server.stop)()?;
    let [before, after] = load.notes;
    let processor = after.processor - before.processor;
    Ok(Served { requests: after.requests - before.requests, elapsed: load.elapsed, processor })
}

/// What was seen of a server while all clients called it.
pub struct Load<T> {
    /// The notes at the beginning and at the end.
    pub notes: [T; 2],
    /// The time between them.
    pub elapsed: Duration,
    /// How long each answer took.
    pub latencies: Vec<Duration>,
}

/// Lets all clients call a server, whose answers have this length, and notes what it does in a time.
///
/// # Errors
/// The error of a client or of a note.
pub fn under_load<T>(
    protocol: Protocol,
    length: usize,
    address: SocketAddr,
    time: Duration,
    note: impl Fn() -> io::Result<T>,
) -> io::Result<Load<T>> {
    let stop = Arc::new(AtomicBool::new(false));
    let (connected, all_connected) = channel();
    let stopped = Arc::clone(&stop);
    let clients = Builder::new().spawn(move || call(protocol, length, address, &connected, &stopped))?;
    // Without an answer, the thread of the clients has the error.
    let noted = all_connected.recv().map_err(io::Error::other).and_then(|()| {
        let (before, begin) = (note()?, Instant::now());
        sleep(time);
        Ok(([before, note()?], begin.elapsed()))
    });
    stop.store(true, Ordering::Relaxed);
    let latencies = joined(clients)?;
    let (notes, elapsed) = noted?;
    Ok(Load { notes, elapsed, latencies })
}

/// All clients, in one thread. Reports when each of them has had two answers on the average, and returns how
/// long each answer after that took. `length` is that of each answer.
fn call(
    protocol: Protocol,
    length: usize,
    address: SocketAddr,
    connected: &Sender<()>,
    stop: &AtomicBool,
) -> io::Result<Vec<Duration>> {
    struct Client {
        stream: TcpStream,
        missing: usize,
        asked: Instant,
    }
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let connect = |index: u64| {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, index))?;
        stream.write_all(protocol.request())?;
        io::Result::Ok(Client { stream, missing: length, asked: Instant::now() })
    };
    let mut clients: Vec<_> = (0..CLIENTS as u64).map(connect).collect::<io::Result<_>>()?;
    let mut events = [EpollEvent::empty(); CLIENTS];
    let (mut answers, mut latencies) = (0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let count = epoll.wait(&mut events, EpollTimeout::from(20_u8))?;
        for event in &events[..count] {
            let client = &mut clients[event.data() as usize];
            let received = client.stream.read(&mut [0; 4096])?;
            if received == 0 || received > client.missing {
                return Err(io::Error::other("the server does not answer as it should"));
            }
            client.missing -= received;
            if client.missing == 0 {
                client.missing = length;
                let asked = std::mem::replace(&mut client.asked, Instant::now());
                client.stream.write_all(protocol.request())?;
                answers += 1;
                if answers == 2 * CLIENTS {
                    let _ = connected.send(());
                } else if answers > 2 * CLIENTS {
                    latencies.push(client.asked - asked);
                }
            }
        }
    }
    Ok(latencies)
}

/// A connection of fd-core's server.
struct Connection {
    protocol: Protocol,
    pending: Mutex<Vec<u8>>,
    requests: Arc<AtomicU64>,
}

impl Handler<TcpStream> for Connection {
    fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        match self.protocol.serve(ready.source(), &mut pending) {
            Ok(answered) => count(&self.requests, answered),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => _ = ready.registration().delete(),
        }
    }
}

/// Adds to a count that one thread writes.
fn count(requests: &AtomicU64, answered: u64) {
    requests.store(requests.load(Ordering::Relaxed) + answered, Ordering::Relaxed);
}

/// The server of fd-core.
///
/// # Errors
/// The error of a system call.
pub fn fd_core(protocol: Protocol, listener: TcpListener) -> io::Result<Server> {
    let runtime = Runtime::builder().group(1).start(poller_epoll::backend).map_err(io::Error::other)?;
    let core = Arc::clone(runtime.core());
    let id = core.threads().next().ok_or(ErrorKind::NotFound)?;
    let requests = Arc::new(AtomicU64::new(0));
    let answered = Arc::clone(&requests);
    let options = InsertOptions { assume_nonblocking: true, ..InsertOptions::default() };
    let accept = move |ready: &ReadyGuard<'_, TcpListener>| {
        while let Ok(stream) = accepted(ready.source()) {
            let requests = Arc::clone(&answered);
            let connection = Connection { protocol, pending: Mutex::default(), requests };
            let inserted = ready.context().core().insert(stream, connection, id.group(), id.mask(), options);
            if let Ok(handle) = inserted {
                let _ = ready.context().registration(handle).want_recv();
            }
        }
    };
    let handle = core
        .insert(listener, accept, id.group(), id.mask(), options)
        .map_err(|error| io::Error::other(error.reason))?;
    core.registration(handle).want_recv().map_err(io::Error::other)?;
    let note = move || {
        let (sender, receiver) = channel();
        let requests = Arc::clone(&requests);
        let note = move |_: &Context| {
            let requests = requests.load(Ordering::Relaxed);
            let _ = sender.send(Note { processor: thread_time(), requests });
        };
        core.post(id, note).map_err(io::Error::other)?;
        receiver.recv().map_err(io::Error::other)
    };
    let stop = || runtime.stop().map_err(|error| io::Error::other(error.to_string()));
    Ok(Server { note: Box::new(note), stop: Box::new(stop) })
}

/// Accepts a connection that does not block.
///
/// # Errors
/// The error of a system call.
pub fn accepted(listener: &TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept()?;
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// What the thread of a loop is asked for. Under load it looks after each wait.
pub struct Asked {
    stop: AtomicBool,
    note: AtomicBool,
    notes: Mutex<Sender<Note>>,
}

impl Asked {
    /// Answers, and returns whether the loop goes on.
    pub fn goes_on(&self, requests: u64) -> bool {
        if self.note.swap(false, Ordering::Relaxed) {
            let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = notes.send(Note { processor: thread_time(), requests });
        }
        !self.stop.load(Ordering::Relaxed)
    }
}

/// Starts a server whose thread runs a loop.
///
/// # Errors
/// The thread cannot be started.
pub fn looping(
    protocol: Protocol,
    listener: TcpListener,
    serve: fn(Protocol, TcpListener, &Asked) -> io::Result<()>,
) -> io::Result<Server> {
    let (sender, notes): (_, Receiver<Note>) = channel();
    let asked =
        Asked { stop: AtomicBool::new(false), note: AtomicBool::new(false), notes: Mutex::new(sender) };
    let asked = Arc::new(asked);
    let (of_thread, of_stop) = (Arc::clone(&asked), Arc::clone(&asked));
    let thread = Builder::new().spawn(move || serve(protocol, listener, &of_thread))?;
    let note = move || {
        asked.note.store(true, Ordering::Relaxed);
        notes.recv().map_err(io::Error::other)
    };
    let stop = move || {
        of_stop.stop.store(true, Ordering::Relaxed);
        joined(thread)
    };
    Ok(Server { note: Box::new(note), stop: Box::new(stop) })
}

fn bare(protocol: Protocol, listener: TcpListener) -> io::Result<Server> {
    looping(protocol, listener, serve_bare)
}

fn serve_bare(protocol: Protocol, listener: TcpListener, asked: &Asked) -> io::Result<()> {
    const LISTENER: u64 = u64::MAX;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    let mut connections: Vec<Option<(TcpStream, Vec<u8>)>> = Vec::new();
    let mut events = [EpollEvent::empty(); BATCH];
    let mut requests = 0;
    while asked.goes_on(requests) {
        let count = epoll.wait(&mut events, EpollTimeout::from(20_u8))?;
        for event in &events[..count] {
            if event.data() == LISTENER {
                while let Ok(stream) = accepted(&listener) {
                    epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, connections.len() as u64))?;
                    connections.push(Some((stream, Vec::new())));
                }
                continue;
            }
            let connection = &mut connections[event.data() as usize];
            let Some((stream, pending)) = connection else { continue };
            match protocol.serve(stream, pending) {
                Ok(answered) => requests += answered,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => *connection = None,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_answers_every_client_of_each_protocol() {
        let own: (_, Start, &[Protocol]) = ("fd-core", fd_core, &[Protocol::Http, Protocol::Echo]);
        for (name, server, protocols) in OTHERS.into_iter().chain([own]) {
            for protocol in protocols {
                let served = measure(*protocol, server, Duration::from_millis(100)).unwrap();
                let is_measured = served.requests > 0 && served.processor > Duration::ZERO;
                assert!(is_measured, "{name}, {protocol:?}: {served:?}");
            }
        }
    }

    #[test]
    fn requests_are_answered_one_by_one_however_they_arrive() {
        for protocol in [Protocol::Http, Protocol::Echo] {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let server = listener.accept().unwrap().0;
            let (request, mut pending) = (protocol.request(), Vec::new());
            let three = [request, request, request].concat();
            let (first, rest) = three.split_at(request.len() + 5);
            client.write_all(first).unwrap();
            assert_eq!(protocol.serve(&server, &mut pending).unwrap(), 1);
            client.write_all(rest).unwrap();
            assert_eq!(protocol.serve(&server, &mut pending).unwrap(), 2);
            let mut answers = vec![0; 3 * protocol.answer().len()];
            client.read_exact(&mut answers).unwrap();
            assert_eq!(answers, protocol.answer().repeat(3));
        }
    }
}
