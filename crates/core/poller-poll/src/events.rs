//! From the returned events of a pollfd to [`Events`].

use fd_core::poller::Events;
use libc::c_short;

use crate::changes::RDHUP;

/// Translates the returned events.
pub(crate) fn translate(bits: c_short) -> Events {
    let has = |flag: c_short| bits & flag != 0;
    Events::NONE
        .or(Events::READY_R.when(has(libc::POLLIN)))
        .or(Events::READY_W.when(has(libc::POLLOUT)))
        .or(Events::SHUT_R.when(RDHUP.is_some_and(has)))
        .or(Events::SHUT_R.or(Events::SHUT_W).when(has(libc::POLLHUP)))
        .or(Events::ERR.when(has(libc::POLLERR)))
        .or(Events::INVALID.when(has(libc::POLLNVAL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of protocol 14, and every combination of its bits.
    #[test]
    fn each_bit_means_what_the_table_says() {
        let mut table = vec![
            (libc::POLLIN, Events::READY_R),
            (libc::POLLOUT, Events::READY_W),
            (libc::POLLHUP, Events::SHUT_R.or(Events::SHUT_W)),
            (libc::POLLERR, Events::ERR),
            (libc::POLLNVAL, Events::INVALID),
        ];
        table.extend(RDHUP.map(|bit| (bit, Events::SHUT_R)));
        for subset in 0..1 << table.len() {
            let chosen = table.iter().enumerate().filter(|(i, _)| subset & (1 << i) != 0);
            let (bits, events) =
                chosen.fold((0, Events::NONE), |(bits, events), (_, row)| (bits | row.0, events.or(row.1)));
            assert_eq!(translate(bits), events, "{bits:#x}");
        }
    }
}
