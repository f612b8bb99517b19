//! Finds the command by which this program can start itself again, and measures how fast the machine is.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::provenance::VERSION;
use crate::{command, pipes};

/// How long an ordinary machine under load takes to start this program.
const ORDINARY: Duration = Duration::from_millis(10);
/// The greatest slowness to conclude from a measurement. A slower start has another cause.
const SLOWEST: u32 = 60;
/// The time limit of one start. A command that asks for a password never ends.
const LIMIT: Duration = Duration::from_secs(60);
/// The number of starts to measure; the fastest counts.
const STARTS: usize = 3;

/// The command by which this program starts itself.
pub struct SelfStart {
    /// The words to put in front of the executable.
    pub prefix: Vec<String>,
    /// The program's file.
    pub executable: PathBuf,
    /// How long a start takes.
    pub took: Duration,
}

/// Finds the first of `executables` that starts, each with the prefix and without it.
///
/// With the prefix first, because under an emulator nothing else works. If the prefix leads to another
/// machine, that machine has no such command and needs none, and the file can have another name there.
pub fn find(executables: &[PathBuf], prefix: Option<&[String]>) -> Result<SelfStart, Error> {
    let mut why = Vec::new();
    for executable in executables {
        for prefix in prefix.into_iter().chain([&[][..]]) {
            match fastest(executable, prefix) {
                Ok(took) => {
                    return Ok(SelfStart { prefix: prefix.to_vec(), executable: executable.clone(), took });
                }
                Err(reason) => {
                    let name = executable.display();
                    let words = prefix.iter().map(|word| format!("{word} ")).collect::<String>();
                    why.push((format!("{words}{name}"), reason));
                }
            }
        }
    }
    Err(Error::CannotStart { why })
}

/// Returns how many times slower than an ordinary machine this one is, from the time that a start took.
pub fn slowness(took: Duration) -> NonZeroU32 {
    let times = took.as_micros().div_ceil(ORDINARY.as_micros());
    let times = u32::try_from(times).unwrap_or(SLOWEST).min(SLOWEST);
    NonZeroU32::new(times).unwrap_or(NonZeroU32::MIN)
}

/// Returns whether `executable` starts and is this program.
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

/// Starts the program once. Its version proves that it is this program.
fn start(executable: &Path, prefix: &[String]) -> Result<Duration, String> {
    let mut command = command::behind(prefix, executable);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let output = pipes::output_of(&mut command, Some(LIMIT)).map_err(|error| error.to_string())?;
    let took = began.elapsed();
    match output.stdout.trim_end().ends_with(&format!("pollmatrix {VERSION}")) {
        true => Ok(took),
        false => Err(format!("it is another program ({})", output.status)),
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
    fn the_error_names_every_command_that_failed() {
        let Err(Error::CannotStart { why }) = find(&["/no/such/file".into()], Some(&["true".into()])) else {
            panic!("the program starts");
        };
        assert_eq!(why[0], ("true /no/such/file".into(), "it is another program (exit status: 0)".into()));
        assert_eq!(why[1].0, "/no/such/file");
    }
}
