//! The sections of `--help` about exit codes.

pub use matrix::exit::{CELL_UNSUPPORTED, ERROR, FAILED};

/// The section of `pollmatrix --help` and `pollmatrix run --help`.
pub const HELP: &str = "\
Exit codes:
  0    no cell failed (unsupported cells are listed, and are not failures)
  1    some cell is fail, flaky, unexpected-pass, broken, timeout or crash, or has no result
  2    wrong usage, a malformed matrix file, or a report or standard output that cannot be written
  130  interrupted (128 + signal); the finished results are in the report, and `--resume` continues
A reader of standard output that exits early, such as `head`, does not change the exit code.";

/// The section of `pollmatrix worker exec --help`.
pub const EXEC_HELP: &str = "\
Exit codes:
  0    no cell failed
  1    some cell failed
  2    wrong usage, a malformed matrix file, or lines that cannot be written
  127  every cell is unsupported on this machine
  130  interrupted (128 + signal)";

/// The section of `pollmatrix merge --help`.
pub const MERGE_HELP: &str = "\
Exit codes:
  0    no cell of the merged report failed (targets that were not run are listed, and are not failures)
  1    some cell is fail, flaky, unexpected-pass, broken, timeout or crash, or has no result
  2    wrong usage, inputs that are malformed or do not belong together, or a report that cannot be written";

/// The section of `pollmatrix diff --help`.
pub const DIFF_HELP: &str = "\
Exit codes:
  0    there is no difference, or with --fail-on regression no regression
  1    there is a difference, or with --fail-on regression a regression
  2    wrong usage, inputs that are not results, or a kernel without recorded answers";

/// The section of `pollmatrix probe --help`.
pub const PROBE_HELP: &str = "\
Exit codes:
  0    the script ran on every backend that supports it
  1    some backend crashed, hung, could not be set up, or gave an answer that is wrong in every reading
  2    wrong usage, or a malformed script (the error shows the place)
  127  no tested backend supports the script";

/// The section of `pollmatrix ci --help`.
pub const CI_HELP: &str = "\
Exit codes:
  0    no recorded answer has changed, except those that are accepted
  1    an answer has changed, or is wrong in every reading; an acceptance has expired; the adapter fails a
       check; nothing is recorded; or an exploration found something
  2    wrong usage, a malformed pollmatrix.toml, an adapter that does not start, or a file that cannot be
       written
  130  interrupted (128 + signal)";

/// The section of `pollmatrix explore --help`.
pub const EXPLORE_HELP: &str = "\
Exit codes:
  0    no disagreement but those that the catalogue, --expectations or --known explain
  1    some other disagreement; no verdict, because nothing was compared; or a recording without some answers
  2    wrong usage, a malformed file, a corpus that another exploration uses, or a file that cannot be written
  127  the two sides have no mode in common, or a side does not exist on this machine
  130  interrupted (128 + signal); the corpus has what was found, and `--resume` continues";

/// The section of `pollmatrix adapter check --help`.
pub const ADAPTER_CHECK_HELP: &str = "\
Exit codes:
  0    no check failed (unsupported ones are listed, and are not failures)
  1    some check failed
  2    wrong usage
  127  the adapter reports that its poller does not exist on this machine";

/// The section of `pollmatrix cost --help`.
pub const COST_HELP: &str = "\
Exit codes:
  0    every cost has a figure, or a reason why it cannot be measured here
  1    some costs are noise: run it again on a quiet machine, with more --pairs, or with a greater --noise
  2    wrong usage, or a report that cannot be written
  130  interrupted (128 + signal); the report has the costs that were measured, and --resume continues";

/// The section of `pollmatrix site --help`.
pub const SITE_HELP: &str = "\
Exit codes:
  0    the site is built, and every link in it leads to a page of it; --check: it has no problem
  1    some link leads nowhere, and nothing is written; --check: it has a problem
  2    wrong usage, results that cannot be published, a page that cannot be written; --check: no site";

/// The section of `pollmatrix expectations record --help`.
pub const RECORD_HELP: &str = "\
Exit codes:
  0    every answer is recorded, or was known
  1    some answer contradicts a measurement on the same version, or must be written by hand
  2    wrong usage, results that cannot be recorded, or a file that cannot be written";

/// The section of `pollmatrix expectations judge --help`.
pub const JUDGE_HELP: &str = "\
Exit codes:
  0    no answer contradicts a measurement on its version, and no cell ended without answers
  1    some answer does, or some cell is broken, a timeout or a crash
  2    wrong usage, or an input that is not results";

/// The section of `pollmatrix faults --help`.
pub const FAULTS_HELP: &str = "\
Exit codes:
  0    every fault is killed, or caught by the harness, and every contract scenario kills a fault, or is
       excused by the record (faults of backends that this system lacks are listed, with their recorded kill
       on another system if there is one, and are not failures); with --fault or scenarios, only these are
       judged
  1    a fault survives, or a contract scenario kills no fault; with --quick, or one of them is not recorded
  2    wrong usage, a record with an unknown name, or a report that cannot be written
  130  interrupted (128 + signal); `--resume` continues";

/// The section of `pollmatrix soak --help`.
pub const SOAK_HELP: &str = "\
Exit codes:
  0    every invariant held for the whole duration
  1    an invariant was violated: prints it, the last operations of each thread, and the rerun arguments
  2    wrong usage, or the system lacks a required resource
  130  interrupted (128 + signal), and every invariant held so far";

/// The section of `pollmatrix worker cell --help`.
pub const CELL_HELP: &str = "\
Exit codes:
  0    pass
  1    fail
  2    wrong usage; no line is printed
  3    broken: the set-up failed
  127  unsupported: this backend or system lacks a required feature
  A signal or a panic is a crash; no line is printed.";
