//! The words of the protocol, each with what can be done to it alone: identities, events, the state, the
//! group word, the links of the update list, and the pairs of accesses that must not pass each other.

pub(crate) mod backoff;
pub(crate) mod events;
pub(crate) mod group_word;
pub mod ids;
mod mistakes;
pub(crate) mod pairs;
pub(crate) mod state;
pub(crate) mod sync;
pub(crate) mod update_list;
