//! The arguments that several commands have.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use matrix::provenance;
use matrix::schedule::{SLOW_VARIABLE, slowness};
use matrix::{Environment, Selection, Shard};
use metadata::{Layer, RunSpec, Seed};

/// The options that select cells.
#[derive(clap::Args, Clone)]
pub struct SelectionArgs {
    /// Only cells whose id begins with PREFIX: migration, migration/idle,
    /// migration/idle-takeover/tcp-level-2t1g@epoll
    #[arg(value_name = "PREFIX")]
    prefixes: Vec<String>,
    /// Only cells of this backend; repeatable
    #[arg(long = "backend", value_name = "NAME")]
    backends: Vec<String>,
    /// Only cells whose id contains TEXT, or matches it as a pattern if it has a `*` or `?`; repeatable
    #[arg(long = "filter", value_name = "TEXT")]
    filters: Vec<String>,
    /// Only cells of this layer: contract (must hold everywhere) or characterisation (recorded per OS)
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    /// Only the K-th of N parts of the selected cells, one part per machine: those whose id has a 64-bit
    /// FNV-1a hash that is K - 1 modulo N
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
}

impl SelectionArgs {
    /// Returns whether an option selects cells.
    pub fn is_given(&self) -> bool {
        !self.prefixes.is_empty()
            || !self.backends.is_empty()
            || !self.filters.is_empty()
            || self.layer.is_some()
            || self.shard.is_some()
    }

    /// Returns whether every cell is selected.
    pub fn is_all(&self, environment: &Environment) -> bool {
        self.selection(environment) == Selection::default()
    }

    /// Returns whether prefixes select the cells.
    pub fn has_prefixes(&self) -> bool {
        !self.prefixes.is_empty()
    }

    /// Converts the options to a selection. Adapters select their own cells unless backends are given, and
    /// behaviours theirs unless prefixes are given.
    pub fn selection(&self, environment: &Environment) -> Selection {
        let adapters = || environment.adapters().map(str::to_owned).collect();
        let behaviours = || {
            let behaviours =
                environment.behaviours().map(|behaviours| behaviours.scenarios()).unwrap_or_default();
            behaviours.iter().map(|behaviour| format!("{}/", behaviour.id)).collect()
        };
        Selection {
            prefixes: if self.prefixes.is_empty() { behaviours() } else { self.prefixes.clone() },
            backends: if self.backends.is_empty() { adapters() } else { self.backends.clone() },
            filters: self.filters.clone(),
            layer: self.layer,
            shard: self.shard,
        }
    }
}

/// The slowness of the machine.
#[derive(clap::Args, Clone)]
pub struct SlowArg {
    /// Multiply all time limits by N, for a slow machine (an emulator, a debugger) [default: 1; an
    /// executor measures it]
    #[arg(long = "slow", value_name = "N", env = SLOW_VARIABLE, value_parser = slowness)]
    pub times: Option<NonZeroU32>,
}

impl SlowArg {
    /// Returns how many times slower the machine is, 1 by default.
    pub fn factor(&self) -> NonZeroU32 {
        self.times.unwrap_or(NonZeroU32::MIN)
    }
}

/// The seed, and the slowness of the machine.
#[derive(clap::Args, Clone)]
pub struct ChanceArgs {
    /// The seed of all random choices; each further attempt of a cell adds 1. The system still decides the
    /// order in which threads run [default: a new seed]
    #[arg(long, value_name = "SEED")]
    seed: Option<Seed>,
    #[command(flatten)]
    pub slow: SlowArg,
}

impl ChanceArgs {
    /// Returns the given seed, if there is one.
    pub fn given(&self) -> Option<Seed> {
        self.seed
    }

    /// Returns the given seed, or a new one.
    pub fn seed(&self) -> Seed {
        self.seed.unwrap_or_else(provenance::new_seed)
    }
}

/// The fault to switch on.
#[derive(clap::Args, Clone)]
pub struct FaultArg {
    /// Switch on this fault, with which cells are expected to fail (`pollmatrix faults --list` lists the
    /// faults)
    #[arg(long = "fault", value_name = "NAME")]
    pub name: Option<String>,
}

/// The rate of injected errors.
#[derive(clap::Args, Clone)]
pub struct InjectArg {
    /// Make one in ONE_IN system calls below the core's pollers fail, with an error of its manual page; the
    /// seed decides which. Contract scenarios must pass nevertheless
    #[arg(
        long = "inject-errors",
        value_name = "ONE_IN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "20"
    )]
    pub one_in: Option<NonZeroU32>,
}

/// How late data are.
#[derive(clap::Args, Clone)]
pub struct LateArg {
    /// Let what a scenario sends over a socket arrive up to MILLISECONDS late; the seed decides when.
    /// Contract scenarios must pass nevertheless
    #[arg(
        long = "late-data",
        value_name = "MILLISECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "20"
    )]
    pub most: Option<NonZeroU32>,
}

/// Which timelines are kept.
#[derive(clap::Args, Clone)]
pub struct TimelineArg {
    /// Keep what each thread of a contract scenario did for `pollmatrix show --timeline`, also of cells that
    /// pass
    #[arg(long = "timeline")]
    pub of_all: bool,
}

/// The options of attempts at cells.
#[derive(clap::Args, Clone)]
pub struct AttemptArgs {
    /// The number of cells to run in parallel [default: the number of processors]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Run each cell N times. If all attempts pass, the cell passes; if some pass, it is flaky
    #[arg(long, value_name = "N", default_value = "1")]
    pub repeat: NonZeroU32,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub late: LateArg,
    #[command(flatten)]
    pub timeline: TimelineArg,
    #[command(flatten)]
    pub chance: ChanceArgs,
}

impl AttemptArgs {
    /// Converts the options, with a new seed if none is given.
    pub fn spec(&self) -> RunSpec {
        RunSpec {
            fault: self.fault.name.clone(),
            inject_errors: self.inject.one_in,
            late_data: self.late.most,
            repeat: self.repeat.get(),
            timeline: self.timeline.of_all,
            slow: self.chance.slow.times,
            jobs: self.jobs,
            ..RunSpec::new(self.chance.seed())
        }
    }
}

/// The greatest number of failed cells in the summary of a run. The report has all of them.
pub const NAMED: usize = 25;

/// The default report directory.
pub const DEFAULT_REPORT_DIR: &str = "pollmatrix-report";

/// The report directory.
#[derive(clap::Args, Clone)]
pub struct ReportDirArg {
    /// The report directory
    #[arg(long = "report-dir", value_name = "DIR", default_value = DEFAULT_REPORT_DIR)]
    pub path: PathBuf,
}

/// The output formats of a run.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RunFormat {
    /// A table of the matrix, and the failures
    Text,
    /// The content of results.json
    Json,
    /// The content of report.md
    Markdown,
}

/// The output formats of the other commands.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for reading
    Text,
    /// JSON for programs
    Json,
}

/// Parses a duration of at most a year, so that adding it to a time does not overflow.
pub fn duration(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(365 * 24 * 3600);
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration <= MOST { Ok(duration) } else { Err("at most 365days".to_owned()) }
}
