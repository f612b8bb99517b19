//! Every cell of matrix.yml as a test. Each test is one process, as in `pollmatrix run`.
//!
//! Generated from matrix.yml by `pollmatrix generate`: do not edit.

use cli::testing::Runner;
use rstest::{fixture, rstest};

#[fixture]
fn runner() -> Runner {
    Runner::new(env!("CARGO_BIN_EXE_pollmatrix"))
}

/// The cells of one scenario on one backend.
macro_rules! cells {
    (
        #[$condition:meta] $backend:ident: $scenario:literal, $seconds:literal seconds;
        $($name:ident $variant:literal)*
    ) => {
        mod $backend {
            use crate::*;

            $(
                #[rstest]
                #[$condition]
                fn $name(runner: Runner) {
                    runner.assert_cell($scenario, $variant, stringify!($backend), $seconds);
                }
            )*
        }
    };
}

mod migration {
    mod idle_takeover {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/idle-takeover", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/idle-takeover", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/idle-takeover", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/idle-takeover", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod takeover_refused_in_handler {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/takeover-refused-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/takeover-refused-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/takeover-refused-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/takeover-refused-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod takeover_refused_wrong_owner {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/takeover-refused-wrong-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/takeover-refused-wrong-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/takeover-refused-wrong-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/takeover-refused-wrong-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod takeover_refused_reinserted {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/takeover-refused-reinserted", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/takeover-refused-reinserted", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/takeover-refused-reinserted", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/takeover-refused-reinserted", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod takeover_refused_shared {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/takeover-refused-shared", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/takeover-refused-shared", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/takeover-refused-shared", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/takeover-refused-shared", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod takeover_unread_data {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/takeover-unread-data", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/takeover-unread-data", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/takeover-unread-data", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/takeover-unread-data", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod old_thread_forgets {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/old-thread-forgets", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/old-thread-forgets", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/old-thread-forgets", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/old-thread-forgets", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod group_round_trip {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/group-round-trip", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t2g "unix-edge-8t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t2g "pipe-level-8t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t2g "pipe-edge-4t2g"
            pipe_edge_8t2g "pipe-edge-8t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/group-round-trip", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t2g "unix-edge-8t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t2g "pipe-level-8t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t2g "pipe-edge-4t2g"
            pipe_edge_8t2g "pipe-edge-8t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/group-round-trip", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t2g "unix-level-8t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/group-round-trip", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t2g "unix-level-8t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
    }

    mod registration_left_behind {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/registration-left-behind", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/registration-left-behind", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/registration-left-behind", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/registration-left-behind", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod migrate_on {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/migrate-on", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/migrate-on", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/migrate-on", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/migrate-on", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod late_report_of_old_owner {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/late-report-of-old-owner", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/late-report-of-old-owner", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/late-report-of-old-owner", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/late-report-of-old-owner", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod takeover_during_delete {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/takeover-during-delete", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/takeover-during-delete", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/takeover-during-delete", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/takeover-during-delete", 60 seconds;
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod takeover_storm {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/takeover-storm", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
            pipe_edge_8t1g "pipe-edge-8t1g"
            pipe_edge_8t2g "pipe-edge-8t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/takeover-storm", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
            pipe_edge_8t1g "pipe-edge-8t1g"
            pipe_edge_8t2g "pipe-edge-8t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/takeover-storm", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/takeover-storm", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
    }
}

mod shared_listener {
    mod accept_once {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/accept-once", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/accept-once", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/accept-once", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/accept-once", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
        }
    }

    mod bound_to_one_thread {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/bound-to-one-thread", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/bound-to-one-thread", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/bound-to-one-thread", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/bound-to-one-thread", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
    }

    mod stop_start_converge {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/stop-start-converge", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/stop-start-converge", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/stop-start-converge", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/stop-start-converge", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
        }
    }

    mod two_outsiders_start {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/two-outsiders-start", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/two-outsiders-start", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/two-outsiders-start", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/two-outsiders-start", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
    }

    mod thread_starts_late {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/thread-starts-late", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/thread-starts-late", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/thread-starts-late", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/thread-starts-late", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
    }

    mod pause_resume_flap {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/pause-resume-flap", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/pause-resume-flap", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/pause-resume-flap", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/pause-resume-flap", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
    }

    mod delete_while_accepting {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/delete-while-accepting", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/delete-while-accepting", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/delete-while-accepting", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/delete-while-accepting", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
        }
    }

    mod delete_holding_handler_lock {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/delete-holding-handler-lock", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/delete-holding-handler-lock", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/delete-holding-handler-lock", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/delete-holding-handler-lock", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
        }
    }

    mod accept_emfile {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/accept-emfile", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_4t1g "unix-edge-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/accept-emfile", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_4t1g "unix-edge-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/accept-emfile", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/accept-emfile", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
    }

    mod wake_distribution {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/wake-distribution", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_8t1g "unix-edge-8t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "shared-listener/wake-distribution", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_8t1g "unix-edge-8t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "shared-listener/wake-distribution", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "shared-listener/wake-distribution", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
        }
    }
}

mod deletion {
    mod own_handler {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/own-handler", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/own-handler", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/own-handler", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/own-handler", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod other_thread_in_handler {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/other-thread-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/other-thread-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/other-thread-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/other-thread-in-handler", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod foreign_group_idle {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/foreign-group-idle", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/foreign-group-idle", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/foreign-group-idle", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/foreign-group-idle", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod foreign_group_running {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/foreign-group-running", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/foreign-group-running", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/foreign-group-running", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/foreign-group-running", 60 seconds;
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod two_late_wakers {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/two-late-wakers", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_4t1g "pipe-edge-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/two-late-wakers", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_4t1g "pipe-edge-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/two-late-wakers", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/two-late-wakers", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
    }

    mod reuse_in_batch {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/reuse-in-batch", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/reuse-in-batch", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/reuse-in-batch", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/reuse-in-batch", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod late_report_then_reuse {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/late-report-then-reuse", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/late-report-then-reuse", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/late-report-then-reuse", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/late-report-then-reuse", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod delete_reinsert_burst {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/delete-reinsert-burst", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_8t1g "unix-edge-8t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_8t1g "pipe-edge-8t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/delete-reinsert-burst", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_8t1g "unix-edge-8t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_8t1g "pipe-edge-8t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/delete-reinsert-burst", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_8t1g "pipe-level-8t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/delete-reinsert-burst", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_8t1g "tcp-level-8t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_8t1g "unix-level-8t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_8t1g "pipe-level-8t1g"
        }
    }

    mod cloned_dup {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/cloned-dup", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/cloned-dup", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/cloned-dup", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/cloned-dup", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod cloned_fork {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/cloned-fork", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/cloned-fork", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/cloned-fork", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/cloned-fork", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod cloned_scm_rights {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/cloned-scm-rights", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/cloned-scm-rights", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/cloned-scm-rights", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/cloned-scm-rights", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod undeclared_copy {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/undeclared-copy", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/undeclared-copy", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/undeclared-copy", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/undeclared-copy", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod disown {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/disown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/disown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/disown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/disown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod delete_twice {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/delete-twice", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/delete-twice", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/delete-twice", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/delete-twice", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod handler_dropped_last {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/handler-dropped-last", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/handler-dropped-last", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/handler-dropped-last", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/handler-dropped-last", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod peer_sees_the_end {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/peer-sees-the-end", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/peer-sees-the-end", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/peer-sees-the-end", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/peer-sees-the-end", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod close_beside_a_wait {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/close-beside-a-wait", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/close-beside-a-wait", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/close-beside-a-wait", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/close-beside-a-wait", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod raw_close_diagnosed {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/raw-close-diagnosed", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/raw-close-diagnosed", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/raw-close-diagnosed", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/raw-close-diagnosed", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod close_once {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/close-once", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
            pipe_edge_8t1g "pipe-edge-8t1g"
            pipe_edge_8t2g "pipe-edge-8t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/close-once", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            tcp_edge_2t2g "tcp-edge-2t2g"
            tcp_edge_4t1g "tcp-edge-4t1g"
            tcp_edge_4t2g "tcp-edge-4t2g"
            tcp_edge_8t1g "tcp-edge-8t1g"
            tcp_edge_8t2g "tcp-edge-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            unix_edge_2t1g "unix-edge-2t1g"
            unix_edge_2t2g "unix-edge-2t2g"
            unix_edge_4t1g "unix-edge-4t1g"
            unix_edge_4t2g "unix-edge-4t2g"
            unix_edge_8t1g "unix-edge-8t1g"
            unix_edge_8t2g "unix-edge-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
            pipe_edge_2t1g "pipe-edge-2t1g"
            pipe_edge_2t2g "pipe-edge-2t2g"
            pipe_edge_4t1g "pipe-edge-4t1g"
            pipe_edge_4t2g "pipe-edge-4t2g"
            pipe_edge_8t1g "pipe-edge-8t1g"
            pipe_edge_8t2g "pipe-edge-8t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/close-once", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/close-once", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_level_2t2g "tcp-level-2t2g"
            tcp_level_4t1g "tcp-level-4t1g"
            tcp_level_4t2g "tcp-level-4t2g"
            tcp_level_8t1g "tcp-level-8t1g"
            tcp_level_8t2g "tcp-level-8t2g"
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            unix_level_4t1g "unix-level-4t1g"
            unix_level_4t2g "unix-level-4t2g"
            unix_level_8t1g "unix-level-8t1g"
            unix_level_8t2g "unix-level-8t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
    }
}
