//! From the events of an epoll_event to an [`Event`].

use std::os::fd::RawFd;

use fd_core::poller::{Event, Events, Generation};

/// Returns the data that is registered with a descriptor. The kernel returns it with each event.
pub(crate) fn tag(fd: RawFd, generation: Generation) -> u64 {
    u64::from(generation) << 32 | u64::from(fd as u32)
}

/// Returns the event that the kernel reports with `bits` and the registered tag.
pub(crate) fn event(bits: u32, tag: u64) -> Event {
    Event { fd: tag as u32 as RawFd, generation: (tag >> 32) as Generation, events: translate(bits) }
}

fn translate(bits: u32) -> Events {
    TRANSLATED[index(bits)]
}

/// The bits that mean something here: IN, PRI, OUT, ERR and HUP are the lowest five, and RDHUP follows them.
const fn index(bits: u32) -> usize {
    (bits & 0x1f | bits >> 8 & 0x20) as usize
}

/// The events of each [`index`].
static TRANSLATED: [Events; 64] = {
    let mut table = [Events::NONE; 64];
    let mut bits = 0;
    while bits < table.len() as u32 {
        table[bits as usize] = translated(bits & 0x1f | (bits & 0x20) << 8);
        bits += 1;
    }
    table
};

const fn translated(bits: u32) -> Events {
    const fn has(bits: u32, flag: libc::c_int) -> bool {
        bits & flag as u32 != 0
    }
    Events::NONE
        .or(Events::READY_R.when(has(bits, libc::EPOLLIN)))
        .or(Events::READY_W.when(has(bits, libc::EPOLLOUT)))
        .or(Events::SHUT_R.when(has(bits, libc::EPOLLRDHUP)))
        .or(Events::SHUT_R.or(Events::SHUT_W).when(has(bits, libc::EPOLLHUP)))
        .or(Events::ERR.when(has(bits, libc::EPOLLERR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of protocol 14, and every combination of its bits.
    #[test]
    fn each_bit_means_what_the_table_says() {
        let hangup = Events::SHUT_R.or(Events::SHUT_W);
        let table = [
            (libc::EPOLLIN, Events::READY_R),
            (libc::EPOLLOUT, Events::READY_W),
            (libc::EPOLLRDHUP, Events::SHUT_R),
            (libc::EPOLLHUP, hangup),
            (libc::EPOLLERR, Events::ERR),
        ];
        for subset in 0..1 << table.len() {
            let chosen = table.iter().enumerate().filter(|(i, _)| subset & (1 << i) != 0);
            let (bits, events) = chosen
                .fold((0, Events::NONE), |(bits, events), (_, row)| (bits | row.0 as u32, events.or(row.1)));
            assert_eq!(translate(bits), events, "{bits:#x}");
        }
    }

    #[test]
    fn a_tag_comes_back_whole() {
        for fd in [0, 1, RawFd::MAX] {
            for generation in [0, 1, Generation::MAX] {
                let event = event(0, tag(fd, generation));
                assert_eq!((event.fd, event.generation), (fd, generation));
            }
        }
    }
}
