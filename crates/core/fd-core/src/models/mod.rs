//! Models of the protocol. They run the code of this crate, from the worker's loop down to the single
//! atomics, under loom (`--cfg loom`: every interleaving within a bound, and every re-ordering that loom
//! knows) or under shuttle (`--cfg shuttle`: random interleavings of larger mixes, sequentially consistent).
//! Only the kernel is simulated, see [`world`]. `ci/models.sh` runs the models.
//!
//! `docs/protocol.md` names the models that check each step. `weakened.rs` shows that each model can fail.
//!
//! # Orderings that no model needs
//!
//! Each ordering of the pairs was weakened to relaxed, acquire or release, one at a time, and the models were
//! run. They pass with these forms, none of which changes an execution that matters. The stronger orderings
//! stay: on x86 they cost nothing, and each belongs to a pair that explains it alone.
//!
//! - Each read of the thread mask, relaxed: `enter` orders it by the running bits (`exit`), `exit` by its
//!   fences, applying an update by the mark (`rearm`) or the polled masks (`polled`), any other caller by its
//!   pin (`move`).
//! - The state, when an update is applied, relaxed: it is read after a read-modify-write of the update bits
//!   or of the polled masks, which acquires.
//! - The words of Dekker pairs (`set_running`, `clear_mask`, `close`, `is_closed`, `bound`), relaxed: the
//!   fences of their pairs order them; the uses of the entry are ordered by `exit` and `drain`.
//! - The token, where an exit takes it, relaxed: the fence of the exit precedes it and releases, and the
//!   thread that wins it waits for the others (`drain`).
//! - The mark of a takeover, relaxed: the fence of `want-takeover` lies between the mask and the mark; in a
//!   relocation, the group word orders both.
//! - A takeover's running bit and mask, relaxed: its own exit is another read-modify-write of running, which
//!   acquires and releases for both.
//! - The state and mask of an insertion, relaxed: the group word publishes them (`publish`).
//! - A want's change of the state, relaxed: the update bits that follow release it (`update`).
//! - Update bits that a thread sets for itself, relaxed: it clears them itself. Those that are only read:
//!   they decide whether a read-modify-write of them follows, or whether the entry is listed again.
//! - The enabled threads of a group, relaxed: they change only in a forked child, which has one thread then.
//! - Halves: without the release of a pin and of `clear_update`, which publish nothing; without the acquire
//!   of `set_updates`, `clear_running` and `unlink`, after which nothing is read.

mod world;

#[cfg(loom)]
mod groups;
#[cfg(loom)]
mod interest;
#[cfg(loom)]
mod list;
#[cfg(shuttle)]
mod mixes;
#[cfg(loom)]
mod registration;
#[cfg(loom)]
mod sleep;
#[cfg(loom)]
mod updates;
#[cfg(loom)]
mod weakened;

use std::io::Write;

use crate::hooks::fault::{self, Fault};

/// The fault to switch on in every model of this process.
const WEAKEN: &str = "FD_CORE_WEAKEN";

/// The file to which each model appends a line: name, threads, bound, iterations, result.
const TABLE: &str = "FD_CORE_MODEL_TABLE";

/// Selects the larger bounds.
#[cfg(loom)]
const FULL: &str = "FD_CORE_MODELS_FULL";

/// Switches on the mistake that the environment names, if it names one. The core asserts its own invariants
/// in either case.
fn weaken() -> Option<String> {
    #[cfg(feature = "invariants")]
    crate::hooks::invariants::enable();
    let name = std::env::var(WEAKEN).ok()?;
    let fault = Fault::named(&name).unwrap_or_else(|| panic!("{WEAKEN}={name}: there is no such fault"));
    // SAFETY: this process runs models only, and their purpose is to detect this mistake.
    unsafe { fault::enable(fault) };
    Some(name)
}

/// Appends a line to the table, if the environment names one.
fn record(columns: &[&str]) {
    if let Ok(path) = std::env::var(TABLE) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let line = columns.join("\t") + "\n";
        file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}

#[cfg(loom)]
pub(super) use exhaustive::{Bound, model};

#[cfg(loom)]
mod exhaustive {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{FULL, record, weaken};

    /// The number of preemptions per schedule that are explored, in the quick set and in the full one. `None`
    /// explores all.
    pub(crate) struct Bound {
        pub(crate) quick: Option<usize>,
        pub(crate) full: Option<usize>,
    }

    impl Bound {
        /// Explores all schedules, in both sets.
        pub(crate) const NONE: Self = Self { quick: None, full: None };
        /// For three threads, two of which may wait for the third. With one more preemption, loom has
        /// schedules in which these two yield to each other without end and the third never runs. No system
        /// schedules threads like that. The mixes explore further.
        pub(crate) const THREE_WAIT: Self = Self { quick: Some(1), full: Some(1) };

        pub(crate) const fn quick(preemptions: usize) -> Self {
            Self { quick: Some(preemptions), full: None }
        }

        pub(crate) const fn of(quick: usize, full: usize) -> Self {
            Self { quick: Some(quick), full: Some(full) }
        }

        fn now(&self) -> Option<usize> {
            match std::env::var("FD_CORE_MODELS_BOUND") {
                Ok(bound) => bound.parse().ok(),
                Err(_) if std::env::var_os(FULL).is_some() => self.full,
                Err(_) => self.quick,
            }
        }
    }

    /// A model: one line of the table, over one or several scenes.
    pub(crate) struct Model {
        name: &'static str,
        threads: usize,
        bound: Option<usize>,
        iterations: Arc<AtomicUsize>,
    }

    /// Creates the model `name` of `threads` concurrent threads.
    pub(crate) fn model(name: &'static str, threads: usize, bound: Bound) -> Model {
        weaken();
        Model { name, threads, bound: bound.now(), iterations: Arc::default() }
    }

    impl Model {
        /// Runs `scene` under every schedule within the bound.
        pub(crate) fn check(&self, scene: impl Fn() + Send + Sync + 'static) {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = self.bound;
            // The maximum number of steps of one schedule. More steps mean that a thread waits without end
            // (L7).
            builder.max_branches = 5_000;
            let iterations = Arc::clone(&self.iterations);
            builder.check(move || {
                iterations.fetch_add(1, Ordering::Relaxed);
                scene();
            });
        }
    }

    impl Drop for Model {
        fn drop(&mut self) {
            let result = if std::thread::panicking() { "FAILED" } else { "holds" };
            let bound = self.bound.map_or_else(|| "none".into(), |bound| bound.to_string());
            let iterations = self.iterations.load(Ordering::Relaxed).to_string();
            record(&[self.name, &self.threads.to_string(), &bound, &iterations, result]);
        }
    }
}
