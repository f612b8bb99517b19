//! Limits on descriptors: `RLIMIT_NOFILE`.

use std::io;
use std::os::fd::RawFd;

use libc::rlim_t;
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use selector::MakeSelector;

use super::{broken, call_failed, descriptors};
use crate::Stopped;
use crate::verbs::Limit;

/// The process's limit at the start of the script. It is restored when the script ends.
pub(super) struct Limits {
    soft: rlim_t,
    hard: rlim_t,
}

/// Returns the soft limit.
pub(super) fn soft() -> RawFd {
    let soft = getrlimit(Resource::RLIMIT_NOFILE).ok();
    soft.and_then(|(soft, _)| RawFd::try_from(soft).ok()).unwrap_or(RawFd::MAX)
}

impl Limits {
    pub(super) fn now() -> Result<Self, Stopped> {
        let limits = getrlimit(Resource::RLIMIT_NOFILE);
        let (soft, hard) = limits.map_err(|errno| call_failed("getrlimit", errno))?;
        Ok(Self { soft, hard })
    }

    pub(super) fn set(&self, limit: Limit) -> Result<String, Stopped> {
        let soft = match limit {
            Limit::At(end) => rlim_t::try_from(end).map_err(|_| broken("this is not a possible limit"))?,
            Limit::Back => self.soft,
            // No number is free below the lowest free one.
            Limit::RunOut => descriptors::lowest_free()?,
        };
        match setrlimit(Resource::RLIMIT_NOFILE, soft, self.hard.max(soft)) {
            Ok(()) => Ok(soft.to_string()),
            Err(errno) if soft > self.hard => Err(Stopped::Unsupported(format!(
                "{soft} descriptors: {errno:?}; the hard limit is {}, raise it with `ulimit -Hn`",
                self.hard
            ))),
            Err(errno) => Err(broken(format!("setrlimit(RLIMIT_NOFILE, {soft}): {errno:?}"))),
        }
    }
}

impl Drop for Limits {
    fn drop(&mut self) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, self.soft, self.hard);
    }
}

/// Makes a poller, closes it, and returns the answer.
pub(super) fn try_make(make: MakeSelector) -> String {
    match make() {
        Ok(_) => "ok".into(),
        Err(error) => match error.raw_os_error() {
            Some(number) => format!("{:?}", Errno::from_raw(number)),
            None => io::Error::to_string(&error),
        },
    }
}
