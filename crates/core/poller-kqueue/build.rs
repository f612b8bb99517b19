//! Sets `cfg(kqueue)` for the systems that have kqueue, and `cfg(evfilt_except)` for those of them that have
//! a filter for urgent data. With the feature `library`, links the library that provides kqueue(2) on Linux,
//! and sets `cfg(kqueue_library)`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const KQUEUE: [&str; 5] = ["freebsd", "macos", "netbsd", "openbsd", "dragonfly"];
const EVFILT_EXCEPT: [&str; 3] = ["macos", "openbsd", "dragonfly"];

/// The environment variable with the path of the library.
const LIBRARY: &str = "POLLMATRIX_KQUEUE_LIBRARY";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={LIBRARY}");
    println!("cargo::rustc-check-cfg=cfg(kqueue, kqueue_library, evfilt_except)");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let library = std::env::var_os("CARGO_FEATURE_LIBRARY").map(|_| std::env::var_os(LIBRARY));
    match instructions(&target, library) {
        Ok(lines) => {
            lines.iter().for_each(|line| println!("cargo::{line}"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("cargo::error={why}");
            ExitCode::FAILURE
        }
    }
}

/// Returns what cargo has to do for a build for this system. `library` is the value of the environment
/// variable if the feature is on.
pub(crate) fn instructions(target: &str, library: Option<Option<OsString>>) -> Result<Vec<String>, String> {
    let has_kqueue = KQUEUE.contains(&target);
    let mut lines = Vec::new();
    if has_kqueue || library.is_some() {
        lines.push("rustc-cfg=kqueue".to_owned());
    }
    if EVFILT_EXCEPT.contains(&target) {
        lines.push("rustc-cfg=evfilt_except".to_owned());
    }
    match library {
        None => {}
        Some(_) if has_kqueue => {
            return Err(format!("the kernel of {target} has kqueue: build without the feature `library`"));
        }
        Some(given) if target == "linux" => {
            let help = format!("give the library: {LIBRARY}=/path/to/libkqueue.so");
            lines.extend(link(given).map_err(|why| format!("{why}; {help}"))?);
        }
        Some(_) => return Err(format!("the feature `library` is for Linux, and this build is for {target}")),
    }
    Ok(lines)
}

/// Returns the instructions that link the library by its path.
fn link(given: Option<OsString>) -> Result<Vec<String>, String> {
    let given = given.filter(|given| !given.is_empty()).ok_or_else(|| format!("{LIBRARY} is not set"))?;
    let file = PathBuf::from(given);
    let wrong = |why| Err(format!("{LIBRARY}={}: {why}", file.display()));
    if !file.is_absolute() {
        // Cargo runs this program in the folder of the package.
        return wrong("the path is not absolute");
    }
    if !file.is_file() {
        return wrong("there is no such file");
    }
    let folder = file.parent().and_then(Path::to_str);
    let (Some(folder), Some(name)) = (folder, file.file_name().and_then(|name| name.to_str())) else {
        return wrong("the path is not UTF-8");
    };
    let Some((stem, _)) = name.split_once(".so") else { return wrong("it is not a shared library (.so)") };
    Ok(vec![
        "rustc-cfg=kqueue_library".into(),
        format!("rerun-if-changed={}", file.display()),
        format!("rustc-env=POLLMATRIX_KQUEUE_NAME={stem}"),
        format!("rustc-link-search=native={folder}"),
        // The whole name, because it can have a version.
        format!("rustc-link-lib=dylib:+verbatim={name}"),
        // For the tests of this package. The packages with executables do the same.
        format!("rustc-link-arg=-Wl,-rpath,{folder}"),
    ])
}
