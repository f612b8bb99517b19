//! Loops in Rust.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use fd_core::poller::BATCH;
use mio::unix::SourceFd;
use polling::{Event, PollMode};

use crate::ring::{Ring, thread_time};

pub fn mio(ring: &Ring) -> io::Result<Duration> {
    let mut poll = mio::Poll::new()?;
    for (index, fd) in ring.descriptors().enumerate() {
        let number = fd.as_raw_fd();
        poll.registry().register(&mut SourceFd(&number), mio::Token(index), mio::Interest::READABLE)?;
    }
    let mut events = mio::Events::with_capacity(BATCH);
    let begin = thread_time();
    ring.start();
    while !ring.is_over() {
        poll.poll(&mut events, None)?;
        for event in &events {
            if ring.ready(event.token().0) {
                break;
            }
        }
    }
    Ok(thread_time() - begin)
}

pub fn polling(ring: &Ring) -> io::Result<Duration> {
    let poller = polling::Poller::new()?;
    for (index, fd) in ring.descriptors().enumerate() {
        // SAFETY: the descriptor is removed below, before the ring closes it.
        unsafe { poller.add_with_mode(&fd, Event::readable(index), PollMode::Level)? };
    }
    let mut events = polling::Events::with_capacity(BATCH.try_into().expect("it is not zero"));
    let begin = thread_time();
    ring.start();
    while !ring.is_over() {
        events.clear();
        poller.wait(&mut events, None)?;
        for event in events.iter() {
            if ring.ready(event.key) {
                break;
            }
        }
    }
    let time = thread_time() - begin;
    ring.descriptors().try_for_each(|fd| poller.delete(fd))?;
    Ok(time)
}
