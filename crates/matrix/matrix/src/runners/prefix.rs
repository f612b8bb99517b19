//! The runner `prefix`: behind a command on this machine, such as an emulator, a sandbox or a script.

use std::path::Path;
use std::process::Command;

use metadata::{Os, Run, is_gvisor, names_gvisor};

use super::{Route, program};
use crate::command::Words;
use crate::error::Error;

/// Returns what this machine lacks to run the command, if it lacks something.
pub fn missing(command: &str) -> Option<String> {
    let words = match command.parse::<Words>() {
        Ok(words) => words.0,
        Err(why) => return Some(format!("{command}: {why}")),
    };
    let name = words.first()?;
    if program(name).is_none() {
        return Some(format!("there is no program {name}"));
    }
    // `-L` names an emulator's folder with the libraries of its system.
    let folder = words.iter().skip_while(|word| *word != "-L").nth(1)?;
    (!Path::new(folder).is_dir()).then(|| format!("there is no folder {folder}"))
}

/// Returns the command followed by the executable. The executor finds out whether it needs the command to
/// start itself again.
pub fn route(
    command: &str,
    executable: &Path,
    matrix: Option<&Path>,
    expectations: Option<&Path>,
) -> Result<Route, Error> {
    let malformed = |why| Error::BadPrefix { command: command.to_owned(), why };
    let mut words = command.parse::<Words>().map_err(malformed)?.0;
    let text = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.into()).display().to_string();
    let release = release(&words);
    words.push(text(executable));
    Ok(Route {
        release,
        words,
        executable: Some(text(executable)),
        matrix: matrix.map(text),
        expectations: expectations.map(text),
        prefix: Some(command.to_owned()),
        ..Route::default()
    })
}

/// Names gVisor in the provenance that its executor reports: an executor can fail to recognise it.
pub fn with_system(command: &str, run: Run) -> Run {
    if names_gvisor(command) { Run { os: Os::Gvisor.name().to_owned(), ..run } } else { run }
}

/// Returns the release of gVisor, if the command names its program.
fn release(words: &[String]) -> Option<String> {
    let runsc = words.iter().find(|word| is_gvisor(word))?;
    gvisor_release(&super::output(Command::new(runsc).arg("--version")).ok()?)
}

/// Returns the release in the output of `runsc --version`: `20221219.0`.
fn gvisor_release(output: &str) -> Option<String> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let numbers = output.lines().next()?.split(|c| !is_number(c));
    // A release is a date. Packages add more numbers.
    numbers.filter(|number| number.len() >= 8).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance;

    #[test]
    fn gvisors_release_is_the_date_in_its_version() {
        for (output, expected) in [
            ("runsc version release-20240729.0\nspec: 1.1.0-rc.1\n", Some("20240729.0")),
            ("runsc version 0.0~20221219.0\nspec: 1.0.2-dev\n", Some("20221219.0")),
            ("runsc version VERSION_MISSING\nspec: 1.0.2\n", None),
        ] {
            assert_eq!(gvisor_release(output).as_deref(), expected, "{output}");
        }
    }

    #[test]
    fn missing_programs_and_folders_are_named() {
        assert_eq!(missing("no-such-emulator -L /"), Some("there is no program no-such-emulator".into()));
        assert_eq!(missing("env -L /no/such/folder"), Some("there is no folder /no/such/folder".into()));
        assert_eq!(missing("env -L /"), None);
        assert_eq!(missing("env"), None);
    }

    #[test]
    fn the_executable_is_the_last_word_before_its_arguments() {
        let route = route("emulator -L '/a b'", Path::new("/x/pollmatrix"), None, None).unwrap();
        assert_eq!(route.words, ["emulator", "-L", "/a b", "/x/pollmatrix"]);
        assert_eq!(route.prefix.as_deref(), Some("emulator -L '/a b'"));
        assert!(matches!(super::route("'open", Path::new("/x"), None, None), Err(Error::BadPrefix { .. })));
    }

    #[test]
    fn an_executor_in_gvisor_gets_the_release() {
        let folder = tempfile::tempdir().unwrap();
        let runsc = folder.path().join("runsc");
        // By another process: a file that a child of this one may hold open for writing cannot be executed.
        let script = "printf '#!/bin/sh\\necho runsc version 0.0~20240729.0' >\"$0\" && chmod +x \"$0\"";
        assert!(Command::new("sh").arg("-c").arg(script).arg(&runsc).status().unwrap().success());
        let given = |command: &str| {
            let route = route(command, Path::new("/x/pollmatrix"), None, None).unwrap();
            let command = route.command(&[]);
            let given = command.get_envs().find(|(name, _)| *name == provenance::RELEASE);
            given.and_then(|(_, value)| Some(value?.to_str()?.to_owned()))
        };
        assert_eq!(given(&format!("{} do", runsc.display())).as_deref(), Some("20240729.0"));
        assert_eq!(given("true"), None);
    }
}
