//! `pollmatrix expectations record`: writes new answers into the expectations.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::{backends, diagnostics, output};
use metadata::{Asked, CellResult, Column, Defect, Os, Results, Run, is_api_of, one_line};
use raw::expectations::{
    Compared, Expectations, NO_ANSWER, Recorded, Recording, Version, answers_file, is_overlay, record,
};
use similar::TextDiff;

use super::judge;
use crate::error::Error;
use crate::{config, exit, generate, input};

#[derive(clap::Args)]
pub struct RecordArgs {
    /// Results to record: results.json files, or report directories
    #[arg(value_name = "RESULTS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Write nothing, and show the changes as a diff
    #[arg(long)]
    pub dry_run: bool,
    /// Record answers from behind an emulator or another command, too, which can differ from the kernel's
    #[arg(long)]
    pub emulated: bool,
    /// The root of the source tree to write to, without --expectations [default: the folder that
    /// pollmatrix.toml names, or the nearest parent folder with matrix.yml and crates]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

/// The number of times that each answer was observed, by query.
pub type Answered = BTreeMap<Asked, BTreeMap<String, usize>>;

/// A file of expectations: its system, and its adapter. `None` for the kernel's own pollers.
type FileKey = (Os, Option<String>);

/// The answers of one source.
pub struct SourceAnswers {
    name: String,
    text: String,
    version: Version,
    poller: Option<String>,
    column: Option<Column>,
    pub answered: Answered,
}

impl SourceAnswers {
    /// The source of an adapter's answers in a run, or of the kernel's.
    pub fn of(run: &Run, version: &Version, adapter: Option<&str>) -> Self {
        let (name, text) = source(run, version, adapter);
        let poller = adapter.and_then(|adapter| run.version_of(adapter));
        let is_adapter = |name: &&str| run.kqueue_library() != Some(*name);
        Self {
            name,
            text,
            version: version.clone(),
            poller: poller.map(|version| one_line(version).into_owned()),
            column: adapter.filter(is_adapter).and_then(|name| run.columns.get(name)).cloned(),
            answered: Answered::new(),
        }
    }

    pub fn recording(self, os: Os, replaces: bool) -> Recording {
        let Self { name: source, text, version, poller, column, answered } = self;
        let answers = answered.into_iter().map(|(asked, counts)| (asked, counts.into_iter().collect()));
        Recording { os, version, poller, column, source, text, answers: answers.collect(), replaces }
    }
}

/// Records the new answers of the results.
pub fn run(expectations: Option<&Path>, args: &RecordArgs) -> Result<ExitCode, Error> {
    let folder = match (expectations, &args.root) {
        (Some(folder), _) => folder.to_path_buf(),
        (None, Some(root)) => root.join("expectations"),
        (None, None) => match config::expectations()? {
            Some(folder) => folder,
            None => generate::find_root()?.join("expectations"),
        },
    };
    // Whoever changes a poller keeps an overlay, and replaces its answers. The kernel's are built in.
    let is_overlay = match folder.is_dir() {
        true => is_overlay(&folder)?,
        false => args.root.is_none(),
    };
    let (mut outside, mut defects) = (BTreeSet::new(), BTreeMap::new());
    let mut sources: BTreeMap<(FileKey, String), SourceAnswers> = BTreeMap::new();
    for path in &args.inputs {
        let results = input::read_of_kernels(path, args.emulated)?;
        defects.extend(self::defects(&results));
        for run in &results.runs {
            let (os, version) = input::system(path, run)?;
            for (adapter, answered) in collect(&results, run) {
                let new = SourceAnswers::of(run, &version, adapter.as_deref());
                let all = &mut sources.entry(((os, adapter), new.name.clone())).or_insert(new).answered;
                for (asked, counts) in answered {
                    if raw::expectations::title(&asked.behaviour).is_none() {
                        outside.insert(asked.behaviour);
                        continue;
                    }
                    let known = all.entry(asked).or_default();
                    counts.into_iter().for_each(|(answer, count)| *known.entry(answer).or_default() += count);
                }
            }
        }
    }
    if !outside.is_empty() {
        let behaviours: Vec<_> = outside.into_iter().collect();
        diagnostics::note(&format!(
            "the answers of {} are not recorded: only behaviours of the catalogue have expectations",
            behaviours.join(", ")
        ));
    }
    if sources.values().all(|source| source.answered.is_empty()) {
        return Err(input::without_answers(&args.inputs[0]));
    }
    let mut files: BTreeMap<FileKey, RecordedFile> = BTreeMap::new();
    for (((os, adapter), _), mut source) in sources {
        if is_overlay && adapter.is_none() {
            let (built_in, version) = (Expectations::built_in_of(os, &[])?, source.version.clone());
            source.answered.retain(|asked, counts| match built_in.expected(os, Some(&version), asked) {
                Some(known) => counts.keys().any(|answer| known.compare(answer) == Compared::Different),
                None => true,
            });
            if source.answered.is_empty() {
                continue;
            }
        }
        let recording = source.recording(os, is_overlay && adapter.is_some());
        let path = folder.join(answers_file(os, adapter.as_deref()));
        let written = match files.entry((os, adapter)) {
            Entry::Occupied(present) => present.into_mut(),
            Entry::Vacant(place) => place.insert(RecordedFile::open(path)?),
        };
        written.record(&recording)?;
    }
    let mut open = false;
    for written in files.values() {
        open |= written.finish(&defects, args.dry_run)?;
    }
    Ok(if open { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

/// Returns the key and the text of a run's source, for the answers of an adapter or of the kernel.
pub fn source(run: &Run, version: &Version, adapter: Option<&str>) -> (String, String) {
    let build = run.commit.as_deref().unwrap_or(&run.pollmatrix);
    let runner =
        if run.runner == "native" { String::new() } else { format!(", runner {}", run.runner_in_full()) };
    let library = run.kqueue.clone().filter(|_| adapter.is_some() && adapter == run.kqueue_library());
    let poller = library.or_else(|| {
        let (name, version) = run.adapters.get_key_value(adapter?)?;
        Some(format!("{name} {}", one_line(version)))
    });
    // A key needs no quotes.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '+');
    let key = |poller: &String| poller.replace(|letter: char| !is_plain(letter), "-") + "-";
    let prefix = poller.as_ref().map(key).unwrap_or_default();
    let of = poller.map(|poller| format!("{poller} on ")).unwrap_or_default();
    let name = format!("recorded-{prefix}{version}-{}-{build}", run.arch);
    let text = format!(
        "measured on {of}{} {}, {}{runner}, by pollmatrix {}",
        run.os,
        run.kernel,
        run.machine,
        run.build()
    );
    (name, text)
}

/// Collects the answers of a run's cells, by adapter. `None` for the kernel's own pollers.
pub fn collect(results: &Results, run: &Run) -> BTreeMap<Option<String>, Answered> {
    let mut all: BTreeMap<Option<String>, Answered> = BTreeMap::new();
    for cell in results.cells.iter().filter(|cell| cell.target == run.target) {
        let has_answers = judge::has_verdict(cell.status);
        for check in cell.checks.iter().filter(|check| has_answers && check.observed != NO_ANSWER) {
            if let Some(asked) = &check.asked {
                let Some(adapter) = adapter_of(cell, asked, run) else { continue };
                let answered = all.entry(adapter).or_default();
                let counts = answered.entry(asked.clone()).or_default();
                *counts.entry(check.observed.clone()).or_default() += 1;
            }
        }
    }
    all
}

/// Returns what is wrong with answers in every reading.
fn defects(results: &Results) -> impl Iterator<Item = (Asked, Defect)> {
    results.cells.iter().flat_map(|cell| {
        let promises = judge::promises(results, cell);
        cell.checks.iter().filter_map(move |check| {
            let asked = check.asked.clone()?;
            let defect = raw::cell::defect(&promises, &asked, &check.observed)?;
            Some((asked, defect))
        })
    })
}

/// Returns the adapter, or the library with kqueue(2), that gave an answer: `Some(None)` is the kernel.
///
/// Answers of other system calls in the cells of an adapter belong to the kernel. In those of a library they
/// are nobody's: it makes system calls for the same descriptors in the same process.
fn adapter_of(cell: &CellResult, asked: &Asked, run: &Run) -> Option<Option<String>> {
    let its_own = is_api_of(&asked.api, &cell.backend);
    let is_adapter = !backends::is_own(&cell.backend);
    match run.kqueue_library().filter(|_| cell.backend == "kqueue") {
        Some(library) => its_own.then(|| Some(library.to_owned())),
        None => Some((its_own && is_adapter).then(|| cell.backend.clone())),
    }
}

/// A file of expectations, before and after.
struct RecordedFile {
    path: PathBuf,
    before: String,
    after: String,
    results: Vec<(Asked, String, Recorded)>,
}

impl RecordedFile {
    fn open(path: PathBuf) -> Result<Self, Error> {
        let before = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                let help = "make it readable, or name another folder with --expectations DIR";
                return Err(matrix::Error::io("read", path, help)(error).into());
            }
        };
        Ok(Self { path, after: before.clone(), before, results: Vec::new() })
    }

    fn record(&mut self, recording: &Recording) -> Result<(), Error> {
        let (text, results) = record(&self.after, &self.path.display().to_string(), recording)?;
        self.after = text;
        let answers = recording.answers.iter().map(|(asked, counts)| {
            let counts: Vec<_> = counts.iter().map(|(answer, _)| answer.as_str()).collect();
            (asked.clone(), counts.join(" or "))
        });
        self.results.extend(answers.zip(results).map(|((asked, answer), result)| (asked, answer, result)));
        Ok(())
    }

    /// Writes the file, and prints the recorded answers. Returns whether an answer needs work by hand.
    fn finish(&self, defects: &BTreeMap<Asked, Defect>, dry_run: bool) -> Result<bool, Error> {
        let path = self.path.display();
        if dry_run && self.after != self.before {
            let diff = TextDiff::from_lines(&self.before, &self.after);
            output::print(&diff.unified_diff().header(&path.to_string(), &path.to_string()).to_string())?;
        } else if self.after != self.before {
            output::create_folder_of(&self.path, "name another folder with --expectations DIR")?;
            output::write_file(&self.path, &self.after)?;
        }
        let mut text = String::new();
        let mut open = false;
        for (asked, answer, result) in &self.results {
            let mut line =
                format!("{}/{} {}: {answer}", asked.behaviour, asked.variant, asked.api_and_trigger());
            if let Some(defect) = defects.get(asked) {
                let _ = write!(line, " (wrong in every reading: {})", defect.meaning());
            }
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
            diagnostics::note(
                "review it before you commit it; it takes effect with the next build, or with --expectations DIR",
            );
        }
        Ok(open)
    }
}
