//! Passes the versions of the built-in crates to the program, and links libevent if its feature is enabled.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Crates do not publish their version. Without a lock file, as in a package, it is unknown.
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let lock =
        Path::new(&root).ancestors().map(|folder| folder.join("Cargo.lock")).find(|lock| lock.exists());
    if let Some(lock) = lock {
        println!("cargo::rerun-if-changed={}", lock.display());
        let text = std::fs::read_to_string(lock).unwrap_or_default();
        for (package, variable) in [
            ("mio", "POLLMATRIX_MIO_VERSION"),
            ("polling", "POLLMATRIX_POLLING_VERSION"),
            ("tokio", "POLLMATRIX_TOKIO_VERSION"),
        ] {
            if let Some(version) = locked(&text, package) {
                println!("cargo::rustc-env={variable}={version}");
            }
        }
    }
    #[cfg(feature = "libevent")]
    libevent();
}

/// Returns the version of a package in a lock file, if it has one version only.
fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let beginning = format!("name = \"{package}\"\nversion = \"");
    let mut versions = lock.split("[[package]]\n").filter_map(|entry| entry.strip_prefix(&beginning));
    let version = versions.next()?.split('"').next()?;
    versions.next().is_none().then_some(version)
}

#[cfg(feature = "libevent")]
fn libevent() {
    // The core library, without HTTP and DNS, and the library with the locks for threads.
    for library in ["libevent_core", "libevent_pthreads"] {
        if pkg_config::Config::new().atleast_version("2.1").probe(library).is_err() {
            println!(
                "cargo::error=the feature 'libevent' needs libevent 2.1 or later: pkg-config does not find {library}"
            );
            println!(
                "cargo::error=install it (Debian: libevent-dev pkg-config; FreeBSD, Homebrew: libevent pkgconf)"
            );
            return;
        }
    }
}
