//! Command lines: quoting for a shell, looking up programs, prefixes in front of the executable.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// Joins words to a command line, quoted for a shell.
pub fn quoted(words: &[String]) -> String {
    // Words from a command line or a file name contain no NUL, which is the only error.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// A command and its first arguments, given as one argument with a shell's quotes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Words(pub Vec<String>);

impl FromStr for Words {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match shlex::split(text) {
            None => Err("a quote is not closed, or the last character is a backslash".into()),
            Some(words) if words.is_empty() => Err("the command is empty".into()),
            Some(words) => Ok(Self(words)),
        }
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(&self.0))
    }
}

/// Puts a text in single quotes: one word for a shell, whatever its characters.
pub fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns the file that a shell with this `PATH` starts for `name`.
pub fn on_path(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let file = Path::new(name);
    if file.components().count() > 1 {
        return Some(file.to_path_buf());
    }
    std::env::split_paths(path?).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns the command that starts `executable` behind the words of a prefix, or directly if there are none.
pub fn behind(prefix: &[String], executable: &Path) -> Command {
    match prefix {
        [] => Command::new(executable),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(executable);
            command
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_as_in_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        std::fs::write(&file, "").unwrap();
        let path = || Some(folder.path().as_os_str());
        assert_eq!(on_path("program".as_ref(), path()), Some(file));
        assert_eq!(on_path("other".as_ref(), path()), None);
        assert_eq!(on_path("program".as_ref(), None), None);
        assert_eq!(on_path("./program".as_ref(), path()), Some("./program".into()));
    }
}
