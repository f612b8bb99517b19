//! Parses scripts. An error has its column, the expected words, and a suggestion.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use metadata::Mode;
use selector::{Interest, RawArgument};
use strsim::damerau_levenshtein;

use super::{
    Action, Call, Change, ChangeKind, Clause, DescriptorKind, Direction, FIRST, INTERESTS, Limit, MODES,
    Name, Private, Process, ReadExtent, SIGNALS, Script, SignalMask, Size, SocketOption, Storm, TerminalMode,
    UNITS, WaitArguments, Work,
};

/// The maximum number of clauses of a script.
pub(super) const MOST_CLAUSES: usize = 1000;

/// The maximum length of a script. It is an argument of other processes, which systems bound.
pub(super) const MOST_BYTES: usize = 1 << 16;

/// A syntax error in a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The column, in characters; the first one is 1.
    pub column: usize,
    /// The expected words, and the word that the script has.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
}

impl std::error::Error for ParseError {}

/// The words that can begin a clause, besides names.
pub(super) const STARTING_WORDS: &[&str] = &[
    "watch",
    "add",
    "modify",
    "remove",
    "disable",
    "enable",
    "take",
    "look",
    "wait",
    "inspect",
    "this",
    "threads",
    "wake",
    "close",
    "descriptors",
    "in",
    "a",
    "the",
];

/// The verbs that can follow a name.
pub(super) const ACTOR_VERBS: &[&str] = &[
    "is", "and", "binds", "listens", "connects", "reaches", "accepts", "opens", "sends", "fills", "reads",
    "drains", "receives", "shuts", "resets", "closes", "takes", "sets", "asks", "grows", "waits", "answers",
    "moves", "starts", "expires", "stops", "exits", "shrinks", "peeks", "counts", "replaces", "ticks",
    "executes", "gets", "loses", "changes", "flushes",
];

impl FromStr for Script {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut clauses = Vec::new();
        let mut names = Names::default();
        let (mut column, mut bytes) = (1, 0);
        let too_long = |column, most: usize, what| {
            let message = format!("a script has at most {most} {what}");
            Err(ParseError { column, message, help: Some("ask in several scripts".into()) })
        };
        for part in text.split(',') {
            bytes += part.len() + 1;
            if clauses.len() == MOST_CLAUSES {
                return too_long(column, MOST_CLAUSES, "clauses");
            }
            if bytes > MOST_BYTES {
                return too_long(column, MOST_BYTES, "bytes");
            }
            let clause = Words::of(part, column).clause(&mut names)?;
            if matches!(clause.action, Action::Times(_)) && !clauses.is_empty() {
                let message = "'N times' must be the first clause: it repeats the rest".to_owned();
                return Err(ParseError { column, message, help: None });
            }
            clauses.push(clause);
            column += part.chars().count() + 1;
        }
        Ok(Self { clauses })
    }
}

/// The names that the script has defined so far.
#[derive(Default)]
struct Names {
    descriptors: BTreeSet<Name>,
    threads: BTreeSet<Name>,
}

impl Names {
    fn define(&mut self, name: &str) {
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

/// The words of one clause, with a position.
struct Words {
    words: Vec<Word>,
    next: usize,
    /// The column at which the clause ends.
    end: usize,
}

impl Words {
    /// Splits a clause at white space. A question mark is a separate word.
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

    fn error<T>(&self, expected: &str, known: &[&str]) -> Result<T, ParseError> {
        let (column, found) = match self.words.get(self.next) {
            Some(word) => (word.column, format!("'{}'", word.text)),
            None => (self.end, "the end of the clause".to_owned()),
        };
        let help = self.peek().and_then(|typed| nearest(typed, known));
        let help = match (help, known) {
            (Some(near), _) => Some(format!("did you mean '{near}'?")),
            (None, []) => None,
            (None, _) => Some(format!("known words: {}", known.join(", "))),
        };
        Err(ParseError { column, message: format!("expected {expected}, found {found}"), help })
    }

    fn take(&mut self, expected: &str) -> Result<String, ParseError> {
        match self.peek() {
            Some("?") | None => self.error(expected, &[]),
            Some(text) => {
                let text = text.to_owned();
                self.next += 1;
                Ok(text)
            }
        }
    }

    /// Skips the next word if it is this one, and returns whether it is.
    fn eat(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        self.next += usize::from(is_next);
        is_next
    }

    /// Skips the next two words if they are these, and returns whether they are.
    fn eat_both(&mut self, two: [&str; 2]) -> bool {
        let next = self.words.iter().skip(self.next).take(2);
        let are_next = next.map(|word| word.text.as_str()).eq(two);
        self.next += if are_next { 2 } else { 0 };
        are_next
    }

    fn expect_word(&mut self, word: &'static str) -> Result<(), ParseError> {
        if self.eat(word) { Ok(()) } else { self.error(&format!("'{word}'"), &[word]) }
    }

    fn expect_words<const N: usize>(&mut self, words: [&'static str; N]) -> Result<(), ParseError> {
        words.into_iter().try_for_each(|word| self.expect_word(word))
    }

    fn number(&mut self, of: &str) -> Result<usize, ParseError> {
        self.maybe_number().map_or_else(|| self.error(&format!("a number of {of}"), &[]), Ok)
    }

    /// Parses a number, if the next word is one.
    fn maybe_number<T: FromStr>(&mut self) -> Option<T> {
        let number = self.peek()?.parse().ok()?;
        self.next += 1;
        Some(number)
    }

    /// Parses one of these words and returns its value.
    fn one_of<T: Copy>(&mut self, expected: &str, words: &[(&'static str, T)]) -> Result<T, ParseError> {
        let found = self.peek().and_then(|typed| words.iter().find(|(word, _)| *word == typed));
        match found {
            Some((_, value)) => {
                self.next += 1;
                Ok(*value)
            }
            None => self.error(expected, &words.iter().map(|(word, _)| *word).collect::<Vec<_>>()),
        }
    }

    /// Parses the name of a descriptor that the script has defined.
    fn known(&mut self, names: &Names) -> Result<Name, ParseError> {
        match self.peek() {
            Some(name) if names.has(name) => self.take("a descriptor"),
            _ => {
                let known: Vec<_> = names.descriptors.iter().map(String::as_str).collect();
                self.error("a descriptor that an earlier clause makes", &known)
            }
        }
    }

    /// Parses the name of a thread that the script has defined.
    fn waiting_thread(&mut self, names: &Names) -> Result<Name, ParseError> {
        match self.peek() {
            Some(name) if names.threads.contains(name) => self.take("a thread"),
            _ => self.error("a thread that waits", &names.threads()),
        }
    }

    fn clause(mut self, names: &mut Names) -> Result<Clause, ParseError> {
        let process = if self.eat("in") {
            let processes = [("a", Process::NewChild), ("the", Process::Child)];
            let process = self.one_of("'a child' or 'the child'", &processes)?;
            self.expect_word("child")?;
            process
        } else {
            Process::Own
        };
        let action = self.action(names)?;
        let is_question = self.eat("?");
        let state = if self.eat("as") { Some(self.take("the name of a state")?) } else { None };
        if self.peek().is_some() {
            return self.error("the end of the clause", &["as"]);
        }
        Ok(Clause { action, is_question, state, process })
    }

    fn action(&mut self, names: &mut Names) -> Result<Action, ParseError> {
        for kind in [
            ChangeKind::Watch,
            ChangeKind::Add,
            ChangeKind::Modify,
            ChangeKind::Remove,
            ChangeKind::Disable,
            ChangeKind::Enable,
        ] {
            if self.eat(kind.verb()) {
                return self.change(kind, names).map(Action::Change);
            }
        }
        if self.eat("take") {
            return Ok(Action::Take(self.poller()?));
        }
        if self.eat("look") {
            self.expect_word("at")?;
            return Ok(Action::Look { at: self.known(names)?, interest: self.interest()? });
        }
        if self.eat("wait") {
            let times = self.times_or_once()?;
            let room = if self.eat("room") { Some(self.number("events")?) } else { None };
            return Ok(Action::Wait { times, room, poller: self.poller()? });
        }
        if self.eat("inspect") {
            return Ok(Action::Inspect(self.poller()?));
        }
        if self.eat("this") {
            self.expect_word("is")?;
            return Ok(Action::Title(self.take("a name for the observations")?));
        }
        if self.eat("wake") {
            return Ok(Action::Wake { times: self.times_or_once()?, poller: self.poller()? });
        }
        if self.eat("descriptors") {
            return self.limit().map(Action::Limit);
        }
        // `a` and `the` can also be names of descriptors.
        if self.eat_both(["a", "child"]) {
            return self.new_child(names);
        }
        if self.eat_both(["a", "poller"]) {
            self.expect_words(["is", "made"])?;
            return Ok(Action::MakePoller);
        }
        if self.eat_both(["the", "child"]) {
            return self.running_child();
        }
        if self.eat("close") {
            return Ok(Action::ClosePoller(self.poller()?));
        }
        if self.eat("threads") {
            let verbs = [("answer", false), ("share", true)];
            return Ok(match self.one_of("a verb for the threads", &verbs)? {
                false => Action::ThreadsAnswer,
                true => Action::ThreadsShare,
            });
        }
        match self.maybe_number() {
            Some(count) => self.counted(count, names),
            None => self.actor_clause(names),
        }
    }

    /// `a child …`
    fn new_child(&mut self, names: &Names) -> Result<Action, ParseError> {
        if self.eat("takes") {
            let terminal = self.known(names)?;
            self.expect_words(["as", "its", "terminal"])?;
            return Ok(Action::ChildTakesTerminal(terminal));
        }
        if self.eat("waits") {
            return match self.wait_arguments()? {
                WaitArguments::Timeout(timeout) => Ok(Action::ChildWaits(timeout)),
                _ => self.error("'at most'", &["at"]),
            };
        }
        self.expect_words(["is", "forked"])?;
        Ok(Action::Fork)
    }

    /// `the child …`
    fn running_child(&mut self) -> Result<Action, ParseError> {
        if self.eat("answers") {
            return Ok(Action::ChildAnswers);
        }
        if self.eat("is") {
            self.expect_words(["stopped", "and", "continued"])?;
            return Ok(Action::ChildIsStopped);
        }
        self.expect_word("ends")?;
        Ok(Action::ChildEnds)
    }

    /// `N times`, `N clients …`, `N pairs …`, `N threads …`
    fn counted(&mut self, count: usize, names: &mut Names) -> Result<Action, ParseError> {
        if self.eat("times") {
            return Ok(Action::Times(count));
        }
        if self.eat("clients") {
            self.expect_word("reach")?;
            let listener = self.known(names)?;
            let one_by_one = self.eat("one");
            if one_by_one {
                self.expect_words(["by", "one"])?;
            }
            return Ok(Action::Clients { count, listener, one_by_one });
        }
        if self.eat("pairs") {
            self.expect_words(["are", "added", "and", "written"])?;
            return Ok(Action::Pairs(count));
        }
        if self.eat("queues") {
            self.expect_words(["are", "chained", "over"])?;
            let over = self.known(names)?;
            let from_outside = self.eat("from");
            if from_outside {
                self.expect_words(["the", "outside"])?;
            }
            self.expect_word("called")?;
            let outermost = self.take("a name for the outermost queue")?;
            names.define(&outermost);
            return Ok(Action::Chain { count, over, from_outside, outermost });
        }
        self.expect_word("threads")?;
        let work = if self.eat("accept") {
            self.expect_word("from")?;
            Some(Work::Accept(self.known(names)?))
        } else if self.eat("look") {
            Some(Work::Look(self.times_or_once()?))
        } else if self.eat("collect") {
            Some(Work::Collect)
        } else if self.eat("add") {
            self.expect_words(["and", "remove"])?;
            let storm = Storm::Remove(self.known(names)?);
            Some(Work::Storm(storm, self.times_or_once()?))
        } else if self.eat("modify") {
            let storm = Storm::Modify(self.known(names)?);
            Some(Work::Storm(storm, self.times_or_once()?))
        } else if self.eat("open") {
            self.expect_words(["and", "close", "pairs"])?;
            Some(Work::Storm(Storm::Close, self.times_or_once()?))
        } else {
            self.expect_word("wait")?;
            None
        };
        let alone = self.eat("alone");
        let room = if work.is_none() && self.eat("room") { Some(self.number("events")?) } else { None };
        let poller = self.poller()?;
        Ok(match work {
            Some(work) => Action::WorkerPool { count, work, alone, poller },
            None => Action::Waiters { count, alone, room, poller },
        })
    }

    /// `NAME does SOMETHING`
    fn actor_clause(&mut self, names: &mut Names) -> Result<Action, ParseError> {
        let beginning = self.next;
        let name = self.take("a verb or the name of a descriptor")?;
        if self.eat("and") {
            let other = self.take("the name of the other end")?;
            self.expect_words(["are", "connected"])?;
            names.define(&name);
            names.define(&other);
            return Ok(Action::Connect(name, other));
        }
        if self.eat("is") {
            if self.eat("signalled") {
                if !names.threads.contains(&name) {
                    self.next = beginning;
                    return self.error("a thread that waits", &names.threads());
                }
                let restarting = self.eat("restarting");
                let wakes = self.eat("and");
                if wakes {
                    self.expect_word("wakes")?;
                }
                return Ok(Action::Signal { thread: name, restarting, wakes });
            }
            let participles = [
                ("reaped", Call::IsReaped),
                ("raised", Call::IsRaised(None)),
                ("triggered", Call::IsTriggered(None)),
                ("removed", Call::IsRemoved),
                ("renamed", Call::IsRenamed),
                ("sent", Call::IsSent),
            ];
            if let Some((_, call)) = participles.into_iter().find(|(word, _)| self.peek() == Some(word)) {
                if !names.has(&name) {
                    self.next = beginning;
                    self.known(names)?;
                }
                self.next += 1;
                if call == Call::IsSent {
                    self.expect_words(["to", "the", "child"])?;
                }
                if call == Call::IsRaised(None) && self.eat("for") {
                    let thread = self.waiting_thread(names)?;
                    return Ok(Action::Call(name, Call::IsRaised(Some(thread))));
                }
                if call == Call::IsTriggered(None) && self.eat("in") {
                    return Ok(Action::Call(
                        name,
                        Call::IsTriggered(Some(self.take("the name of a poller")?)),
                    ));
                }
                return Ok(Action::Call(name, call));
            }
            if self.peek() == Some("overdue") {
                if !names.has(&name) {
                    self.next = beginning;
                    self.known(names)?;
                }
                self.next += 1;
                return Ok(Action::Call(name, Call::IsOverdue(self.times_or_once()?)));
            }
            let kind = self.descriptor_kind(names)?;
            names.define(&name);
            return Ok(Action::Make(name, kind));
        }
        let Some(verb) = self.peek() else {
            // A single unknown word is rather a misspelt verb than a descriptor without one.
            if !names.has(&name) {
                self.next = beginning;
                return self.error("a verb, or a descriptor with one", STARTING_WORDS);
            }
            return self.error("a verb", ACTOR_VERBS);
        };
        if !ACTOR_VERBS.contains(&verb) {
            let is_misspelt = nearest(&name, STARTING_WORDS).is_some() && !names.has(&name);
            if is_misspelt {
                self.next = beginning;
                return self.error("a verb or the name of a descriptor", STARTING_WORDS);
            }
            return self.error("a verb", ACTOR_VERBS);
        }
        if verb == "waits" {
            self.next += 1;
            names.threads.insert(name.clone());
            return Ok(Action::ThreadWaits {
                thread: name,
                arguments: self.wait_arguments()?,
                poller: self.poller()?,
            });
        }
        if verb == "answers" {
            if !names.threads.contains(&name) {
                self.next = beginning;
                return self.error("a thread that waits", &names.threads());
            }
            self.next += 1;
            return Ok(Action::ThreadAnswers(name));
        }
        let call = self.call(names)?;
        if call.makes() {
            names.define(&name);
        } else if !names.has(&name) {
            self.next = beginning;
            self.known(names)?;
        }
        if let Call::Accepts(name) = &call {
            names.define(name);
        }
        Ok(Action::Call(name, call))
    }

    fn descriptor_kind(&mut self, names: &Names) -> Result<DescriptorKind, ParseError> {
        const KINDS: [&str; 6] = ["fresh", "a", "an", "the", "shared", "no"];
        if self.eat("fresh") {
            return Ok(DescriptorKind::Fresh);
        }
        for (article, word, kind) in [
            ("an", "eventfd", DescriptorKind::Eventfd),
            ("shared", "memory", DescriptorKind::SharedMemory),
            ("no", "descriptor", DescriptorKind::NoDescriptor),
        ] {
            if self.eat(article) {
                self.expect_word(word)?;
                return Ok(kind);
            }
        }
        if self.peek().is_some_and(|word| word.starts_with("SIG")) {
            let mut signals = vec![self.one_of("a signal", &SIGNALS)?];
            while self.eat("and") {
                signals.push(self.one_of("a signal", &SIGNALS)?);
            }
            return Ok(DescriptorKind::Signals(signals));
        }
        if self.eat_both(["the", "slave"]) {
            self.expect_word("of")?;
            return Ok(DescriptorKind::Slave(self.known(names)?));
        }
        if self.eat("the") {
            const THE: [(&str, Option<Private>); 4] = [
                ("first", None),
                ("mount", Some(Private::Mounts)),
                ("hostname", Some(Private::Hostname)),
                ("domain", Some(Private::DomainName)),
            ];
            let expected = "'first thread of', 'slave of', 'mount table', 'hostname' or 'domain name'";
            let Some(private) = self.one_of(expected, &THE)? else {
                self.expect_words(["thread", "of"])?;
                return Ok(DescriptorKind::FirstThread(self.known(names)?));
            };
            match private {
                Private::Mounts => self.expect_word("table")?,
                Private::DomainName => self.expect_word("name")?,
                _ => {}
            }
            return Ok(DescriptorKind::Private(private));
        }
        if self.peek().is_some_and(|word| word.starts_with("/dev/")) {
            return Ok(DescriptorKind::Device(self.take("a device")?));
        }
        if !self.eat("a") {
            return self.error(
                "'fresh', 'a copy of', 'a file of', 'a directory', 'a queue', 'an eventfd', 'a timer', \
                 'a wall-clock timer', 'a process', 'a thread of', 'the first thread of', 'a signal', \
                 'a watched file', 'a watched directory', 'a user event', 'a packet socket', 'a raw socket', \
                 'a netlink socket', 'a message queue', 'the mount table', 'the hostname', 'the domain name', 'the slave of', 'shared memory', 'no descriptor', a signal's name \
                 or a device",
                &KINDS,
            );
        }
        for (word, kind) in [
            ("directory", DescriptorKind::Directory),
            ("queue", DescriptorKind::Queue),
            ("timer", DescriptorKind::Timer),
            ("process", DescriptorKind::Process),
            ("signal", DescriptorKind::Signal),
        ] {
            if self.eat(word) {
                return Ok(kind);
            }
        }
        if self.eat("wall-clock") {
            self.expect_word("timer")?;
            return Ok(DescriptorKind::WallClockTimer);
        }
        for (word, private) in
            [("packet", Private::Packet), ("raw", Private::Raw), ("netlink", Private::Netlink)]
        {
            if self.eat(word) {
                self.expect_word("socket")?;
                if private == Private::Packet && self.eat("of") {
                    self.expect_words(["another", "protocol"])?;
                    return Ok(DescriptorKind::Private(Private::OtherPacket));
                }
                return Ok(DescriptorKind::Private(private));
            }
        }
        if self.eat("message") {
            self.expect_word("queue")?;
            return Ok(DescriptorKind::Private(Private::MessageQueue));
        }
        if self.eat("thread") {
            self.expect_word("of")?;
            return Ok(DescriptorKind::Thread(self.known(names)?));
        }
        if self.eat("watched") {
            let is_file = self.one_of("'file' or 'directory'", &[("file", true), ("directory", false)])?;
            let kind = if is_file { DescriptorKind::WatchedFile } else { DescriptorKind::WatchedDirectory };
            return Ok(kind);
        }
        if self.eat("user") {
            self.expect_word("event")?;
            return Ok(DescriptorKind::UserEvent);
        }
        if self.eat("copy") {
            self.expect_word("of")?;
            return Ok(DescriptorKind::Copy(self.known(names)?));
        }
        if self.eat("file") {
            self.expect_word("of")?;
            let size = self.number("bytes")?;
            let offset = if self.eat("at") { self.number("bytes")? } else { 0 };
            return Ok(DescriptorKind::File { size, offset });
        }
        let words = [
            "copy",
            "file",
            "directory",
            "queue",
            "timer",
            "wall-clock",
            "process",
            "thread",
            "signal",
            "watched",
            "packet",
            "raw",
            "netlink",
            "message",
            "user",
        ];
        let expected = "'copy', 'file', 'directory', 'queue', 'timer', 'wall-clock timer', 'process', 'thread', \
                        'signal', 'watched file', 'packet socket', 'raw socket', 'netlink socket', \
                        'message queue' or 'user event'";
        self.error(expected, &words)
    }

    fn call(&mut self, names: &Names) -> Result<Call, ParseError> {
        const SHUT: [(&str, Direction); 3] =
            [("read", Direction::Read), ("write", Direction::Write), ("both", Direction::Both)];
        const OPEN: [(&str, Direction); 3] =
            [("reading", Direction::Read), ("writing", Direction::Write), ("both", Direction::Both)];
        let verb = self.take("a verb")?;
        Ok(match verb.as_str() {
            "binds" => Call::Binds,
            "listens" => Call::Listens {
                backlog: if self.eat("backlog") { Some(self.number("connections")?) } else { None },
                beside: if self.eat("beside") { Some(self.known(names)?) } else { None },
            },
            "connects" => {
                self.expect_word("to")?;
                Call::Connects(if self.eat("nobody") { None } else { Some(self.known(names)?) })
            }
            "reaches" => Call::Reaches(self.known(names)?),
            "accepts" => Call::Accepts(self.take("a name for the connection")?),
            "opens" => {
                self.expect_word("for")?;
                Call::Opens(self.one_of("a direction", &OPEN)?)
            }
            "sends" if self.eat("nothing") => Call::SendsNothing,
            "sends" if self.eat("urgent") => Call::SendsUrgent,
            "sends" => {
                let bytes = self.number("bytes, 'nothing' or 'urgent'")?;
                match self.eat_both(["to", "nobody"]) {
                    true => Call::SendsToNobody(bytes),
                    false => Call::Sends(bytes),
                }
            }
            "fills" => Call::Fills(if self.eat("by") { Some(self.number("bytes")?) } else { None }),
            "reads" if self.eat("up") => {
                self.expect_word("to")?;
                Call::Reads(ReadExtent::UpTo(self.size()?))
            }
            "reads" if self.eat("a") => {
                self.expect_word("count")?;
                Call::Reads(ReadExtent::Count)
            }
            "reads" => match self.maybe_number() {
                Some(bytes) => Call::Reads(ReadExtent::Bytes(bytes)),
                None => Call::Reads(ReadExtent::Calls(self.times())),
            },
            "drains" => Call::Drains,
            "peeks" => Call::Peeks(self.maybe_number()),
            "counts" => Call::Counts(self.parse_number("a value of 64 bits")?),
            "replaces" => Call::Replaces(self.known(names)?),
            "grows" => {
                self.expect_word("by")?;
                Call::Grows(self.number("bytes")?)
            }
            "shrinks" => {
                self.expect_word("to")?;
                Call::Shrinks(self.number("bytes")?)
            }
            "receives" if self.eat_both(["the", "error"]) => Call::ReceivesError,
            "receives" => {
                self.expect_word("urgent")?;
                Call::ReceivesUrgent
            }
            "changes" => Call::Changes,
            "asks" if self.eat_both(["for", "addresses"]) => Call::AsksForAddresses,
            "shuts" => Call::Shuts(self.one_of("a direction", &SHUT)?),
            "starts" => Call::Starts,
            "expires" => Call::Expires,
            "stops" => Call::Stops,
            "ticks" => Call::Ticks,
            "exits" => Call::Exits,
            "executes" => Call::Executes,
            "gets" => {
                self.expect_word("a")?;
                match self
                    .one_of("'file', 'packet' or 'message'", &[("file", 0), ("packet", 1), ("message", 2)])?
                {
                    0 => Call::GetsFile,
                    1 => Call::GetsPacket,
                    _ => Call::GetsMessage,
                }
            }
            "loses" => {
                self.expect_words(["a", "file"])?;
                Call::LosesFile
            }
            "resets" => Call::Resets,
            "closes" => Call::Closes,
            "takes" => {
                self.expect_words(["the", "number", "of"])?;
                Call::TakesNumberOf(self.known(names)?)
            }
            "moves" => {
                self.expect_word("to")?;
                Call::MovesTo(self.number("a descriptor")?)
            }
            "sets" if self.eat("raw") => {
                self.expect_word("mode")?;
                Call::SetsMode(TerminalMode::Raw)
            }
            "sets" if self.eat("packet") => {
                self.expect_word("mode")?;
                Call::SetsMode(TerminalMode::Packet)
            }
            "sets" => Call::Sets(self.option()?),
            "flushes" => Call::Flushes(self.one_of("a direction", &SHUT)?),
            "asks" => {
                self.expect_word("SO_ERROR")?;
                Call::AsksError(self.times())
            }
            _ => {
                self.next -= 1;
                return self.error("a verb", ACTOR_VERBS);
            }
        })
    }

    fn limit(&mut self) -> Result<Limit, ParseError> {
        if self.eat("run") {
            self.expect_word("out")?;
            return Ok(Limit::RunOut);
        }
        if self.eat("end") {
            self.expect_word("at")?;
            return Ok(Limit::At(self.number("descriptors")?));
        }
        if self.eat("are") {
            self.expect_word("back")?;
            return Ok(Limit::Back);
        }
        self.error("'run out', 'end at' or 'are back'", &["run", "end", "are"])
    }

    /// `12 times`; 1 if the clause has no number.
    fn times_or_once(&mut self) -> Result<usize, ParseError> {
        let Some(times) = self.maybe_number() else { return Ok(1) };
        self.expect_word("times")?;
        Ok(times)
    }

    /// Parses the arguments of a wait.
    fn wait_arguments(&mut self) -> Result<WaitArguments, ParseError> {
        if self.eat("at") {
            self.expect_word("most")?;
            let count: u64 = self.parse_number("a time")?;
            let units = UNITS.map(|(nanoseconds, unit)| (unit, nanoseconds));
            let nanoseconds = u128::from(count) * self.one_of("a unit of time", &units)?;
            let Ok(nanoseconds) = u64::try_from(nanoseconds) else {
                return self.error("a shorter time", &[]);
            };
            let timeout = Duration::from_nanos(nanoseconds);
            return Ok(match self.signal_mask()? {
                Some(mask) => WaitArguments::Masked(mask, Some(timeout)),
                None => WaitArguments::Timeout(timeout),
            });
        }
        if let Some(mask) = self.signal_mask()? {
            return Ok(WaitArguments::Masked(mask, None));
        }
        if self.eat("room") {
            return Ok(WaitArguments::Room(self.number("events")?));
        }
        if !self.eat("with") {
            return Ok(WaitArguments::NoTimeout);
        }
        const ARGUMENTS: [&str; 5] = ["timeout", "timespec", "timeval", "room", "nfds"];
        let named = ARGUMENTS.map(|name| (name, name));
        let argument = match self.one_of("an argument of the system call", &named)? {
            "timeout" => RawArgument::Milliseconds(self.parse_number("milliseconds")?),
            "timespec" => {
                let seconds = self.parse_number("tv_sec")?;
                RawArgument::Timespec { seconds, nanoseconds: self.parse_number("tv_nsec")? }
            }
            "timeval" => {
                let seconds = self.parse_number("tv_sec")?;
                RawArgument::Timeval { seconds, microseconds: self.parse_number("tv_usec")? }
            }
            "room" => RawArgument::Room(self.parse_number("maxevents or nevents")?),
            _ => RawArgument::Count(self.parse_number("nfds")?),
        };
        Ok(WaitArguments::Raw(argument))
    }

    /// `masking`, `unmasking` or `unmasking a pending signal`, if the next word begins it.
    fn signal_mask(&mut self) -> Result<Option<SignalMask>, ParseError> {
        if self.eat("masking") {
            return Ok(Some(SignalMask::Blocks));
        }
        if !self.eat("unmasking") {
            return Ok(None);
        }
        if self.eat("a") {
            self.expect_words(["pending", "signal"])?;
            return Ok(Some(SignalMask::AllowsPending));
        }
        Ok(Some(SignalMask::Allows))
    }

    /// Parses a number of any sign.
    fn parse_number<T: FromStr>(&mut self, of: &str) -> Result<T, ParseError> {
        self.maybe_number().map_or_else(|| self.error(&format!("a number: {of}"), &[]), Ok)
    }

    fn times(&mut self) -> usize {
        match () {
            () if self.eat("twice") => 2,
            () if self.eat("thrice") => 3,
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
        const OPTIONS: [&str; 6] =
            ["SO_OOBINLINE", "SO_RCVLOWAT", "SO_SNDLOWAT", "SO_REUSEPORT", "IP_RECVERR", "SO_TIMESTAMPING"];
        if self.eat(OPTIONS[0]) {
            Ok(SocketOption::OobInline)
        } else if self.eat(OPTIONS[1]) {
            self.number("bytes").map(SocketOption::RcvLowat)
        } else if self.eat(OPTIONS[2]) {
            self.number("bytes").map(SocketOption::SndLowat)
        } else if self.eat(OPTIONS[3]) {
            Ok(SocketOption::ReusePort)
        } else if self.eat(OPTIONS[4]) {
            Ok(SocketOption::RecvErr)
        } else if self.eat(OPTIONS[5]) {
            Ok(SocketOption::Timestamping)
        } else {
            self.error("a socket option", &OPTIONS)
        }
    }

    fn change(&mut self, kind: ChangeKind, names: &Names) -> Result<Change, ParseError> {
        let descriptor = self.known(names)?;
        let (mut interest, mut mode) = (None, None);
        if kind.registers() {
            interest = self.interest()?;
            mode = self.mode();
        }
        let poller = self.poller()?;
        let label = if self.eat("called") { Some(self.take("a name for the registration")?) } else { None };
        Ok(Change { kind, descriptor, interest, mode, poller, label })
    }

    fn interest(&mut self) -> Result<Option<Interest>, ParseError> {
        if !self.eat("for") {
            return Ok(None);
        }
        if let Some(bits) = self.peek().and_then(bits) {
            self.next += 1;
            return Ok(Some(bits));
        }
        let names = Interest::BITS.map(|(name, _)| (name, Interest::NONE));
        let words: Vec<_> = INTERESTS.into_iter().chain(names).collect();
        self.one_of("an interest", &words).map(Some)
    }

    fn mode(&mut self) -> Option<Mode> {
        let (_, mode) = MODES.iter().find(|(word, _)| Some(*word) == self.peek())?;
        self.next += 1;
        Some(*mode)
    }

    fn poller(&mut self) -> Result<Name, ParseError> {
        if self.eat("in") { self.take("the name of a poller") } else { Ok(FIRST.into()) }
    }
}

/// Parses bits of poll(2): `IN|RDNORM`.
fn bits(text: &str) -> Option<Interest> {
    let bit = |name| Interest::BITS.into_iter().find(|(known, _)| *known == name).map(|(_, bit)| bit);
    text.split('|').try_fold(Interest::NONE, |all, name| Some(all.or(bit(name)?)))
}

/// Returns the known word that is most similar to the typed one, if it is close enough to be a suggestion.
fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let tolerated = (typed.chars().count() / 3).max(1);
    let distance = |word: &&&str| damerau_levenshtein(typed, word);
    known.iter().filter(|word| distance(word) <= tolerated).min_by_key(distance).copied()
}
