//! Servers that other libraries' users would write.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::hyper::body::{Bytes, Incoming};
use ::hyper::header::{CONTENT_TYPE, HeaderValue};
use ::hyper::server::conn::http1;
use ::hyper::service::service_fn;
use ::hyper::{Request, Response};
use fd_core::poller::BATCH;
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use crate::servers::server::{Asked, Protocol, Server, accepted, looping};

/// A loop of mio. It reads until nothing is left, as mio's manual asks.
///
/// # Errors
/// The thread cannot be started.
pub fn mio(protocol: Protocol, listener: TcpListener) -> io::Result<Server> {
    looping(protocol, listener, serve_mio)
}

fn serve_mio(protocol: Protocol, listener: TcpListener, asked: &Asked) -> io::Result<()> {
    const LISTENER: Token = Token(usize::MAX);
    let mut poll = Poll::new()?;
    let register = |poll: &Poll, number: i32, token| {
        poll.registry().register(&mut SourceFd(&number), token, Interest::READABLE)
    };
    register(&poll, listener.as_raw_fd(), LISTENER)?;
    let mut connections: Vec<Option<(TcpStream, Vec<u8>)>> = Vec::new();
    let mut events = Events::with_capacity(BATCH);
    let mut requests = 0;
    while asked.goes_on(requests) {
        poll.poll(&mut events, Some(Duration::from_millis(20)))?;
        for event in &events {
            if event.token() == LISTENER {
                while let Ok(stream) = accepted(&listener) {
                    register(&poll, stream.as_raw_fd(), Token(connections.len()))?;
                    connections.push(Some((stream, Vec::new())));
                }
                continue;
            }
            let connection = &mut connections[event.token().0];
            let Some((stream, pending)) = connection else { continue };
            loop {
                match protocol.serve(stream, pending) {
                    Ok(answered) => requests += answered,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => {
                        *connection = None;
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}

/// hyper on one thread of tokio. It answers the same bytes as the others: no date.
///
/// # Errors
/// The thread cannot be started.
pub fn hyper(protocol: Protocol, listener: TcpListener) -> io::Result<Server> {
    looping(protocol, listener, |_, listener, asked| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(serve_hyper(listener, asked))
    })
}

async fn serve_hyper(listener: TcpListener, asked: &Asked) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let requests = std::sync::Arc::new(AtomicU64::new(0));
    let mut looks = tokio::time::interval(Duration::from_millis(5));
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            _ = looks.tick() => {
                if !asked.goes_on(requests.load(Ordering::Relaxed)) {
                    return Ok(());
                }
                continue;
            }
        };
        stream.set_nodelay(true)?;
        let requests = std::sync::Arc::clone(&requests);
        let answer = service_fn(move |_: Request<Incoming>| {
            requests.fetch_add(1, Ordering::Relaxed);
            let mut answer = Response::new(Full::new(Bytes::from_static(b"Hello, world!\n")));
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
            async { Ok::<_, Infallible>(answer) }
        });
        let mut server = http1::Builder::new();
        server.auto_date_header(false);
        let connection = server.serve_connection(TokioIo::new(stream), answer);
        // An error is the end of the connection.
        tokio::spawn(async move { _ = connection.await });
    }
}
