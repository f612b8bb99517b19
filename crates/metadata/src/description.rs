//! What a scenario's own file says of it.

use crate::axes::{Layer, Mode, Transport};
use crate::variant::Variant;

/// A scenario: what it is about, and what it is meant for. matrix.yml decides what of that is run where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// `group/name`, lower case, never re-used.
    pub id: &'static str,
    /// The property, or the question, as a sentence.
    pub title: &'static str,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The parameters that it is meant for.
    pub axes: Axes<'static>,
}

/// The values that each parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axes<'a> {
    /// What the descriptors under test are.
    pub transports: &'a [Transport],
    /// Level, edge. A backend without edge triggers gets the level cells only.
    pub triggers: &'a [Mode],
    /// Worker threads in all.
    pub threads: &'a [usize],
    /// Groups that they are spread over. Combinations with more groups than threads are skipped.
    pub groups: &'a [usize],
}

impl Axes<'static> {
    /// A scenario of the core that has no reason for anything else: two threads of one group, whatever the descriptors are.
    pub const PLAIN: Self = Self {
        transports: &[Transport::Tcp, Transport::Unix, Transport::Pipe],
        triggers: &[Mode::Level, Mode::Edge],
        threads: &[2],
        groups: &[1],
    };
}

impl Axes<'_> {
    /// The variants that they span, without those that have more groups than threads.
    pub fn variants(&self) -> impl Iterator<Item = Variant> + '_ {
        self.transports.iter().flat_map(move |&transport| {
            self.triggers.iter().flat_map(move |&trigger| {
                self.threads.iter().flat_map(move |&threads| {
                    let groups = self.groups.iter().filter(move |&&groups| groups <= threads);
                    groups.map(move |&groups| Variant { transport, trigger, threads, groups })
                })
            })
        })
    }
}
