//! Names the systems that have kqueue, once: `cfg(kqueue)`.

const KQUEUE: [&str; 5] = ["freebsd", "macos", "netbsd", "openbsd", "dragonfly"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(kqueue)");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if KQUEUE.contains(&target.as_str()) {
        println!("cargo::rustc-cfg=kqueue");
    }
}
