//! Runs several steps of the user's code. A panic of one step does not prevent the next one.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The first panic of several steps.
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

    /// Whether a step has panicked.
    pub(crate) fn has_panic(&self) -> bool {
        self.0.is_some()
    }

    /// Adds the panic of the steps of another value.
    pub(crate) fn merge(&mut self, other: Self) {
        if let Some(panic) = other.0 {
            self.keep(panic);
        }
    }

    /// The payload of the first panic.
    pub(crate) fn panic(self) -> Option<Box<dyn Any + Send>> {
        self.0
    }

    /// Resumes the first panic, if there is one.
    pub(crate) fn resume(self) {
        if let Some(panic) = self.0 {
            resume_unwind(panic);
        }
    }

    fn keep(&mut self, panic: Box<dyn Any + Send>) {
        match self.0 {
            None => self.0 = Some(panic),
            // The drop of a payload may panic, too.
            Some(_) => std::mem::forget(panic),
        }
    }
}
