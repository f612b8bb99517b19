//! Links libevent if its feature is enabled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "libevent")]
    libevent();
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
