//! Links the libraries whose features are enabled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "libevent")]
    link("libevent_core", "libevent-dev");
    #[cfg(feature = "libuv")]
    link("libuv", "libuv1-dev");
}

#[cfg(any(feature = "libevent", feature = "libuv"))]
fn link(library: &str, package: &str) {
    if pkg_config::Config::new().probe(library).is_err() {
        println!("cargo::error=pkg-config does not find {library}");
        println!("cargo::error=install it (Debian: {package} pkg-config), or omit its feature");
    }
}
