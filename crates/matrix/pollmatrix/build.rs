//! Gives the program a fixed address, and lets it find the library that provides kqueue(2), if it is built
//! with one.

const LIBRARY: &str = "POLLMATRIX_KQUEUE_LIBRARY";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={LIBRARY}");
    // Each cell is a process: at a fixed address it starts without tens of thousands of relocations.
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|actual| actual == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    // The build script of poller-kqueue checks the path.
    if std::env::var_os("CARGO_FEATURE_KQUEUE_LIBRARY").is_some()
        && let Ok(file) = std::env::var(LIBRARY)
        && let Some((folder, _)) = file.rsplit_once('/')
    {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
