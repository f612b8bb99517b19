//! Runs what belongs to the user where a panic must not keep the rest from being done.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The first panic of several steps, each of which was run.
#[derive(Default)]
#[must_use]
pub(crate) struct Guarded(Option<Box<dyn Any + Send>>);

impl Guarded {
    /// Runs one step.
    pub(crate) fn run(&mut self, step: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(step)) {
            self.keep(panic);
        }
    }

    /// Adds the panic of earlier steps.
    pub(crate) fn merge(&mut self, other: Self) {
        if let Some(panic) = other.0 {
            self.keep(panic);
        }
    }

    /// What the first step that panicked panicked with.
    pub(crate) fn panic(self) -> Option<Box<dyn Any + Send>> {
        self.0
    }

    /// Goes on with that panic, if there is one.
    pub(crate) fn resume(self) {
        if let Some(panic) = self.0 {
            resume_unwind(panic);
        }
    }

    fn keep(&mut self, panic: Box<dyn Any + Send>) {
        match self.0 {
            None => self.0 = Some(panic),
            // A payload whose own drop panics must not undo this.
            Some(_) => std::mem::forget(panic),
        }
    }
}
