//! The runner `ssh`: on another machine, over ssh. The executable is copied to that machine once.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Route, RunnerOptions, output, program};
use crate::command::quoted;
use crate::diagnostics;
use crate::error::Error;

/// Returns what this machine lacks to use ssh, if it lacks something.
pub fn missing(args: &RunnerOptions) -> Option<String> {
    let name = args.ssh.0.first()?;
    program(name).is_none().then(|| format!("there is no program {name}"))
}

/// Copies the executable and the matrix file to the other machine, where they stay for other runs. Returns
/// the command that starts the executor.
pub fn route(
    args: &RunnerOptions,
    executable: &Path,
    hash: &str,
    matrix: Option<&Path>,
) -> Result<Route, Error> {
    let host = args.host.as_deref().ok_or(Error::RunnerNeeds { runner: "ssh", option: "--host HOST" })?;
    let failed = |why: String| Error::Ssh { host: host.to_owned(), why };
    let mut words = args.ssh.0.clone();
    words.push(host.to_owned());
    // A folder that belongs to the user, unlike /tmp.
    let folder = "${XDG_CACHE_HOME:-$HOME/.cache}/pollmatrix";
    let printed =
        output(&mut shell(&words, &format!("umask 077; mkdir -p \"{folder}\" && cd \"{folder}\" && pwd")))
            .map_err(failed)?;
    // The last line, because a login script can print lines before it.
    let folder = printed.lines().last().filter(|line| line.starts_with('/')).map(str::to_owned);
    let folder = folder.ok_or_else(|| failed(format!("its shell did not print a folder: {printed}")))?;

    let name = format!("{folder}/pollmatrix-{}", &hash[..12]);
    copy(&words, executable, &name).map_err(failed)?;
    let matrix = match matrix {
        Some(file) => {
            let name = format!("{name}-matrix.yml");
            copy(&words, file, &name).map_err(failed)?;
            Some(name)
        }
        None => None,
    };
    let mut finish = words.clone();
    finish.push(format!("rm -f {}-kept-*", quoted(std::slice::from_ref(&name))));
    Ok(Route {
        words,
        shell: true,
        keep: Some(format!("{name}-kept")),
        finish,
        executable: Some(name),
        matrix,
        ..Route::default()
    })
}

/// Copies a file unless it is there. The size identifies a copy, because the name contains the hash of the
/// content, and a copy gets its name when it is complete. A matrix file is always copied.
fn copy(words: &[String], file: &Path, name: &str) -> Result<(), String> {
    let message = |error: std::io::Error| format!("{}: {error}", file.display());
    let size = file.metadata().map_err(message)?.len();
    let quoted_name = quoted(&[name.to_owned()]);
    let there = output(&mut shell(words, &format!("wc -c <{quoted_name} 2>/dev/null || true")))?;
    if there.lines().last().is_some_and(|line| line.trim() == size.to_string()) && !name.ends_with(".yml") {
        return Ok(());
    }
    diagnostics::note(&format!("copying {} ({size} bytes)", file.display()));
    let script = format!(
        "cat >{quoted_name}.new && chmod 700 {quoted_name}.new && mv {quoted_name}.new {quoted_name}"
    );
    let mut command = shell(words, &script);
    command.stdin(Stdio::from(File::open(file).map_err(message)?));
    output(&mut command).map(|_| ())
}

/// Returns the command that runs a script in the other machine's shell.
fn shell(words: &[String], script: &str) -> Command {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .arg(format!("exec sh -c {}", quoted(&[script.to_owned()])))
        .stdin(Stdio::null());
    command
}
