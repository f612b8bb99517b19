//! The runner `vm`: in a virtual machine on this machine. Its guard, another process of this program, boots
//! it, and ends it with this process.

use std::path::Path;

use super::{Route, RunnerOptions};
use crate::error::Error;
use crate::vm::emulator::Purpose;
use crate::vm::{self, Contents};
use crate::{executable, exit};

/// Returns what this machine lacks to run the virtual machine, if it lacks something.
pub fn missing(machine: &str, args: &RunnerOptions) -> Option<String> {
    vm::missing(machine, args.kernel.as_deref())
}

/// Prepares the machine, and returns the command of its guard.
pub fn route(
    machine: &str,
    executable: &Path,
    matrix: Option<&Path>,
    expectations: Option<&Path>,
    args: &RunnerOptions,
) -> Result<Route, Error> {
    let contents =
        Contents { executable, matrix, expectations, kernel: args.kernel.as_deref(), keep: args.keep };
    let mut prepared = vm::prepare(machine, &contents, Purpose::Cells)?;
    if args.keep {
        prepared.folder.keep();
    }
    let own = executable::own()?.display().to_string();
    let spec = prepared.spec_file.display().to_string();
    let words = vec![own, "worker".to_owned(), "guard".to_owned(), spec, "--".to_owned()];
    Ok(Route {
        words,
        executable: Some(vm::EXECUTABLE.to_owned()),
        matrix: prepared.matrix,
        expectations: prepared.expectations,
        fatal: Some(exit::CANNOT_BOOT),
        folder: Some(prepared.folder.into()),
        ..Route::default()
    })
}
