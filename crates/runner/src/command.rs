//! Commands of other programs: quoted for a shell, found as a shell finds them, put in front of this one.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// Words as a shell takes them.
pub fn quoted(words: &[String]) -> String {
    // Words that came from a command line or a file's name have no NUL.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// A command and its first arguments, typed as one argument with a shell's quotes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Words(pub Vec<String>);

impl FromStr for Words {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match shlex::split(text) {
            None => Err("a quote is not closed, or the last character is a backslash".into()),
            Some(words) if words.is_empty() => Err("it has no word".into()),
            Some(words) => Ok(Self(words)),
        }
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(&self.0))
    }
}

/// A text in single quotes: one word for a shell, whatever is in it.
pub fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What a shell starts when `name` is typed.
pub fn on_path(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let file = Path::new(name);
    if file.components().count() > 1 {
        return Some(file.to_path_buf());
    }
    std::env::split_paths(path?).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// `executable` behind the words of a prefix; without any, the executable itself.
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
    fn a_name_is_looked_up_as_a_shell_does() {
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
