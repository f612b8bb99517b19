//! What `--help` says of the exit codes.

pub use runner::exit::{CELL_UNSUPPORTED, ERROR, FAILED};

/// The section of `pollmatrix --help` and `pollmatrix run --help`.
pub const HELP: &str = "\
Exit codes:
  0    no cell failed (unsupported cells are listed, and are no failure)
  1    some cell is fail, flaky, unexpected-pass, broken, timeout or crash, or has no result
  2    wrong usage, a malformed matrix file, or a report or standard output that cannot be written
  130  interrupted (128 + signal); what there is has been written, and `--resume` continues
A reader of standard output that ends early, as `head` does, changes no exit code.";

/// The section of `pollmatrix exec --help`.
pub const EXEC_HELP: &str = "\
Exit codes:
  0    no cell failed
  1    some cell failed
  2    wrong usage, a malformed matrix file, or lines that cannot be written
  127  no cell failed, because every one of them is unsupported here
  130  interrupted (128 + signal)";

/// The section of `pollmatrix merge --help`.
pub const MERGE_HELP: &str = "\
Exit codes:
  0    no cell of the merged report failed (targets that were not run are listed, and are no failure)
  1    some cell is fail, flaky, unexpected-pass, broken, timeout or crash, or has no result
  2    wrong usage, inputs that are no results or do not belong together, or a report that cannot be written";

/// The section of `pollmatrix diff --help`.
pub const DIFF_HELP: &str = "\
Exit codes:
  0    there is no difference, or with --fail-on regression none that is a regression
  1    there is one
  2    wrong usage, or inputs that are no results";

/// The section of `pollmatrix probe --help`.
pub const PROBE_HELP: &str = "\
Exit codes:
  0    the line was performed, by every backend that can
  1    some backend crashed, hung, or could not be set up
  2    wrong usage, or a line that is not understood: the place is shown
  127  no backend that was asked can do it";

/// The section of `pollmatrix subject-check --help`.
pub const SUBJECT_CHECK_HELP: &str = "\
Exit codes:
  0    no check failed (unsupported ones are listed, and are no failure)
  1    some check failed
  2    wrong usage
  127  the subject says that there is nothing to be asked here";

/// The section of `pollmatrix publish --help`.
pub const PUBLISH_HELP: &str = "\
Exit codes:
  0    the pages are written, or with --check are what would be written
  1    with --check: they are not
  2    wrong usage, results that cannot be published, or a page that cannot be written";

/// The section of `pollmatrix record --help`.
pub const RECORD_HELP: &str = "\
Exit codes:
  0    everything is recorded, or was known
  1    some answer contradicts what was measured on the same version, or has to be written by hand
  2    wrong usage, results that cannot be recorded, or a file that cannot be written";

/// The section of `pollmatrix faults --help`.
pub const FAULTS_HELP: &str = "\
Exit codes:
  0    every fault is killed, or caught by the harness; every contract scenario kills one, or its record says why not
       (faults of backends that are not here are listed, and are no failure). With --fault or scenarios named, only what
       was named is judged
  1    a fault survives, a contract scenario kills nothing; --quick: or is not recorded
  2    wrong usage, a record that names what does not exist, or a report that cannot be written
  130  interrupted (128 + signal); `--resume` continues";

/// The section of `pollmatrix soak --help`.
pub const SOAK_HELP: &str = "\
Exit codes:
  0    the time is over and every invariant held
  1    one did not: what, the last operations of each thread, and a command to have it again are printed
  2    wrong usage, or the system has not got what it takes
  130  interrupted (128 + signal), and every invariant held so far";

/// The section of `pollmatrix run-cell --help`.
pub const CELL_HELP: &str = "\
Exit codes:
  0    pass
  1    fail
  2    wrong usage: no line is printed
  3    broken: the set-up failed
  127  unsupported: this backend or system cannot do it
  A signal or a panic is a crash: no line is printed.";
