//! A proxy for HTTP/1.1 with a pool of connections to its server, as HAProxy has it (`http-reuse always`).
//!
//! Each client belongs to one of two threads. A connection to the server that is idle belongs to the thread
//! that used it last. A thread that needs one prefers its own, and else takes one over from another thread:
//! the request and the answer are served by one thread, and the client does not move.
//!
//! `takeover_pool SERVER` prints its address, and serves until its standard input ends. Then it prints how
//! many connections to the server it has opened and taken over. Requests and answers may have a body of a
//! length that their head states for the answers, and none for the requests.

mod backend;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use httparse::{EMPTY_HEADER, Request, Response, Status};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, connect, socket};
use pollmatrix_fd_core::ids::ThreadId;
use pollmatrix_fd_core::{Context, FdHandle, Handler, InsertOptions, OwnerId, ReadyGuard, Runtime};

/// The largest request or answer.
const LONGEST: usize = 1 << 16;
/// How long a client may be idle, and the server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// An idle connection to the server.
type Idle = (FdHandle, OwnerId);

/// What all connections share.
struct Proxy {
    server: SocketAddr,
    /// The idle connections to the server, by the thread that used them last: its last one is the first one
    /// used again. One that has ended stays here until a thread tries to take it.
    idle: Box<[Mutex<Vec<Idle>>]>,
    opened: AtomicUsize,
    taken_over: AtomicUsize,
}

/// A client.
struct Client {
    proxy: Arc<Proxy>,
    requests: Mutex<Requests>,
}

/// What a client has sent.
#[derive(Default)]
struct Requests {
    /// What has arrived of the next requests.
    pending: Vec<u8>,
    /// Whether the answer to a former one has not come yet. Meanwhile the interest stays: to end it and to
    /// begin it again would be two system calls for each request.
    awaits_answer: bool,
}

impl Handler<TcpStream> for Client {
    fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
        let mut requests = lock(&self.requests);
        let registration = ready.registration();
        let received = if ready.events().is_timeout() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            receive(ready.source(), &mut requests.pending)
        };
        match received.and_then(|()| self.forward(ready, &mut requests)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // No more is read before the answer: the client has sent its last request, or too many at once.
            Err(_) if requests.awaits_answer => _ = registration.stop_recv(),
            Err(_) => _ = registration.delete(),
        }
    }
}

impl Client {
    /// Forwards the first request, if it is complete. The rest waits until its answer has come.
    fn forward(&self, ready: &ReadyGuard<'_, TcpStream>, requests: &mut Requests) -> io::Result<()> {
        if requests.awaits_answer {
            return Ok(());
        }
        let Some(length) = length_of_request(&requests.pending)? else { return Ok(()) };
        let request = requests.pending.drain(..length).collect();
        requests.awaits_answer = true;
        ready.registration().set_timeout(None).map_err(io::Error::other)?;
        let forwarded = self.proxy.forward(ready.context(), ready.handle(), request);
        forwarded.map_err(|error| io::Error::other(error.to_string()))
    }

    /// Sends the answer, and waits for the next request.
    fn answer(&self, ready: &ReadyGuard<'_, TcpStream>, answer: &[u8]) {
        let sent = ready.source().write_all(answer);
        let registration = ready.registration();
        let waits = registration.want_recv().and_then(|()| registration.set_timeout(Some(PATIENCE)));
        let mut requests = lock(&self.requests);
        requests.awaits_answer = false;
        // The next request may have arrived with this one, and no report of it comes.
        let next = self.forward(ready, &mut requests);
        if sent.is_err() || waits.is_err() || next.is_err() {
            let _ = registration.delete();
        }
    }
}

/// A connection to the server.
struct Server {
    proxy: Arc<Proxy>,
    exchange: Mutex<Exchange>,
}

/// The request that a connection to the server serves, if it serves one.
#[derive(Default)]
struct Exchange {
    client: Option<FdHandle>,
    /// What is left to send.
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Proxy {
    /// Sends a request on an idle connection, taken over from whichever thread has it, or on a new one.
    fn forward(
        self: &Arc<Self>,
        context: &Context,
        client: FdHandle,
        mut request: Vec<u8>,
    ) -> Result<(), Box<dyn Error>> {
        let own = context.id().index();
        for (distance, pool) in self.idle[own..].iter().chain(&self.idle[..own]).enumerate() {
            loop {
                let idle = lock(pool).pop();
                let Some((handle, owner)) = idle else { break };
                let begin = |ready: &ReadyGuard<'_, TcpStream>, server: &Server| {
                    server.begin(ready, client, std::mem::take(&mut request));
                };
                // Another thread cannot have it: it was in a pool. If it has ended, the next one may do.
                if context.takeover_with(handle, owner, begin).is_ok() {
                    self.taken_over.fetch_add(usize::from(distance > 0), Ordering::Relaxed);
                    return Ok(());
                }
            }
        }
        let stream = open(self.server)?;
        self.opened.fetch_add(1, Ordering::Relaxed);
        let exchange = Exchange { client: Some(client), request, answer: Vec::new() };
        let server = Server { proxy: Arc::clone(self), exchange: Mutex::new(exchange) };
        let (id, options) = (context.id(), InsertOptions::default());
        let handle = context.core().insert(stream, server, id.group(), id.mask(), options)?;
        let registration = context.registration(handle);
        registration.set_timeout(Some(PATIENCE))?;
        // It is writable when it is connected.
        registration.want_send()?;
        Ok(())
    }
}

impl Handler<TcpStream> for Server {
    fn ready(&self, ready: &ReadyGuard<'_, TcpStream>) {
        let mut exchange = lock(&self.exchange);
        let served = if ready.events().is_timeout() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            self.send(ready, &mut exchange).and_then(|()| self.receive(ready, &mut exchange))
        };
        match served {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => {
                // The server has closed an idle connection, or failed in the middle of an exchange.
                let _ = ready.registration().delete();
                let mut failed = std::mem::take(&mut *exchange);
                failed.answer = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n".into();
                // The handler of the client may run at this moment, if it has just taken the connection.
                let context = ready.context();
                let _ = context.core().post(context.id(), move |context| failed.end(context));
            }
        }
    }
}

impl Server {
    /// Begins an exchange on an idle connection that this thread has just taken over.
    fn begin(&self, ready: &ReadyGuard<'_, TcpStream>, client: FdHandle, request: Vec<u8>) {
        *lock(&self.exchange) = Exchange { client: Some(client), request, answer: Vec::new() };
        let registration = ready.registration();
        let _ = registration.set_timeout(Some(PATIENCE));
        // There is room in a connection that was idle: no report is needed to send.
        self.ready(ready);
        let _ = registration.want_recv();
    }

    fn send(&self, ready: &ReadyGuard<'_, TcpStream>, exchange: &mut Exchange) -> io::Result<()> {
        while !exchange.request.is_empty() {
            // The first write finds the error of a connect that has failed.
            match ready.source().write(&exchange.request) {
                Ok(count) => drop(exchange.request.drain(..count)),
                Err(error) => {
                    let _ = ready.registration().want_send();
                    return Err(error);
                }
            }
        }
        let registration = ready.registration();
        registration.stop_send().and_then(|()| registration.want_recv()).map_err(io::Error::other)
    }

    fn receive(&self, ready: &ReadyGuard<'_, TcpStream>, exchange: &mut Exchange) -> io::Result<()> {
        receive(ready.source(), &mut exchange.answer)?;
        if exchange.client.is_none() {
            // Nobody has asked.
            return Err(io::ErrorKind::InvalidData.into());
        }
        if is_complete(&exchange.answer)? {
            let (done, proxy) = (std::mem::take(exchange), Arc::clone(&self.proxy));
            let (handle, context) = (ready.handle(), ready.context());
            let registration = ready.registration();
            let owner = registration.set_timeout(None).and_then(|()| registration.owner());
            let owner = owner.map_err(io::Error::other)?;
            // After this handler, which uses the connection, another thread can take it over. Only then does
            // the client get its answer: its next request finds the connection in the pool.
            let end = move |context: &Context| {
                lock(&proxy.idle[context.id().index()]).push((handle, owner));
                done.end(context);
            };
            context.core().post(context.id(), end).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl Exchange {
    /// Answers the client, which belongs to this thread.
    fn end(self, context: &Context) {
        if let Some(client) = self.client {
            // It may have gone.
            let _ = context.enter_with(client, |ready: &ReadyGuard<'_, TcpStream>, client: &Client| {
                client.answer(ready, &self.answer);
            });
        }
    }
}

/// Begins to connect.
fn open(server: SocketAddr) -> Result<TcpStream, Box<dyn Error>> {
    let family = if server.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let stream = TcpStream::from(socket(family, SockType::Stream, SockFlag::empty(), None)?);
    stream.set_nonblocking(true)?;
    match connect(stream.as_raw_fd(), &SockaddrStorage::from(server)) {
        Ok(()) | Err(nix::Error::EINPROGRESS) => Ok(stream),
        Err(error) => Err(error.into()),
    }
}

/// Appends what has arrived.
fn receive(mut stream: &TcpStream, pending: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; 4096];
    if pending.len() + bytes.len() > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let count = stream.read(&mut bytes)?;
    if count == 0 {
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    pending.extend_from_slice(&bytes[..count]);
    Ok(())
}

/// The length of the first request, if it is complete.
fn length_of_request(pending: &[u8]) -> io::Result<Option<usize>> {
    let mut headers = [EMPTY_HEADER; 32];
    match Request::new(&mut headers).parse(pending).map_err(io::Error::other)? {
        Status::Complete(length) => Ok(Some(length)),
        Status::Partial => Ok(None),
    }
}

/// Whether an answer is complete: its head, and the body that the head announces.
fn is_complete(answer: &[u8]) -> io::Result<bool> {
    let mut headers = [EMPTY_HEADER; 32];
    let mut response = Response::new(&mut headers);
    let Status::Complete(head) = response.parse(answer).map_err(io::Error::other)? else { return Ok(false) };
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok());
    let length = length.ok_or(io::ErrorKind::InvalidData)?;
    Ok(answer.len() - head >= length)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn main() -> Result<(), Box<dyn Error>> {
    serve(std::env::args().nth(1).ok_or("usage: takeover_pool SERVER")?.parse()?)
}

/// Forwards to this server until the standard input ends.
///
/// # Errors
/// The error of a system call.
pub fn serve(server: SocketAddr) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    writeln!(io::stdout(), "{}", listener.local_addr()?)?;

    let runtime = Runtime::builder().group(2).start(backend::backend)?;
    let core = runtime.core();
    let threads: Vec<ThreadId> = core.threads().collect();
    let idle = threads.iter().map(|_| Mutex::default()).collect();
    let (opened, taken_over) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let proxy = Arc::new(Proxy { server, idle, opened, taken_over });
    let (shared, turn) = (Arc::clone(&proxy), AtomicUsize::new(0));
    let clients = threads.clone();
    let accept = move |ready: &ReadyGuard<'_, TcpListener>| {
        let Ok((stream, _)) = ready.source().accept() else { return };
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        // The clients belong to the threads by turns.
        let id = clients[turn.fetch_add(1, Ordering::Relaxed) % clients.len()];
        let client = Client { proxy: Arc::clone(&shared), requests: Mutex::default() };
        let (context, options) = (ready.context(), InsertOptions::default());
        if let Ok(handle) = context.core().insert(stream, client, id.group(), id.mask(), options) {
            let registration = context.registration(handle);
            let _ = registration.set_timeout(Some(PATIENCE)).and_then(|()| registration.want_recv());
        }
    };
    let (group, first) = (threads[0].group(), threads[0].mask());
    let handle = core.insert(listener, accept, group, first, InsertOptions::default())?;
    core.registration(handle).want_recv()?;

    io::copy(&mut io::stdin(), &mut io::sink())?;
    let [opened, taken_over] = [&proxy.opened, &proxy.taken_over].map(|count| count.load(Ordering::Relaxed));
    runtime.stop()?;
    writeln!(io::stdout(), "{opened} connections opened, {taken_over} taken over from the other thread")?;
    Ok(())
}
