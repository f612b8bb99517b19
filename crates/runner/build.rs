//! Tells the program what it is built for and from.

use std::process::Command;

fn main() {
    println!("cargo::rustc-env=POLLMATRIX_TRIPLE={}", std::env::var("TARGET").unwrap_or_default());

    // Without git, or outside a checkout, the commit is not known, and reports leave it out.
    let commit = git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]);
    println!("cargo::rustc-env=POLLMATRIX_COMMIT={}", commit.unwrap_or_default());
    // A commit moves the branch, and an edit makes the tree dirty.
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=..");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
