//! Descriptors that the poller's own program makes and acts on: it cannot take those of this process.
//!
//! The program holds the descriptors that the script registers, and listeners that accept such ones. This
//! process keeps the others, and acts on them itself. A clause that the program cannot perform is
//! unsupported.

use std::collections::BTreeMap;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use metadata::{Outcome, Transport};
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::{read, write};
use selector::{Act, Acted, Acts, Changed, Interest};

use super::descriptors::{self, Address, Scratch};
use super::fenced_poller::FencedPoller;
use super::{Actor, Interpreter, broken};
use crate::Stopped;
use crate::verbs::{Action, Call, Clause, DescriptorKind, FIRST, Name};

/// A descriptor of a poller's program.
pub(super) struct Held {
    /// The poller of that program.
    pub(super) poller: Arc<FencedPoller>,
    pub(super) open: bool,
    pub(super) registered: bool,
}

/// Returns the descriptors that the program of a poller must hold, with that poller.
pub(super) fn holders(clauses: &[Clause]) -> BTreeMap<Name, Name> {
    let is_queue = |poller: &str| {
        clauses.iter().any(
            |clause| matches!(&clause.action, Action::Make(name, DescriptorKind::Queue) if name == poller),
        )
    };
    let mut holders = BTreeMap::new();
    for clause in clauses {
        let (name, poller) = match &clause.action {
            Action::Change(change) if !is_queue(&change.poller) => {
                (&change.descriptor, change.poller.as_str())
            }
            Action::Look { at, interest: Some(_) } => (at, FIRST),
            Action::WorkerPool { work: crate::verbs::Work::Accept(listener), poller, .. } => {
                (listener, poller.as_str())
            }
            _ => continue,
        };
        holders.entry(name.clone()).or_insert_with(|| poller.to_owned());
    }
    for clause in clauses.iter().rev() {
        if let Action::Call(listener, Call::Accepts(accepted)) = &clause.action
            && let Some(poller) = holders.get(accepted).cloned()
        {
            holders.entry(listener.clone()).or_insert(poller);
        }
    }
    holders
}

/// Returns the acts of a poller whose program makes descriptors.
pub(super) fn acts(poller: &FencedPoller) -> Result<&dyn Acts, Stopped> {
    poller.selector.actor().ok_or_else(|| broken("this poller takes descriptors"))
}

/// Performs an act of a set-up, which must succeed.
pub(super) fn must(acts: &dyn Acts, name: RawFd, act: &Act) -> Result<Acted, Stopped> {
    acts.act(name, act)?.map_err(|errno| broken(format!("in the poller's program: {act:?}: {errno:?}")))
}

/// Returns the address in the answer to an act.
fn address(acted: Acted, transport: Transport) -> Result<Address, Stopped> {
    match acted {
        Acted::Address(text) => Address::parse(&text, transport),
        other => Err(broken(format!("the poller's program answers {other:?} instead of an address"))),
    }
}

/// Connects the descriptor `name` of the poller's program to a new descriptor of this process, and returns
/// the latter. `listener` is another name, which is free afterwards.
pub(super) fn pair(
    acts: &dyn Acts,
    (name, listener): (RawFd, RawFd),
    transport: Transport,
    patience: Duration,
    scratch: &mut Scratch,
) -> Result<OwnedFd, Stopped> {
    let failed = |call: &'static str| move |errno: Errno| super::call_failed(call, errno);
    let peer = descriptors::fresh(transport)?;
    match transport {
        Transport::Tcp | Transport::Unix => {
            let at = descriptors::any_address(transport, scratch)?;
            let listen = Act::Listen { kind: transport, address: at, backlog: 1 };
            let to = address(must(acts, listener, &listen)?, transport)?;
            descriptors::connect_completely(&peer, &to)?;
            accept(acts, name, listener, patience)?;
            must(acts, listener, &Act::Close)?;
            if transport == Transport::Tcp {
                setsockopt(&peer, sockopt::TcpNoDelay, &true).map_err(failed("TCP_NODELAY"))?;
            }
        }
        Transport::Udp => {
            must(acts, name, &Act::Open(transport))?;
            let bound = must(acts, name, &Act::Bind(descriptors::any_address(transport, scratch)?))?;
            let here = descriptors::bind_somewhere(&peer, transport, scratch)?;
            descriptors::connect_to(&peer, &address(bound, transport)?).map_err(failed("connect"))?;
            must(acts, name, &Act::Connect(here.to_string()))?;
        }
        other => {
            let why = format!("a {} cannot connect the poller's program with this one", other.name());
            return Err(Stopped::Unsupported(why));
        }
    }
    Ok(peer)
}

/// Accepts a connection that has been made. Another part of the system may still be delivering it.
fn accept(acts: &dyn Acts, name: RawFd, listener: RawFd, patience: Duration) -> Result<(), Stopped> {
    let begun = Instant::now();
    loop {
        match acts.act(name, &Act::Accept(listener))? {
            Err(Errno::EAGAIN) if begun.elapsed() < patience => std::thread::yield_now(),
            accepted => return accepted.map(drop).map_err(|errno| broken(format!("accept: {errno:?}"))),
        }
    }
}

impl Interpreter {
    /// Returns the poller whose program must hold this descriptor.
    pub(super) fn holder(&mut self, name: &str) -> Result<Option<Arc<FencedPoller>>, Stopped> {
        match self.holders.get(name).cloned() {
            Some(poller) => self.poller(&poller).map(Some),
            None => Ok(None),
        }
    }

    /// Checks that the poller's program does not hold any descriptor.
    pub(super) fn require_own_descriptors(&self, reason: &str) -> Result<(), Stopped> {
        let acts = self.pollers.values().any(|poller| poller.selector.actor().is_some());
        let why =
            || Stopped::Unsupported(format!("{} holds the descriptors itself: {reason}", self.poller_name));
        if acts { Err(why()) } else { Ok(()) }
    }

    /// Returns the descriptor of the poller's program with this name, if it is one.
    pub(super) fn held(&self, name: &str) -> Option<&Held> {
        self.actors.get(name)?.held.as_ref()
    }

    /// Acts on a descriptor of the poller's program. `None` if this process has it. The inner error is that
    /// of the call.
    pub(super) fn act(&self, name: &str, act: &Act) -> Option<Result<Result<Acted, Errno>, Stopped>> {
        let actor = self.actors.get(name)?;
        let held = actor.held.as_ref()?;
        if !held.open {
            return Some(Err(broken(format!("'{name}' is closed"))));
        }
        Some(acts(&held.poller).and_then(|acts| Ok(acts.act(actor.number, act)?)))
    }

    /// Returns the acts of a poller whose program makes descriptors of the script's transport.
    fn acts_on_the_transport<'p>(&self, poller: &'p FencedPoller) -> Result<&'p dyn Acts, Stopped> {
        let (acts, transport) = (acts(poller)?, self.setting.transport);
        if acts.kinds().contains(&transport) {
            return Ok(acts);
        }
        let why = format!("{} does not make a {} itself", self.poller_name, transport.name());
        Err(Stopped::Unsupported(why))
    }

    /// Adds a descriptor that the poller's program makes by `act`. The inner error is that of the call.
    pub(super) fn add_held(
        &mut self,
        name: &str,
        poller: &Arc<FencedPoller>,
        act: &Act,
    ) -> Result<Result<Acted, Errno>, Stopped> {
        if self.actors.get(name).is_some_and(Actor::is_open) {
            return Err(broken(format!("'{name}' exists already and is open")));
        }
        let acts = self.acts_on_the_transport(poller)?;
        let number = self.new_name();
        let acted = acts.act(number, act)?;
        if acted.is_ok() {
            self.insert_held(name, number, poller);
        }
        Ok(acted)
    }

    /// Returns a new name of a descriptor in the poller's program.
    fn new_name(&mut self) -> RawFd {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    fn insert_held(&mut self, name: &str, number: RawFd, poller: &Arc<FencedPoller>) {
        self.files += 1;
        let held = Held { poller: Arc::clone(poller), open: true, registered: false };
        let actor = Actor { number, file: self.files, held: Some(held), ..Actor::none() };
        self.actors.insert(name.to_owned(), actor);
    }

    /// Makes a connected pair of which the poller's program holds one end, or both ends of a pipe. Returns
    /// whether it must hold one.
    pub(super) fn connect_held(&mut self, one: &Name, other: &Name) -> Result<bool, Stopped> {
        let (transport, patience) = (self.setting.transport, self.setting.patience);
        let (first, second) = (self.holder(one)?, self.holder(other)?);
        let (poller, name, peer) = match (&first, &second) {
            (None, None) => return Ok(false),
            (Some(a), Some(b)) if transport != Transport::Pipe || !Arc::ptr_eq(a, b) => {
                let why = format!("{} holds one end, and the script registers both", self.poller_name);
                return Err(Stopped::Unsupported(why));
            }
            (Some(poller), _) => (poller, one, other),
            (None, Some(poller)) => (poller, other, one),
        };
        if transport == Transport::Pipe {
            let writer = self.new_name();
            self.add_held(one, poller, &Act::OpenPipe(writer))?
                .map_err(|errno| broken(format!("pipe: {errno:?}")))?;
            self.insert_held(other, writer, poller);
        } else {
            let names = (self.new_name(), self.new_name());
            let acts = self.acts_on_the_transport(poller)?;
            let ours = pair(acts, names, transport, patience, &mut self.scratch)?;
            self.insert_held(name, names.0, poller);
            self.add_actor(peer, ours)?;
        }
        self.actor(one)?.partner = Some(other.clone());
        self.actor(other)?.partner = Some(one.clone());
        Ok(true)
    }

    /// Checks that a registration is made in the program that has the descriptor.
    pub(super) fn require_holder(&self, name: &str, poller: &Arc<FencedPoller>) -> Result<(), Stopped> {
        match self.held(name) {
            Some(held) if !Arc::ptr_eq(&held.poller, poller) => Err(Stopped::Unsupported(format!(
                "'{name}' is in the program of another poller, and {} takes no descriptors",
                self.poller_name
            ))),
            _ => Ok(()),
        }
    }

    /// Asks through a registration made now, in the only poller that can have one.
    pub(super) fn look_now_held(&mut self, at: &str, interest: Interest) -> Result<Outcome, Stopped> {
        let number = self.number(at)?;
        let Some(held) = self.held(at) else { return Err(broken(format!("there is no '{at}'"))) };
        if held.registered {
            let why = format!("'{at}' is registered, and {} has no second poller for it", self.poller_name);
            return Err(Stopped::Unsupported(why));
        }
        let poller = Arc::clone(&held.poller);
        let answer = poller.look(number, at, interest, self.setting.mode)?;
        match poller.selector.remove(number) {
            Changed::Unsupported(unsupported) => Err(unsupported.into()),
            _ => Ok(answer),
        }
    }

    /// read(2), by the program that has the descriptor.
    pub(super) fn read(&self, name: &str, buffer: &mut [u8]) -> Result<Result<usize, Errno>, Stopped> {
        match self.act(name, &Act::Read(buffer.len())) {
            Some(acted) => acted.map(count),
            None => Ok(read(self.fd(name)?, buffer)),
        }
    }

    /// write(2), by the program that has the descriptor.
    pub(super) fn write(&self, name: &str, bytes: usize) -> Result<Result<usize, Errno>, Stopped> {
        match self.act(name, &Act::Write(bytes)) {
            Some(acted) => acted.map(count),
            None => Ok(write(self.fd(name)?, &vec![b'.'; bytes])),
        }
    }

    /// Binds, and keeps the address.
    pub(super) fn bind_held(&mut self, name: &str, act: &Act) -> Result<Result<(), Errno>, Stopped> {
        let acted = self.act(name, act).ok_or_else(|| broken(format!("'{name}' is in this process")))?;
        self.keep_address(name, acted?)
    }

    /// Listens in the poller's program.
    pub(super) fn listen_held(
        &mut self,
        name: &str,
        poller: &Arc<FencedPoller>,
        backlog: usize,
    ) -> Result<Result<(), Errno>, Stopped> {
        let transport = self.setting.transport;
        let act = Act::Listen {
            kind: transport,
            address: descriptors::any_address(transport, &mut self.scratch)?,
            backlog,
        };
        let acted = self.add_held(name, poller, &act)?;
        self.keep_address(name, acted)
    }

    fn keep_address(
        &mut self,
        name: &str,
        acted: Result<Acted, Errno>,
    ) -> Result<Result<(), Errno>, Stopped> {
        let address = acted.map(|acted| address(acted, self.setting.transport));
        match address {
            Ok(address) => self.actor(name)?.address = Some(address?),
            Err(errno) => return Ok(Err(errno)),
        }
        Ok(Ok(()))
    }
}

fn count(acted: Result<Acted, Errno>) -> Result<usize, Errno> {
    acted.map(|acted| match acted {
        Acted::Count(count) => count,
        Acted::Done | Acted::Address(_) => 0,
    })
}
