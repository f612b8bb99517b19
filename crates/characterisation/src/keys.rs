//! Under which keys a line's answers are published: known before it is performed.

use std::collections::BTreeSet;

use metadata::{Mode, Transport};
use selector::{Interest, Registered, View};

use crate::verbs::{Action, Call, Change, ChangeKind, Clause, DescriptorKind, Name, OWN, ReadExtent, Script};

/// The key of one answer: what was looked at, who was asked, and in which mode.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// What was looked at: `tcp`, `tcp:after-read-0`.
    pub variant: String,
    /// Who was asked: `poll`, `epoll-add-before`, or a call: `read`.
    pub api: String,
    /// `level`, `edge`; not for calls.
    pub trigger: Option<&'static str>,
}

/// What things are called, clause by clause.
pub(crate) struct Naming {
    title: String,
    state: Option<String>,
    /// Own, its copies and what was accepted: their calls need no name before them.
    tested: BTreeSet<Name>,
    /// Who is in a poller so that a view can look through that registration.
    watched: BTreeSet<Name>,
    /// Who is the system's queue, whatever poller is asked.
    queues: BTreeSet<Name>,
}

impl Naming {
    pub(crate) fn new(transport: Transport) -> Self {
        let tested = BTreeSet::from([OWN.to_owned()]);
        let (watched, queues) = Default::default();
        Self { title: transport.name().into(), state: None, tested, watched, queues }
    }

    /// Goes on to a clause.
    pub(crate) fn advance(&mut self, clause: &Clause) {
        if let Some(state) = &clause.state {
            self.state = Some(state.clone());
        }
        match &clause.action {
            Action::Title(title) => title.clone_into(&mut self.title),
            Action::Make(name, DescriptorKind::Copy(of)) if self.tested.contains(of) => {
                self.tested.insert(name.clone());
            }
            Action::Make(name, DescriptorKind::Queue) => {
                self.queues.insert(name.clone());
            }
            Action::Call(_, Call::Accepts(name)) => {
                self.tested.insert(name.clone());
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

    /// Whether a view can look at it through a registration made before.
    pub(crate) fn is_watched(&self, name: &str) -> bool {
        self.watched.contains(name)
    }

    fn key(&self, api: impl Into<String>, trigger: Option<&'static str>) -> Key {
        let variant = match &self.state {
            Some(state) => format!("{}:{state}", self.title),
            None => self.title.clone(),
        };
        Key { variant, api: api.into(), trigger }
    }

    /// The key of what a view says.
    pub(crate) fn view(&self, view: &View, mode: Mode) -> Key {
        self.key(view.api, Some(mode.published()))
    }

    /// The key of what a poller says that is only asked for this, now.
    pub(crate) fn look_for(&self, poller: &str, interest: Interest) -> Key {
        let (read, write, urgent) = if poller == "poll" { ("IN", "OUT", "PRI") } else { ("R", "W", "X") };
        let words = [(interest.read, read), (interest.write, write), (interest.urgent, urgent)];
        let words: Vec<_> = words.iter().filter(|(asked, _)| *asked).map(|(_, word)| *word).collect();
        let words = if words.is_empty() { "events0".to_owned() } else { words.join("|") };
        self.key(format!("{poller}-{words}"), Some(Mode::Level.published()))
    }

    /// The key of a wait.
    pub(crate) fn wait(&self, poller: &str, mode: Mode) -> Key {
        self.key(poller, Some(mode.published()))
    }

    /// The key of a change's answer. poll and select have no registrations: what is answered there is said by the
    /// list that is kept for them, and is no fact about the system. What a queue answers is a fact about nobody else.
    pub(crate) fn change(&self, poller: &str, change: &Change) -> Option<Key> {
        let registers = match self.queues.contains(&change.poller) {
            true => matches!(poller, "epoll" | "kqueue"),
            false => !matches!(poller, "poll" | "select"),
        };
        registers.then(|| self.key(format!("{poller}-{}", change.kind.verb()), None))
    }

    /// The key of making a poller. That of poll and select is their wake-up pipe.
    pub(crate) fn make_poller(&self, poller: &str) -> Option<Key> {
        let registers = !matches!(poller, "poll" | "select");
        registers.then(|| self.key(format!("{poller}-create"), None))
    }

    /// The key of a call's answer.
    pub(crate) fn call(&self, name: &str, call: &Call) -> Key {
        let verb = match call {
            Call::Binds => "bind".into(),
            Call::Listens { .. } => "listen".into(),
            Call::Connects(_) | Call::Reaches(_) => "connect".into(),
            Call::Accepts(_) => "accept".into(),
            Call::Opens(_) => "open".into(),
            Call::Sends(_) | Call::Fills(_) => "write".into(),
            Call::SendsNothing => "send(0)".into(),
            Call::SendsUrgent => "send(MSG_OOB)".into(),
            Call::Reads(ReadExtent::Bytes(bytes)) => format!("read({bytes})"),
            Call::Reads(_) | Call::Drains => "read".into(),
            Call::ReceivesUrgent => "recv(MSG_OOB)".into(),
            Call::Shuts(_) => "shutdown".into(),
            Call::Resets | Call::Closes => "close".into(),
            Call::Grows(_) => "append".into(),
            Call::TakesNumberOf(_) | Call::MovesTo(_) => "dup".into(),
            Call::Sets(option) => format!("setsockopt({})", option.name()),
            Call::AsksError(_) => "SO_ERROR".into(),
        };
        self.key(if self.tested.contains(name) { verb } else { format!("{name}-{verb}") }, None)
    }
}

/// Whether a view can look through this registration: it asks for what views ask for.
pub(crate) fn is_plain(change: &Change) -> bool {
    change.interest.is_none_or(|interest| interest == Interest::ALL) && change.mode.is_none()
}

/// Whether a view is used when this descriptor is looked at.
pub(crate) fn applies(view: &View, watched: bool) -> bool {
    view.registered == Registered::After || watched
}

/// The keys of all that a line observes if it is performed to its end, in order.
pub fn keys(line: &Script, transport: Transport, mode: Mode, poller: &str, views: &[View]) -> Vec<Key> {
    let mut naming = Naming::new(transport);
    let mut keys = Vec::new();
    for clause in &line.clauses {
        naming.advance(clause);
        match &clause.action {
            Action::Look { at, interest: None } => {
                let applying = views.iter().filter(|view| applies(view, naming.is_watched(at)));
                keys.extend(applying.map(|view| naming.view(view, mode)));
            }
            Action::Look { interest: Some(interest), .. } if mode == Mode::Level => {
                keys.push(naming.look_for(poller, *interest));
            }
            Action::Wait { .. }
            | Action::ThreadAnswers(_)
            | Action::ThreadsAnswer
            | Action::ThreadsShare
            | Action::ChildAnswers => keys.push(naming.wait(poller, mode)),
            Action::MakePoller if clause.is_question => keys.extend(naming.make_poller(poller)),
            Action::Call(name, call) if clause.is_question => keys.push(naming.call(name, call)),
            Action::Change(change) if clause.is_question => keys.extend(naming.change(poller, change)),
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_of(poller: &str, line: &str) -> Vec<String> {
        let keys = keys(&line.parse().unwrap(), Transport::Unix, Mode::Level, poller, &[]);
        keys.into_iter().map(|Key { variant, api, .. }| format!("{variant} {api}")).collect()
    }

    #[test]
    fn what_the_systems_queue_answers_is_published_as_nobody_elses() {
        let line = "inner is a queue, own and peer are connected, add own for reading in inner? as in-queue, \
                    add inner for reading? as queue, remove own in inner? as out-of-queue, \
                    add own for reading in second? as in-second";
        for queue in ["epoll", "kqueue"] {
            let all = ["in-queue {}-add", "queue {}-add", "out-of-queue {}-remove", "in-second {}-add"];
            assert_eq!(asked_of(queue, line), all.map(|key| format!("unix:{}", key.replace("{}", queue))));
        }
        assert_eq!(
            asked_of("libevent-poll", line),
            ["unix:queue libevent-poll-add", "unix:in-second libevent-poll-add"]
        );
        assert!(asked_of("poll", line).is_empty());
    }
}
