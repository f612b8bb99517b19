//! The words of a poller's events: what each means, and the interface that the poller is built over.
//!
//! Pollers report the same state in different words. A poller declares what its words mean, so that its
//! answers can be compared with those of any other poller. An event says of each [`Meaning`] that it holds,
//! that it does not hold, or nothing, because the poller has no word for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{did_you_mean, named};

named! {
    /// An interface of the kernel whose answers are recorded.
    Interface, "interface":
    /// epoll(7).
    Epoll = "epoll",
    /// kqueue(2).
    Kqueue = "kqueue",
    /// poll(2).
    Poll = "poll",
    /// select(2).
    Select = "select",
}

named! {
    /// A state of a descriptor that events report.
    Meaning, "meaning":
    /// A read would not block: data, a connection, an end or an error.
    Readable = "readable",
    /// A write would not block.
    Writable = "writable",
    /// Urgent data.
    Urgent = "urgent",
    /// The other end sends no more data.
    End = "end",
    /// An error is pending.
    Error = "error",
    /// Neither direction works any more.
    HangUp = "hang-up",
}

/// The interest of a registration. Without any it is `events == 0`: poll and epoll then still report hang-ups
/// and errors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Interest {
    /// `POLLIN`, the read set, `EVFILT_READ`.
    pub read: bool,
    /// `POLLOUT`, the write set, `EVFILT_WRITE`.
    pub write: bool,
    /// `POLLPRI`, the exception set, `EVFILT_EXCEPT` if the system has it.
    pub urgent: bool,
    /// `POLLRDHUP` if the system has it. kqueue and select cannot express it alone.
    pub peer_shut: bool,
    /// Further bits of poll(2) and epoll(7). Other interfaces have none of them.
    pub bits: PollBits,
}

/// Bits of poll(2) and epoll(7) that are requested only by their names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PollBits {
    /// `POLLRDNORM`.
    pub read_normal: bool,
    /// `POLLWRNORM`.
    pub write_normal: bool,
    /// `POLLRDBAND`.
    pub read_band: bool,
    /// `POLLWRBAND`.
    pub write_band: bool,
    /// `POLLERR`, which is reported without a request, too.
    pub error: bool,
    /// `POLLHUP`, which is reported without a request, too.
    pub hang_up: bool,
}

impl PollBits {
    /// None of them.
    pub const NONE: Self = Self {
        read_normal: false,
        write_normal: false,
        read_band: false,
        write_band: false,
        error: false,
        hang_up: false,
    };
}

impl Interest {
    /// No interest: `events == 0`.
    pub const NONE: Self =
        Self { read: false, write: false, urgent: false, peer_shut: false, bits: PollBits::NONE };
    /// Reading only.
    pub const READ: Self = Self { read: true, ..Self::NONE };
    /// Writing only.
    pub const WRITE: Self = Self { write: true, ..Self::NONE };
    /// Every kind of interest.
    pub const ALL: Self = Self { read: true, write: true, urgent: true, peer_shut: true, ..Self::NONE };
    /// The bits of poll(2) and epoll(7), by POSIX's and Linux's names.
    pub const BITS: [(&'static str, Self); 10] = [
        ("IN", Self::READ),
        ("PRI", Self { urgent: true, ..Self::NONE }),
        ("OUT", Self::WRITE),
        ("ERR", Self { bits: PollBits { error: true, ..PollBits::NONE }, ..Self::NONE }),
        ("HUP", Self { bits: PollBits { hang_up: true, ..PollBits::NONE }, ..Self::NONE }),
        ("RDHUP", Self { peer_shut: true, ..Self::NONE }),
        ("RDNORM", Self { bits: PollBits { read_normal: true, ..PollBits::NONE }, ..Self::NONE }),
        ("WRNORM", Self { bits: PollBits { write_normal: true, ..PollBits::NONE }, ..Self::NONE }),
        ("RDBAND", Self { bits: PollBits { read_band: true, ..PollBits::NONE }, ..Self::NONE }),
        ("WRBAND", Self { bits: PollBits { write_band: true, ..PollBits::NONE }, ..Self::NONE }),
    ];

    /// Returns the union of both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            read: self.read || other.read,
            write: self.write || other.write,
            urgent: self.urgent || other.urgent,
            peer_shut: self.peer_shut || other.peer_shut,
            bits: PollBits {
                read_normal: self.bits.read_normal || other.bits.read_normal,
                write_normal: self.bits.write_normal || other.bits.write_normal,
                read_band: self.bits.read_band || other.bits.read_band,
                write_band: self.bits.write_band || other.bits.write_band,
                error: self.bits.error || other.bits.error,
                hang_up: self.bits.hang_up || other.bits.hang_up,
            },
        }
    }

    /// Returns whether it has every part of the other one.
    pub fn contains(self, other: Self) -> bool {
        self.or(other) == self
    }

    /// Returns the names of its bits.
    pub fn bit_names(self) -> impl Iterator<Item = &'static str> {
        Self::BITS.into_iter().filter(move |(_, bit)| self.contains(*bit)).map(|(name, _)| name)
    }

    /// Returns the directions: reading and writing, whatever bits request them.
    fn directions(self) -> Self {
        Self {
            read: self.read || self.bits.read_normal || self.bits.read_band,
            write: self.write || self.bits.write_normal || self.bits.write_band,
            bits: PollBits::NONE,
            ..self
        }
    }
}

/// What an event says about a meaning.
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
    /// Returns whether one says what the other one denies.
    pub fn contradicts(self, other: Self) -> bool {
        matches!((self, other), (Self::Yes, Self::No) | (Self::No, Self::Yes))
    }
}

/// What the words of a poller say about each meaning, in the order of [`Meaning::ALL`].
pub type Report = [Said; Meaning::ALL.len()];

/// What a word means: `readable`, `end hang-up?`, `flag`.
///
/// A meaning with a question mark is left open: the event neither says nor denies it. A hang-up also leaves
/// open whether the descriptor is readable, writable or at its end, an error whether it is readable or
/// writable, and an end whether it is readable. `peer-shut` is an end that is reported only with that
/// interest. A `flag` means nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Word {
    says: BTreeSet<Meaning>,
    may_say: BTreeSet<Meaning>,
    /// The interest without which the word is not reported.
    needs: Interest,
}

/// The record of an event without a word.
pub const WORDLESS: &str = "wordless";

/// A word without a meaning.
const FLAG: &str = "flag";
/// An end that needs an interest of its own.
const PEER_SHUT: &str = "peer-shut";

impl FromStr for Word {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut word = Self::default();
        if text == FLAG {
            return Ok(word);
        }
        if text.trim().is_empty() {
            return Err(format!("it has no meaning: {}", Self::help(text)));
        }
        for part in text.split_whitespace() {
            let (name, is_open) = part.strip_suffix('?').map_or((part, false), |name| (name, true));
            let meaning = match name {
                PEER_SHUT => Meaning::End,
                name => {
                    name.parse().map_err(|_| format!("unknown meaning '{part}': {}", Self::help(name)))?
                }
            };
            if is_open {
                word.may_say.insert(meaning);
                continue;
            }
            match meaning {
                Meaning::Readable => word.needs.read = true,
                Meaning::Writable => word.needs.write = true,
                Meaning::Urgent => word.needs.urgent = true,
                Meaning::End if name == PEER_SHUT => word.needs.peer_shut = true,
                Meaning::End => word.needs.read = true,
                Meaning::Error | Meaning::HangUp => {}
            }
            word.says.insert(meaning);
        }
        Ok(word)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |meaning: &Meaning| match meaning {
            Meaning::End if self.needs.peer_shut => PEER_SHUT,
            meaning => meaning.name(),
        };
        let said = self.says.iter().map(|meaning| name(meaning).to_owned());
        let open = self.may_say.iter().map(|meaning| format!("{meaning}?"));
        let all: Vec<_> = said.chain(open).collect();
        f.write_str(if all.is_empty() { FLAG } else { "" })?;
        f.write_str(&all.join(" "))
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(any(test, feature = "schema"))]
impl schemars::JsonSchema for Word {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = format!(
            "({}|{PEER_SHUT})\\??",
            Meaning::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join("|")
        );
        schemars::json_schema!({
            "type": "string",
            "description": "What a word means: one or more meanings; a question mark leaves one open. `flag` means nothing.",
            "pattern": format!("^({FLAG}|{one}( {one})*)$"),
        })
    }
}

impl Word {
    fn help(typed: &str) -> String {
        let names = Meaning::ALL.iter().map(|meaning| meaning.name()).chain([PEER_SHUT, FLAG]);
        did_you_mean(typed, names)
    }

    fn leaves_open(&self, meaning: Meaning) -> bool {
        let is_implied = match meaning {
            Meaning::Readable => [Meaning::HangUp, Meaning::Error, Meaning::End].as_slice(),
            Meaning::Writable => &[Meaning::HangUp, Meaning::Error],
            Meaning::End => &[Meaning::HangUp],
            Meaning::Urgent | Meaning::Error | Meaning::HangUp => &[],
        };
        self.may_say.contains(&meaning) || is_implied.iter().any(|said| self.says.contains(said))
    }

    fn is_reported_for(&self, asked: Interest) -> bool {
        asked.directions().contains(self.needs)
    }
}

/// The words of a poller's events, and the interface that it is built over.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The interface of the kernel below the poller: `epoll`. Absent if it is another one, such as io_uring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        any(test, feature = "schema"),
        schemars(with = "Option<String>", regex(pattern = r"^(epoll|kqueue|poll|select)$"))
    )]
    pub over: Option<Interface>,
    /// What each word means: `readable`, `end`, `hang-up` ….
    pub words: BTreeMap<String, Word>,
}

impl Column {
    /// Returns a column with these words.
    ///
    /// # Panics
    /// A meaning is unknown.
    pub fn new(over: Option<Interface>, words: &[(&str, &str)]) -> Self {
        let word = |(word, means): &(&str, &str)| {
            let means = means.parse().unwrap_or_else(|error| panic!("the word {word}: {error}"));
            ((*word).to_owned(), means)
        };
        Self { over, words: words.iter().map(word).collect() }
    }

    /// Returns the column of an interface of the kernel.
    pub fn of(interface: Interface) -> Self {
        let words: &[(&str, &str)] = match interface {
            Interface::Epoll | Interface::Poll => &[
                ("IN", "readable"),
                ("PRI", "urgent readable?"),
                ("OUT", "writable"),
                ("ERR", "error"),
                ("HUP", "hang-up"),
                ("NVAL", "error"),
                ("RDHUP", "peer-shut"),
                ("RDNORM", "readable"),
                ("WRNORM", "writable"),
                ("RDBAND", "readable"),
                ("WRBAND", "writable"),
            ],
            // The read set has ends and errors, too; the write set has errors.
            Interface::Select => &[("r", "readable"), ("w", "writable"), ("x", "urgent")],
            Interface::Kqueue => &[
                ("R", "readable"),
                ("R+EOF", "readable end error?"),
                ("R+ONESHOT", "readable"),
                ("R+EOF+ONESHOT", "readable end error?"),
                ("W", "writable"),
                ("W+EOF", "writable error?"),
                ("W+ONESHOT", "writable"),
                ("W+EOF+ONESHOT", "writable error?"),
                // Not every system has EVFILT_EXCEPT, so that its absence denies nothing.
                ("X", "flag"),
                // The sources: what Linux has as a readable descriptor.
                ("T", "readable"),
                ("T+ONESHOT", "readable"),
                ("P", "readable"),
                ("P+EOF", "readable"),
                ("P+ONESHOT", "readable"),
                ("P+EOF+ONESHOT", "readable"),
                ("S", "readable"),
                ("V", "readable"),
                ("V+EOF", "readable"),
                ("V+EOF+ONESHOT", "readable"),
                ("U", "readable"),
            ],
        };
        Self::new(Some(interface), words)
    }

    /// Returns the interface whose own words the poller passes on: that of the kernel, or of a binding in
    /// another language.
    pub fn interface(&self) -> Option<Interface> {
        let known = Self::of(self.over?);
        let is_known = |(word, means)| known.words.get(word) == Some(means);
        self.over.filter(|_| !self.words.is_empty() && self.words.iter().all(is_known))
    }

    /// Returns whether the words of both mean the same, so that their answers are compared word for word.
    pub fn has_words_of(&self, other: &Self) -> bool {
        let own_of = |column: &Self| column.interface().map(|interface| Self::of(interface).words);
        self.words == other.words || own_of(self).is_some_and(|own| own_of(other) == Some(own))
    }

    /// Splits the record of an event into its words: `IN|HUP`, `rw-`.
    pub fn split<'a>(&self, record: &'a str) -> Vec<&'a str> {
        let is_set =
            |letter: char| letter == '-' || self.words.contains_key(letter.encode_utf8(&mut [0; 4]) as &str);
        if record.len() > 1 && !self.words.contains_key(record) && record.chars().all(is_set) {
            return record.split("").filter(|letter| !matches!(*letter, "" | "-")).collect();
        }
        record.split('|').filter(|word| !matches!(*word, "-" | WORDLESS)).collect()
    }

    /// Returns the first word of a record that is not declared. The name of an error needs no declaration.
    pub fn undeclared<'a>(&self, record: &'a str) -> Option<&'a str> {
        self.split(record)
            .into_iter()
            .find(|word| !self.words.contains_key(&plain(word).0) && !is_errno(word))
    }

    /// Returns what the events of one registration say. No records are no event. `asked` is the interest of
    /// the registration.
    pub fn report<'a>(&self, records: impl IntoIterator<Item = &'a str>, asked: Interest) -> Report {
        let (mut present, mut has_errno) = (Vec::new(), false);
        for word in records.into_iter().flat_map(|record| self.split(record)) {
            let (name, carries_errno) = plain(word);
            let declared = self.words.get(&name);
            has_errno |= carries_errno || (declared.is_none() && is_errno(word));
            present.extend(declared);
        }
        let mut report = [Said::Nothing; Meaning::ALL.len()];
        for (said, meaning) in report.iter_mut().zip(Meaning::ALL) {
            let is_errno = has_errno && *meaning == Meaning::Error;
            *said = match is_errno || present.iter().any(|word| word.says.contains(meaning)) {
                _ if !self.can_say(*meaning, asked) => Said::Nothing,
                true => Said::Yes,
                false if present.iter().any(|word| word.leaves_open(*meaning)) => Said::Nothing,
                false => Said::No,
            };
        }
        report
    }

    /// Returns whether the poller has a word for it that it reports for this interest.
    fn can_say(&self, meaning: Meaning, asked: Interest) -> bool {
        let with =
            |is_it: fn(&Word, Meaning) -> bool| self.words.values().filter(move |word| is_it(word, meaning));
        let mut certain = with(|word, meaning| word.says.contains(&meaning)).peekable();
        match certain.peek() {
            Some(_) => certain.any(|word| word.is_reported_for(asked)),
            None => {
                with(|word, meaning| word.may_say.contains(&meaning)).any(|word| word.is_reported_for(asked))
            }
        }
    }
}

/// Returns a word without its numbers, and whether it carries the name of an error: `R+EOF` for
/// `R(data=0)+EOF(ECONNRESET)`.
fn plain(word: &str) -> (String, bool) {
    let (mut name, mut has_errno) = (String::new(), false);
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('(') {
        let Some((detail, after)) = after.split_once(')') else { break };
        name += before;
        has_errno |= is_errno(detail);
        rest = after;
    }
    (name + rest, has_errno)
}

/// Returns whether a word is the name of an error: `EBADF`. `ERR`, `END`, `EOF` and `ERROR` are not.
pub fn is_errno(word: &str) -> bool {
    let is_name = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    word == "EIO" || (word.len() > 3 && word.starts_with('E') && word != "ERROR" && is_name(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mio() -> Column {
        let closed = [("read_closed", "end hang-up?"), ("write_closed", "writable? hang-up?")];
        let plain =
            [("readable", "readable"), ("writable", "writable"), ("error", "error"), ("priority", "urgent")];
        Column::new(Some(Interface::Epoll), &[closed.as_slice(), &plain].concat())
    }

    fn polling() -> Column {
        let words =
            [("readable", "readable"), ("writable", "writable"), ("err", "error"), ("interrupt", "hang-up")];
        Column::new(Some(Interface::Epoll), &words)
    }

    fn go() -> Column {
        Column::new(
            Some(Interface::Epoll),
            &[("r", "readable"), ("w", "writable"), ("ErrNotPollable", "error")],
        )
    }

    fn kernel(name: &str) -> Column {
        Column::of(name.parse().unwrap())
    }

    /// Returns the meanings on which two events contradict each other.
    fn contradictions(one: (&Column, &str), other: (&Column, &str), asked: Interest) -> Vec<&'static str> {
        let report = |(column, record): (&Column, &str)| column.report([record], asked);
        let pairs = Meaning::ALL.iter().zip(report(one).into_iter().zip(report(other)));
        pairs.filter(|(_, (one, other))| one.contradicts(*other)).map(|(meaning, _)| meaning.name()).collect()
    }

    #[test]
    fn the_same_state_in_other_words_is_no_contradiction() {
        let (epoll, select, kqueue) = (kernel("epoll"), kernel("select"), kernel("kqueue"));
        for (one, other) in [
            ((&epoll, "IN"), (&select, "r--")),
            ((&epoll, "HUP"), (&select, "r--")),
            ((&epoll, "IN|OUT|HUP|RDHUP"), (&select, "rw-")),
            ((&epoll, "IN|RDHUP"), (&kqueue, "R(data=0)+EOF")),
            ((&epoll, "OUT|ERR"), (&select, "rw-")),
            ((&epoll, "IN|OUT|RDHUP"), (&mio(), "readable|writable|read_closed")),
            ((&epoll, "IN|OUT|HUP"), (&polling(), "readable|writable|interrupt")),
            ((&epoll, "IN|OUT|HUP"), (&mio(), "readable|writable|read_closed|write_closed")),
            ((&epoll, "IN|HUP"), (&go(), "r|w")),
            ((&epoll, "ERR"), (&go(), "r|w|ErrNotPollable")),
            ((&epoll, "-"), (&select, "---")),
            ((&epoll, "IN|ERR|RDHUP"), (&kqueue, "R(data=0)+EOF(EIO)")),
        ] {
            assert_eq!(contradictions(one, other, Interest::ALL), [""; 0], "{} {}", one.1, other.1);
        }
    }

    #[test]
    fn a_meaning_that_one_says_and_the_other_denies_is_a_contradiction() {
        let (epoll, select, kqueue) = (kernel("epoll"), kernel("select"), kernel("kqueue"));
        for (one, other, meanings) in [
            ((&epoll, "IN"), (&select, "---"), vec!["readable"]),
            ((&epoll, "-"), (&select, "-w-"), vec!["writable"]),
            ((&epoll, "IN|RDHUP"), (&mio(), "readable"), vec!["end"]),
            ((&epoll, "PRI"), (&select, "r--"), vec!["urgent"]),
            ((&epoll, "IN|HUP"), (&polling(), "readable"), vec!["hang-up"]),
            ((&epoll, "IN|HUP"), (&epoll, "IN"), vec!["hang-up"]),
            ((&epoll, "IN"), (&kqueue, "R(data=0)+EOF"), vec!["end"]),
            ((&epoll, "OUT"), (&kqueue, "W+EOF(ECONNRESET)"), vec!["error"]),
            ((&epoll, "IN"), (&go(), "w"), vec!["readable", "writable"]),
            ((&epoll, "OUT"), (&go(), "w|ErrNotPollable"), vec!["error"]),
        ] {
            assert_eq!(contradictions(one, other, Interest::ALL), meanings, "{} {}", one.1, other.1);
        }
    }

    #[test]
    fn a_poller_that_was_not_asked_denies_nothing() {
        let (epoll, select) = (kernel("epoll"), kernel("select"));
        assert_eq!(contradictions((&epoll, "HUP"), (&select, "---"), Interest::NONE), [""; 0]);
        assert_eq!(contradictions((&epoll, "IN"), (&select, "---"), Interest::WRITE), [""; 0]);
        // RDHUP needs an interest of its own, and the end of kqueue comes with reading.
        let end = (&kernel("kqueue"), "R(data=0)+EOF");
        assert_eq!(contradictions((&epoll, "IN"), end, Interest::READ), [""; 0]);
        assert_eq!(contradictions((&mio(), "readable"), end, Interest::READ), ["end"]);
    }

    #[test]
    fn a_word_that_is_not_declared_is_named_and_an_errno_needs_no_declaration() {
        for (column, record, undeclared) in [
            (kernel("epoll"), "IN|HANGUP", Some("HANGUP")),
            (kernel("select"), "rw-", None),
            (kernel("select"), "r|w", None),
            (kernel("kqueue"), "R(data=3)+EOF(ECONNRESET)", None),
            (kernel("kqueue"), "R+SPIN", Some("R+SPIN")),
            (mio(), "readable|ECONNRESET", None),
            (mio(), "IN", Some("IN")),
            (Column::default(), "ERROR", Some("ERROR")),
        ] {
            assert_eq!(column.undeclared(record), undeclared, "{record}");
        }
    }

    #[test]
    fn a_binding_has_the_words_of_its_interface() {
        let binding = Column::new(Some(Interface::Epoll), &[("IN", "readable"), ("HUP", "hang-up")]);
        assert_eq!((binding.interface(), mio().interface()), (Some(Interface::Epoll), None));
        assert!(binding.has_words_of(&kernel("epoll")) && binding.has_words_of(&kernel("poll")));
        assert!(mio().has_words_of(&mio()) && !mio().has_words_of(&kernel("epoll")));
        let ring = Column { over: None, ..kernel("epoll") };
        assert!(ring.has_words_of(&kernel("poll")) && ring.interface().is_none());
    }

    #[test]
    fn a_word_is_written_as_it_is_declared_and_an_unknown_meaning_names_the_known_ones() {
        for text in ["readable", "urgent readable?", "peer-shut", "flag", "writable? hang-up?"] {
            assert_eq!(text.parse::<Word>().unwrap().to_string(), text);
        }
        let error = "readble".parse::<Word>().unwrap_err();
        assert!(error.contains("unknown meaning 'readble'") && error.contains("'readable'"), "{error}");
        assert!("".parse::<Word>().unwrap_err().contains("no meaning"));
    }

    #[test]
    fn a_bit_for_normal_data_asks_for_a_direction() {
        let normal = Interest::BITS.iter().find(|(name, _)| *name == "RDNORM").map(|(_, bit)| *bit).unwrap();
        for (record, said) in [("RDNORM", Said::Yes), ("ERR", Said::Nothing)] {
            let report = kernel("poll").report([record], normal);
            assert_eq!(report[Meaning::Readable as usize], said, "{record}");
        }
        assert_eq!(kernel("poll").report(["RDNORM"], normal)[Meaning::Writable as usize], Said::Nothing);
        assert_eq!(normal.or(Interest::WRITE).bit_names().collect::<Vec<_>>(), ["OUT", "RDNORM"]);
    }
}
