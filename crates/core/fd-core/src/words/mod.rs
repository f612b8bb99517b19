//! The words of the protocol, each with its own operations: identities, events, the state, the group word,
//! the links of the update list, and the accesses of the ordered pairs.

pub(crate) mod backoff;
#[cfg(all(test, not(any(loom, shuttle))))]
pub(crate) mod counted;
pub(crate) mod events;
pub(crate) mod group_word;
pub mod ids;
pub(crate) mod pairs;
pub(crate) mod state;
pub(crate) mod state_word;
pub(crate) mod sync;
pub(crate) mod update_list;
