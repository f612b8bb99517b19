//! The command line.

use std::io::{self, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, value_parser};
use matrix::{Selection, Shard};
use metadata::{Layer, Mode, Os, Seed, Transport};
use runner::command::Words;
use runner::plan::Attempts;
use runner::provenance::{self, VERSION};
use runner::schedule::{SLOW_VARIABLE, slowness};
use runner::session::Request;
use runner::ways::Elsewhere;
use runner::{Environment, output};

use crate::error::Error;
use crate::exit;

/// Where reports are unless something else is asked for.
pub const DEFAULT_REPORT_DIR: &str = "pollmatrix-report";

/// How many cells that did not pass are named at the end of a run. All of them are in the report.
pub const NAMED: usize = 25;

/// The same scenarios, over every poller, on every OS, with published answers.
///
/// Without a command, runs every cell of the matrix that this machine can run: `pollmatrix run`.
#[derive(Parser)]
#[command(name = "pollmatrix", version = VERSION, after_help = exit::HELP, max_term_width = 110)]
struct CommandLine {
    #[command(flatten)]
    matrix: MatrixArg,
    #[command(flatten)]
    expectations: ExpectationsArg,
    #[command(flatten)]
    subjects: SubjectsArg,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What was asked for.
pub struct Args {
    /// The file to read in place of the matrix that is built in.
    pub matrix: Option<PathBuf>,
    /// The folder to read in place of the expectations that are built in.
    pub expectations: Option<PathBuf>,
    /// Other people's pollers to ask.
    pub subjects: Vec<String>,
    /// The command.
    pub command: Command,
}

/// Reads the process's arguments. The exit code if they are wrong or ask for help, which is printed.
pub fn parse() -> Result<Args, ExitCode> {
    // No command is `run` with its defaults.
    let run = || CommandLine::try_parse_from(["pollmatrix", "run"]).map(|line| line.command);
    let parsed = CommandLine::try_parse().and_then(|line| match line.command {
        Some(_) => Ok(line),
        None => Ok(CommandLine { command: run()?, ..line }),
    });
    let line = parsed.map_err(|error| explain(&error))?;
    Ok(Args {
        matrix: line.matrix.matrix,
        expectations: line.expectations.dir,
        subjects: line.subjects.subjects,
        command: line.command.unwrap_or_else(|| unreachable!("`run` is a command")),
    })
}

/// Prints the help, the version, or what is wrong with the arguments.
fn explain(error: &clap::Error) -> ExitCode {
    let written = error.print().and_then(|()| io::stdout().flush());
    match output::printed(written) {
        Err(lost) if !error.use_stderr() => Error::from(lost).exit(),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::ERROR)),
    }
}

#[derive(ClapArgs)]
struct MatrixArg {
    /// Use this matrix file instead of the one built into pollmatrix.
    #[arg(long, global = true, value_name = "FILE")]
    matrix: Option<PathBuf>,
}

#[derive(ClapArgs)]
struct ExpectationsArg {
    /// Use the expectations in this folder instead of those built into pollmatrix.
    #[arg(long = "expectations", visible_alias = "dir", global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(ClapArgs)]
struct SubjectsArg {
    /// Ask somebody else's poller, too: a library by its name (mio), or a program that speaks the protocol of
    /// docs/subjects.md ('./my-adapter epoll'); repeatable. Without --backend, cells are those of the subjects.
    #[arg(long = "subject", global = true, value_name = "NAME|COMMAND")]
    subjects: Vec<String>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run cells, each in a process of its own, and write the report (this is the default command)
    ///
    /// The report directory gets report.html to look around in, report.md, results.json and junit.xml.
    #[command(after_help = exit::HELP)]
    Run(RunArgs),
    /// List cells, and say which this machine cannot run
    List(ListArgs),
    /// Show for each target in which ways this machine can run it, and what is missing for the others
    Targets(TargetsArgs),
    /// Show the newest result of one cell in full, on each target that the report has
    Show(ShowArgs),
    /// Join the results of several runs into one report, one column per target and backend
    ///
    /// Runs of different targets, and runs of different cells of one target. Every run keeps its provenance. The order
    /// of the inputs makes no difference, unless --prefer says so.
    #[command(after_help = exit::MERGE_HELP)]
    Merge(MergeArgs),
    /// Compare two reports cell by cell
    #[command(after_help = exit::DIFF_HELP)]
    Diff(DiffArgs),
    /// Switch on each fault in each scenario, and print the kill matrix: which scenario catches which fault
    ///
    /// A fault is killed by a cell that passes without it and fails, crashes or hangs with it, if harness/control passes with
    /// it: otherwise the harness catches it, and the scenario proves nothing. Cells wait for less time than usual here; a
    /// cell that only ran out of it is no proof before it was given all its time.
    #[command(after_help = exit::FAULTS_HELP)]
    Faults(FaultsArgs),
    /// Do everything at random, on every thread at once, with all invariants checked
    ///
    /// Takeovers, migrations, deletes, inserts, wants and stops of real descriptors, a listener per group that is
    /// flapped and called meanwhile; every second all of it is brought to rest, and what must be true then is checked.
    #[command(after_help = exit::SOAK_HELP)]
    Soak(SoakArgs),
    /// Show what each system's pollers are expected to answer, side by side
    Expectations(ExpectationsArgs),
    /// Perform a line of verbs on every backend that is here, side by side
    ///
    /// The line says what is done and what is looked at: 'own and peer are connected, watch own, peer shuts write, look at own'.
    /// A row of the catalogue (V06) or a scenario (readiness/peer-shut-write) stands for its own lines. Each backend is asked in a
    /// process of its own.
    #[command(after_help = exit::PROBE_HELP)]
    Probe(ProbeArgs),
    /// Write answers that nobody knew before into the expectations, for review
    ///
    /// Reads results of characterisation cells and adds to answers/OS.yml what is not there yet, with the kernel that
    /// answered so as the source. What the file says already stays as it is, but for hypotheses that were contradicted;
    /// what contradicts a measurement is named and not written.
    #[command(after_help = exit::RECORD_HELP)]
    Record(RecordArgs),
    /// Write what each backend answered as a Markdown page per system and backend, for a repository
    ///
    /// The pages have the questions, the lines of verbs and the answers, and nothing that differs from run to run.
    #[command(after_help = exit::PUBLISH_HELP)]
    Publish(PublishArgs),
    /// Check that somebody's adapter speaks the protocol and keeps what scenarios rely on
    ///
    /// Each check asks for one thing, of a subject of its own, and says what was seen if it does not hold. What a subject says
    /// that it cannot is unsupported, and no failure. docs/subjects.md is the protocol.
    #[command(after_help = exit::SUBJECT_CHECK_HELP)]
    SubjectCheck(SubjectCheckArgs),
    /// Split the cells over several machines, for the matrix of a CI or for a Kubernetes Job
    ///
    /// Each of the N machines runs `pollmatrix run --shard K/N`, and `pollmatrix merge` joins what they report. The
    /// split is even by how long the cells of each scenario took when that was last recorded, and the same wherever it
    /// is made.
    Plan(PlanArgs),
    /// Write again what is generated from matrix.yml and from the result types
    Generate(GenerateArgs),
    /// Run cells on this very machine and stream the results as JSON lines; touches no file unless told to
    ///
    /// The far end of `pollmatrix run --via`, and what to start by hand where there is nothing but this program and a
    /// serial console. Each line is one JSON object: first {"line":"begin"} with where it runs, then one
    /// {"line":"cell"} per result as it comes, and {"line":"end"} if none is missing. `pollmatrix run --via import`
    /// reads such lines, with whatever else a console puts between them.
    #[command(after_help = exit::EXEC_HELP)]
    Exec(ExecArgs),
    /// Run one attempt of one cell in this very process and print its result as one JSON line
    ///
    /// `pollmatrix run` starts one of these per attempt. It has no time limit, and it may leave signals, limits
    /// and descriptors changed until it ends. Under a debugger or a tracer this is the command to start.
    #[command(after_help = exit::CELL_HELP)]
    RunCell(RunCellArgs),
}

impl Command {
    /// Whether what is named by `--subject` is asked elsewhere.
    pub fn is_for_a_cluster(&self) -> bool {
        matches!(self, Self::Plan(PlanArgs { format: PlanFormat::K8sJob, .. }))
    }

    /// How many times slower than an ordinary machine this one is said to be.
    pub fn slowness(&self) -> NonZeroU32 {
        let slow = match self {
            Self::Run(RunArgs { attempts, .. }) | Self::Exec(ExecArgs { attempts, .. }) => {
                &attempts.chance.slow
            }
            Self::Faults(FaultsArgs { chance, .. })
            | Self::Soak(SoakArgs { chance, .. })
            | Self::Probe(ProbeArgs { chance, .. }) => &chance.slow,
            Self::RunCell(args) => &args.slow,
            _ => return NonZeroU32::MIN,
        };
        slow.factor()
    }
}

/// Which cells.
#[derive(ClapArgs, Clone)]
pub struct SelectionArgs {
    /// Only cells whose id begins so: migration, migration/idle, migration/idle-takeover/tcp-level-2t1g@epoll
    #[arg(value_name = "PREFIX")]
    prefixes: Vec<String>,
    /// Only cells of this backend; repeatable
    #[arg(long = "backend", value_name = "NAME")]
    backends: Vec<String>,
    /// Only cells whose id contains this, or matches it if it has a `*` or `?` in it; repeatable
    #[arg(long = "filter", value_name = "TEXT")]
    filters: Vec<String>,
    /// Only cells of this layer: contract (must hold everywhere) or characterisation (recorded per OS)
    #[arg(long, value_name = "LAYER")]
    layer: Option<Layer>,
    /// Of these, only the K-th of N parts, which take about equally long: each of N machines runs another one
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
}

impl SelectionArgs {
    /// Whether nothing was asked for, that is, every cell.
    pub fn is_all(&self, environment: &Environment) -> bool {
        self.selection(environment) == Selection::default()
    }

    /// Whether cells were named by how their ids begin.
    pub fn has_prefixes(&self) -> bool {
        !self.prefixes.is_empty()
    }

    /// As the matrix crate wants it.
    pub fn selection(&self, environment: &Environment) -> Selection {
        let subjects = || environment.subjects().map(str::to_owned).collect();
        Selection {
            prefixes: self.prefixes.clone(),
            backends: if self.backends.is_empty() { subjects() } else { self.backends.clone() },
            filters: self.filters.clone(),
            layer: self.layer,
            shard: self.shard,
        }
    }
}

/// How fast the machine is.
#[derive(ClapArgs, Clone)]
pub struct SlowArg {
    /// This machine is N times slower than an ordinary one (an emulator, a debugger): wait N times longer before a cell
    /// is said to hang [default: 1; an executor measures it]
    #[arg(long = "slow", value_name = "N", env = SLOW_VARIABLE, value_parser = slowness)]
    pub times: Option<NonZeroU32>,
}

impl SlowArg {
    /// How many times slower it is, if nobody measures it.
    pub fn factor(&self) -> NonZeroU32 {
        self.times.unwrap_or(NonZeroU32::MIN)
    }
}

/// A time that a clock can reach.
fn duration(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(365 * 24 * 3600);
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration <= MOST { Ok(duration) } else { Err("at most 365days".to_owned()) }
}

/// What is random, and how long it is waited for.
#[derive(ClapArgs, Clone)]
pub struct ChanceArgs {
    /// The seed of everything random; each further attempt of a cell counts up. The order in which threads run is the
    /// system's all the same [default: a new one]
    #[arg(long, value_name = "SEED")]
    seed: Option<Seed>,
    #[command(flatten)]
    pub slow: SlowArg,
}

impl ChanceArgs {
    /// The seed that was asked for.
    pub fn asked(&self) -> Option<Seed> {
        self.seed
    }

    /// That one, or a new one.
    pub fn seed(&self) -> Seed {
        self.seed.unwrap_or_else(provenance::new_seed)
    }
}

/// What is broken on purpose.
#[derive(ClapArgs, Clone)]
pub struct FaultArg {
    /// Switch a fault on: what is run is then meant to fail (`pollmatrix faults --list` lists them)
    #[arg(long = "fault", value_name = "NAME")]
    pub name: Option<String>,
}

/// Which system calls fail on purpose.
#[derive(ClapArgs, Clone)]
pub struct InjectArg {
    /// Make one in N system calls below the core's pollers fail, with an error that its manual page names; the seed
    /// decides which. What must hold everywhere must hold then, too
    #[arg(
        long = "inject-errors",
        value_name = "ONE_IN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "20"
    )]
    pub one_in: Option<NonZeroU32>,
}

/// Where reports are.
#[derive(ClapArgs, Clone)]
pub struct ReportDirArg {
    /// Where the report is
    #[arg(long = "report-dir", value_name = "DIR", default_value = DEFAULT_REPORT_DIR)]
    pub path: PathBuf,
}

/// How cells are attempted, here or where an executor is.
#[derive(ClapArgs, Clone)]
pub struct AttemptArgs {
    /// How many cells to run at the same time [default: what this machine runs at once]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Run each cell N times: all pass is a pass, some is flaky
    #[arg(long, value_name = "N", default_value = "1")]
    pub repeat: NonZeroU32,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub chance: ChanceArgs,
}

impl AttemptArgs {
    /// As the runner wants it.
    pub fn attempts(&self) -> Attempts {
        Attempts {
            jobs: self.jobs,
            repeat: self.repeat,
            fault: self.fault.name.clone(),
            inject_errors: self.inject.one_in,
            seed: self.chance.seed,
            slow: self.chance.slow.times,
        }
    }
}

#[derive(ClapArgs, Clone)]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub attempts: AttemptArgs,
    #[command(flatten)]
    pub elsewhere: ElsewhereArgs,
    /// With --target all: list a target that is not run, and why: s390x-linux-gnu='not built: no linker'; repeatable
    #[arg(long = "not-run", value_name = "TARGET=REASON")]
    pub not_run: Vec<String>,
    /// Continue the interrupted run in the report directory; without cells given, with the same ones
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// What to print at the end; the report directory gets every format in any case
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

impl RunArgs {
    /// As the runner wants it.
    pub fn request(&self, environment: &Environment) -> Request {
        Request {
            selection: self.selection.selection(environment),
            elsewhere: self.elsewhere.elsewhere(),
            attempts: self.attempts.attempts(),
            resume: self.resume,
            dir: self.report_dir.path.clone(),
        }
    }
}

/// Where and how, if not here and natively.
#[derive(ClapArgs, Clone)]
#[command(next_help_heading = "Elsewhere")]
pub struct ElsewhereArgs {
    /// Run the cells of this target; `all`: of every target that can be run from here [default: this machine's own]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// native, prefix, container[:IMAGE], ssh or import [default: the first of the target's ways that works here]
    #[arg(long, value_name = "WAY")]
    pub via: Option<String>,
    /// The target's executable, whatever made it
    #[arg(long, value_name = "FILE")]
    pub executable: Option<PathBuf>,
    /// Where executables are: TRIPLE/release/pollmatrix or pollmatrix-TARGET in it [default: what ci/executable.sh makes]
    #[arg(long, value_name = "DIR", conflicts_with = "executable")]
    pub executables: Option<PathBuf>,
    /// The command in front of the executable, for --via prefix: 'qemu-s390x-static -L /usr/s390x-linux-gnu', ./in-my-sandbox
    #[arg(long, value_name = "COMMAND")]
    pub prefix: Option<Words>,
    /// The machine, for --via ssh, as ssh takes it
    #[arg(long, value_name = "[USER@]HOST")]
    pub host: Option<String>,
    /// ssh and its options
    #[arg(long, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes -o ServerAliveInterval=15")]
    pub ssh: Words,
    /// What an executor has printed, or a results.json, for --via import; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub import: Option<PathBuf>,
}

impl ElsewhereArgs {
    /// As the runner wants it.
    pub fn elsewhere(&self) -> Elsewhere {
        Elsewhere {
            target: self.target.clone(),
            via: self.via.clone(),
            executable: self.executable.clone(),
            executables: self.executables.clone(),
            prefix: self.prefix.clone(),
            host: self.host.clone(),
            ssh: self.ssh.clone(),
            import: self.import.clone(),
        }
    }
}

#[derive(ClapArgs)]
pub struct TargetsArgs {
    /// Where executables are: TRIPLE/release/pollmatrix or pollmatrix-TARGET in it [default: what ci/executable.sh makes]
    #[arg(long, value_name = "DIR")]
    pub executables: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What a run prints.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// The matrix as a table, and what failed
    Text,
    /// results.json
    Json,
    /// report.md
    Markdown,
}

/// What the other commands print.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(ClapArgs)]
pub struct ListArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// List what went wrong in the history of the protocol instead, and where this suite looks for it
    #[arg(long, conflicts_with_all = ["prefixes", "backends", "filters", "layer", "shard"])]
    pub history: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct ShowArgs {
    /// The cell's id, or the beginning of it if no other begins so
    #[arg(value_name = "ID")]
    pub id: String,
    /// Only its result on this target
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// What to print: as JSON, a report of several targets gives a list, unless --target is given
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct MergeArgs {
    /// Results to join: results.json files, or report directories that have one
    #[arg(value_name = "RESULTS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Which result counts if several inputs have different ones of the same cell on the same target; without this they
    /// are refused
    #[arg(long, value_enum, value_name = "WHICH")]
    pub prefer: Option<Prefer>,
    /// Join results of different matrix files, or of different executables of one target
    #[arg(long)]
    pub allow_mixed: bool,
    /// List a target that was not run, and why: x86_64-freebsd='built, not run: no such machine'; repeatable
    #[arg(long = "not-run", value_name = "TARGET=REASON")]
    pub not_run: Vec<String>,
    /// Replace one of the inputs by the result, if that is where the result goes
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// What to print at the end; the report directory gets every format in any case
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

/// Which of several results counts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Prefer {
    /// The one of the first input that has one
    First,
    /// The one of the last input that has one
    Last,
    /// The worst
    Worst,
}

#[derive(ClapArgs)]
pub struct DiffArgs {
    /// What it was: a results.json file, or a report directory that has one
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// What it is
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// What makes the exit code 1
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = FailOn::Any)]
    pub fail_on: FailOn,
    /// What to print
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
}

/// What makes a comparison fail.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A cell has another status, or is in one report only
    Any,
    /// A cell passed, and now fails, is unsupported or is not there
    Regression,
}

/// What a comparison prints.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people
    Text,
    /// For a comment on a pull request
    Markdown,
    /// For programs
    Json,
}

#[derive(ClapArgs)]
pub struct FaultsArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Only this fault; repeatable
    #[arg(long = "fault", value_name = "NAME")]
    pub faults: Vec<String>,
    /// Run nothing: list the faults
    #[arg(long, conflicts_with_all = ["quick", "record", "resume"])]
    pub list: bool,
    /// What each of HAProxy's five commits that this core began with changes, measured: with its mistake, and without
    #[arg(long, conflicts_with_all = ["list", "quick", "record", "resume", "faults", "prefixes", "backends", "filters", "layer", "shard"])]
    pub seeds: bool,
    /// Only what was recorded: that every fault is still killed, and that every scenario still kills one
    #[arg(long, conflicts_with_all = ["record", "faults", "prefixes", "backends", "filters", "layer", "shard"])]
    pub quick: bool,
    /// Record for --quick who kills whom; with a PREFIX or --fault, change the lines of those cells and faults only
    #[arg(long, conflicts_with_all = ["backends", "filters", "layer", "shard"])]
    pub record: bool,
    /// The top of the source tree, to record in [default: the nearest folder upwards that has a matrix.yml and crates]
    #[arg(long, value_name = "DIR", requires = "record")]
    pub root: Option<PathBuf>,
    /// Use this record instead of the one built into pollmatrix
    #[arg(long, value_name = "FILE", requires = "quick")]
    pub recorded: Option<PathBuf>,
    /// How many cells of each pair of fault and scenario are tried before it counts as no kill; a scenario that kills
    /// nothing and a fault that nothing kills get all of them in any case [default: 1; with a PREFIX: all of them]
    #[arg(long, value_name = "N")]
    pub cells: Option<NonZeroUsize>,
    /// How many cells to run at the same time [default: three times what this machine runs at once: many only wait]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// Continue the interrupted run in the report directory
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// What to print at the end; the report directory gets the matrix as JSON and Markdown in any case
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

#[derive(ClapArgs)]
pub struct SoakArgs {
    /// For how long: 30s, 15m, 2h
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub duration: Duration,
    /// How many worker threads [default: two for each that this machine runs at once]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// How many groups they are spread over
    #[arg(long, value_name = "N", default_value = "2")]
    pub groups: NonZeroUsize,
    /// On which backend [default: the first of `pollmatrix list` that is here]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// What to print at the end
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct ExpectationsArgs {
    /// Only rows, or states of one, that begin so: V, V26, V26/pipe:read-end
    #[arg(value_name = "ROW-PREFIX")]
    pub rows: Vec<String>,
    /// Only the answers of this system; repeatable
    #[arg(long = "os", value_name = "OS")]
    pub systems: Vec<Os>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print no answers; exit 2 if something in the files is wrong
    #[arg(long, conflicts_with_all = ["rows", "systems", "format"])]
    pub check: bool,
}

#[derive(ClapArgs)]
pub struct SubjectCheckArgs {
    /// The program and its arguments: ./my-adapter epoll. Or a library: mio
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
    /// Only checks whose name contains this, and the greeting; repeatable
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// How many seconds an answer, and an event of what is ready, may take
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    pub patience: NonZeroU32,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct ProbeArgs {
    /// A line of verbs, a row of the catalogue, or a scenario
    #[arg(value_name = "LINE")]
    pub line: String,
    /// Ask this backend only; repeatable [default: every one that is here]
    #[arg(long = "backend", value_name = "NAME")]
    pub backends: Vec<String>,
    /// What the descriptors are: tcp, unix, unix-dgram, seqpacket, udp, pipe, fifo, pty, none [default: tcp, or the first
    /// of the scenario's]
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<Transport>,
    /// How they are registered where the line does not say: level, edge, oneshot, dispatch, exclusive, exclusive-edge
    /// [default: level, or the first of the scenario's]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// Show clause by clause what was done and answered
    #[arg(long)]
    pub trace: bool,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Ask the one backend in this very process, and print what it answers as one JSON line
    #[arg(long, hide = true)]
    pub here: bool,
}

#[derive(ClapArgs)]
pub struct RecordArgs {
    /// Results to record: results.json files, or report directories that have one
    #[arg(value_name = "RESULTS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Write nothing; show what would be written as a diff
    #[arg(long)]
    pub dry_run: bool,
    /// Record answers that came through an emulator or another command, too: they may be its own, not the kernel's
    #[arg(long)]
    pub emulated: bool,
    /// The top of the source tree, whose expectations are written to without --expectations [default: the nearest folder
    /// upwards that has a matrix.yml and crates]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct PublishArgs {
    /// Results of characterisation cells: a results.json file, or a report directory that has one
    #[arg(value_name = "RESULTS")]
    pub input: PathBuf,
    /// Where the pages go: DIR/OS-ARCH/BACKEND.md [default: docs/results in the source tree]
    #[arg(long = "to", value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Write nothing; exit 1 and show the differences if some pages are not what would be written. Which kernel and
    /// version they are from makes none
    #[arg(long)]
    pub check: bool,
    /// Publish answers that came through an emulator or another command, too: they may be its own, not the kernel's
    #[arg(long)]
    pub emulated: bool,
}

#[derive(ClapArgs)]
pub struct PlanArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// How many machines there are
    #[arg(long, value_name = "N", value_parser = count, required_unless_present = "record", conflicts_with = "shard")]
    pub shards: Option<usize>,
    /// What to print
    #[arg(long, value_enum, default_value_t = PlanFormat::Json)]
    pub format: PlanFormat,
    /// What is run there, for the time it takes [default: this machine's own target]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// The image that has pollmatrix and a shell, for a Kubernetes Job (docker/debian.Dockerfile makes one)
    #[arg(long, value_name = "IMAGE", default_value = "pollmatrix")]
    pub image: String,
    /// A volume claim that the cluster has already, for the results of a Kubernetes Job [default: one comes with the Job]
    #[arg(long, value_name = "NAME", value_parser = claim)]
    pub claim: Option<String>,
    /// Split nothing: record how long the cells in this results.json took, for the splits to come; repeatable
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shards", "prefixes", "backends", "filters", "layer", "shard"])]
    pub record: Vec<PathBuf>,
    /// The top of the source tree, to record in [default: the nearest folder upwards that has a matrix.yml and crates]
    #[arg(long, value_name = "DIR", requires = "record")]
    pub root: Option<PathBuf>,
}

/// What Kubernetes takes for a name.
fn claim(text: &str) -> Result<String, String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_name = text.chars().all(is_inner) && text.starts_with(is_end) && text.ends_with(is_end);
    match is_name && text.len() <= 253 {
        true => Ok(text.to_owned()),
        false => Err("a name has lower-case letters, digits, '-' and '.' between them".into()),
    }
}

/// A number of machines.
fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("there must be a machine to run the cells: count from 1".into()),
        Ok(count) => Ok(count),
        Err(_) => Err("it is not a whole number".into()),
    }
}

/// What a plan is printed as.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// A list with one object per shard: its number, of how many, its cells, and how many seconds they take one by one
    Json,
    /// The same as one line for $GITHUB_OUTPUT: matrix={"include":[...]}
    Github,
    /// An indexed Job for Kubernetes, with a volume claim for the results and a ConfigMap for --matrix and --expectations; a
    /// --subject must be a command of the image (docs/elsewhere.md)
    K8sJob,
}

#[derive(ClapArgs)]
pub struct GenerateArgs {
    /// Write nothing; exit 1 and name the files if some are not what would be written
    #[arg(long)]
    pub check: bool,
    /// The top of the source tree [default: the nearest folder upwards that has a matrix.yml and crates]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct ExecArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Every cell
    #[arg(long, conflicts_with_all = ["prefixes", "backends", "filters", "layer", "cells"])]
    pub all: bool,
    /// The cells whose ids are in FILE, one a line; `-` is standard input, up to an empty line or its end
    #[arg(long, value_name = "FILE")]
    pub cells: Option<PathBuf>,
    /// Where the lines go; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Append each result to FILE as well, and answer from it what it has already: a run whose line was cut goes on
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,
    #[command(flatten)]
    pub attempts: AttemptArgs,
    /// Start each cell's process through this command, as this program itself was, if that works here:
    /// 'qemu-s390x-static -L /usr/s390x-linux-gnu'
    #[arg(long, value_name = "COMMAND")]
    pub prefix: Option<Words>,
    /// This program's file, where it cannot find that out by itself
    #[arg(long = "self", value_name = "FILE")]
    pub executable: Option<PathBuf>,
    /// End when standard input does: whoever started this is gone
    #[arg(long, hide = true)]
    pub lifeline: bool,
}

#[derive(ClapArgs)]
pub struct RunCellArgs {
    /// The cell's full id
    #[arg(value_name = "ID")]
    pub id: String,
    /// For everything random
    #[arg(long, value_name = "SEED")]
    pub seed: Seed,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub slow: SlowArg,
    /// Wait only so long for what must happen: in a run in which cells are meant to hang
    #[arg(long, value_name = "MS", hide = true, value_parser = value_parser!(u64).range(..=365 * 24 * 3_600_000))]
    pub patience_ms: Option<u64>,
    /// Kill this process group when standard input ends: whoever started the cell is gone
    #[arg(long, hide = true)]
    pub lifeline: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
