//! From text to a line. An error says where, what was expected, and what was probably meant.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use metadata::Mode;
use selector::{Interest, RawArgument};
use strsim::damerau_levenshtein;

use super::{
    Act, Call, Change, ChangeKind, Clause, Direction, FIRST, How, INTERESTS, Limit, MODES, Name, Reading,
    Script, Size, SocketOption, Thing, UNITS, Work,
};

/// What is wrong in a line, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The character, the first one is 1.
    pub column: usize,
    /// What was expected there, and what was found.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
}

impl std::error::Error for ParseError {}

/// The verbs that a clause can begin with.
pub(super) const ORDERS: &[&str] = &[
    "watch",
    "add",
    "modify",
    "remove",
    "take",
    "look",
    "wait",
    "this",
    "threads",
    "wake",
    "close",
    "descriptors",
    "in",
    "a",
    "the",
];

/// The verbs that follow a descriptor's name.
pub(super) const VERBS: &[&str] = &[
    "is", "and", "binds", "listens", "connects", "reaches", "accepts", "opens", "sends", "fills", "reads",
    "drains", "receives", "shuts", "resets", "closes", "takes", "sets", "asks", "grows", "waits", "answers",
    "moves",
];

impl FromStr for Script {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut clauses = Vec::new();
        let mut cast = Cast::default();
        let mut column = 1;
        for part in text.split(',') {
            let clause = Words::of(part, column).clause(&mut cast)?;
            if matches!(clause.act, Act::Times(_)) && !clauses.is_empty() {
                let message = "how many times is said first: the rest of the line is repeated".to_owned();
                return Err(ParseError { column, message, help: None });
            }
            clauses.push(clause);
            column += part.chars().count() + 1;
        }
        Ok(Self { clauses })
    }
}

/// Which names the line has made so far.
#[derive(Default)]
struct Cast {
    descriptors: BTreeSet<Name>,
    threads: BTreeSet<Name>,
}

impl Cast {
    fn enters(&mut self, name: &str) {
        self.descriptors.insert(name.to_owned());
    }

    fn has(&self, name: &str) -> bool {
        self.descriptors.contains(name)
    }

    fn threads(&self) -> Vec<&str> {
        self.threads.iter().map(String::as_str).collect()
    }
}

#[derive(Clone)]
struct Word {
    text: String,
    column: usize,
}

/// The words of one clause, from the next one on.
struct Words {
    words: Vec<Word>,
    next: usize,
    /// Where the clause ends.
    end: usize,
}

impl Words {
    /// A question mark is a word of its own.
    fn of(part: &str, first_column: usize) -> Self {
        let mut words: Vec<Word> = Vec::new();
        let mut within = false;
        for (offset, c) in part.chars().enumerate() {
            let column = first_column + offset;
            match c {
                c if c.is_whitespace() => within = false,
                '?' => {
                    words.push(Word { text: "?".into(), column });
                    within = false;
                }
                c => match words.last_mut() {
                    Some(word) if within => word.text.push(c),
                    _ => {
                        words.push(Word { text: c.into(), column });
                        within = true;
                    }
                },
            }
        }
        Self { words, next: 0, end: first_column + part.chars().count() }
    }

    fn peek(&self) -> Option<&str> {
        self.words.get(self.next).map(|word| word.text.as_str())
    }

    fn wrong<T>(&self, expected: &str, known: &[&str]) -> Result<T, ParseError> {
        let (column, found) = match self.words.get(self.next) {
            Some(word) => (word.column, format!("'{}' was found", word.text)),
            None => (self.end, "the clause ends".to_owned()),
        };
        let help = self.peek().and_then(|typed| nearest(typed, known));
        let help = match (help, known) {
            (Some(near), _) => Some(format!("did you mean '{near}'?")),
            (None, []) => None,
            (None, _) => Some(format!("known are {}", known.join(", "))),
        };
        Err(ParseError { column, message: format!("{expected} was expected, and {found}"), help })
    }

    fn take(&mut self, expected: &str) -> Result<String, ParseError> {
        match self.peek() {
            Some("?") | None => self.wrong(expected, &[]),
            Some(text) => {
                let text = text.to_owned();
                self.next += 1;
                Ok(text)
            }
        }
    }

    /// Whether the next word is this one; then it is gone.
    fn has(&mut self, word: &str) -> bool {
        let has = self.peek() == Some(word);
        self.next += usize::from(has);
        has
    }

    /// Whether the next two words are these; then they are gone.
    fn begins(&mut self, two: [&str; 2]) -> bool {
        let next = self.words.iter().skip(self.next).take(2);
        let begins = next.map(|word| word.text.as_str()).eq(two);
        self.next += if begins { 2 } else { 0 };
        begins
    }

    fn must_have(&mut self, word: &'static str) -> Result<(), ParseError> {
        if self.has(word) { Ok(()) } else { self.wrong(&format!("'{word}'"), &[word]) }
    }

    fn number(&mut self, of: &str) -> Result<usize, ParseError> {
        match self.peek().and_then(|word| word.parse().ok()) {
            Some(number) => {
                self.next += 1;
                Ok(number)
            }
            None => self.wrong(&format!("a number of {of}"), &[]),
        }
    }

    /// A number, if there is one.
    fn maybe_number(&mut self) -> Option<usize> {
        let number = self.peek()?.parse().ok()?;
        self.next += 1;
        Some(number)
    }

    /// One of these words, and what it means.
    fn one_of<T: Copy>(&mut self, expected: &str, words: &[(&'static str, T)]) -> Result<T, ParseError> {
        let found = self.peek().and_then(|typed| words.iter().find(|(word, _)| *word == typed));
        match found {
            Some((_, value)) => {
                self.next += 1;
                Ok(*value)
            }
            None => self.wrong(expected, &words.iter().map(|(word, _)| *word).collect::<Vec<_>>()),
        }
    }

    /// The name of a descriptor that the line has made.
    fn known(&mut self, cast: &Cast) -> Result<Name, ParseError> {
        match self.peek() {
            Some(name) if cast.has(name) => self.take("a descriptor"),
            _ => {
                let known: Vec<_> = cast.descriptors.iter().map(String::as_str).collect();
                self.wrong("a descriptor that was made before", &known)
            }
        }
    }

    fn clause(mut self, cast: &mut Cast) -> Result<Clause, ParseError> {
        let in_child = self.has("in");
        if in_child {
            self.must_have("a")?;
            self.must_have("child")?;
        }
        let act = self.act(cast)?;
        let asked = self.has("?");
        let state = if self.has("as") { Some(self.take("the name of a state")?) } else { None };
        if self.peek().is_some() {
            return self.wrong("the end of the clause", &["as"]);
        }
        Ok(Clause { act, asked, state, in_child })
    }

    fn act(&mut self, cast: &mut Cast) -> Result<Act, ParseError> {
        let change = |kind| move |words: &mut Self, cast: &Cast| words.change(kind, cast).map(Act::Change);
        if self.has("watch") {
            return change(ChangeKind::Watch)(self, cast);
        }
        if self.has("add") {
            return change(ChangeKind::Add)(self, cast);
        }
        if self.has("modify") {
            return change(ChangeKind::Modify)(self, cast);
        }
        if self.has("remove") {
            return change(ChangeKind::Remove)(self, cast);
        }
        if self.has("take") {
            return Ok(Act::Take(self.poller()?));
        }
        if self.has("look") {
            self.must_have("at")?;
            return Ok(Act::Look { at: self.known(cast)?, interest: self.interest()? });
        }
        if self.has("wait") {
            let times = self.times_or_once()?;
            let room = if self.has("room") { Some(self.number("events")?) } else { None };
            return Ok(Act::Wait { times, room, poller: self.poller()? });
        }
        if self.has("this") {
            self.must_have("is")?;
            return Ok(Act::Title(self.take("a name for what is observed")?));
        }
        if self.has("wake") {
            return Ok(Act::Wake { times: self.times_or_once()?, poller: self.poller()? });
        }
        if self.has("descriptors") {
            return self.limit().map(Act::Limit);
        }
        // Descriptors may be called `a` and `the`.
        if self.begins(["a", "child"]) {
            if self.has("waits") {
                return match self.how()? {
                    How::AtMost(timeout) => Ok(Act::ChildWaits(timeout)),
                    _ => self.wrong("'at most'", &["at"]),
                };
            }
            self.must_have("is")?;
            self.must_have("forked")?;
            return Ok(Act::Fork);
        }
        if self.begins(["a", "poller"]) {
            self.must_have("is")?;
            self.must_have("made")?;
            return Ok(Act::MakePoller);
        }
        if self.begins(["the", "child"]) {
            if self.has("answers") {
                return Ok(Act::ChildAnswers);
            }
            if self.has("is") {
                for word in ["stopped", "and", "continued"] {
                    self.must_have(word)?;
                }
                return Ok(Act::ChildIsStopped);
            }
            self.must_have("ends")?;
            return Ok(Act::ChildEnds);
        }
        if self.has("close") {
            return Ok(Act::ClosePoller(self.poller()?));
        }
        if self.has("threads") {
            let acts = [("answer", false), ("share", true)];
            return Ok(match self.one_of("what the threads do", &acts)? {
                false => Act::CrowdAnswers,
                true => Act::CrowdShares,
            });
        }
        if let Some(count) = self.maybe_number() {
            if self.has("times") {
                return Ok(Act::Times(count));
            }
            if self.has("clients") {
                self.must_have("reach")?;
                let whom = self.known(cast)?;
                let one_by_one = self.has("one");
                if one_by_one {
                    self.must_have("by")?;
                    self.must_have("one")?;
                }
                return Ok(Act::Clients { count, whom, one_by_one });
            }
            if self.has("pairs") {
                for word in ["are", "added", "and", "written"] {
                    self.must_have(word)?;
                }
                return Ok(Act::Pairs(count));
            }
            self.must_have("threads")?;
            let work = if self.has("accept") {
                self.must_have("from")?;
                Some(Work::Accept(self.known(cast)?))
            } else if self.has("look") {
                Some(Work::Look(self.times_or_once()?))
            } else if self.has("collect") {
                Some(Work::Collect)
            } else {
                None
            };
            if let Some(work) = work {
                return Ok(Act::WorkerPool { count, work, alone: self.has("alone"), poller: self.poller()? });
            }
            self.must_have("wait")?;
            return Ok(Act::Crowd { count, alone: self.has("alone"), poller: self.poller()? });
        }
        self.sentence(cast)
    }

    /// `NAME does SOMETHING`.
    fn sentence(&mut self, cast: &mut Cast) -> Result<Act, ParseError> {
        let beginning = self.next;
        let who = self.take("a verb or the name of a descriptor")?;
        if self.has("and") {
            let other = self.take("the name of the other end")?;
            self.must_have("are")?;
            self.must_have("connected")?;
            cast.enters(&who);
            cast.enters(&other);
            return Ok(Act::Connect(who, other));
        }
        if self.has("is") {
            if self.has("signalled") {
                if !cast.threads.contains(&who) {
                    self.next = beginning;
                    return self.wrong("a thread that waits", &cast.threads());
                }
                let restarting = self.has("restarting");
                let wakes = self.has("and");
                if wakes {
                    self.must_have("wakes")?;
                }
                return Ok(Act::Signal { thread: who, restarting, wakes });
            }
            let thing = self.thing(cast)?;
            cast.enters(&who);
            return Ok(Act::Make(who, thing));
        }
        let Some(verb) = self.peek() else {
            // A single word is a mistyped order more often than a descriptor that does nothing.
            if !cast.has(&who) {
                self.next = beginning;
                return self.wrong("a verb or a descriptor with one", ORDERS);
            }
            return self.wrong("what it does", VERBS);
        };
        if !VERBS.contains(&verb) {
            let mistyped_order = nearest(&who, ORDERS).is_some() && !cast.has(&who);
            if mistyped_order {
                self.next = beginning;
                return self.wrong("a verb or the name of a descriptor", ORDERS);
            }
            return self.wrong("what it does", VERBS);
        }
        if verb == "waits" {
            self.next += 1;
            cast.threads.insert(who.clone());
            return Ok(Act::Sleep { thread: who, how: self.how()?, poller: self.poller()? });
        }
        if verb == "answers" {
            if !cast.threads.contains(&who) {
                self.next = beginning;
                return self.wrong("a thread that waits", &cast.threads());
            }
            self.next += 1;
            return Ok(Act::Answers(who));
        }
        let call = self.call(cast)?;
        if call.makes() {
            cast.enters(&who);
        } else if !cast.has(&who) {
            self.next = beginning;
            self.known(cast)?;
        }
        if let Call::Accepts(name) = &call {
            cast.enters(name);
        }
        Ok(Act::Call(who, call))
    }

    fn thing(&mut self, cast: &Cast) -> Result<Thing, ParseError> {
        const THINGS: [&str; 5] = ["fresh", "a", "an", "shared", "no"];
        if self.has("fresh") {
            return Ok(Thing::Fresh);
        }
        for (article, word, thing) in [
            ("an", "eventfd", Thing::Eventfd),
            ("shared", "memory", Thing::SharedMemory),
            ("no", "descriptor", Thing::NoDescriptor),
        ] {
            if self.has(article) {
                self.must_have(word)?;
                return Ok(thing);
            }
        }
        if self.peek().is_some_and(|word| word.starts_with("/dev/")) {
            return Ok(Thing::Device(self.take("a device")?));
        }
        if !self.has("a") {
            return self.wrong(
                "'fresh', 'a copy of', 'a file of', 'a directory', 'a queue', 'an eventfd', 'shared memory', \
                 'no descriptor' or a device",
                &THINGS,
            );
        }
        if self.has("directory") {
            return Ok(Thing::Directory);
        }
        if self.has("queue") {
            return Ok(Thing::Queue);
        }
        if self.has("copy") {
            self.must_have("of")?;
            return Ok(Thing::Copy(self.known(cast)?));
        }
        if self.has("file") {
            self.must_have("of")?;
            let size = self.number("bytes")?;
            let offset = if self.has("at") { self.number("bytes")? } else { 0 };
            return Ok(Thing::File { size, offset });
        }
        self.wrong("'copy', 'file', 'directory' or 'queue'", &["copy", "file", "directory", "queue"])
    }

    fn call(&mut self, cast: &Cast) -> Result<Call, ParseError> {
        const SHUT: [(&str, Direction); 3] =
            [("read", Direction::Read), ("write", Direction::Write), ("both", Direction::Both)];
        const OPEN: [(&str, Direction); 3] =
            [("reading", Direction::Read), ("writing", Direction::Write), ("both", Direction::Both)];
        let verb = self.take("a verb")?;
        Ok(match verb.as_str() {
            "binds" => Call::Binds,
            "listens" => Call::Listens {
                backlog: if self.has("backlog") { Some(self.number("connections")?) } else { None },
                beside: if self.has("beside") { Some(self.known(cast)?) } else { None },
            },
            "connects" => {
                self.must_have("to")?;
                Call::Connects(if self.has("nobody") { None } else { Some(self.known(cast)?) })
            }
            "reaches" => Call::Reaches(self.known(cast)?),
            "accepts" => Call::Accepts(self.take("a name for the connection")?),
            "opens" => {
                self.must_have("for")?;
                Call::Opens(self.one_of("a direction", &OPEN)?)
            }
            "sends" if self.has("nothing") => Call::SendsNothing,
            "sends" if self.has("urgent") => Call::SendsUrgent,
            "sends" => Call::Sends(self.number("bytes, 'nothing' or 'urgent'")?),
            "fills" => Call::Fills(if self.has("by") { Some(self.number("bytes")?) } else { None }),
            "reads" if self.has("up") => {
                self.must_have("to")?;
                Call::Reads(Reading::UpTo(self.size()?))
            }
            "reads" => match self.maybe_number() {
                Some(bytes) => Call::Reads(Reading::Bytes(bytes)),
                None => Call::Reads(Reading::Calls(self.times())),
            },
            "drains" => Call::Drains,
            "grows" => {
                self.must_have("by")?;
                Call::Grows(self.number("bytes")?)
            }
            "receives" => {
                self.must_have("urgent")?;
                Call::ReceivesUrgent
            }
            "shuts" => Call::Shuts(self.one_of("a direction", &SHUT)?),
            "resets" => Call::Resets,
            "closes" => Call::Closes,
            "takes" => {
                self.must_have("the")?;
                self.must_have("number")?;
                self.must_have("of")?;
                Call::TakesNumberOf(self.known(cast)?)
            }
            "moves" => {
                self.must_have("to")?;
                Call::MovesTo(self.number("a descriptor")?)
            }
            "sets" => Call::Sets(self.option()?),
            "asks" => {
                self.must_have("SO_ERROR")?;
                Call::AsksError(self.times())
            }
            _ => {
                self.next -= 1;
                return self.wrong("what it does", VERBS);
            }
        })
    }

    fn limit(&mut self) -> Result<Limit, ParseError> {
        if self.has("run") {
            self.must_have("out")?;
            return Ok(Limit::RunOut);
        }
        if self.has("end") {
            self.must_have("at")?;
            return Ok(Limit::At(self.number("descriptors")?));
        }
        if self.has("are") {
            self.must_have("back")?;
            return Ok(Limit::Back);
        }
        self.wrong("'run out', 'end at' or 'are back'", &["run", "end", "are"])
    }

    /// `12 times`, if it is said.
    fn times_or_once(&mut self) -> Result<usize, ParseError> {
        let Some(times) = self.maybe_number() else { return Ok(1) };
        self.must_have("times")?;
        Ok(times)
    }

    /// The arguments of a wait.
    fn how(&mut self) -> Result<How, ParseError> {
        if self.has("at") {
            self.must_have("most")?;
            let count: u64 = self.parsed("a number of seconds or parts of them")?;
            let units = UNITS.map(|(nanoseconds, unit)| (unit, nanoseconds));
            let nanoseconds = u128::from(count) * self.one_of("a unit of time", &units)?;
            return match u64::try_from(nanoseconds) {
                Ok(nanoseconds) => Ok(How::AtMost(Duration::from_nanos(nanoseconds))),
                Err(_) => self.wrong("a shorter time", &[]),
            };
        }
        if !self.has("with") {
            return Ok(How::ForEver);
        }
        const ARGUMENTS: [&str; 5] = ["timeout", "timespec", "timeval", "room", "nfds"];
        let named = ARGUMENTS.map(|name| (name, name));
        let argument = match self.one_of("an argument of the system call", &named)? {
            "timeout" => RawArgument::Milliseconds(self.parsed("milliseconds")?),
            "timespec" => {
                let seconds = self.parsed("tv_sec")?;
                RawArgument::Timespec { seconds, nanoseconds: self.parsed("tv_nsec")? }
            }
            "timeval" => {
                let seconds = self.parsed("tv_sec")?;
                RawArgument::Timeval { seconds, microseconds: self.parsed("tv_usec")? }
            }
            "room" => RawArgument::Room(self.parsed("maxevents or nevents")?),
            _ => RawArgument::Count(self.parsed("nfds")?),
        };
        Ok(How::Raw(argument))
    }

    /// A number of any sign.
    fn parsed<T: FromStr>(&mut self, of: &str) -> Result<T, ParseError> {
        match self.peek().and_then(|word| word.parse().ok()) {
            Some(number) => {
                self.next += 1;
                Ok(number)
            }
            None => self.wrong(&format!("a number: {of}"), &[]),
        }
    }

    fn times(&mut self) -> usize {
        match () {
            () if self.has("twice") => 2,
            () if self.has("thrice") => 3,
            () => 1,
        }
    }

    fn size(&mut self) -> Result<Size, ParseError> {
        if let Some(rest) = self.peek().and_then(|word| word.strip_prefix("PIPE_BUF")) {
            let more =
                if rest.is_empty() { Some(0) } else { rest.strip_prefix('+').and_then(|n| n.parse().ok()) };
            if let Some(more) = more {
                self.next += 1;
                return Ok(Size::PipeBuf(more));
            }
        }
        self.number("bytes, PIPE_BUF or PIPE_BUF+N").map(Size::Bytes)
    }

    fn option(&mut self) -> Result<SocketOption, ParseError> {
        const OPTIONS: [&str; 4] = ["SO_OOBINLINE", "SO_RCVLOWAT", "SO_SNDLOWAT", "SO_REUSEPORT"];
        if self.has(OPTIONS[0]) {
            Ok(SocketOption::OobInline)
        } else if self.has(OPTIONS[1]) {
            self.number("bytes").map(SocketOption::RcvLowat)
        } else if self.has(OPTIONS[2]) {
            self.number("bytes").map(SocketOption::SndLowat)
        } else if self.has(OPTIONS[3]) {
            Ok(SocketOption::ReusePort)
        } else {
            self.wrong("a socket option", &OPTIONS)
        }
    }

    fn change(&mut self, kind: ChangeKind, cast: &Cast) -> Result<Change, ParseError> {
        let who = self.known(cast)?;
        let (mut interest, mut mode) = (None, None);
        if kind != ChangeKind::Remove {
            interest = self.interest()?;
            mode = self.mode();
        }
        let poller = self.poller()?;
        let label = if self.has("called") { Some(self.take("a name for the registration")?) } else { None };
        Ok(Change { kind, who, interest, mode, poller, label })
    }

    fn interest(&mut self) -> Result<Option<Interest>, ParseError> {
        if self.has("for") { self.one_of("an interest", &INTERESTS).map(Some) } else { Ok(None) }
    }

    fn mode(&mut self) -> Option<Mode> {
        let (_, mode) = MODES.iter().find(|(word, _)| Some(*word) == self.peek())?;
        self.next += 1;
        Some(*mode)
    }

    fn poller(&mut self) -> Result<Name, ParseError> {
        if self.has("in") { self.take("the name of a poller") } else { Ok(FIRST.into()) }
    }
}

/// The known word that is so close that it was probably meant.
fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let tolerated = (typed.chars().count() / 3).max(1);
    let distance = |word: &&&str| damerau_levenshtein(typed, word);
    known.iter().filter(|word| distance(word) <= tolerated).min_by_key(distance).copied()
}
