//! The description that a scenario's own file gives.

use crate::axes::{Layer, Mode, Transport};
use crate::variant::Variant;

/// A scenario's id, title, layer and axes. matrix.yml decides which of its cells run where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// `group/name`, lower case, never reused.
    pub id: &'static str,
    /// The property, or the question, as a sentence.
    pub title: &'static str,
    /// Contract or characterisation.
    pub layer: Layer,
    /// The parameter values that the scenario supports.
    pub axes: Axes<'static>,
}

/// A scenario of the characterisation layer: one script that asks about one behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Scripted {
    /// The behaviour in the catalogue: `V06`. A behaviour can have several scenarios.
    pub behaviour: &'static str,
    /// The id: `readiness/peer-shut-write`. Stable, never re-used.
    pub id: &'static str,
    /// The question, as a sentence that ends with a question mark.
    pub question: &'static str,
    /// The script. It may use verbs that only some transports support; on the others the scenario is
    /// unsupported, with the reason.
    pub script: &'static str,
    /// The transports over which it runs.
    pub transports: &'static [Transport],
    /// The modes in which it runs.
    pub modes: &'static [Mode],
    /// URLs of bugs that the answer would have prevented.
    pub bugs: &'static [&'static str],
}

impl Scripted {
    /// Returns the description that matrix.yml needs. A script runs on one thread, in one group.
    pub fn description(&self) -> Description {
        let axes = Axes { transports: self.transports, triggers: self.modes, threads: &[1], groups: &[1] };
        Description { id: self.id, title: self.question, layer: Layer::Characterisation, axes }
    }
}

/// The values that each parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axes<'a> {
    /// The kinds of descriptors under test.
    pub transports: &'a [Transport],
    /// Level, edge. A backend without edge triggers runs only the level cells.
    pub triggers: &'a [Mode],
    /// Total numbers of worker threads.
    pub threads: &'a [usize],
    /// Numbers of thread groups. Combinations with more groups than threads are skipped.
    pub groups: &'a [usize],
}

impl Axes<'static> {
    /// The default axes of a contract scenario: every common transport, both triggers, two threads in one
    /// group.
    pub const PLAIN: Self = Self {
        transports: &[Transport::Tcp, Transport::Unix, Transport::Pipe],
        triggers: &[Mode::Level, Mode::Edge],
        threads: &[2],
        groups: &[1],
    };
}

impl Axes<'_> {
    /// Returns every combination of the values, except those with more groups than threads.
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
