//! 2.7: the states of a pipe, a FIFO and a socket pair for which FreeBSD's tests contain expected results.

use metadata::Transport::{Fifo, Pipe, Unix};

use super::BOTH;
use metadata::Scripted;

pub(super) const SCENARIOS: &[Scripted] = &[
    Scripted {
        behaviour: "2.7",
        id: "states/pipe",
        question: "What does a poller report for a pipe or a socket pair: idle, with data, after the writer \
            closed, and drained?",
        script: "own and peer are connected, watch own, look at own as state-4-idle, look at own for \
                 reading, peer sends 1, look at own as state-5-data, look at own for reading, peer closes, \
                 look at own as state-6-data+writer-gone, look at own for reading, own reads 1, look at own \
                 as state-6a-drained, look at own for reading",
        transports: &[Pipe, Unix],
        modes: BOTH,
        bugs: &[],
    },
    Scripted {
        behaviour: "2.7",
        id: "states/fifo",
        question: "What does a poller report for a FIFO's reader while writers and a second reader open and \
            close?",
        script: "own opens for reading, watch own, look at own as state-0-no-writer-yet, look at own for \
                 reading, writer opens for writing, look at own as state-1-writer-opened, look at own for \
                 reading, writer sends 1, look at own as state-2-data, look at own for reading, own reads 1, \
                 look at own as state-2a-drained-writer-open, look at own for reading, writer closes, look \
                 at own as state-3-writer-gone, look at own for reading, next opens for writing, look at own \
                 as state-4-new-writer, look at own for reading, next sends 1, look at own as state-5-data, \
                 look at own for reading, next closes, look at own as state-6-data+writer-gone, look at own \
                 for reading, own reads 1, look at own as state-6a-drained, look at own for reading, second \
                 opens for reading, look at second as state-6b-second-reader(its-view), look at second for \
                 reading, look at own as state-6b-second-reader(first-reader-view), look at own for reading, \
                 second closes, look at own as state-6c-second-reader-closed, look at own for reading, own \
                 closes, only opens for reading, look at only as state-6d-only-reader-reopened, look at only \
                 for reading",
        transports: &[Fifo],
        modes: BOTH,
        bugs: &["https://github.com/golang/go/issues/24164"],
    },
];
