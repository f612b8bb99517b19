//! The common vocabulary of pollers with different words.
//!
//! Pollers of one dialect are compared word for word. Between two dialects, an event of a poller says of each
//! [`Word`] that it holds, that it does not hold, or nothing, because the poller has no way to say so. Two
//! events contradict each other if one says a word and the other one denies it.

use std::collections::BTreeSet;

use selector::Interest;

/// A word that several pollers have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Word {
    /// A read would not block: data, a connection, an end or an error.
    Readable,
    /// A write would not block.
    Writable,
    /// Urgent data.
    Priority,
    /// The other end sends no more data.
    End,
    /// An error is pending.
    Error,
    /// Neither direction works any more.
    HangUp,
}

impl Word {
    /// Every word.
    pub const ALL: [Self; 6] =
        [Self::Readable, Self::Writable, Self::Priority, Self::End, Self::Error, Self::HangUp];

    /// Returns the word as it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Readable => "readable",
            Self::Writable => "writable",
            Self::Priority => "priority",
            Self::End => "end",
            Self::Error => "error",
            Self::HangUp => "hang-up",
        }
    }
}

/// What an event says about a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// It holds.
    Yes,
    /// It does not hold.
    No,
    /// The poller does not say.
    Nothing,
}

impl Said {
    fn when(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Returns `Nothing` if the poller was not asked.
    fn if_asked(self, asked: bool) -> Self {
        if asked { self } else { Self::Nothing }
    }

    /// Returns whether one says what the other one denies.
    pub fn contradicts(self, other: Self) -> bool {
        matches!((self, other), (Self::Yes, Self::No) | (Self::No, Self::Yes))
    }
}

/// The words of a poller's events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `IN|HUP`: poll, epoll and io_uring.
    Bits,
    /// `rw-`: select.
    Sets,
    /// `R(data=3)+EOF`: kqueue.
    Filters,
    /// `readable|read_closed`: mio, tokio.
    Mio,
    /// `readable|interrupt`: polling.
    Polling,
    /// `READ|CLOSED`: libevent.
    Libevent,
    /// Any other adapter.
    Other,
}

impl Dialect {
    /// Returns the dialect of the poller of this name.
    pub fn of(name: &str) -> Self {
        match base(name) {
            "poll" | "epoll" | "io-uring" => Self::Bits,
            "select" => Self::Sets,
            "kqueue" | "libkqueue" => Self::Filters,
            "mio" | "tokio" => Self::Mio,
            "polling" => Self::Polling,
            name if name.starts_with("libevent-") => Self::Libevent,
            _ => Self::Other,
        }
    }

    /// Returns whether a record is one event of which every word is known here.
    pub fn knows(self, record: &str) -> bool {
        let all = |is_word: fn(&str) -> bool| record.split('|').all(is_word);
        match self {
            Self::Bits => all(|word| {
                ["IN", "OUT", "PRI", "ERR", "HUP", "RDHUP", "RDNORM", "WRNORM", "RDBAND", "WRBAND"]
                    .contains(&word)
            }),
            // An adapter names the sets: `r|w`.
            Self::Sets if record.len() == 3 && record.chars().all(|letter| "rwx-".contains(letter)) => true,
            Self::Sets => all(|word| ["r", "w", "x"].contains(&word)),
            Self::Filters => record.starts_with(['R', 'W']) && !record.contains([' ', ',', '*']),
            Self::Mio => all(|word| {
                ["readable", "writable", "priority", "read_closed", "write_closed", "error"].contains(&word)
            }),
            Self::Polling => {
                all(|word| ["readable", "writable", "priority", "interrupt", "err"].contains(&word))
            }
            Self::Libevent => all(|word| ["READ", "WRITE", "CLOSED", "ET"].contains(&word)),
            Self::Other => all(|word| {
                let word = word.to_ascii_lowercase();
                let known = ["readable", "writable", "prioritized", "priority", "disconnect", "error", "hup"];
                known.contains(&word.as_str())
                    || ["read", "write", "r", "w", "errnotpollable"].contains(&word.as_str())
            }),
        }
    }

    /// Returns what an event of these words says about each word. No words are no event. `interest` is that
    /// of the registration.
    pub fn says(self, words: &BTreeSet<String>, interest: Interest) -> [Said; 6] {
        let has = |word: &str| words.contains(word);
        let begins = |prefix: &str| words.iter().any(|word| word.starts_with(prefix));
        let contains = |part: &str| words.iter().any(|word| word.contains(part));
        let nothing = Said::Nothing;
        let maybe = |holds: bool, unclear: bool| match (holds, unclear) {
            (true, _) => Said::Yes,
            (false, true) => Said::Nothing,
            (false, false) => Said::No,
        };
        // [readable, writable, priority, end, error, hang-up]
        match self {
            Self::Bits => [
                maybe(has("IN"), has("HUP") || has("ERR") || has("RDHUP") || has("PRI"))
                    .if_asked(interest.read),
                maybe(has("OUT"), has("ERR") || has("HUP")).if_asked(interest.write),
                Said::when(has("PRI")).if_asked(interest.urgent),
                maybe(has("RDHUP"), has("HUP")).if_asked(interest.peer_shut),
                Said::when(has("ERR")),
                Said::when(has("HUP")),
            ],
            // The read set has ends and errors, too; the write set has errors.
            Self::Sets => [
                Said::when(begins("r")).if_asked(interest.read),
                Said::when(contains("w")).if_asked(interest.write),
                Said::when(contains("x")).if_asked(interest.urgent),
                nothing,
                nothing,
                nothing,
            ],
            Self::Filters => [
                Said::when(begins("R(") || has("R")).if_asked(interest.read),
                Said::when(begins("W")).if_asked(interest.write),
                nothing,
                Said::when(words.iter().any(|word| word.starts_with('R') && word.contains("EOF")))
                    .if_asked(interest.read),
                maybe(contains("EOF("), contains("EOF")).if_asked(interest.read || interest.write),
                nothing,
            ],
            Self::Mio => [
                maybe(has("readable"), has("read_closed") || has("error")).if_asked(interest.read),
                maybe(has("writable"), has("write_closed") || has("error")).if_asked(interest.write),
                Said::when(has("priority")).if_asked(interest.urgent),
                Said::when(has("read_closed")).if_asked(interest.read),
                Said::when(has("error")),
                maybe(false, has("write_closed") || has("read_closed")),
            ],
            Self::Polling => [
                maybe(has("readable"), has("interrupt") || has("err")).if_asked(interest.read),
                maybe(has("writable"), has("interrupt") || has("err")).if_asked(interest.write),
                Said::when(has("priority")).if_asked(interest.urgent),
                nothing,
                Said::when(has("err")),
                Said::when(has("interrupt")),
            ],
            Self::Libevent => [
                maybe(has("READ"), has("CLOSED")).if_asked(interest.read),
                Said::when(has("WRITE")).if_asked(interest.write),
                nothing,
                maybe(has("CLOSED"), has("READ")).if_asked(interest.peer_shut),
                nothing,
                nothing,
            ],
            Self::Other => {
                let lower: BTreeSet<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
                let any = |known: &[&str]| known.iter().any(|word| lower.contains(*word));
                let read = any(&["in", "read", "readable", "r", "pollin"]);
                let write = any(&["out", "write", "writable", "w", "pollout"]);
                // An event with other words may mean either.
                let unclear = !words.is_empty();
                [
                    maybe(read, unclear).if_asked(interest.read),
                    maybe(write, unclear).if_asked(interest.write),
                    maybe(any(&["pri", "priority", "prioritized"]), unclear).if_asked(interest.urgent),
                    if any(&["rdhup", "disconnect", "read_closed", "eof"]) { Said::Yes } else { nothing },
                    if any(&["err", "error", "errnotpollable"]) { Said::Yes } else { nothing },
                    if any(&["hup", "hang_up", "hangup"]) { Said::Yes } else { nothing },
                ]
            }
        }
    }
}

/// Returns the name of the interface that an adapter of another language passes on: `epoll` for
/// `python-epoll`.
pub fn base(name: &str) -> &str {
    name.strip_prefix("python-").unwrap_or(name)
}

/// Returns whether the poller keeps registrations in the kernel, and bounds the number of events itself.
pub fn registers(name: &str) -> bool {
    !matches!(base(name), "poll" | "select")
}

/// Splits the record of an event into its words.
pub fn words(dialect: Dialect, record: &str) -> BTreeSet<String> {
    match dialect {
        Dialect::Sets => record.chars().filter(|letter| *letter != '-').map(String::from).collect(),
        Dialect::Filters => BTreeSet::from([record.to_owned()]),
        _ => record.split('|').filter(|word| *word != "-").map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(name: &str, record: &str, interest: Interest) -> [Said; 6] {
        let dialect = Dialect::of(name);
        dialect.says(&words(dialect, record), interest)
    }

    /// Returns the words on which two events contradict each other.
    fn contradictions(one: (&str, &str), other: (&str, &str), interest: Interest) -> Vec<&'static str> {
        let (one, other) = (says(one.0, one.1, interest), says(other.0, other.1, interest));
        let pairs = Word::ALL.into_iter().zip(one.into_iter().zip(other));
        pairs.filter(|(_, (one, other))| one.contradicts(*other)).map(|(word, _)| word.name()).collect()
    }

    #[test]
    fn the_same_state_in_other_words_is_no_contradiction() {
        for (one, other) in [
            (("epoll", "IN"), ("select", "r--")),
            (("poll", "HUP"), ("select", "r--")),
            (("poll", "IN|OUT|HUP|RDHUP"), ("select", "rw-")),
            (("epoll", "IN|RDHUP"), ("kqueue", "R(data=0)+EOF")),
            (("epoll", "OUT|ERR"), ("select", "rw-")),
            (("epoll", "IN|OUT|RDHUP"), ("mio", "readable|writable|read_closed")),
            (("epoll", "IN|OUT|HUP"), ("polling", "readable|writable|interrupt")),
            (("epoll", "IN|OUT|HUP"), ("tokio", "readable|writable|read_closed|write_closed")),
            (("epoll", "IN|HUP"), ("io-uring", "IN|HUP")),
            (("epoll", "IN|HUP"), ("go-netpoll", "r|w")),
            (("epoll", "ERR"), ("go-netpoll", "r|w|ErrNotPollable")),
            (("epoll", "-"), ("select", "---")),
            (("epoll", "IN"), ("other", "READ")),
        ] {
            assert_eq!(contradictions(one, other, Interest::ALL), [""; 0], "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_word_that_one_says_and_the_other_denies_is_a_contradiction() {
        for (one, other, words) in [
            (("epoll", "IN"), ("select", "---"), vec!["readable"]),
            (("epoll", "-"), ("select", "-w-"), vec!["writable"]),
            (("epoll", "IN|RDHUP"), ("mio", "readable"), vec!["end"]),
            (("epoll", "IN|RDHUP"), ("tokio", "readable"), vec!["end"]),
            (("epoll", "PRI"), ("select", "r--"), vec!["priority"]),
            (("epoll", "IN|HUP"), ("polling", "readable"), vec!["hang-up"]),
            (("epoll", "IN|HUP"), ("io-uring", "IN"), vec!["hang-up"]),
            (("epoll", "IN"), ("kqueue", "R(data=0)+EOF"), vec!["end"]),
            (("epoll", "IN"), ("go-netpoll", "w"), vec!["writable"]),
            (("epoll", "OUT"), ("go-netpoll", "w|ErrNotPollable"), vec!["error"]),
        ] {
            assert_eq!(contradictions(one, other, Interest::ALL), words, "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_poller_that_was_not_asked_denies_nothing() {
        assert_eq!(contradictions(("epoll", "HUP"), ("select", "---"), Interest::NONE), [""; 0]);
        assert_eq!(contradictions(("epoll", "IN"), ("select", "---"), Interest::WRITE), [""; 0]);
    }
}
