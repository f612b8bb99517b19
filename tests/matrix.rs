//! Every cell of matrix.yml in a test. Each cell is one process, as in `pollmatrix run`.
//!
//! Generated from matrix.yml by `pollmatrix generate`: do not edit.

use ::runner::testing::CellRunner;
use rstest::{fixture, rstest};

#[fixture]
fn runner() -> CellRunner {
    CellRunner::new(env!("CARGO_BIN_EXE_pollmatrix"))
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
                fn $name(runner: CellRunner) {
                    runner.assert_cell($scenario, $variant, stringify!($backend), $seconds);
                }
            )*
        }
    };
}

/// The answers of one backend: a test per scenario, with all of its cells.
macro_rules! answers {
    (#[$condition:meta] $backend:ident; $($name:ident $scenario:literal)*) => {
        mod $backend {
            use crate::*;

            $(
                #[rstest]
                #[$condition]
                fn $name(runner: CellRunner) {
                    runner.assert_scenario($scenario, stringify!($backend));
                }
            )*
        }
    };
}

mod harness {
    mod control {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "harness/control", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "harness/control", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "harness/control", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "harness/control", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
            pipe_level_8t1g "pipe-level-8t1g"
            pipe_level_8t2g "pipe-level-8t2g"
        }
    }
}

mod migration {
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

    mod timeout_moves {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/timeout-moves", 60 seconds;
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
            kqueue: "migration/timeout-moves", 60 seconds;
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
            poll: "migration/timeout-moves", 60 seconds;
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
            select: "migration/timeout-moves", 60 seconds;
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

    mod update_overtaken {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "migration/update-overtaken", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "migration/update-overtaken", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "migration/update-overtaken", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "migration/update-overtaken", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }
}

mod shared_listener {
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

    mod busy_sharers {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/busy-sharers", 60 seconds;
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
            kqueue: "shared-listener/busy-sharers", 60 seconds;
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
            poll: "shared-listener/busy-sharers", 60 seconds;
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
            select: "shared-listener/busy-sharers", 60 seconds;
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

    mod sleeping_sharers {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "shared-listener/sleeping-sharers", 60 seconds;
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
            kqueue: "shared-listener/sleeping-sharers", 60 seconds;
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
            poll: "shared-listener/sleeping-sharers", 60 seconds;
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
            select: "shared-listener/sleeping-sharers", 60 seconds;
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

    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        wake_distribution "shared-listener/wake-distribution"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        wake_distribution "shared-listener/wake-distribution"
    }

    answers! {
        #[cfg(unix)]
        poll;
        wake_distribution "shared-listener/wake-distribution"
    }

    answers! {
        #[cfg(unix)]
        select;
        wake_distribution "shared-listener/wake-distribution"
    }
}

mod deletion {
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

    mod closes_beside_children {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/closes-beside-children", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/closes-beside-children", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/closes-beside-children", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/closes-beside-children", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
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

    mod slow_close {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/slow-close", 60 seconds;
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
            kqueue: "deletion/slow-close", 60 seconds;
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
            poll: "deletion/slow-close", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/slow-close", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod stale_call_beside_insert {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "deletion/stale-call-beside-insert", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "deletion/stale-call-beside-insert", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "deletion/stale-call-beside-insert", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "deletion/stale-call-beside-insert", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
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
}

mod regression {
    mod both_threads_owe_one_update {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/both-threads-owe-one-update", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/both-threads-owe-one-update", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/both-threads-owe-one-update", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/both-threads-owe-one-update", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod busy_thread_keeps_others_awake {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/busy-thread-keeps-others-awake", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/busy-thread-keeps-others-awake", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/busy-thread-keeps-others-awake", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/busy-thread-keeps-others-awake", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
    }

    mod called_while_it_stops {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/called-while-it-stops", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/called-while-it-stops", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/called-while-it-stops", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/called-while-it-stops", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
        }
    }

    mod changes_lost_in_one_pass {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/changes-lost-in-one-pass", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/changes-lost-in-one-pass", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/changes-lost-in-one-pass", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/changes-lost-in-one-pass", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod child_closes_foreign_number {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/child-closes-foreign-number", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/child-closes-foreign-number", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/child-closes-foreign-number", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/child-closes-foreign-number", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod closed_number_is_somebody_elses {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/closed-number-is-somebody-elses", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/closed-number-is-somebody-elses", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/closed-number-is-somebody-elses", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/closed-number-is-somebody-elses", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_4t1g "unix-level-4t1g"
        }
    }

    mod deinit_without_init {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/deinit-without-init", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/deinit-without-init", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/deinit-without-init", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/deinit-without-init", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod deleted_while_listed {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/deleted-while-listed", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/deleted-while-listed", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/deleted-while-listed", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/deleted-while-listed", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod dump_stops_users {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/dump-stops-users", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/dump-stops-users", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/dump-stops-users", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/dump-stops-users", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod end_reported_to_the_old_owner {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/end-reported-to-the-old-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/end-reported-to-the-old-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            tcp_edge_2t1g "tcp-edge-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/end-reported-to-the-old-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/end-reported-to-the-old-owner", 60 seconds;
            tcp_level_2t1g "tcp-level-2t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod event_taken_by_change {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/event-taken-by-change", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/event-taken-by-change", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/event-taken-by-change", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/event-taken-by-change", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod failure_without_readiness {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/failure-without-readiness", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/failure-without-readiness", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/failure-without-readiness", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/failure-without-readiness", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod flag_lost_in_a_report {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/flag-lost-in-a-report", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/flag-lost-in-a-report", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/flag-lost-in-a-report", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/flag-lost-in-a-report", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
        }
    }

    mod former_owner_polls_copy {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/former-owner-polls-copy", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/former-owner-polls-copy", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/former-owner-polls-copy", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/former-owner-polls-copy", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod hangup_after_own_shutdown {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/hangup-after-own-shutdown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/hangup-after-own-shutdown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/hangup-after-own-shutdown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/hangup-after-own-shutdown", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
    }

    mod hangup_forgotten {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/hangup-forgotten", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/hangup-forgotten", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/hangup-forgotten", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/hangup-forgotten", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
    }

    mod hangup_without_wants_spins {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/hangup-without-wants-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/hangup-without-wants-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/hangup-without-wants-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/hangup-without-wants-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
    }

    mod highest_number_unpolled {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/highest-number-unpolled", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/highest-number-unpolled", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/highest-number-unpolled", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/highest-number-unpolled", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod insert_asks_the_wrong_group {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/insert-asks-the-wrong-group", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/insert-asks-the-wrong-group", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/insert-asks-the-wrong-group", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/insert-asks-the-wrong-group", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod insert_flags_lost {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/insert-flags-lost", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/insert-flags-lost", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/insert-flags-lost", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/insert-flags-lost", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
        }
    }

    mod inserted_twice {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/inserted-twice", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/inserted-twice", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/inserted-twice", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/inserted-twice", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
        }
    }

    mod last_number_refused {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/last-number-refused", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/last-number-refused", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/last-number-refused", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/last-number-refused", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
    }

    mod last_user_does_not_know {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/last-user-does-not-know", 60 seconds;
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
            kqueue: "regression/last-user-does-not-know", 60 seconds;
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
            poll: "regression/last-user-does-not-know", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/last-user-does-not-know", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod late_report_changes_the_state {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/late-report-changes-the-state", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/late-report-changes-the-state", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/late-report-changes-the-state", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/late-report-changes-the-state", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
        }
    }

    mod moved_under_a_report {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/moved-under-a-report", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/moved-under-a-report", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            unix_edge_2t2g "unix-edge-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
            pipe_edge_2t2g "pipe-edge-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/moved-under-a-report", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/moved-under-a-report", 60 seconds;
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod neighbours_counted {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/neighbours-counted", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/neighbours-counted", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/neighbours-counted", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/neighbours-counted", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
    }

    mod number_beyond_fd_setsize {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/number-beyond-fd-setsize", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/number-beyond-fd-setsize", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/number-beyond-fd-setsize", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/number-beyond-fd-setsize", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod one_direction_served {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/one-direction-served", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/one-direction-served", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/one-direction-served", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/one-direction-served", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
    }

    mod polled_before_all_are_ready {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/polled-before-all-are-ready", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/polled-before-all-are-ready", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/polled-before-all-are-ready", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/polled-before-all-are-ready", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
    }

    mod poller_leaked {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/poller-leaked", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/poller-leaked", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/poller-leaked", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/poller-leaked", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_4t1g "pipe-level-4t1g"
            pipe_level_4t2g "pipe-level-4t2g"
        }
    }

    mod reference_left_behind {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/reference-left-behind", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/reference-left-behind", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_edge_2t1g "unix-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/reference-left-behind", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/reference-left-behind", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
        }
    }

    mod scan_ends_too_early {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/scan-ends-too-early", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/scan-ends-too-early", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/scan-ends-too-early", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/scan-ends-too-early", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod send_bit_survives {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/send-bit-survives", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/send-bit-survives", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
            unix_level_1t1g "unix-level-1t1g"
            unix_edge_1t1g "unix-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/send-bit-survives", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/send-bit-survives", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            unix_level_1t1g "unix-level-1t1g"
        }
    }

    mod short_timeout_spins {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/short-timeout-spins", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/short-timeout-spins", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/short-timeout-spins", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/short-timeout-spins", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod signal_before_the_wait {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/signal-before-the-wait", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/signal-before-the-wait", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/signal-before-the-wait", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/signal-before-the-wait", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod udp_error_spins {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/udp-error-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/udp-error-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
            tcp_edge_1t1g "tcp-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/udp-error-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/udp-error-spins", 60 seconds;
            tcp_level_1t1g "tcp-level-1t1g"
        }
    }

    mod update_after_the_close {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/update-after-the-close", 60 seconds;
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
            kqueue: "regression/update-after-the-close", 60 seconds;
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
            poll: "regression/update-after-the-close", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/update-after-the-close", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            unix_level_2t2g "unix-level-2t2g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod walk_led_astray {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/walk-led-astray", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/walk-led-astray", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/walk-led-astray", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/walk-led-astray", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod work_before_the_wait {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/work-before-the-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/work-before-the-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/work-before-the-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/work-before-the-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod wrong_thread_woken {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "regression/wrong-thread-woken", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "regression/wrong-thread-woken", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "regression/wrong-thread-woken", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "regression/wrong-thread-woken", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }
}

mod polling {
    mod dead_pipe {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/dead-pipe", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/dead-pipe", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/dead-pipe", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/dead-pipe", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod device_always_ready {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/device-always-ready", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/device-always-ready", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/device-always-ready", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/device-always-ready", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod failed_wait {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/failed-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/failed-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/failed-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/failed-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod interrupted_wait {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/interrupted-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/interrupted-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/interrupted-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/interrupted-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod lowered_limit {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/lowered-limit", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/lowered-limit", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_1t1g "pipe-edge-1t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/lowered-limit", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/lowered-limit", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod rebuild_at_the_limit {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/rebuild-at-the-limit", 60 seconds;
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
            kqueue: "polling/rebuild-at-the-limit", 60 seconds;
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
            poll: "polling/rebuild-at-the-limit", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/rebuild-at-the-limit", 60 seconds;
            unix_level_1t1g "unix-level-1t1g"
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod refused_for_ever {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/refused-for-ever", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/refused-for-ever", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/refused-for-ever", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/refused-for-ever", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod short_wait {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/short-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/short-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/short-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/short-wait", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }

    mod timer_after_work {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/timer-after-work", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/timer-after-work", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/timer-after-work", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/timer-after-work", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod work_beside_events {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "polling/work-beside-events", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "polling/work-beside-events", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "polling/work-beside-events", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "polling/work-beside-events", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
        }
    }
}

mod lifecycle {
    mod bare_fork {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/bare-fork", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/bare-fork", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/bare-fork", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/bare-fork", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod calls_beside_stop {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/calls-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/calls-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/calls-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/calls-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_4t1g "pipe-level-4t1g"
        }
    }

    mod fork_drops_runtime {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/fork-drops-runtime", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/fork-drops-runtime", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/fork-drops-runtime", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/fork-drops-runtime", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod fork_goes_on {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/fork-goes-on", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/fork-goes-on", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/fork-goes-on", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/fork-goes-on", 60 seconds;
            unix_level_2t1g "unix-level-2t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod impossible_builds {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/impossible-builds", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/impossible-builds", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/impossible-builds", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/impossible-builds", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod insert_beside_stop {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/insert-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/insert-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/insert-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/insert-beside-stop", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod internal_handles {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/internal-handles", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/internal-handles", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/internal-handles", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/internal-handles", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod panics {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/panics", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/panics", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/panics", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/panics", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod signals_in_a_child {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/signals-in-a-child", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/signals-in-a-child", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/signals-in-a-child", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/signals-in-a-child", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_level_2t2g "pipe-level-2t2g"
        }
    }

    mod start_stop_often {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/start-stop-often", 300 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/start-stop-often", 300 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/start-stop-often", 300 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/start-stop-often", 300 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod stopped_from_inside {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/stopped-from-inside", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/stopped-from-inside", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/stopped-from-inside", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/stopped-from-inside", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod tasks_at_stop {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/tasks-at-stop", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/tasks-at-stop", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/tasks-at-stop", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/tasks-at-stop", 60 seconds;
            pipe_level_1t1g "pipe-level-1t1g"
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }

    mod two_runtimes {
        cells! {
            #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
            epoll: "lifecycle/two-runtimes", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
            kqueue: "lifecycle/two-runtimes", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
            pipe_edge_2t1g "pipe-edge-2t1g"
        }
        cells! {
            #[cfg(unix)]
            poll: "lifecycle/two-runtimes", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
        cells! {
            #[cfg(unix)]
            select: "lifecycle/two-runtimes", 60 seconds;
            pipe_level_2t1g "pipe-level-2t1g"
        }
    }
}

mod readiness {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        unconnected_inet "readiness/unconnected-inet"
        unconnected_unix "readiness/unconnected-unix"
        listener_idle "readiness/listener-idle"
        listener_pending "readiness/listener-pending"
        connected_idle "readiness/connected-idle"
        pipe_idle "readiness/pipe-idle"
        data "readiness/data"
        peer_shut_write "readiness/peer-shut-write"
        own_shut_write "readiness/own-shut-write"
        own_shut_read "readiness/own-shut-read"
        own_shut_read_after_peer_shut_write "readiness/own-shut-read-after-peer-shut-write"
        own_shut_both "readiness/own-shut-both"
        both_shut_write "readiness/both-shut-write"
        peer_shut_both "readiness/peer-shut-both"
        peer_closed "readiness/peer-closed"
        data_then_shut "readiness/data-then-shut"
        data_then_closed "readiness/data-then-closed"
        reset "readiness/reset"
        reset_for_writing "readiness/reset-for-writing"
        reset_then_read "readiness/reset-then-read"
        reset_after_own_shut_write "readiness/reset-after-own-shut-write"
        data_then_reset "readiness/data-then-reset"
        data_then_reset_then_read "readiness/data-then-reset-then-read"
        peer_closed_unread "readiness/peer-closed-unread"
        connect_refused "readiness/connect-refused"
        connect_refused_by_bound "readiness/connect-refused-by-bound"
        connect_refused_unix "readiness/connect-refused-unix"
        connect_backlog_full "readiness/connect-backlog-full"
        connect_refused_for_reading "readiness/connect-refused-for-reading"
        connect_refused_for_writing "readiness/connect-refused-for-writing"
        connect_refused_then_read "readiness/connect-refused-then-read"
        urgent "readiness/urgent"
        urgent_for_reading "readiness/urgent-for-reading"
        urgent_inline "readiness/urgent-inline"
        urgent_among_data "readiness/urgent-among-data"
        urgent_unix "readiness/urgent-unix"
        low_water_mark "readiness/low-water-mark"
        send_low_water_mark "readiness/send-low-water-mark"
        low_water_mark_then_shut "readiness/low-water-mark-then-shut"
        unix_peer_closed "readiness/unix-peer-closed"
        unix_peer_closed_unread "readiness/unix-peer-closed-unread"
        dgram_peer_closed "readiness/dgram-peer-closed"
        dgram_blocked_when_peer_closes "readiness/dgram-blocked-when-peer-closes"
        dgram_full "readiness/dgram-full"
        dgram_bound_full "readiness/dgram-bound-full"
        empty_datagram "readiness/empty-datagram"
        udp_refused "readiness/udp-refused"
        udp_refused_then_read "readiness/udp-refused-then-read"
        empty_packet "readiness/empty-packet"
        pipe_data_writer_closed "readiness/pipe-data-writer-closed"
        pipe_drained_writer_closed "readiness/pipe-drained-writer-closed"
        pipe_writer_closed "readiness/pipe-writer-closed"
        pipe_writer_closed_again "readiness/pipe-writer-closed-again"
        pipe_reader_closed "readiness/pipe-reader-closed"
        pipe_reader_closed_again "readiness/pipe-reader-closed-again"
        pipe_full_reader_closed "readiness/pipe-full-reader-closed"
        full "readiness/full"
        full_then_read "readiness/full-then-read"
        pty_master "readiness/pty-master"
        pty_slave "readiness/pty-slave"
        pty_never_opened "readiness/pty-never-opened"
        listener_shut_read "readiness/listener-shut-read"
        listener_shut_write "readiness/listener-shut-write"
        listener_shut_both "readiness/listener-shut-both"
        listener_shut_wakes "readiness/listener-shut-wakes"
        dgram_own_shut_read "readiness/dgram-own-shut-read"
        dgram_own_shut_write "readiness/dgram-own-shut-write"
        dgram_own_shut_both "readiness/dgram-own-shut-both"
        dgram_unconnected_shut_both "readiness/dgram-unconnected-shut-both"
        end_in_accept_queue "readiness/end-in-accept-queue"
        reset_in_accept_queue "readiness/reset-in-accept-queue"
        data_and_reset_in_accept_queue "readiness/data-and-reset-in-accept-queue"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        unconnected_inet "readiness/unconnected-inet"
        unconnected_unix "readiness/unconnected-unix"
        listener_idle "readiness/listener-idle"
        listener_pending "readiness/listener-pending"
        connected_idle "readiness/connected-idle"
        pipe_idle "readiness/pipe-idle"
        data "readiness/data"
        peer_shut_write "readiness/peer-shut-write"
        own_shut_write "readiness/own-shut-write"
        own_shut_read "readiness/own-shut-read"
        own_shut_read_after_peer_shut_write "readiness/own-shut-read-after-peer-shut-write"
        own_shut_both "readiness/own-shut-both"
        both_shut_write "readiness/both-shut-write"
        peer_shut_both "readiness/peer-shut-both"
        peer_closed "readiness/peer-closed"
        data_then_shut "readiness/data-then-shut"
        data_then_closed "readiness/data-then-closed"
        reset "readiness/reset"
        reset_for_writing "readiness/reset-for-writing"
        reset_then_read "readiness/reset-then-read"
        reset_after_own_shut_write "readiness/reset-after-own-shut-write"
        data_then_reset "readiness/data-then-reset"
        data_then_reset_then_read "readiness/data-then-reset-then-read"
        peer_closed_unread "readiness/peer-closed-unread"
        connect_refused "readiness/connect-refused"
        connect_refused_by_bound "readiness/connect-refused-by-bound"
        connect_refused_unix "readiness/connect-refused-unix"
        connect_backlog_full "readiness/connect-backlog-full"
        connect_refused_for_reading "readiness/connect-refused-for-reading"
        connect_refused_for_writing "readiness/connect-refused-for-writing"
        connect_refused_then_read "readiness/connect-refused-then-read"
        urgent "readiness/urgent"
        urgent_for_reading "readiness/urgent-for-reading"
        urgent_inline "readiness/urgent-inline"
        urgent_among_data "readiness/urgent-among-data"
        urgent_unix "readiness/urgent-unix"
        low_water_mark "readiness/low-water-mark"
        send_low_water_mark "readiness/send-low-water-mark"
        low_water_mark_then_shut "readiness/low-water-mark-then-shut"
        unix_peer_closed "readiness/unix-peer-closed"
        unix_peer_closed_unread "readiness/unix-peer-closed-unread"
        dgram_peer_closed "readiness/dgram-peer-closed"
        dgram_blocked_when_peer_closes "readiness/dgram-blocked-when-peer-closes"
        dgram_full "readiness/dgram-full"
        dgram_bound_full "readiness/dgram-bound-full"
        empty_datagram "readiness/empty-datagram"
        udp_refused "readiness/udp-refused"
        udp_refused_then_read "readiness/udp-refused-then-read"
        empty_packet "readiness/empty-packet"
        pipe_data_writer_closed "readiness/pipe-data-writer-closed"
        pipe_drained_writer_closed "readiness/pipe-drained-writer-closed"
        pipe_writer_closed "readiness/pipe-writer-closed"
        pipe_writer_closed_again "readiness/pipe-writer-closed-again"
        pipe_reader_closed "readiness/pipe-reader-closed"
        pipe_reader_closed_again "readiness/pipe-reader-closed-again"
        pipe_full_reader_closed "readiness/pipe-full-reader-closed"
        full "readiness/full"
        full_then_read "readiness/full-then-read"
        pty_master "readiness/pty-master"
        pty_slave "readiness/pty-slave"
        pty_never_opened "readiness/pty-never-opened"
        listener_shut_read "readiness/listener-shut-read"
        listener_shut_write "readiness/listener-shut-write"
        listener_shut_both "readiness/listener-shut-both"
        listener_shut_wakes "readiness/listener-shut-wakes"
        dgram_own_shut_read "readiness/dgram-own-shut-read"
        dgram_own_shut_write "readiness/dgram-own-shut-write"
        dgram_own_shut_both "readiness/dgram-own-shut-both"
        dgram_unconnected_shut_both "readiness/dgram-unconnected-shut-both"
        end_in_accept_queue "readiness/end-in-accept-queue"
        reset_in_accept_queue "readiness/reset-in-accept-queue"
        data_and_reset_in_accept_queue "readiness/data-and-reset-in-accept-queue"
    }

    answers! {
        #[cfg(unix)]
        poll;
        unconnected_inet "readiness/unconnected-inet"
        unconnected_unix "readiness/unconnected-unix"
        listener_idle "readiness/listener-idle"
        listener_pending "readiness/listener-pending"
        connected_idle "readiness/connected-idle"
        pipe_idle "readiness/pipe-idle"
        data "readiness/data"
        peer_shut_write "readiness/peer-shut-write"
        own_shut_write "readiness/own-shut-write"
        own_shut_read "readiness/own-shut-read"
        own_shut_read_after_peer_shut_write "readiness/own-shut-read-after-peer-shut-write"
        own_shut_both "readiness/own-shut-both"
        both_shut_write "readiness/both-shut-write"
        peer_shut_both "readiness/peer-shut-both"
        peer_closed "readiness/peer-closed"
        data_then_shut "readiness/data-then-shut"
        data_then_closed "readiness/data-then-closed"
        reset "readiness/reset"
        reset_for_writing "readiness/reset-for-writing"
        reset_then_read "readiness/reset-then-read"
        reset_after_own_shut_write "readiness/reset-after-own-shut-write"
        data_then_reset "readiness/data-then-reset"
        data_then_reset_then_read "readiness/data-then-reset-then-read"
        peer_closed_unread "readiness/peer-closed-unread"
        connect_refused "readiness/connect-refused"
        connect_refused_by_bound "readiness/connect-refused-by-bound"
        connect_refused_unix "readiness/connect-refused-unix"
        connect_backlog_full "readiness/connect-backlog-full"
        connect_refused_for_reading "readiness/connect-refused-for-reading"
        connect_refused_for_writing "readiness/connect-refused-for-writing"
        connect_refused_then_read "readiness/connect-refused-then-read"
        urgent "readiness/urgent"
        urgent_for_reading "readiness/urgent-for-reading"
        urgent_inline "readiness/urgent-inline"
        urgent_among_data "readiness/urgent-among-data"
        urgent_unix "readiness/urgent-unix"
        low_water_mark "readiness/low-water-mark"
        send_low_water_mark "readiness/send-low-water-mark"
        low_water_mark_then_shut "readiness/low-water-mark-then-shut"
        unix_peer_closed "readiness/unix-peer-closed"
        unix_peer_closed_unread "readiness/unix-peer-closed-unread"
        dgram_peer_closed "readiness/dgram-peer-closed"
        dgram_blocked_when_peer_closes "readiness/dgram-blocked-when-peer-closes"
        dgram_full "readiness/dgram-full"
        dgram_bound_full "readiness/dgram-bound-full"
        empty_datagram "readiness/empty-datagram"
        udp_refused "readiness/udp-refused"
        udp_refused_then_read "readiness/udp-refused-then-read"
        empty_packet "readiness/empty-packet"
        pipe_data_writer_closed "readiness/pipe-data-writer-closed"
        pipe_drained_writer_closed "readiness/pipe-drained-writer-closed"
        pipe_writer_closed "readiness/pipe-writer-closed"
        pipe_writer_closed_again "readiness/pipe-writer-closed-again"
        pipe_reader_closed "readiness/pipe-reader-closed"
        pipe_reader_closed_again "readiness/pipe-reader-closed-again"
        pipe_full_reader_closed "readiness/pipe-full-reader-closed"
        full "readiness/full"
        full_then_read "readiness/full-then-read"
        pty_master "readiness/pty-master"
        pty_slave "readiness/pty-slave"
        pty_never_opened "readiness/pty-never-opened"
        listener_shut_read "readiness/listener-shut-read"
        listener_shut_write "readiness/listener-shut-write"
        listener_shut_both "readiness/listener-shut-both"
        listener_shut_wakes "readiness/listener-shut-wakes"
        dgram_own_shut_read "readiness/dgram-own-shut-read"
        dgram_own_shut_write "readiness/dgram-own-shut-write"
        dgram_own_shut_both "readiness/dgram-own-shut-both"
        dgram_unconnected_shut_both "readiness/dgram-unconnected-shut-both"
        end_in_accept_queue "readiness/end-in-accept-queue"
        reset_in_accept_queue "readiness/reset-in-accept-queue"
        data_and_reset_in_accept_queue "readiness/data-and-reset-in-accept-queue"
    }

    answers! {
        #[cfg(unix)]
        select;
        unconnected_inet "readiness/unconnected-inet"
        unconnected_unix "readiness/unconnected-unix"
        listener_idle "readiness/listener-idle"
        listener_pending "readiness/listener-pending"
        connected_idle "readiness/connected-idle"
        pipe_idle "readiness/pipe-idle"
        data "readiness/data"
        peer_shut_write "readiness/peer-shut-write"
        own_shut_write "readiness/own-shut-write"
        own_shut_read "readiness/own-shut-read"
        own_shut_read_after_peer_shut_write "readiness/own-shut-read-after-peer-shut-write"
        own_shut_both "readiness/own-shut-both"
        both_shut_write "readiness/both-shut-write"
        peer_shut_both "readiness/peer-shut-both"
        peer_closed "readiness/peer-closed"
        data_then_shut "readiness/data-then-shut"
        data_then_closed "readiness/data-then-closed"
        reset "readiness/reset"
        reset_for_writing "readiness/reset-for-writing"
        reset_then_read "readiness/reset-then-read"
        reset_after_own_shut_write "readiness/reset-after-own-shut-write"
        data_then_reset "readiness/data-then-reset"
        data_then_reset_then_read "readiness/data-then-reset-then-read"
        peer_closed_unread "readiness/peer-closed-unread"
        connect_refused "readiness/connect-refused"
        connect_refused_by_bound "readiness/connect-refused-by-bound"
        connect_refused_unix "readiness/connect-refused-unix"
        connect_backlog_full "readiness/connect-backlog-full"
        connect_refused_for_reading "readiness/connect-refused-for-reading"
        connect_refused_for_writing "readiness/connect-refused-for-writing"
        connect_refused_then_read "readiness/connect-refused-then-read"
        urgent "readiness/urgent"
        urgent_for_reading "readiness/urgent-for-reading"
        urgent_inline "readiness/urgent-inline"
        urgent_among_data "readiness/urgent-among-data"
        urgent_unix "readiness/urgent-unix"
        low_water_mark "readiness/low-water-mark"
        send_low_water_mark "readiness/send-low-water-mark"
        low_water_mark_then_shut "readiness/low-water-mark-then-shut"
        unix_peer_closed "readiness/unix-peer-closed"
        unix_peer_closed_unread "readiness/unix-peer-closed-unread"
        dgram_peer_closed "readiness/dgram-peer-closed"
        dgram_blocked_when_peer_closes "readiness/dgram-blocked-when-peer-closes"
        dgram_full "readiness/dgram-full"
        dgram_bound_full "readiness/dgram-bound-full"
        empty_datagram "readiness/empty-datagram"
        udp_refused "readiness/udp-refused"
        udp_refused_then_read "readiness/udp-refused-then-read"
        empty_packet "readiness/empty-packet"
        pipe_data_writer_closed "readiness/pipe-data-writer-closed"
        pipe_drained_writer_closed "readiness/pipe-drained-writer-closed"
        pipe_writer_closed "readiness/pipe-writer-closed"
        pipe_writer_closed_again "readiness/pipe-writer-closed-again"
        pipe_reader_closed "readiness/pipe-reader-closed"
        pipe_reader_closed_again "readiness/pipe-reader-closed-again"
        pipe_full_reader_closed "readiness/pipe-full-reader-closed"
        full "readiness/full"
        full_then_read "readiness/full-then-read"
        pty_master "readiness/pty-master"
        pty_slave "readiness/pty-slave"
        pty_never_opened "readiness/pty-never-opened"
        listener_shut_read "readiness/listener-shut-read"
        listener_shut_write "readiness/listener-shut-write"
        listener_shut_both "readiness/listener-shut-both"
        listener_shut_wakes "readiness/listener-shut-wakes"
        dgram_own_shut_read "readiness/dgram-own-shut-read"
        dgram_own_shut_write "readiness/dgram-own-shut-write"
        dgram_own_shut_both "readiness/dgram-own-shut-both"
        dgram_unconnected_shut_both "readiness/dgram-unconnected-shut-both"
        end_in_accept_queue "readiness/end-in-accept-queue"
        reset_in_accept_queue "readiness/reset-in-accept-queue"
        data_and_reset_in_accept_queue "readiness/data-and-reset-in-accept-queue"
    }
}

mod states {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        pipe "states/pipe"
        fifo "states/fifo"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        pipe "states/pipe"
        fifo "states/fifo"
    }

    answers! {
        #[cfg(unix)]
        poll;
        pipe "states/pipe"
        fifo "states/fifo"
    }

    answers! {
        #[cfg(unix)]
        select;
        pipe "states/pipe"
        fifo "states/fifo"
    }
}

mod files {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        regular "files/regular"
        regular_watched "files/regular-watched"
        dev_null "files/dev-null"
        dev_zero "files/dev-zero"
        dev_full "files/dev-full"
        dev_urandom "files/dev-urandom"
        directory "files/directory"
        eventfd "files/eventfd"
        shared_memory "files/shared-memory"
        queue "files/queue"
        bpf "files/bpf"
        write_end_for_reading "files/write-end-for-reading"
        read_end_for_writing "files/read-end-for-writing"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        regular "files/regular"
        regular_watched "files/regular-watched"
        dev_null "files/dev-null"
        dev_zero "files/dev-zero"
        dev_full "files/dev-full"
        dev_urandom "files/dev-urandom"
        directory "files/directory"
        eventfd "files/eventfd"
        shared_memory "files/shared-memory"
        queue "files/queue"
        bpf "files/bpf"
        write_end_for_reading "files/write-end-for-reading"
        read_end_for_writing "files/read-end-for-writing"
    }

    answers! {
        #[cfg(unix)]
        poll;
        regular "files/regular"
        regular_watched "files/regular-watched"
        dev_null "files/dev-null"
        dev_zero "files/dev-zero"
        dev_full "files/dev-full"
        dev_urandom "files/dev-urandom"
        directory "files/directory"
        eventfd "files/eventfd"
        shared_memory "files/shared-memory"
        queue "files/queue"
        bpf "files/bpf"
        write_end_for_reading "files/write-end-for-reading"
        read_end_for_writing "files/read-end-for-writing"
    }

    answers! {
        #[cfg(unix)]
        select;
        regular "files/regular"
        regular_watched "files/regular-watched"
        dev_null "files/dev-null"
        dev_zero "files/dev-zero"
        dev_full "files/dev-full"
        dev_urandom "files/dev-urandom"
        directory "files/directory"
        eventfd "files/eventfd"
        shared_memory "files/shared-memory"
        queue "files/queue"
        bpf "files/bpf"
        write_end_for_reading "files/write-end-for-reading"
        read_end_for_writing "files/read-end-for-writing"
    }
}

mod edges {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        added_when_ready "edges/added-when-ready"
        partial_read "edges/partial-read"
        new_data "edges/new-data"
        modified "edges/modified"
        eventfd "edges/eventfd"
        writer_never_full "edges/writer-never-full"
        fifo_reader_reopened "edges/fifo-reader-reopened"
        fifo_writer_opens "edges/fifo-writer-opens"
        fifo_writers "edges/fifo-writers"
        fifo_blocked_when_writer_closes "edges/fifo-blocked-when-writer-closes"
        fifo_no_writer "edges/fifo-no-writer"
        one_shot "edges/one-shot"
        shared_by_threads "edges/shared-by-threads"
        two_directions "edges/two-directions"
        two_directions_one_slot "edges/two-directions-one-slot"
        pending_then_drained "edges/pending-then-drained"
        pending_then_removed "edges/pending-then-removed"
        pending_then_asked_for_nothing "edges/pending-then-asked-for-nothing"
        handed_over "edges/handed-over"
        end_is_sticky "edges/end-is-sticky"
        pipe_end_is_sticky "edges/pipe-end-is-sticky"
        hang_up_asked_for_nothing "edges/hang-up-asked-for-nothing"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        added_when_ready "edges/added-when-ready"
        partial_read "edges/partial-read"
        new_data "edges/new-data"
        modified "edges/modified"
        eventfd "edges/eventfd"
        writer_never_full "edges/writer-never-full"
        fifo_reader_reopened "edges/fifo-reader-reopened"
        fifo_writer_opens "edges/fifo-writer-opens"
        fifo_writers "edges/fifo-writers"
        fifo_blocked_when_writer_closes "edges/fifo-blocked-when-writer-closes"
        fifo_no_writer "edges/fifo-no-writer"
        one_shot "edges/one-shot"
        shared_by_threads "edges/shared-by-threads"
        two_directions "edges/two-directions"
        two_directions_one_slot "edges/two-directions-one-slot"
        pending_then_drained "edges/pending-then-drained"
        pending_then_removed "edges/pending-then-removed"
        pending_then_asked_for_nothing "edges/pending-then-asked-for-nothing"
        handed_over "edges/handed-over"
        end_is_sticky "edges/end-is-sticky"
        pipe_end_is_sticky "edges/pipe-end-is-sticky"
        hang_up_asked_for_nothing "edges/hang-up-asked-for-nothing"
    }

    answers! {
        #[cfg(unix)]
        poll;
        fifo_reader_reopened "edges/fifo-reader-reopened"
        fifo_writers "edges/fifo-writers"
        fifo_blocked_when_writer_closes "edges/fifo-blocked-when-writer-closes"
        fifo_no_writer "edges/fifo-no-writer"
        shared_by_threads "edges/shared-by-threads"
        two_directions "edges/two-directions"
        two_directions_one_slot "edges/two-directions-one-slot"
        pending_then_drained "edges/pending-then-drained"
        end_is_sticky "edges/end-is-sticky"
        pipe_end_is_sticky "edges/pipe-end-is-sticky"
        hang_up_asked_for_nothing "edges/hang-up-asked-for-nothing"
    }

    answers! {
        #[cfg(unix)]
        select;
        fifo_reader_reopened "edges/fifo-reader-reopened"
        fifo_writers "edges/fifo-writers"
        fifo_blocked_when_writer_closes "edges/fifo-blocked-when-writer-closes"
        fifo_no_writer "edges/fifo-no-writer"
        shared_by_threads "edges/shared-by-threads"
        two_directions "edges/two-directions"
        two_directions_one_slot "edges/two-directions-one-slot"
        pending_then_drained "edges/pending-then-drained"
        end_is_sticky "edges/end-is-sticky"
        pipe_end_is_sticky "edges/pipe-end-is-sticky"
        hang_up_asked_for_nothing "edges/hang-up-asked-for-nothing"
    }
}

mod registration {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        added_twice "registration/added-twice"
        added_twice_edge_then_level "registration/added-twice-edge-then-level"
        added_twice_level_then_edge "registration/added-twice-level-then-edge"
        copy_added "registration/copy-added"
        absent "registration/absent"
        closed_number "registration/closed-number"
        closed "registration/closed"
        closed_with_copy "registration/closed-with-copy"
        number_reused "registration/number-reused"
        number_reused_unremoved "registration/number-reused-unremoved"
        closed_after_harvest "registration/closed-after-harvest"
        removed_after_harvest "registration/removed-after-harvest"
        added_again "registration/added-again"
        modified_while_ready "registration/modified-while-ready"
        two_pollers "registration/two-pollers"
        added_while_waiting "registration/added-while-waiting"
        added_idle_while_waiting "registration/added-idle-while-waiting"
        modified_while_waiting "registration/modified-while-waiting"
        removed_while_waiting "registration/removed-while-waiting"
        closed_while_waiting "registration/closed-while-waiting"
        closed_beside_a_wait "registration/closed-beside-a-wait"
        poller_closed_while_waiting "registration/poller-closed-while-waiting"
        no_descriptor "registration/no-descriptor"
        closed_beside_idle "registration/closed-beside-idle"
        bad_number "registration/bad-number"
        hang_up_asked_for_nothing "registration/hang-up-asked-for-nothing"
        blocked_asked_for_nothing "registration/blocked-asked-for-nothing"
        blocked_asked_for_nothing_reset "registration/blocked-asked-for-nothing-reset"
        blocked_writer "registration/blocked-writer"
        blocked_writer_reset "registration/blocked-writer-reset"
        queue_in_poller "registration/queue-in-poller"
        queue_in_poller_waiting "registration/queue-in-poller-waiting"
        queue_in_itself "registration/queue-in-itself"
        queue_chain "registration/queue-chain"
        listed_twice_for_reading "registration/listed-twice-for-reading"
        listed_twice_for_both "registration/listed-twice-for-both"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        added_twice "registration/added-twice"
        added_twice_edge_then_level "registration/added-twice-edge-then-level"
        added_twice_level_then_edge "registration/added-twice-level-then-edge"
        copy_added "registration/copy-added"
        absent "registration/absent"
        closed_number "registration/closed-number"
        closed "registration/closed"
        closed_with_copy "registration/closed-with-copy"
        number_reused "registration/number-reused"
        number_reused_unremoved "registration/number-reused-unremoved"
        closed_after_harvest "registration/closed-after-harvest"
        removed_after_harvest "registration/removed-after-harvest"
        added_again "registration/added-again"
        modified_while_ready "registration/modified-while-ready"
        two_pollers "registration/two-pollers"
        added_while_waiting "registration/added-while-waiting"
        added_idle_while_waiting "registration/added-idle-while-waiting"
        modified_while_waiting "registration/modified-while-waiting"
        removed_while_waiting "registration/removed-while-waiting"
        closed_while_waiting "registration/closed-while-waiting"
        closed_beside_a_wait "registration/closed-beside-a-wait"
        poller_closed_while_waiting "registration/poller-closed-while-waiting"
        no_descriptor "registration/no-descriptor"
        closed_beside_idle "registration/closed-beside-idle"
        bad_number "registration/bad-number"
        hang_up_asked_for_nothing "registration/hang-up-asked-for-nothing"
        blocked_asked_for_nothing "registration/blocked-asked-for-nothing"
        blocked_asked_for_nothing_reset "registration/blocked-asked-for-nothing-reset"
        blocked_writer "registration/blocked-writer"
        blocked_writer_reset "registration/blocked-writer-reset"
        queue_in_poller "registration/queue-in-poller"
        queue_in_poller_waiting "registration/queue-in-poller-waiting"
        queue_in_itself "registration/queue-in-itself"
        queue_chain "registration/queue-chain"
        listed_twice_for_reading "registration/listed-twice-for-reading"
        listed_twice_for_both "registration/listed-twice-for-both"
    }

    answers! {
        #[cfg(unix)]
        poll;
        added_twice "registration/added-twice"
        added_twice_edge_then_level "registration/added-twice-edge-then-level"
        copy_added "registration/copy-added"
        absent "registration/absent"
        closed_number "registration/closed-number"
        closed "registration/closed"
        closed_with_copy "registration/closed-with-copy"
        number_reused "registration/number-reused"
        number_reused_unremoved "registration/number-reused-unremoved"
        closed_after_harvest "registration/closed-after-harvest"
        removed_after_harvest "registration/removed-after-harvest"
        added_again "registration/added-again"
        modified_while_ready "registration/modified-while-ready"
        two_pollers "registration/two-pollers"
        added_while_waiting "registration/added-while-waiting"
        added_idle_while_waiting "registration/added-idle-while-waiting"
        modified_while_waiting "registration/modified-while-waiting"
        removed_while_waiting "registration/removed-while-waiting"
        closed_while_waiting "registration/closed-while-waiting"
        closed_beside_a_wait "registration/closed-beside-a-wait"
        poller_closed_while_waiting "registration/poller-closed-while-waiting"
        no_descriptor "registration/no-descriptor"
        closed_beside_idle "registration/closed-beside-idle"
        bad_number "registration/bad-number"
        hang_up_asked_for_nothing "registration/hang-up-asked-for-nothing"
        blocked_asked_for_nothing "registration/blocked-asked-for-nothing"
        blocked_asked_for_nothing_reset "registration/blocked-asked-for-nothing-reset"
        blocked_writer "registration/blocked-writer"
        blocked_writer_reset "registration/blocked-writer-reset"
        queue_in_poller "registration/queue-in-poller"
        queue_in_poller_waiting "registration/queue-in-poller-waiting"
        queue_in_itself "registration/queue-in-itself"
        queue_chain "registration/queue-chain"
        listed_twice_for_reading "registration/listed-twice-for-reading"
        listed_twice_for_both "registration/listed-twice-for-both"
    }

    answers! {
        #[cfg(unix)]
        select;
        added_twice "registration/added-twice"
        added_twice_edge_then_level "registration/added-twice-edge-then-level"
        copy_added "registration/copy-added"
        absent "registration/absent"
        closed_number "registration/closed-number"
        closed "registration/closed"
        closed_with_copy "registration/closed-with-copy"
        number_reused "registration/number-reused"
        number_reused_unremoved "registration/number-reused-unremoved"
        closed_after_harvest "registration/closed-after-harvest"
        removed_after_harvest "registration/removed-after-harvest"
        added_again "registration/added-again"
        modified_while_ready "registration/modified-while-ready"
        two_pollers "registration/two-pollers"
        added_while_waiting "registration/added-while-waiting"
        added_idle_while_waiting "registration/added-idle-while-waiting"
        modified_while_waiting "registration/modified-while-waiting"
        removed_while_waiting "registration/removed-while-waiting"
        closed_while_waiting "registration/closed-while-waiting"
        closed_beside_a_wait "registration/closed-beside-a-wait"
        poller_closed_while_waiting "registration/poller-closed-while-waiting"
        no_descriptor "registration/no-descriptor"
        closed_beside_idle "registration/closed-beside-idle"
        bad_number "registration/bad-number"
        hang_up_asked_for_nothing "registration/hang-up-asked-for-nothing"
        blocked_asked_for_nothing "registration/blocked-asked-for-nothing"
        blocked_asked_for_nothing_reset "registration/blocked-asked-for-nothing-reset"
        blocked_writer "registration/blocked-writer"
        blocked_writer_reset "registration/blocked-writer-reset"
        queue_in_poller "registration/queue-in-poller"
        queue_in_poller_waiting "registration/queue-in-poller-waiting"
        queue_in_itself "registration/queue-in-itself"
        queue_chain "registration/queue-chain"
        listed_twice_for_reading "registration/listed-twice-for-reading"
        listed_twice_for_both "registration/listed-twice-for-both"
    }
}

mod sharing {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        connected "sharing/connected"
        connected_edge "sharing/connected-edge"
        connect_pending "sharing/connect-pending"
        refused "sharing/refused"
        refused_while_writing "sharing/refused-while-writing"
        error_asked_twice "sharing/error-asked-twice"
        reset_in_queue "sharing/reset-in-queue"
        unix_connected "sharing/unix-connected"
        registered_before_connect "sharing/registered-before-connect"
        fresh_registered "sharing/fresh-registered"
        connects_while_waiting "sharing/connects-while-waiting"
        poller_per_thread "sharing/poller-per-thread"
        shared_poller "sharing/shared-poller"
        threads "sharing/threads"
        accepted_by_poller_per_thread "sharing/accepted-by-poller-per-thread"
        accepted_by_shared_poller "sharing/accepted-by-shared-poller"
        exclusive_rules "sharing/exclusive-rules"
        one_by_one_poller_per_thread "sharing/one-by-one-poller-per-thread"
        one_by_one_shared_poller "sharing/one-by-one-shared-poller"
        reuse_port "sharing/reuse-port"
        no_descriptor_left "sharing/no-descriptor-left"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        connected "sharing/connected"
        connected_edge "sharing/connected-edge"
        connect_pending "sharing/connect-pending"
        refused "sharing/refused"
        refused_while_writing "sharing/refused-while-writing"
        error_asked_twice "sharing/error-asked-twice"
        reset_in_queue "sharing/reset-in-queue"
        unix_connected "sharing/unix-connected"
        registered_before_connect "sharing/registered-before-connect"
        fresh_registered "sharing/fresh-registered"
        connects_while_waiting "sharing/connects-while-waiting"
        poller_per_thread "sharing/poller-per-thread"
        shared_poller "sharing/shared-poller"
        threads "sharing/threads"
        accepted_by_poller_per_thread "sharing/accepted-by-poller-per-thread"
        accepted_by_shared_poller "sharing/accepted-by-shared-poller"
        one_by_one_shared_poller "sharing/one-by-one-shared-poller"
        reuse_port "sharing/reuse-port"
        no_descriptor_left "sharing/no-descriptor-left"
    }

    answers! {
        #[cfg(unix)]
        poll;
        connected "sharing/connected"
        connect_pending "sharing/connect-pending"
        refused "sharing/refused"
        refused_while_writing "sharing/refused-while-writing"
        error_asked_twice "sharing/error-asked-twice"
        reset_in_queue "sharing/reset-in-queue"
        unix_connected "sharing/unix-connected"
        registered_before_connect "sharing/registered-before-connect"
        fresh_registered "sharing/fresh-registered"
        connects_while_waiting "sharing/connects-while-waiting"
        poller_per_thread "sharing/poller-per-thread"
        shared_poller "sharing/shared-poller"
        threads "sharing/threads"
        accepted_by_poller_per_thread "sharing/accepted-by-poller-per-thread"
        accepted_by_shared_poller "sharing/accepted-by-shared-poller"
        one_by_one_shared_poller "sharing/one-by-one-shared-poller"
        reuse_port "sharing/reuse-port"
        no_descriptor_left "sharing/no-descriptor-left"
    }

    answers! {
        #[cfg(unix)]
        select;
        connected "sharing/connected"
        connect_pending "sharing/connect-pending"
        refused "sharing/refused"
        refused_while_writing "sharing/refused-while-writing"
        error_asked_twice "sharing/error-asked-twice"
        reset_in_queue "sharing/reset-in-queue"
        unix_connected "sharing/unix-connected"
        registered_before_connect "sharing/registered-before-connect"
        fresh_registered "sharing/fresh-registered"
        connects_while_waiting "sharing/connects-while-waiting"
        poller_per_thread "sharing/poller-per-thread"
        shared_poller "sharing/shared-poller"
        threads "sharing/threads"
        accepted_by_poller_per_thread "sharing/accepted-by-poller-per-thread"
        accepted_by_shared_poller "sharing/accepted-by-shared-poller"
        one_by_one_shared_poller "sharing/one-by-one-shared-poller"
        reuse_port "sharing/reuse-port"
        no_descriptor_left "sharing/no-descriptor-left"
    }
}

mod waking {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        coalesce "waking/coalesce"
        before_wait "waking/before-wait"
        shared_poller "waking/shared-poller"
        from_signal_handler "waking/from-signal-handler"
        rotation "waking/rotation"
        rotation_three_slots "waking/rotation-three-slots"
        drained_before_its_turn "waking/drained-before-its-turn"
        order_of_readiness "waking/order-of-readiness"
        order_of_addition "waking/order-of-addition"
        no_room "waking/no-room"
        two_threads_look "waking/two-threads-look"
        told_once "waking/told-once"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        coalesce "waking/coalesce"
        before_wait "waking/before-wait"
        shared_poller "waking/shared-poller"
        from_signal_handler "waking/from-signal-handler"
        rotation "waking/rotation"
        rotation_three_slots "waking/rotation-three-slots"
        drained_before_its_turn "waking/drained-before-its-turn"
        order_of_readiness "waking/order-of-readiness"
        order_of_addition "waking/order-of-addition"
        no_room "waking/no-room"
        two_threads_look "waking/two-threads-look"
        told_once "waking/told-once"
    }

    answers! {
        #[cfg(unix)]
        poll;
        coalesce "waking/coalesce"
        before_wait "waking/before-wait"
        from_signal_handler "waking/from-signal-handler"
        rotation "waking/rotation"
        rotation_three_slots "waking/rotation-three-slots"
        drained_before_its_turn "waking/drained-before-its-turn"
        order_of_readiness "waking/order-of-readiness"
        order_of_addition "waking/order-of-addition"
        no_room "waking/no-room"
        two_threads_look "waking/two-threads-look"
    }

    answers! {
        #[cfg(unix)]
        select;
        coalesce "waking/coalesce"
        before_wait "waking/before-wait"
        from_signal_handler "waking/from-signal-handler"
        rotation "waking/rotation"
        rotation_three_slots "waking/rotation-three-slots"
        drained_before_its_turn "waking/drained-before-its-turn"
        order_of_readiness "waking/order-of-readiness"
        order_of_addition "waking/order-of-addition"
        no_room "waking/no-room"
        two_threads_look "waking/two-threads-look"
    }
}

mod waiting {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        number_reopened_new_peer_writes "waiting/number-reopened-new-peer-writes"
        number_reopened_old_peer_writes "waiting/number-reopened-old-peer-writes"
        forked "waiting/forked"
        forked_child_keeps_copy "waiting/forked-child-keeps-copy"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        number_reopened_new_peer_writes "waiting/number-reopened-new-peer-writes"
        number_reopened_old_peer_writes "waiting/number-reopened-old-peer-writes"
        forked "waiting/forked"
        forked_child_keeps_copy "waiting/forked-child-keeps-copy"
    }

    answers! {
        #[cfg(unix)]
        poll;
        number_reopened_new_peer_writes "waiting/number-reopened-new-peer-writes"
        number_reopened_old_peer_writes "waiting/number-reopened-old-peer-writes"
        forked "waiting/forked"
        forked_child_keeps_copy "waiting/forked-child-keeps-copy"
    }

    answers! {
        #[cfg(unix)]
        select;
        number_reopened_new_peer_writes "waiting/number-reopened-new-peer-writes"
        number_reopened_old_peer_writes "waiting/number-reopened-old-peer-writes"
        forked "waiting/forked"
        forked_child_keeps_copy "waiting/forked-child-keeps-copy"
    }
}

mod time {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        zero "time/zero"
        never_early_1ms "time/never-early-1ms"
        never_early_5ms "time/never-early-5ms"
        never_early_10ms "time/never-early-10ms"
        never_early_50ms "time/never-early-50ms"
        fractions_of_a_millisecond "time/fractions-of-a-millisecond"
        timespec_out_of_range "time/timespec-out-of-range"
        negative "time/negative"
        negative_timeval "time/negative-timeval"
        time_left "time/time-left"
        more_than_a_second_of_microseconds "time/more-than-a-second-of-microseconds"
        interrupted "time/interrupted"
        interrupted_restarting "time/interrupted-restarting"
        stopped_and_continued "time/stopped-and-continued"
        huge_timespec "time/huge-timespec"
        huge_timeval "time/huge-timeval"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        zero "time/zero"
        never_early_1ms "time/never-early-1ms"
        never_early_5ms "time/never-early-5ms"
        never_early_10ms "time/never-early-10ms"
        never_early_50ms "time/never-early-50ms"
        fractions_of_a_millisecond "time/fractions-of-a-millisecond"
        timespec_out_of_range "time/timespec-out-of-range"
        negative "time/negative"
        negative_timeval "time/negative-timeval"
        time_left "time/time-left"
        more_than_a_second_of_microseconds "time/more-than-a-second-of-microseconds"
        interrupted "time/interrupted"
        interrupted_restarting "time/interrupted-restarting"
        stopped_and_continued "time/stopped-and-continued"
        huge_timespec "time/huge-timespec"
        huge_timeval "time/huge-timeval"
    }

    answers! {
        #[cfg(unix)]
        poll;
        zero "time/zero"
        never_early_1ms "time/never-early-1ms"
        never_early_5ms "time/never-early-5ms"
        never_early_10ms "time/never-early-10ms"
        never_early_50ms "time/never-early-50ms"
        fractions_of_a_millisecond "time/fractions-of-a-millisecond"
        timespec_out_of_range "time/timespec-out-of-range"
        negative "time/negative"
        negative_timeval "time/negative-timeval"
        time_left "time/time-left"
        more_than_a_second_of_microseconds "time/more-than-a-second-of-microseconds"
        interrupted "time/interrupted"
        interrupted_restarting "time/interrupted-restarting"
        stopped_and_continued "time/stopped-and-continued"
        huge_timespec "time/huge-timespec"
        huge_timeval "time/huge-timeval"
    }

    answers! {
        #[cfg(unix)]
        select;
        zero "time/zero"
        never_early_1ms "time/never-early-1ms"
        never_early_5ms "time/never-early-5ms"
        never_early_10ms "time/never-early-10ms"
        never_early_50ms "time/never-early-50ms"
        fractions_of_a_millisecond "time/fractions-of-a-millisecond"
        timespec_out_of_range "time/timespec-out-of-range"
        negative "time/negative"
        negative_timeval "time/negative-timeval"
        time_left "time/time-left"
        more_than_a_second_of_microseconds "time/more-than-a-second-of-microseconds"
        interrupted "time/interrupted"
        interrupted_restarting "time/interrupted-restarting"
        stopped_and_continued "time/stopped-and-continued"
        huge_timespec "time/huge-timespec"
        huge_timeval "time/huge-timeval"
    }
}

mod limits {
    answers! {
        #[cfg_attr(not(any(target_os = "linux")), ignore = "epoll does not exist on this OS")]
        epoll;
        high_number "limits/high-number"
        nfds "limits/nfds"
        entries "limits/entries"
        closed "limits/closed"
        closed_beyond_the_open "limits/closed-beyond-the-open"
        no_poller "limits/no-poller"
    }

    answers! {
        #[cfg_attr(not(any(target_os = "freebsd", target_os = "macos", target_os = "netbsd", target_os = "openbsd", target_os = "dragonfly")), ignore = "kqueue does not exist on this OS")]
        kqueue;
        high_number "limits/high-number"
        nfds "limits/nfds"
        entries "limits/entries"
        closed "limits/closed"
        closed_beyond_the_open "limits/closed-beyond-the-open"
        no_poller "limits/no-poller"
    }

    answers! {
        #[cfg(unix)]
        poll;
        high_number "limits/high-number"
        nfds "limits/nfds"
        entries "limits/entries"
        closed "limits/closed"
        closed_beyond_the_open "limits/closed-beyond-the-open"
        no_poller "limits/no-poller"
    }

    answers! {
        #[cfg(unix)]
        select;
        high_number "limits/high-number"
        nfds "limits/nfds"
        entries "limits/entries"
        closed "limits/closed"
        closed_beyond_the_open "limits/closed-beyond-the-open"
        no_poller "limits/no-poller"
    }
}
