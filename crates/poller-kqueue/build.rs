//! Sets `cfg(kqueue)` for the systems that have kqueue, and `cfg(evfilt_except)` for those of them that have
//! a filter for urgent data.

const KQUEUE: [&str; 5] = ["freebsd", "macos", "netbsd", "openbsd", "dragonfly"];
const EVFILT_EXCEPT: [&str; 3] = ["macos", "openbsd", "dragonfly"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(kqueue, evfilt_except)");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if KQUEUE.contains(&target.as_str()) {
        println!("cargo::rustc-cfg=kqueue");
    }
    if EVFILT_EXCEPT.contains(&target.as_str()) {
        println!("cargo::rustc-cfg=evfilt_except");
    }
}
