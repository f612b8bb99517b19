//! The catalogue: one entry per scenario.

use selector::Mode;

use crate::{Row, Transport};

/// Every row that is a scenario, in the order of the catalogue.
pub fn rows() -> &'static [Row] {
    ROWS
}

const ROWS: &[Row] = &[Row {
    row: "V06",
    id: "readiness/peer-shut-write",
    question: "What is reported when the peer has shut its writing side?",
    verbs: "own and peer are connected, watch own, peer shuts write, look at own, own reads 0, look at own as after-read-0",
    transports: &[Transport::Tcp, Transport::Unix, Transport::UnixDgram, Transport::Seqpacket],
    modes: &[Mode::Level, Mode::Edge],
    bugs: &["https://github.com/tokio-rs/mio/issues/1893"],
}];

/// A row of the catalogue that is no scenario.
#[derive(Clone, Copy, Debug)]
pub struct Unscripted {
    /// The row: `F08`.
    pub row: &'static str,
    /// Why.
    pub why: &'static str,
}

/// Every row, or part of one, that cannot be a scenario.
pub fn unscripted() -> &'static [Unscripted] {
    &[]
}
