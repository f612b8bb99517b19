//! Which backends exist on this OS: the one place that says so in code.

use cfg_if::cfg_if;
use fd_core::poller::MakeBackend;

cfg_if! {
    if #[cfg(target_os = "linux")] {
        const EPOLL: Option<MakeBackend> = Some(poller_epoll::backend);
        const KQUEUE: Option<MakeBackend> = None;
    } else if #[cfg(any(
        target_os = "freebsd",
        target_os = "macos",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly"
    ))] {
        const EPOLL: Option<MakeBackend> = None;
        const KQUEUE: Option<MakeBackend> = Some(poller_kqueue::backend);
    } else {
        const EPOLL: Option<MakeBackend> = None;
        const KQUEUE: Option<MakeBackend> = None;
    }
}

/// Every backend by the name that matrix.yml has for it, and how it is made if this OS has it.
pub const BACKENDS: [(&str, Option<MakeBackend>); 4] = [
    ("epoll", EPOLL),
    ("kqueue", KQUEUE),
    ("poll", Some(poller_poll::backend)),
    ("select", Some(poller_select::backend)),
];

/// The backend of this name, if it is built into this program: its name for the program's lifetime, and how
/// it is made.
pub fn find(name: &str) -> Option<(&'static str, MakeBackend)> {
    BACKENDS.iter().find(|(known, _)| *known == name).and_then(|(name, make)| Some((*name, (*make)?)))
}

#[cfg(test)]
mod tests {
    use matrix::Matrix;

    use super::*;
    use crate::plan::BUILT_IN;

    #[test]
    fn the_code_and_the_matrix_agree_on_what_exists_here() {
        let matrix = Matrix::parse(BUILT_IN, "matrix.yml").expect("matrix.yml is well-formed");
        let listed: Vec<_> = matrix.backends.iter().map(|backend| backend.id.as_str()).collect();
        assert_eq!(listed, BACKENDS.map(|(name, _)| name));
        for (name, make) in BACKENDS {
            let listed = matrix.backend(name).is_some_and(|backend| backend.exists_on(std::env::consts::OS));
            assert_eq!(make.is_some(), listed, "{name}");
        }
    }
}
