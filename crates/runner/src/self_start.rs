//! How a program that was started through a command starts itself again, and how fast the machine is.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::provenance::VERSION;
use crate::{command, pipes};

/// How long an ordinary machine takes to start this program, when it has other things to do.
const ORDINARY: Duration = Duration::from_millis(10);
/// No machine is slower than that; it has something else to do.
const SLOWEST: u32 = 60;
/// For one start. A command that waits for a password has no answer.
const LIMIT: Duration = Duration::from_secs(60);
/// The fastest of so many starts counts.
const STARTS: usize = 3;

/// How this program starts itself.
pub struct SelfStart {
    /// What is put in front of the executable.
    pub prefix: Vec<String>,
    /// The program's file.
    pub executable: PathBuf,
    /// How long a start takes.
    pub took: Duration,
}

/// The first that works of `executables`, each behind the command and without it. The command comes first: under an
/// emulator nothing else works. Behind a command that leads to another machine there is no such command, and no need; and
/// the file may have another name there than the one that it was given here.
pub fn find(executables: &[PathBuf], prefix: Option<&[String]>) -> Result<SelfStart, Error> {
    let mut why = Vec::new();
    for executable in executables {
        for prefix in prefix.into_iter().chain([&[][..]]) {
            match fastest(executable, prefix) {
                Ok(took) => {
                    return Ok(SelfStart { prefix: prefix.to_vec(), executable: executable.clone(), took });
                }
                Err(said) => {
                    let name = executable.display();
                    let words = prefix.iter().map(|word| format!("{word} ")).collect::<String>();
                    why.push((format!("{words}{name}"), said));
                }
            }
        }
    }
    Err(Error::CannotStart { why })
}

/// How many times slower than an ordinary machine one is that takes so long.
pub fn slowness(took: Duration) -> NonZeroU32 {
    let times = took.as_micros().div_ceil(ORDINARY.as_micros());
    let times = u32::try_from(times).unwrap_or(SLOWEST).min(SLOWEST);
    NonZeroU32::new(times).unwrap_or(NonZeroU32::MIN)
}

/// Whether this program's file starts under this name.
pub fn starts(executable: &Path) -> bool {
    start(executable, &[]).is_ok()
}

fn fastest(executable: &Path, prefix: &[String]) -> Result<Duration, String> {
    let mut fastest = Duration::MAX;
    for _ in 0..STARTS {
        fastest = fastest.min(start(executable, prefix)?);
    }
    Ok(fastest)
}

/// One start, up to the version, which nothing else prints.
fn start(executable: &Path, prefix: &[String]) -> Result<Duration, String> {
    let mut command = command::behind(prefix, executable);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let said = pipes::ask(&mut command, Some(LIMIT)).map_err(|error| error.to_string())?;
    let took = began.elapsed();
    match said.stdout.trim_end().ends_with(&format!("pollmatrix {VERSION}")) {
        true => Ok(took),
        false => Err(format!("it is another program ({})", said.status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_machine_is_not_slow() {
        for (millis, times) in [(0, 1), (3, 1), (10, 1), (11, 2), (200, 20), (100_000, SLOWEST)] {
            assert_eq!(slowness(Duration::from_millis(millis)).get(), times, "{millis} ms");
        }
    }

    #[test]
    fn what_cannot_start_it_is_named() {
        let Err(Error::CannotStart { why }) = find(&["/no/such/file".into()], Some(&["true".into()])) else {
            panic!("it starts");
        };
        assert_eq!(why[0], ("true /no/such/file".into(), "it is another program (exit status: 0)".into()));
        assert_eq!(why[1].0, "/no/such/file");
    }
}
