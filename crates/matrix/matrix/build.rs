//! Passes the target triple and the commit of the build to the program.

use std::process::Command;

fn main() {
    println!("cargo::rustc-env=POLLMATRIX_TRIPLE={}", std::env::var("TARGET").unwrap_or_default());

    // The tests of this package start with the library that provides kqueue(2). poller-kqueue checks its
    // path.
    println!("cargo::rerun-if-env-changed=POLLMATRIX_KQUEUE_LIBRARY");
    if std::env::var_os("CARGO_FEATURE_KQUEUE_LIBRARY").is_some()
        && let Some(folder) = std::env::var("POLLMATRIX_KQUEUE_LIBRARY").ok().as_deref().and_then(folder_of)
    {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }

    // Without git, or outside a checkout, the commit is unknown, and reports omit it.
    let commit = git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]);
    println!("cargo::rustc-env=POLLMATRIX_COMMIT={}", commit.unwrap_or_default());
    // The commit changes when the branch moves, and becomes dirty after an edit.
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=..");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

fn folder_of(file: &str) -> Option<&str> {
    file.rsplit_once('/').map(|(folder, _)| folder)
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
