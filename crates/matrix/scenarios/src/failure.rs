//! Why a run of a scenario ends early.

use std::error::Error;
use std::io;

use fd_core::error::{DeleteError, InsertError, InsertRefused, PostError, Stale, StartError};
use fd_core::poller::BackendError;
use nix::errno::Errno;

use crate::missing_resource;

/// The result of a step of a scenario.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// Why a run ends early.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// A check failed, and nothing after it makes sense.
    #[error("{0}")]
    Wrong(String),
    /// This backend or system cannot do what the scenario needs.
    #[error("{0}")]
    Unsupported(String),
    /// The test could not be prepared. This says nothing about the backend under test.
    #[error("{0}")]
    Broken(String),
}

impl Failure {
    /// The set-up failed with `error`. The run is unsupported if the system lacks a resource that the
    /// scenario needs.
    pub fn broken(error: impl Into<Box<dyn Error>>) -> Self {
        let error = error.into();
        match missing_resource::from_error(&*error) {
            Some(reason) => Self::Unsupported(format!("{reason}: {error}")),
            None => Self::Broken(error.to_string()),
        }
    }

    /// The runtime did not start.
    pub(crate) fn from_start(error: StartError) -> Self {
        match error {
            StartError::Backend(BackendError::Capacity { .. }) => Self::Unsupported(error.to_string()),
            StartError::System { what: "starting a thread", source } => Self::no_thread(&source),
            _ => Self::Broken(error.to_string()),
        }
    }

    /// The system did not start a thread.
    pub(crate) fn no_thread(error: &io::Error) -> Self {
        Self::Unsupported(format!("needs more threads than the system starts: {error}"))
    }
}

/// `?` turns these errors into [`Failure::broken`]: the set-up failed. Where the call is under test, the
/// scenario itself makes its error a [`Failure::Wrong`].
macro_rules! broken_by {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::broken(error)
            }
        })*
    };
}

broken_by!(io::Error, Errno, Stale, DeleteError, InsertRefused, PostError);

impl<I, H> From<InsertError<I, H>> for Failure {
    fn from(error: InsertError<I, H>) -> Self {
        error.reason.into()
    }
}
