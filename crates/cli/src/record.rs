//! `pollmatrix record`: answers that nobody knew before, written into the expectations.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use expectations::{NO_ANSWER, Recorded, Recording, Version, record};
use matrix::Os;
use report::{Asked, Results, Run, Status};
use similar::TextDiff;

use crate::args::RecordArgs;
use crate::error::{self, Error};
use crate::{exit, generate, input, output};

/// How often each answer came, by what was asked.
type Answered = BTreeMap<Asked, BTreeMap<String, usize>>;

/// Records what is new.
pub fn run(expectations: Option<&Path>, args: &RecordArgs) -> Result<ExitCode, Error> {
    let folder = match (expectations, &args.root) {
        (Some(folder), _) => folder.to_path_buf(),
        (None, Some(root)) => root.join("expectations"),
        (None, None) => generate::find_root()?.join("expectations"),
    };
    let folder = folder.join("answers");
    let mut sources: BTreeMap<(Os, String), (Version, String, Answered)> = BTreeMap::new();
    for path in &args.inputs {
        let results = input::read_of_kernels(path, args.emulated)?;
        for run in &results.runs {
            let (os, version) = system(path, run)?;
            let (name, text) = source(run, &version);
            let entry = sources.entry((os, name)).or_insert_with(|| (version, text, Answered::new()));
            collect(&results, run, &mut entry.2);
        }
    }
    if sources.values().all(|(.., answered)| answered.is_empty()) {
        return Err(input::without_answers(&args.inputs[0]));
    }
    let mut files: BTreeMap<Os, Written> = BTreeMap::new();
    for ((os, source), (version, text, answered)) in sources {
        let answers = answered.into_iter().map(|(asked, counts)| (asked, counts.into_iter().collect()));
        let recording = Recording { os, version, source, text, answers: answers.collect() };
        let written = match files.entry(os) {
            Entry::Occupied(present) => present.into_mut(),
            Entry::Vacant(place) => place.insert(Written::open(folder.join(format!("{os}.yml")))?),
        };
        written.record(&recording)?;
    }
    let mut open = false;
    for written in files.values() {
        open |= written.finish(args.dry_run)?;
    }
    Ok(if open { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

fn system(path: &Path, run: &Run) -> Result<(Os, Version), Error> {
    let found = run.os.parse::<Os>().ok().and_then(|os| Some((os, Version::of_release(os, &run.kernel)?)));
    found.ok_or_else(|| Error::Unfit {
        path: path.to_path_buf(),
        why: format!("nothing is kept about {} {}", run.os, run.kernel),
        help: "the system must be one of matrix.yml's, and its kernel must say its version",
    })
}

/// The key and the text of a run's source.
fn source(run: &Run, version: &Version) -> (String, String) {
    let build = run.commit.as_deref().unwrap_or(&run.pollmatrix);
    let name = format!("recorded-{version}-{}-{build}", run.arch);
    let via = if run.via == "native" { String::new() } else { format!(", via {}", run.way()) };
    let text =
        format!("measured on {} {}, {}{via}, by pollmatrix {}", run.os, run.kernel, run.machine, run.build());
    (name, text)
}

/// Adds the answers of a run's cells.
fn collect(results: &Results, run: &Run, answered: &mut Answered) {
    for cell in results.cells.iter().filter(|cell| cell.target == run.target) {
        let says_something =
            matches!(cell.status, Status::Pass | Status::Permitted | Status::Fail | Status::Unsupported);
        for check in cell.checks.iter().filter(|check| says_something && check.observed != NO_ANSWER) {
            if let Some(asked) = &check.asked {
                let counts = answered.entry(asked.clone()).or_default();
                *counts.entry(check.observed.clone()).or_default() += 1;
            }
        }
    }
}

/// A file, before and after.
struct Written {
    path: PathBuf,
    before: String,
    after: String,
    results: Vec<(Asked, String, Recorded)>,
}

impl Written {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(source) => {
                let help = "make it readable, or name another folder with --expectations DIR";
                return Err(Error::Io { action: "read", path, source, help });
            }
        };
        Ok(Self { path, after: before.clone(), before, results: Vec::new() })
    }

    fn record(&mut self, recording: &Recording) -> Result<(), Error> {
        let (text, results) = record(&self.after, &self.path.display().to_string(), recording)?;
        if results.iter().any(is_change) {
            self.after = text;
        }
        let answers = recording.answers.iter().map(|(asked, counts)| {
            let counts: Vec<_> = counts.iter().map(|(answer, _)| answer.as_str()).collect();
            (asked.clone(), counts.join(" or "))
        });
        self.results.extend(answers.zip(results).map(|((asked, answer), result)| (asked, answer, result)));
        Ok(())
    }

    /// Writes the file, says what there was, and whether something is left for people to do.
    fn finish(&self, dry_run: bool) -> Result<bool, Error> {
        let path = self.path.display();
        if dry_run && self.after != self.before {
            let diff = TextDiff::from_lines(&self.before, &self.after);
            output::print(&diff.unified_diff().header(&path.to_string(), &path.to_string()).to_string())?;
        } else if self.after != self.before {
            if let Some(folder) = self.path.parent() {
                std::fs::create_dir_all(folder).map_err(|source| Error::Io {
                    action: "create",
                    path: folder.to_path_buf(),
                    source,
                    help: "name another folder with --expectations DIR",
                })?;
            }
            output::write_file(&self.path, &self.after)?;
        }
        let mut text = String::new();
        let mut open = false;
        for (asked, answer, result) in &self.results {
            let line = format!("{}/{} {}: {answer}", asked.row, asked.variant, asked.api_and_trigger());
            let _ = match result {
                Recorded::Known => Ok(()),
                Recorded::Added => writeln!(text, "added       {line}"),
                Recorded::Replaced(old) => writeln!(text, "replaced    {line}; it was {old}"),
                Recorded::Bounded(old) => writeln!(text, "bounded     {line}; it is {old}"),
                Recorded::Contradicts(old) => {
                    open = true;
                    writeln!(text, "CONTRADICTS {line}; measured on this version was {old}: not written")
                }
                Recorded::ByHand(why) => {
                    open = true;
                    writeln!(text, "BY HAND     {line}: {why}")
                }
            };
        }
        let of = |is: fn(&Recorded) -> bool| self.results.iter().filter(|(.., result)| is(result)).count();
        let verb = match (self.after == self.before, dry_run) {
            (true, _) => "unchanged",
            (false, true) => "would be written",
            (false, false) => "written",
        };
        let _ = writeln!(
            text,
            "{path}: {verb}, {} new, {} changed, {} known, {} open",
            of(|result| *result == Recorded::Added),
            of(|result| matches!(result, Recorded::Replaced(_) | Recorded::Bounded(_))),
            of(|result| *result == Recorded::Known),
            of(|result| matches!(result, Recorded::Contradicts(_) | Recorded::ByHand(_))),
        );
        output::print(&text)?;
        if self.after != self.before && !dry_run {
            error::note(
                "read it before you commit it; it counts from the next build on, or with --expectations DIR",
            );
        }
        Ok(open)
    }
}

fn is_change(result: &Recorded) -> bool {
    matches!(result, Recorded::Added | Recorded::Replaced(_) | Recorded::Bounded(_))
}
