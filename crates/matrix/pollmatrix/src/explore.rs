//! `pollmatrix explore`: finds scripts to which two pollers answer differently.

mod explained;
mod folder;
mod known;
mod limits;
mod proposal;
mod side;
mod text;

use std::collections::BTreeSet;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use explore::compare::Comparison;
use explore::{
    Corpus, Features, Line, MakeSide, Outcome, Progress, Recorded, Recording, Settings, explore,
    with_shorter_lines,
};
use matrix::executable::{self, Executable};
use matrix::signals::{self, Stop};
use matrix::{backends, diagnostics, output, provenance};

use metadata::{Mode, Transport};

use crate::args::{ChanceArgs, Format, duration};
use crate::error::Error;
use crate::shown::Shown;
use crate::{exit, input};
use explained::explain;
use folder::{Folder, State};
use limits::Limits;
use proposal::Proposal;
use side::Processes;
pub use side::{LinesArgs, perform};
use text::Head;

#[derive(clap::Args)]
pub struct ExploreArgs {
    /// The first poller: a backend (epoll), a built-in library (mio), or an adapter ('./my-adapter epoll')
    /// [default: the first backend of this machine]
    #[arg(long, value_name = "POLLER")]
    pub left: Option<String>,
    /// The second poller
    #[arg(long, value_name = "POLLER", required_unless_present_any = ["record", "against"])]
    pub right: Option<String>,
    /// Record the answers of the left side in FILE, to compare them elsewhere
    #[arg(long, value_name = "FILE", conflicts_with_all = ["right", "against", "propose"])]
    pub record: Option<PathBuf>,
    /// Compare the left side with the answers in FILE, which `--record` wrote here or elsewhere
    #[arg(long, value_name = "FILE", conflicts_with_all = ["right", "lines", "duration", "resume", "corpus"])]
    pub against: Option<PathBuf>,
    /// Accept the disagreements in FILE, which `--propose=FILE.txt` writes: one per line. Those that do not
    /// show any more are named
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub known: Option<PathBuf>,
    /// The folder of lines that have shown something new. They are performed first, and others are drawn from
    /// them [default: pollmatrix-corpus/LEFT-RIGHT]
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// Draw this many lines [default: 10000, or as many as fit into --duration]
    #[arg(long, value_name = "N")]
    pub lines: Option<u64>,
    /// Draw none: perform every line of at most N clauses, the shortest first. Each difference that they show
    /// is then found at its shortest. Each further clause multiplies the number of lines by 30 or more
    #[arg(long, value_name = "N", conflicts_with_all = ["lines", "resume", "against"])]
    pub every: Option<NonZeroUsize>,
    /// End before this time passes: 30s, 15m, 2h; a quarter of it is for the last round and the catalogue
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Only lines over this transport; repeatable
    #[arg(long = "transport", value_name = "TRANSPORT")]
    pub transports: Vec<Transport>,
    /// Only lines whose registrations have this mode; repeatable
    #[arg(long = "mode", value_name = "MODE")]
    pub modes: Vec<Mode>,
    /// A disagreement counts if it shows in at least K of N repetitions in new processes
    #[arg(long, value_name = "K/N", default_value = "4/5", value_parser = confirmation)]
    pub confirm: (u32, u32),
    /// The number of lines to perform in parallel [default: the number of processors]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// Continue the exploration whose state is in the corpus, with its seed
    #[arg(long, conflicts_with = "seed")]
    pub resume: bool,
    /// Print the disagreements without an explanation as behaviours for `pollmatrix run --behaviours`, and as
    /// expectations. With FILE, write the behaviours into it; if its name ends in .txt, write lines for
    /// --known
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub propose: Option<Option<PathBuf>>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Parses `K/N`.
fn confirmation(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    match parsed {
        Some((k, n)) if (1..=n).contains(&k) => Ok((k, n)),
        _ => Err("write K/N, with K from 1 to N: 4/5".into()),
    }
}

/// The default folder of corpora.
const CORPORA: &str = "pollmatrix-corpus";
/// The default number of lines.
const LINES: u64 = 10_000;
/// The greatest number of lines in a recording for each line of the corpus.
const SHORTER: usize = 24;

/// Explores, and prints the disagreements. `expectations` is the folder that knows some of them.
pub fn run(args: &ExploreArgs, expectations: Option<&Path>) -> Result<ExitCode, Error> {
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let limits = Limits::of(&stop, args.duration);
    let executable = Executable::watch(&executable::own()?);
    let slow = args.chance.slow.factor();
    let first = || backends::here().next().map_or("poll", |first| first.name).to_owned();
    let left = Processes::of(&args.left.clone().unwrap_or_else(first), slow, &executable, &limits)?;
    let code = match (&args.record, &args.against, &args.right) {
        (Some(file), _, _) => record(args, &left, file, &limits)?,
        (_, Some(file), _) => {
            let (recorded, lines) = read_recording(file)?;
            compare(args, &left, &recorded, Some(lines), None, &limits)?
        }
        (_, _, Some(right)) => {
            let right = Processes::of(right, slow, &executable, &limits)?;
            compare(args, &left, &right, None, Some((&right, expectations)), &limits)?
        }
        // The parser requires one of them.
        (None, None, None) => ExitCode::from(exit::ERROR),
    };
    executable.check()?;
    Ok(code)
}

/// Returns the side that a recording stands for, and its lines.
fn read_recording(file: &Path) -> Result<(Recorded, Vec<Line>), Error> {
    let failed = matrix::Error::io("read", file, "give a file that `pollmatrix explore --record` wrote");
    let bytes = File::open(file).and_then(|file| metadata::read_at_most(file, input::BYTES));
    let text = String::from_utf8_lossy(&bytes.map_err(failed)?).into_owned();
    let read =
        Recording::read(&text).and_then(|recording| Ok((Recorded::of(&recording)?, recording.parsed()?)));
    read.map_err(|error| Error::Recording { path: file.to_path_buf(), message: error.to_string() })
}

/// Explores the left side beside another one, which is `live`, with the expectations of both, or recorded. A
/// recorded side has the `given` lines only.
fn compare(
    args: &ExploreArgs,
    left: &Processes<'_>,
    right: &dyn MakeSide,
    given: Option<Vec<Line>>,
    live: Option<(&Processes<'_>, Option<&Path>)>,
    limits: &Limits<'_>,
) -> Result<ExitCode, Error> {
    let comparison = Comparison::of(left.about(), right.about());
    let names = [left.about().name.clone(), right.about().name.clone()];
    if comparison.features().modes.is_empty() {
        diagnostics::note(&format!("{} and {} have no mode in common", names[0], names[1]));
        return Ok(ExitCode::from(exit::CELL_UNSUPPORTED));
    }
    let known = args.known.as_deref().map(known::read).transpose()?.unwrap_or_default();
    let proposal = args.propose.as_ref().map(|file| Proposal::of(file.as_deref(), args.known.as_deref()));
    let proposal = proposal.transpose()?;
    // A recorded side cannot be asked the questions of the catalogue, so nothing explains its answers.
    let mut cells = match live {
        Some((right, expectations)) => Some([left.cells(expectations)?, right.cells(expectations)?]),
        None => None,
    };
    let mut run = Run::of(args, &names.join("-"), names.to_vec(), given.is_none())?;
    run.settings.accepted.clone_from(&known);
    let (mut outcome, unwritten) = run.explore((left, Some(right)), &comparison, given, limits);
    outcome.explain(|clusters| match &mut cells {
        Some(cells) => explain(clusters, cells, limits),
        None => clusters.iter_mut().for_each(|cluster| cluster.known.clear()),
    });
    let head = Head {
        comparison: &comparison,
        seed: run.state.seed,
        options: [left.option(), live.map_or_else(String::new, |(right, _)| right.option())],
        corpus: (run.folder.is_some() && unwritten.is_none()).then(|| run.path.display().to_string()),
        known: args.known.as_ref().map(|file| (file.display().to_string(), &*known)),
    };
    let proposed = proposal.as_ref().map(|proposal| proposal.text(&head, &outcome)).unwrap_or_default();
    output::print(&match args.format {
        Format::Json => text::json(&head, &outcome, limits.signal().is_some()),
        Format::Text => text::text(&head, &outcome, if args.propose == Some(None) { &proposed } else { "" }),
    })?;
    if let Some(proposal) = proposal.filter(|_| !proposed.is_empty()) {
        proposal.write(&proposed)?;
    }
    // After the disagreements, which must not be lost with the corpus.
    if let Some(error) = unwritten {
        return Err(error);
    }
    let is_agreement =
        outcome.is_verdict() && outcome.progress.missing == 0 && outcome.progress.unexplained == 0;
    Ok(match limits.signal() {
        Some(signal) => ExitCode::from(signal),
        None if is_agreement => ExitCode::SUCCESS,
        None => ExitCode::from(exit::FAILED),
    })
}

/// Records the answers of the left side to the lines of its corpus, and to shorter ones.
fn record(
    args: &ExploreArgs,
    left: &Processes<'_>,
    file: &Path,
    limits: &Limits<'_>,
) -> Result<ExitCode, Error> {
    let about = left.about();
    let comparison = Comparison::of(about, about);
    let mut run = Run::of(args, &about.name, vec![about.name.clone()], true)?;
    let (explored, unwritten) = run.explore((left, None), &comparison, None, limits);
    let lines: Vec<_> = run.corpus.lines().cloned().collect();
    let features: &Features = comparison.features();
    let lines = with_shorter_lines(&lines, features, lines.len().saturating_mul(SHORTER));
    let settings = Settings { catalogue: false, ..run.settings.clone() };
    let mut none = Corpus::default();
    let mut shown = Shown::new(lines.len() as u64);
    let stopped = || limits.are_over();
    let outcome = explore(
        (left, None),
        &comparison,
        &mut none,
        Some(lines),
        &settings,
        &stopped,
        &mut |progress, _| shown.update(progress.lines, || text::progress(progress)),
    );
    shown.end();
    if outcome.is_stopped && limits.signal().is_none() {
        diagnostics::note(
            "the time was over before every shorter line was performed: give a longer --duration",
        );
    }
    // The lines of the corpus were performed when they were drawn. The rest can lack what time did not allow.
    let of_corpus: BTreeSet<_> = run.corpus.lines().map(Line::to_string).collect();
    let mut answers = explored.recorded;
    answers.retain(|line, _| of_corpus.contains(line));
    answers.extend(outcome.recorded);
    let recording =
        Recording::of(provenance::VERSION, about, answers.values().map(|(line, runs)| (line, runs)));
    output::write_file(file, &metadata::json(&serde_json::json!(recording)))?;
    output::print(&format!(
        "{} on {}: the answers to {} lines are in {}\n",
        about.name,
        about.system,
        recording.lines.len(),
        file.display()
    ))?;
    if let Some(error) = unwritten {
        return Err(error);
    }
    Ok(limits.signal().map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// An exploration with its corpus.
struct Run {
    path: PathBuf,
    /// `None` if nothing is written.
    folder: Option<Folder>,
    corpus: Corpus,
    state: State,
    settings: Settings,
}

impl Run {
    fn of(args: &ExploreArgs, name: &str, sides: Vec<String>, has_corpus: bool) -> Result<Self, Error> {
        let path = args.corpus.clone().unwrap_or_else(|| Path::new(CORPORA).join(name));
        let (folder, lines) = match has_corpus {
            true => Folder::read(&path, !args.resume).map(|(folder, lines)| (Some(folder), lines))?,
            false => (None, Vec::new()),
        };
        let mut corpus = Corpus::default();
        lines.iter().for_each(|line| corpus.pin(line));
        let before = match (&folder, args.resume) {
            (Some(folder), true) => folder.state()?.filter(|state| state.sides == sides),
            _ => None,
        };
        if args.resume && before.is_none() {
            let why = format!("it has no exploration of {}", sides.join(" and "));
            return Err(Error::Unfit { path, why, help: "omit --resume to begin one" });
        }
        let state = before.unwrap_or_else(|| State { seed: args.chance.seed(), rounds: 0, sides });
        let lines = match (args.lines, args.duration, args.every) {
            (None, None, None) => Some(LINES),
            (lines, ..) => lines,
        };
        let proposes_known = args.propose.iter().flatten().any(|file| proposal::is_for_known(file));
        let (confirmed, confirm) = args.confirm;
        let settings = Settings {
            seed: state.seed.0,
            first_round: state.rounds,
            lines,
            jobs: args.jobs.map_or_else(provenance::cpus, usize::from),
            confirm,
            confirmed,
            transports: args.transports.clone(),
            modes: args.modes.clone(),
            every: args.every.map(usize::from),
            // An exploration with --known finds what the one with --propose=FILE.txt has found: neither
            // depends on earlier ones.
            replay: args.resume || !(args.known.is_some() || proposes_known),
            ..Settings::default()
        };
        Ok(Self { path, folder, corpus, state, settings })
    }

    /// Explores, and writes the corpus after each round. An error is that of the corpus, which ends the
    /// exploration.
    fn explore(
        &mut self,
        sides: (&dyn MakeSide, Option<&dyn MakeSide>),
        comparison: &Comparison,
        given: Option<Vec<Line>>,
        limits: &Limits<'_>,
    ) -> (Outcome, Option<Error>) {
        let total = given.as_ref().map_or(self.settings.lines, |given| Some(given.len() as u64));
        let mut shown = Shown::new(total.unwrap_or(0));
        let mut failed = None;
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let stopped = || limits.are_over() || is_over.load(std::sync::atomic::Ordering::Relaxed);
        let (folder, state) = (&mut self.folder, &mut self.state);
        let mut each = |progress: &Progress, corpus: &mut Corpus| {
            shown.update(progress.lines, || text::progress(progress));
            // The folder is replaced only when everything in it was performed again.
            if progress.rounds > state.rounds {
                state.rounds = progress.rounds;
                if let Some(folder) = folder.as_mut()
                    && let Err(error) = folder.write(corpus, state)
                {
                    failed.get_or_insert(error);
                }
            }
            if limits.is_drawn() || failed.is_some() {
                // Relaxed: the flag publishes no other data.
                is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let mut outcome =
            explore(sides, comparison, &mut self.corpus, given, &self.settings, &stopped, &mut each);
        shown.end();
        if let Some(folder) = &mut self.folder
            && failed.is_none()
            && (outcome.progress.lines > 0 || !outcome.is_stopped)
        {
            self.corpus.minimise();
            outcome.progress.corpus = self.corpus.len();
            failed = folder.write(&self.corpus, &self.state).err();
        }
        (outcome, failed)
    }
}
