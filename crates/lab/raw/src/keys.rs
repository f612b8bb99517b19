//! The keys under which the answers of a script are published. They are known before the script runs.

use std::collections::{BTreeMap, BTreeSet};

use metadata::{Mode, Transport, is_api_of};
use selector::{Interest, Registered, View};

use crate::verbs::{
    Action, Call, Change, ChangeKind, Clause, DescriptorKind, FIRST, Name, OWN, ReadExtent, Script,
    TerminalMode,
};

/// The key of one answer: descriptor and state, interface, and mode.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// The descriptor and its state: `tcp`, `tcp:after-read-0`.
    pub variant: String,
    /// The interface: `poll`, `epoll-add-before`, or a call: `read`.
    pub api: String,
    /// `level`, `edge`; `None` for calls.
    pub trigger: Option<&'static str>,
}

impl Key {
    /// Returns whether the answer is the poller's own, and not that of another system call.
    pub(crate) fn is_of(&self, poller: &str) -> bool {
        is_api_of(&self.api, poller)
    }
}

/// Builds the keys, clause by clause.
#[derive(Clone)]
pub(crate) struct Naming {
    title: String,
    state: Option<String>,
    /// `own`, its copies, and accepted connections: their calls are published without a name in front.
    tested: BTreeSet<Name>,
    /// Descriptors with a registration that views can use.
    watched: BTreeSet<Name>,
    /// Queues of the system, whatever poller the script runs with.
    queues: BTreeSet<Name>,
    /// The poller of each named thread that waits.
    waits: BTreeMap<Name, Name>,
    /// The poller of the threads of `N threads wait`.
    pool: Name,
}

impl Naming {
    pub(crate) fn new(transport: Transport) -> Self {
        let tested = BTreeSet::from([OWN.to_owned()]);
        let (watched, queues, waits) = Default::default();
        let pool = FIRST.to_owned();
        Self { title: transport.name().into(), state: None, tested, watched, queues, waits, pool }
    }

    /// Advances to the next clause.
    pub(crate) fn advance(&mut self, clause: &Clause) {
        if let Some(state) = &clause.state {
            self.state = Some(state.clone());
        }
        match &clause.action {
            Action::Title(title) => title.clone_into(&mut self.title),
            Action::Make(name, DescriptorKind::Copy(of)) if self.tested.contains(of) => {
                self.tested.insert(name.clone());
            }
            Action::Make(name, DescriptorKind::Queue) | Action::Chain { outermost: name, .. } => {
                self.queues.insert(name.clone());
            }
            Action::Call(_, Call::Accepts(name)) => {
                self.tested.insert(name.clone());
            }
            Action::ThreadWaits { thread, poller, .. } => {
                self.waits.insert(thread.clone(), poller.clone());
            }
            Action::Waiters { poller, .. } | Action::WorkerPool { poller, .. } => {
                poller.clone_into(&mut self.pool);
            }
            Action::Call(name, Call::Closes | Call::Resets) => {
                self.watched.remove(name);
            }
            Action::Change(change) => match change.kind {
                ChangeKind::Watch if is_plain(change) => {
                    self.watched.insert(change.descriptor.clone());
                }
                _ => {
                    self.watched.remove(&change.descriptor);
                }
            },
            _ => {}
        }
    }

    /// Returns whether the descriptor has an earlier registration that views can use.
    pub(crate) fn is_watched(&self, name: &str) -> bool {
        self.watched.contains(name)
    }

    /// Returns the keys of the answers to a clause, after [`Naming::advance`].
    pub(crate) fn keys(&self, clause: &Clause, mode: Mode, poller: &str, views: &[View]) -> Vec<Key> {
        match &clause.action {
            Action::Look { at, interest: None } => {
                let applying = views.iter().filter(|view| applies(view, self.is_watched(at)));
                applying.map(|view| self.view(view, mode)).collect()
            }
            Action::Look { interest: Some(interest), .. } if mode == Mode::Level => {
                vec![self.look_for(poller, *interest)]
            }
            Action::Wait { poller: at, .. } | Action::Inspect(at) => vec![self.wait(poller, mode, at)],
            Action::ThreadAnswers(thread) => {
                vec![self.wait(poller, mode, self.waits.get(thread).map_or(FIRST, String::as_str))]
            }
            Action::ThreadsAnswer | Action::ThreadsShare => vec![self.wait(poller, mode, &self.pool)],
            Action::ChildAnswers => vec![self.wait(poller, mode, FIRST)],
            Action::MakePoller if clause.is_question => self.make_poller(poller).into_iter().collect(),
            Action::Call(name, call) if clause.is_question => vec![self.call(name, call)],
            Action::Chain { .. } if clause.is_question && matches!(poller, "epoll" | "kqueue") => {
                vec![self.key(format!("{poller}-add"), None)]
            }
            Action::Change(change) if clause.is_question => self.change(poller, change).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn key(&self, api: impl Into<String>, trigger: Option<&'static str>) -> Key {
        let variant = match &self.state {
            Some(state) => format!("{}:{state}", self.title),
            None => self.title.clone(),
        };
        Key { variant, api: api.into(), trigger }
    }

    /// Returns the key of a view's answer.
    pub(crate) fn view(&self, view: &View, mode: Mode) -> Key {
        self.key(view.api, Some(mode.published()))
    }

    /// Returns the key of an answer to this interest alone, through a registration made for it.
    pub(crate) fn look_for(&self, poller: &str, interest: Interest) -> Key {
        let (read, write, urgent) = if poller == "poll" { ("IN", "OUT", "PRI") } else { ("R", "W", "X") };
        let words = [(interest.read, read), (interest.write, write), (interest.urgent, urgent)];
        // The interest in everything has a name without the end.
        let is_more = |name: &&str| {
            !matches!(*name, "IN" | "OUT" | "PRI") && (*name != "RDHUP" || interest != Interest::ALL)
        };
        let words = words.iter().filter(|(wanted, _)| *wanted).map(|(_, word)| *word);
        let words: Vec<_> = words.chain(interest.bit_names().filter(is_more)).collect();
        let words = if words.is_empty() { "events0".to_owned() } else { words.join("|") };
        self.key(format!("{poller}-{words}"), Some(Mode::Level.published()))
    }

    /// Returns the key of a wait in the poller that the script calls `at`. In a queue, beside a poller of
    /// another kind, it is another system call than the poller's own, and has other words.
    fn wait(&self, poller: &str, mode: Mode, at: &str) -> Key {
        match self.queues.contains(at) && !matches!(poller, "epoll" | "kqueue") {
            true => self.key("queue", None),
            false => self.key(poller, Some(mode.published())),
        }
    }

    /// Returns the key of a change's answer. poll and select have no registrations: their answer comes from
    /// this program's own list, and is no fact about the system. The answer of a queue is a fact about epoll
    /// or kqueue only.
    fn change(&self, poller: &str, change: &Change) -> Option<Key> {
        let registers = match self.queues.contains(&change.poller) {
            true => matches!(poller, "epoll" | "kqueue"),
            false => !matches!(poller, "poll" | "select"),
        };
        registers.then(|| self.key(format!("{poller}-{}", change.kind.verb()), None))
    }

    /// Returns the key of making a poller. For poll and select, making one only makes their wake-up pipe.
    fn make_poller(&self, poller: &str) -> Option<Key> {
        let registers = !matches!(poller, "poll" | "select");
        registers.then(|| self.key(format!("{poller}-create"), None))
    }

    /// Returns the key of a call's answer.
    fn call(&self, name: &str, call: &Call) -> Key {
        let verb = match call {
            Call::Binds => "bind".into(),
            Call::Listens { .. } => "listen".into(),
            Call::Connects(_) | Call::Reaches(_) => "connect".into(),
            Call::Accepts(_) => "accept".into(),
            Call::Opens(_) => "open".into(),
            Call::Sends(_) | Call::Fills(_) => "write".into(),
            Call::SendsToNobody(_) => "sendto".into(),
            Call::ReceivesError => "recv(MSG_ERRQUEUE)".into(),
            Call::SendsNothing => "send(0)".into(),
            Call::SendsUrgent => "send(MSG_OOB)".into(),
            Call::Reads(ReadExtent::Bytes(bytes)) => format!("read({bytes})"),
            Call::Reads(ReadExtent::Count) => "read(count)".into(),
            Call::Reads(_) | Call::Drains => "read".into(),
            Call::Peeks(None) => "recv(MSG_PEEK)".into(),
            Call::Peeks(Some(bytes)) => format!("recv({bytes},MSG_PEEK)"),
            Call::Counts(_) => "write".into(),
            Call::IsSent => "sendmsg".into(),
            Call::Replaces(_) => "dup2".into(),
            Call::ReceivesUrgent => "recv(MSG_OOB)".into(),
            Call::Shuts(_) => "shutdown".into(),
            Call::Resets | Call::Closes => "close".into(),
            Call::Grows(_) => "append".into(),
            Call::Shrinks(_) => "truncate".into(),
            Call::IsRemoved => "unlink".into(),
            Call::GetsFile => "creat".into(),
            Call::GetsPacket | Call::AsksForAddresses => "write".into(),
            Call::GetsMessage => "mq_send".into(),
            Call::Changes => "change".into(),
            Call::LosesFile => "unlink".into(),
            Call::IsRenamed => "rename".into(),
            Call::TakesNumberOf(_) | Call::MovesTo(_) => "dup".into(),
            Call::Sets(option) => format!("setsockopt({})", option.name()),
            Call::AsksError(_) => "SO_ERROR".into(),
            Call::IsTriggered(_) => "NOTE_TRIGGER".into(),
            Call::SetsMode(TerminalMode::Raw) => "tcsetattr".into(),
            Call::SetsMode(TerminalMode::Packet) => "TIOCPKT".into(),
            Call::Flushes(_) => "tcflush".into(),
            Call::Starts | Call::Expires | Call::Stops | Call::Ticks | Call::IsOverdue(_) => {
                "set-timer".into()
            }
            Call::Exits | Call::IsRaised(_) => "kill".into(),
            Call::Executes => "execve".into(),
            Call::IsReaped => "waitpid".into(),
        };
        self.key(if self.tested.contains(name) { verb } else { format!("{name}-{verb}") }, None)
    }
}

/// Returns whether views can use this registration: it has the interest and the mode of views.
pub(crate) fn is_plain(change: &Change) -> bool {
    change.interest.is_none_or(|interest| interest == Interest::ALL) && change.mode.is_none()
}

/// Returns whether a view applies to a descriptor.
pub(crate) fn applies(view: &View, watched: bool) -> bool {
    view.registered == Registered::After || watched
}

/// Returns the keys of all observations that a script makes if it runs to its end, in order.
pub fn keys(script: &Script, transport: Transport, mode: Mode, poller: &str, views: &[View]) -> Vec<Key> {
    let mut naming = Naming::new(transport);
    let mut keys = Vec::new();
    for clause in &script.clauses {
        naming.advance(clause);
        keys.extend(naming.keys(clause, mode, poller, views));
    }
    keys
}

/// Returns the descriptors and states of all keys of a script, with any poller.
pub(crate) fn variants(script: &Script, transport: Transport) -> BTreeSet<String> {
    let mut naming = Naming::new(transport);
    let variant = |clause| {
        naming.advance(clause);
        naming.key("", None).variant
    };
    script.clauses.iter().map(variant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(poller: &str, script: &str) -> Vec<String> {
        let keys = keys(&script.parse().unwrap(), Transport::Unix, Mode::Level, poller, &[]);
        keys.into_iter().map(|Key { variant, api, .. }| format!("{variant} {api}")).collect()
    }

    #[test]
    fn answers_of_the_systems_queue_are_published_for_epoll_and_kqueue_only() {
        let script = "inner is a queue, own and peer are connected, add own for reading in inner? as in-queue, \
                    add inner for reading? as queue, remove own in inner? as out-of-queue, \
                    add own for reading in second? as in-second";
        for queue in ["epoll", "kqueue"] {
            let all = ["in-queue {}-add", "queue {}-add", "out-of-queue {}-remove", "in-second {}-add"];
            assert_eq!(keys_of(queue, script), all.map(|key| format!("unix:{}", key.replace("{}", queue))));
        }
        assert_eq!(
            keys_of("libevent-poll", script),
            ["unix:queue libevent-poll-add", "unix:in-second libevent-poll-add"]
        );
        assert!(keys_of("poll", script).is_empty());
    }

    #[test]
    fn a_wait_in_a_queue_is_published_as_the_queues_beside_another_poller() {
        let script = "inner is a queue, wait as in-first, wait in inner as in-queue, t waits, u waits in inner, \
                    t answers as outer, u answers as inner, 2 threads wait in inner, threads answer as pool";
        let states = ["in-first", "in-queue", "outer", "inner", "pool"];
        let all = |apis: [&str; 5]| {
            states.iter().zip(apis).map(|(state, api)| format!("unix:{state} {api}")).collect::<Vec<_>>()
        };
        for poller in ["epoll", "kqueue"] {
            assert_eq!(keys_of(poller, script), all([poller; 5]));
        }
        for poller in ["poll", "libuv"] {
            assert_eq!(keys_of(poller, script), all([poller, "queue", poller, "queue", "queue"]));
        }
    }
}
