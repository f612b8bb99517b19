//! Links libevent if the feature asks for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "libevent")]
    libevent();
}

#[cfg(feature = "libevent")]
fn libevent() {
    // The core without what HTTP and DNS need; its locks for threads are a library of their own.
    for library in ["libevent_core", "libevent_pthreads"] {
        if pkg_config::Config::new().atleast_version("2.1").probe(library).is_err() {
            println!(
                "cargo::error=the feature 'libevent' needs libevent 2.1 or later: {library} was not found by pkg-config"
            );
            println!(
                "cargo::error=install it (Debian: libevent-dev pkg-config; FreeBSD, Homebrew: libevent pkgconf)"
            );
            return;
        }
    }
}
