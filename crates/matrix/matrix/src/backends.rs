//! The backends of this OS. This is the only place in code that lists them.

use cfg_if::cfg_if;
use fd_core::poller::MakeBackend;
use selector::MakeSelector;

use crate::error::Error;
use crate::matrix_yml::Matrix;

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
    if #[cfg(all(target_os = "linux", feature = "kqueue-library"))] {
        const EPOLL: Option<Backend> = backend!("epoll", poller_epoll);
        const KQUEUE: Option<Backend> = backend!("kqueue", poller_kqueue);
    } else if #[cfg(target_os = "linux")] {
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

/// Returns whether `name` is one of [`BACKENDS`], not an adapter.
pub fn is_own(name: &str) -> bool {
    BACKENDS.iter().any(|(backend, _)| *backend == name)
}

/// The name of the library that provides kqueue(2), if the kernel does not: `libkqueue`. Its answers are
/// recorded under this name, because they are not the kernel's.
#[cfg(feature = "kqueue-library")]
pub const KQUEUE_LIBRARY: Option<&str> = poller_kqueue::LIBRARY;
/// The name of the library that provides kqueue(2): none.
#[cfg(not(feature = "kqueue-library"))]
pub const KQUEUE_LIBRARY: Option<&str> = None;

/// Returns the library that provides kqueue(2), with its version if it reports one: `libkqueue 2.7.0`.
///
/// Asks the library, which may start threads. Call it in the runner, not in a cell.
pub fn kqueue_library() -> Option<String> {
    let name = KQUEUE_LIBRARY?;
    #[cfg(feature = "kqueue-library")]
    if let Some(version) = poller_kqueue::library_version() {
        return Some(format!("{name} {version}"));
    }
    Some(name.to_owned())
}

/// Lets the library that provides kqueue(2) open the descriptors that it keeps, so that a cell of kqueue does
/// not count them as its own.
pub fn start_library() {
    #[cfg(feature = "kqueue-library")]
    poller_kqueue::start_library();
}

/// Adds this system to those that have kqueue, if a library provides it here.
pub fn add_library(matrix: &mut Matrix) {
    if KQUEUE_LIBRARY.is_some()
        && let Ok(os) = std::env::consts::OS.parse()
        && let Some(backend) = matrix.backends.iter_mut().find(|backend| backend.id == "kqueue")
        && !backend.os.contains(&os)
    {
        backend.os.push(os);
    }
}

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
