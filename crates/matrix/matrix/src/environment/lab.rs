//! The laboratory, as the matrix sees it.

use std::num::NonZeroU32;
use std::path::Path;
use std::slice;
use std::time::Duration;

use metadata::{Attempt, Scripted, Variant};
use selector::MakeSelector;

use super::Environment;
use crate::backends::Poller;
use crate::error::Error;
use crate::outcome::CellOutcome;

/// Asks scripts of raw pollers, and judges the answers. This crate names no other part of the laboratory: the
/// command passes one in.
pub trait Lab: Send + Sync {
    /// Returns every scenario of the characterisation layer.
    fn scripted(&self) -> slice::Iter<'static, Scripted>;

    /// Reads a file of behaviours. `is_taken` says whether a scenario of the matrix has an id.
    ///
    /// # Errors
    /// The first problem of the file, with line, column and remedy.
    fn behaviours(
        &self,
        text: &str,
        file: &str,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<&'static Scripted>, Error>;

    /// Returns the pollers of the libraries that are built into this program.
    fn libraries(&self) -> Vec<Poller>;

    /// Returns what starts a program as an adapter. `slow` multiplies the time that it has to answer.
    fn program(&self, command: Vec<String>, slow: NonZeroU32) -> MakeSelector;

    /// Reads the expectations of this folder, or the built-in ones, for this system and for the pollers of
    /// these names.
    ///
    /// # Errors
    /// The expectations cannot be read, or are malformed.
    fn expect(&mut self, folder: Option<&Path>, adapters: &[&'static str]) -> Result<(), Error>;

    /// Runs the script once in this process, and judges every answer. `patience` is how long the script waits
    /// for an expected event.
    ///
    /// # Errors
    /// The built-in expectations are malformed.
    fn run(
        &self,
        scripted: &Scripted,
        variant: Variant,
        poller: Poller,
        environment: &Environment,
        seed: u64,
        patience: Duration,
    ) -> Result<CellOutcome, Error>;

    /// Returns the attempt as the report shows it: a failure that is documented for this system becomes an
    /// known failure.
    ///
    /// The machine that made the attempt judges it, because only that machine knows the kernel's version.
    fn judge(&self, attempt: Attempt) -> Attempt;
}
