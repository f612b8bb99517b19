//! On another machine, reached with ssh. The executable is copied there, once.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Elsewhere, Route, output, program};
use crate::command::quoted;
use crate::error::Error;
use crate::notes;

/// What is missing, if something is.
pub fn missing(args: &Elsewhere) -> Option<String> {
    let name = args.ssh.0.first()?;
    program(name).is_none().then(|| format!("there is no program {name}"))
}

/// Copies the executable and the matrix file there. They stay: another run finds them.
pub fn route(args: &Elsewhere, executable: &Path, hash: &str, matrix: Option<&Path>) -> Result<Route, Error> {
    let host = args.host.as_deref().ok_or(Error::WayNeeds { way: "ssh", option: "--host HOST" })?;
    let failed = |why: String| Error::Ssh { host: host.to_owned(), why };
    let mut words = args.ssh.0.clone();
    words.push(host.to_owned());
    // Not the shared /tmp of everybody: a folder that is the user's own.
    let folder = "${XDG_CACHE_HOME:-$HOME/.cache}/pollmatrix";
    let there =
        output(&mut shell(&words, &format!("umask 077; mkdir -p \"{folder}\" && cd \"{folder}\" && pwd")))
            .map_err(failed)?;
    // Whatever a login script has printed comes before it.
    let folder = there.lines().last().filter(|line| line.starts_with('/')).map(str::to_owned);
    let folder = folder.ok_or_else(|| failed(format!("its shell answered: {there}")))?;

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

/// The size is enough to know a copy by: names are those of contents, and a copy gets its name when it is whole.
fn copy(words: &[String], file: &Path, name: &str) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", file.display());
    let size = file.metadata().map_err(said)?.len();
    let quoted_name = quoted(&[name.to_owned()]);
    let there = output(&mut shell(words, &format!("wc -c <{quoted_name} 2>/dev/null || true")))?;
    if there.lines().last().is_some_and(|line| line.trim() == size.to_string()) && !name.ends_with(".yml") {
        return Ok(());
    }
    notes::note(&format!("copying {} ({size} bytes)", file.display()));
    let script = format!(
        "cat >{quoted_name}.new && chmod 700 {quoted_name}.new && mv {quoted_name}.new {quoted_name}"
    );
    let mut command = shell(words, &script);
    command.stdin(Stdio::from(File::open(file).map_err(said)?));
    output(&mut command).map(|_| ())
}

/// A command for the shell there.
fn shell(words: &[String], script: &str) -> Command {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .arg(format!("exec sh -c {}", quoted(&[script.to_owned()])))
        .stdin(Stdio::null());
    command
}
