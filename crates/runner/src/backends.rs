//! The backends of this OS. This is the only place in code that lists them.

use cfg_if::cfg_if;
use fd_core::poller::MakeBackend;
use selector::MakeSelector;

use crate::error::Error;

/// A backend that this OS has.
#[derive(Clone, Copy)]
pub struct Backend {
    /// The name in matrix.yml.
    pub name: &'static str,
    /// Creates the backend for the FD core.
    pub core: MakeBackend,
    /// Creates the raw poller.
    pub selector: MakeSelector,
}

/// A raw poller: that of a backend, or of an adapter.
#[derive(Clone, Copy)]
pub struct Poller {
    /// The name of its column.
    pub name: &'static str,
    /// Creates the poller.
    pub make: MakeSelector,
}

/// The backend of a crate. All backend crates have the same functions.
macro_rules! backend {
    ($name:literal, $crate_name:ident) => {
        Some(Backend { name: $name, core: $crate_name::backend, selector: &$crate_name::selector })
    };
}

cfg_if! {
    if #[cfg(target_os = "linux")] {
        const EPOLL: Option<Backend> = backend!("epoll", poller_epoll);
        const KQUEUE: Option<Backend> = None;
    } else if #[cfg(any(
        target_os = "freebsd",
        target_os = "macos",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly"
    ))] {
        const EPOLL: Option<Backend> = None;
        const KQUEUE: Option<Backend> = backend!("kqueue", poller_kqueue);
    } else {
        const EPOLL: Option<Backend> = None;
        const KQUEUE: Option<Backend> = None;
    }
}

/// Every backend by its name in matrix.yml, with its functions if this OS has it.
pub const BACKENDS: [(&str, Option<Backend>); 4] = [
    ("epoll", EPOLL),
    ("kqueue", KQUEUE),
    ("poll", backend!("poll", poller_poll)),
    ("select", backend!("select", poller_select)),
];

/// Returns the kernel event queue of this OS: epoll or kqueue.
pub fn queue() -> Option<MakeSelector> {
    EPOLL.or(KQUEUE).map(|backend| backend.selector)
}

/// Returns every backend that this OS has.
pub fn here() -> impl Iterator<Item = Backend> {
    BACKENDS.into_iter().filter_map(|(_, backend)| backend)
}

/// Returns the backend of this name, if this program has it.
pub fn find(name: &str) -> Option<Backend> {
    here().find(|backend| backend.name == name)
}

/// Returns the backend of this name.
///
/// # Errors
/// This program has no backend of this name.
pub fn named(name: &str) -> Result<Backend, Error> {
    find(name).ok_or_else(|| {
        let names: Vec<_> = here().map(|backend| backend.name).collect();
        Error::UnknownBackend { name: name.to_owned(), help: metadata::did_you_mean(name, names) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::plan::Source;

    #[test]
    fn the_code_and_the_matrix_agree_on_the_backends_of_this_system() {
        let environment = Environment::default();
        let matrix = Source::load(None, &environment).expect("matrix.yml is well-formed").matrix;
        let listed: Vec<_> = matrix.backends.iter().map(|backend| backend.id.as_str()).collect();
        assert_eq!(listed, BACKENDS.map(|(name, _)| name));
        for (name, here) in BACKENDS {
            let listed = matrix.backend(name).is_some_and(|backend| backend.exists_on(std::env::consts::OS));
            assert_eq!(here.map(|backend| backend.name), listed.then_some(name));
        }
    }
}
