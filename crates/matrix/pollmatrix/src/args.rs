//! The command line.

use std::io::{self, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, value_parser};
use matrix::command::Words;
use matrix::provenance::{self, VERSION};
use matrix::runners::RunnerOptions;
use matrix::schedule::{SLOW_VARIABLE, slowness};
use matrix::session::Request;
use matrix::{Environment, output};
use matrix::{Selection, Shard};
use metadata::{Layer, Mode, Os, RunSpec, Seed, Transport};

use crate::error::Error;
use crate::exit;

/// The default report directory.
pub const DEFAULT_REPORT_DIR: &str = "pollmatrix-report";

/// The greatest number of failed cells in the summary of a run. The report has all of them.
pub const NAMED: usize = 25;

/// Runs the same scenarios on every poller and every OS, and reports how they behave.
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
    adapters: AdaptersArg,
    #[command(flatten)]
    behaviours: BehavioursArg,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The parsed arguments.
pub struct Args {
    /// The matrix file to use instead of the built-in one.
    pub matrix: Option<PathBuf>,
    /// The folder with expectations to use instead of the built-in ones.
    pub expectations: Option<PathBuf>,
    /// The adapters to test.
    pub adapters: Vec<String>,
    /// The file of behaviours.
    pub behaviours: Option<PathBuf>,
    /// The command.
    pub command: Command,
}

/// Parses the process's arguments. For wrong arguments or a request for help, prints a message and returns
/// the exit code.
pub fn parse() -> Result<Args, ExitCode> {
    // The default command is `run` without arguments.
    let run = || CommandLine::try_parse_from(["pollmatrix", "run"]).map(|line| line.command);
    let parsed = CommandLine::try_parse().and_then(|line| match line.command {
        Some(_) => Ok(line),
        None => Ok(CommandLine { command: run()?, ..line }),
    });
    let line = parsed.map_err(|error| explain(&error))?;
    Ok(Args {
        matrix: line.matrix.matrix,
        expectations: line.expectations.dir,
        adapters: line.adapters.adapters,
        behaviours: line.behaviours.file,
        command: line.command.unwrap_or_else(|| unreachable!("`run` is a command")),
    })
}

/// Prints the help, the version, or the error in the arguments.
fn explain(error: &clap::Error) -> ExitCode {
    let written = error.print().and_then(|()| io::stdout().flush());
    match output::printed(written) {
        Err(lost) if !error.use_stderr() => Error::from(lost).exit(),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::ERROR)),
    }
}

#[derive(ClapArgs)]
struct MatrixArg {
    /// Use this matrix file instead of the built-in one
    #[arg(long, global = true, value_name = "FILE")]
    matrix: Option<PathBuf>,
}

#[derive(ClapArgs)]
struct ExpectationsArg {
    /// Use the expectations in this folder instead of the built-in ones
    #[arg(long = "expectations", visible_alias = "dir", global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(ClapArgs)]
struct AdaptersArg {
    /// Test another poller: a built-in library (mio), or an adapter, a program that speaks the protocol of
    /// docs/adapters.md ('./my-adapter epoll'); repeatable. Without --backend, selects the cells of these
    /// pollers only
    #[arg(long = "adapter", global = true, value_name = "NAME|COMMAND")]
    adapters: Vec<String>,
}

#[derive(ClapArgs)]
struct BehavioursArg {
    /// Add the behaviours in this YAML file, each with its question and its script, to the matrix
    /// (docs/verbs.md has an example). Without a PREFIX, selects their cells only
    #[arg(id = "behaviours", long = "behaviours", global = true, value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run cells, one process each, and write the report (the default command)
    ///
    /// The report directory gets report.html for browsing, report.md, results.json and junit.xml.
    #[command(after_help = exit::HELP)]
    Run(RunArgs),
    /// List cells, and which of them this machine cannot run
    List(ListArgs),
    /// Show which runners of each target work on this machine, and what the others lack
    Targets(TargetsArgs),
    /// Show the newest result of one cell in full, on each target in the report
    Show(ShowArgs),
    /// Merge the results of several runs into one report, one column per target and backend
    ///
    /// The runs can be of different targets, or of different cells of one target. Every run keeps its
    /// provenance. The order of the inputs only matters with --prefer.
    #[command(after_help = exit::MERGE_HELP)]
    Merge(MergeArgs),
    /// Compare two reports cell by cell
    #[command(after_help = exit::DIFF_HELP)]
    Diff(DiffArgs),
    /// Switch on each fault in each scenario, and print the kill matrix: which scenario catches which fault
    ///
    /// A cell kills a fault if it passes without the fault and fails, crashes or hangs with it, and if
    /// harness/control passes with the fault. If harness/control fails, the harness catches the fault, and
    /// the scenario proves nothing. Cells have less time than usual. A cell that ran out of the shortened
    /// time only counts after a run with its full time.
    #[command(after_help = exit::FAULTS_HELP)]
    Faults(FaultsArgs),
    /// Run random operations on all threads at once, and check all invariants
    ///
    /// The operations are takeovers, migrations, deletes, inserts, changes of interest and stops of real
    /// descriptors, while each group has a listener that is enabled, disabled and connected to. Once per
    /// second all operations pause, and the invariants of an idle state are checked.
    #[command(after_help = exit::SOAK_HELP)]
    Soak(SoakArgs),
    /// Show the expected answers of each system's pollers, side by side
    Expectations(ExpectationsArgs),
    /// Run a script of verbs on every backend of this machine, side by side
    ///
    /// A script lists actions and queries: 'own and peer are connected, watch own, peer shuts write, look at
    /// own'. The id of a behaviour (V06) or a scenario (readiness/peer-shut-write) stands for its scripts.
    /// Each backend is tested in a separate process.
    #[command(after_help = exit::PROBE_HELP)]
    Probe(ProbeArgs),
    /// Find the shortest script to which two pollers answer differently
    ///
    /// Draws random scripts of verbs, performs each on two sides, and compares the answers. A disagreement is
    /// shrunk, repeated in new processes, and listed with others of the same cause. docs/explore.md explains
    /// the output, the corpus, and how to compare two machines.
    #[command(after_help = exit::EXPLORE_HELP)]
    Explore(ExploreArgs),
    /// Write new answers into the expectations, for review
    ///
    /// Reads results of characterisation cells, and adds the missing answers to answers/OS.yml, with the
    /// kernel that gave them as the source. Existing answers stay, except hypotheses that a result
    /// contradicts. An answer that contradicts a measurement is printed, but not written.
    #[command(after_help = exit::RECORD_HELP)]
    Record(RecordArgs),
    /// Judge results again, by today's expectations
    ///
    /// Compares the answers of characterisation cells with the expectations for the system and the version
    /// that gave them, which may be others than this machine's. Runs nothing. Contract cells keep their
    /// verdicts.
    #[command(after_help = exit::JUDGE_HELP)]
    Judge(JudgeArgs),
    /// Build a site of static pages: a page for each behaviour, system and poller
    ///
    /// The pages are built from the recorded answers and from RESULTS, which may come from several systems
    /// and kernels. They make no request and need no server. Equal inputs give equal pages. docs/site.md
    /// lists their addresses, which stay the same.
    #[command(after_help = exit::SITE_HELP)]
    Site(SiteArgs),
    /// Measure what the operations of a poller cost, over the number of descriptors
    ///
    /// Each cost is the ratio to a floor that is measured alternately: the system call that the operation
    /// cannot avoid. The ratios are machine-independent enough to compare pollers; `pollmatrix diff --fail-on
    /// cost:1.2` compares two reports of one machine. docs/cost.md explains operations and floors.
    #[command(after_help = exit::COST_HELP)]
    Cost(CostArgs),
    /// Check that an adapter speaks the protocol and keeps the guarantees that scenarios rely on
    ///
    /// Each check tests one property with a new adapter process, and prints what it observed if the property
    /// does not hold. A feature that the adapter declares as missing is unsupported, which is not a failure.
    /// docs/adapters.md documents the protocol.
    #[command(after_help = exit::ADAPTER_CHECK_HELP)]
    AdapterCheck(AdapterCheckArgs),
    /// Write the files that are generated from matrix.yml, the result types and the adapter protocol
    Generate(GenerateArgs),
    /// List virtual machines, get their kernels, and open their consoles
    ///
    /// `pollmatrix run --runner vm` boots a machine for a run. docs/vm.md describes the machines.
    Vm(VmArgs),
    /// Be one of the processes that pollmatrix starts from its own file
    #[command(hide = true)]
    Worker {
        #[command(subcommand)]
        mode: WorkerMode,
    },
}

impl Command {
    /// Returns how many times slower than an ordinary machine this one is, by `--slow`.
    pub fn slowness(&self) -> NonZeroU32 {
        let slow = match self {
            Self::Run(RunArgs { attempts, .. }) => &attempts.chance.slow,
            Self::Worker { mode: WorkerMode::Exec(args) } => &args.attempts.chance.slow,
            Self::Faults(FaultsArgs { chance, .. })
            | Self::Soak(SoakArgs { chance, .. })
            | Self::Probe(ProbeArgs { chance, .. })
            | Self::Explore(ExploreArgs { chance, .. }) => &chance.slow,
            Self::Worker { mode: WorkerMode::Cell(CellArgs { slow, .. }) }
            | Self::Worker { mode: WorkerMode::Script(ScriptArgs { slow, .. }) } => slow,
            _ => return NonZeroU32::MIN,
        };
        slow.factor()
    }
}

/// What a worker does.
#[derive(Subcommand)]
pub enum WorkerMode {
    /// Run cells natively on this machine, and print the results as JSON lines; write no file by default
    ///
    /// `pollmatrix run --runner` starts this command on the other side. It also runs by hand on a machine that
    /// has nothing but this program and a serial console. Each line is one JSON object: first
    /// {"line":"begin"} with the provenance, then one {"line":"cell"} per result, and {"line":"end"} if the
    /// results are complete. `pollmatrix run --runner import` reads these lines, even with the messages of a
    /// console between them.
    #[command(after_help = exit::EXEC_HELP)]
    Exec(Box<ExecArgs>),
    /// Run one attempt of one cell in this process, and print its result as one JSON line
    ///
    /// `pollmatrix run` starts one such process per attempt. It has no time limit, and it can leave signals,
    /// limits and descriptors changed until it exits. Use it under a debugger or a tracer.
    #[command(after_help = exit::CELL_HELP)]
    Cell(CellArgs),
    /// Run one script on one poller, and print its answers as one JSON line
    Script(ScriptArgs),
    /// Perform the lines of an exploration
    Lines(LinesArgs),
    /// Perform an operation of a poller, whose system calls the parent process counts
    Operation(OperationArgs),
    /// Be the part of the runner `vm` in the virtual machine
    Guest(GuestArgs),
    /// Run the virtual machine of a specification until standard input ends
    Guard {
        /// The specification
        spec: PathBuf,
        /// The arguments of the executor
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

/// The options that select cells.
#[derive(ClapArgs, Clone)]
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
#[derive(ClapArgs, Clone)]
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

/// Parses a duration of at most a year, so that adding it to a time does not overflow.
fn duration(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_secs(365 * 24 * 3600);
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if duration <= MOST { Ok(duration) } else { Err("at most 365days".to_owned()) }
}

/// The seed, and the slowness of the machine.
#[derive(ClapArgs, Clone)]
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
#[derive(ClapArgs, Clone)]
pub struct FaultArg {
    /// Switch on this fault, with which cells are expected to fail (`pollmatrix faults --list` lists the
    /// faults)
    #[arg(long = "fault", value_name = "NAME")]
    pub name: Option<String>,
}

/// The rate of injected errors.
#[derive(ClapArgs, Clone)]
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
#[derive(ClapArgs, Clone)]
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

/// The report directory.
#[derive(ClapArgs, Clone)]
pub struct ReportDirArg {
    /// The report directory
    #[arg(long = "report-dir", value_name = "DIR", default_value = DEFAULT_REPORT_DIR)]
    pub path: PathBuf,
}

/// The options of attempts at cells.
#[derive(ClapArgs, Clone)]
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
            slow: self.chance.slow.times,
            jobs: self.jobs,
            ..RunSpec::new(self.chance.seed())
        }
    }
}

#[derive(ClapArgs, Clone)]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub attempts: AttemptArgs,
    /// With --target all: skip a target, and list it with a reason: s390x-linux-gnu='not built: no linker';
    /// repeatable
    #[arg(long = "not-run", value_name = "TARGET=REASON")]
    pub not_run: Vec<String>,
    /// Continue the interrupted run in the report directory. Without a selection, continues with the same
    /// cells
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// The format to print at the end; the report directory always gets every format
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
    // Last, because its help heading applies to all options after it.
    #[command(flatten)]
    pub runner: RunnerArgs,
}

impl RunArgs {
    /// Converts the options to the type of the runner crate.
    pub fn request(&self, environment: &Environment) -> Request {
        Request {
            selection: self.selection.selection(environment),
            is_selected: self.selection.is_given(),
            runner: self.runner.options(),
            spec: self.attempts.spec(),
            has_seed: self.attempts.chance.given().is_some(),
            resume: self.resume,
            dir: self.report_dir.path.clone(),
        }
    }
}

/// The options that select a target and a runner.
#[derive(ClapArgs, Clone)]
#[command(next_help_heading = "Target and runner")]
pub struct RunnerArgs {
    /// Run the cells of this target, or with `all` those of every target that this machine can run
    /// [default: this machine's own target]
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// How to start the cells: native, prefix, container[:IMAGE], vm[:MACHINE], ssh or import
    /// [default: the target's first runner that works on this machine]
    #[arg(long, value_name = "RUNNER")]
    pub runner: Option<String>,
    /// The target's executable
    #[arg(long, value_name = "FILE")]
    pub executable: Option<PathBuf>,
    /// The folder with executables: DIR/TRIPLE/release/pollmatrix or DIR/pollmatrix-TARGET
    /// [default: the folder that ci/executable.sh writes to]
    #[arg(long, value_name = "DIR", conflicts_with = "executable")]
    pub executables: Option<PathBuf>,
    /// For --runner prefix: the command in front of the executable: 'qemu-s390x-static -L /usr/s390x-linux-gnu'
    #[arg(long, value_name = "COMMAND")]
    pub prefix: Option<Words>,
    /// For --runner ssh: the other machine
    #[arg(long, value_name = "[USER@]HOST")]
    pub host: Option<String>,
    /// For --runner ssh: the ssh command with its options
    #[arg(long, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes -o ServerAliveInterval=15")]
    pub ssh: Words,
    /// For --runner vm: boot this kernel instead of the machine's own
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// For --runner vm: leave the machine up after the run, for `pollmatrix vm attach`
    #[arg(long)]
    pub keep: bool,
    /// For --runner import: the output of `pollmatrix worker exec`, or a results.json; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub import: Option<PathBuf>,
}

impl RunnerArgs {
    /// Converts the options to the type of the runner crate.
    pub fn options(&self) -> RunnerOptions {
        RunnerOptions {
            target: self.target.clone(),
            name: self.runner.clone(),
            executable: self.executable.clone(),
            executables: self.executables.clone(),
            prefix: self.prefix.clone(),
            host: self.host.clone(),
            ssh: self.ssh.clone(),
            kernel: self.kernel.clone(),
            keep: self.keep,
            import: self.import.clone(),
        }
    }
}

#[derive(ClapArgs)]
pub struct VmArgs {
    #[command(subcommand)]
    pub command: VmCommand,
}

#[derive(Subcommand)]
pub enum VmCommand {
    /// List the machines, what this machine lacks for each, and which machines are up
    List,
    /// Get the newest kernel or the image of machines, all by default, into the cache
    Fetch {
        /// The machines
        #[arg(value_name = "MACHINE")]
        machines: Vec<String>,
    },
    /// Boot a machine with a shell on its console, which is this terminal
    ///
    /// The shell is that of /bin/busybox if that is installed and statically linked, or else a line that
    /// takes the commands of pollmatrix. qemu ends with Ctrl-A X.
    Shell {
        /// The machine, or a file with its description
        #[arg(value_name = "MACHINE")]
        machine: String,
        /// The executable to put into the machine [default: this one]
        #[arg(long, value_name = "FILE")]
        executable: Option<PathBuf>,
        /// Boot this kernel instead of the machine's own
        #[arg(long, value_name = "FILE")]
        kernel: Option<PathBuf>,
    },
    /// Connect this terminal to the console of a machine that `run --keep` left up; Ctrl-] leaves it
    Attach {
        /// The beginning of its name, if several are up
        #[arg(value_name = "NAME", default_value = "")]
        name: String,
    },
    /// End a machine that `run --keep` left up
    Stop {
        /// The beginning of its name, if several are up
        #[arg(value_name = "NAME", default_value = "")]
        name: String,
    },
}

#[derive(ClapArgs)]
pub struct GuestArgs {
    /// Be the first process; the port is `virtio`, the name of a serial port, or `none`
    #[arg(long, value_name = "PORT")]
    pub init: Option<String>,
    /// The console: a name in /dev with --init, or else a path
    #[arg(long, value_name = "DEVICE")]
    pub console: Option<PathBuf>,
    /// Take commands from standard input
    #[arg(long)]
    pub commands: bool,
}

#[derive(ClapArgs)]
pub struct TargetsArgs {
    /// The folder with executables: DIR/TRIPLE/release/pollmatrix or DIR/pollmatrix-TARGET
    /// [default: the folder that ci/executable.sh writes to]
    #[arg(long, value_name = "DIR")]
    pub executables: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// The output formats of a run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// A table of the matrix, and the failures
    Text,
    /// The content of results.json
    Json,
    /// The content of report.md
    Markdown,
}

/// The output formats of the other commands.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for reading
    Text,
    /// JSON for programs
    Json,
}

#[derive(ClapArgs)]
pub struct ListArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// List the bugs in the history of the protocol instead, and the scenarios or models that look for them
    #[arg(long, conflicts_with_all = ["prefixes", "backends", "filters", "layer", "shard"])]
    pub history: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct ShowArgs {
    /// The cell's id, or a prefix of it that no other cell has
    #[arg(value_name = "ID")]
    pub id: String,
    /// Only the result on this target
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// The output format. As JSON, a report of several targets gives a list, unless --target is given
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct MergeArgs {
    /// Results to merge: results.json files, or report directories
    #[arg(value_name = "RESULTS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Which result to use if inputs have different results of the same cell on the same target [default: an
    /// error]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub prefer: Option<Prefer>,
    /// Merge results of different matrix files, or of different executables of one target
    #[arg(long)]
    pub allow_mixed: bool,
    /// Make one column per kernel and processor, such as linux-6.1.192-x86_64, instead of one per target
    #[arg(long)]
    pub by_kernel: bool,
    /// List a target that was not run, with a reason: x86_64-freebsd='built, not run: no such machine';
    /// repeatable
    #[arg(long = "not-run", value_name = "TARGET=REASON")]
    pub not_run: Vec<String>,
    /// Overwrite an input that is in the report directory
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// The format to print at the end; the report directory always gets every format
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

/// The choices between several results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Prefer {
    /// The result of the first input that has one
    First,
    /// The result of the last input that has one
    Last,
    /// The worst result
    Worst,
}

#[derive(ClapArgs)]
pub struct DiffArgs {
    /// The old results: a results.json file, or a report directory
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The new results: a results.json file, or a report directory
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Compare kernels: the targets whose kernel changed, or, if each report has one target, these two. Also
    /// compares the answers of each cell
    #[arg(long)]
    pub by_kernel: bool,
    /// The differences for which the exit code is 1
    ///
    /// - any: a cell has another status or (with --by-kernel) answer, or is in one report only
    /// - regression: a cell passed, and now fails, is only permitted, is unsupported or is missing
    /// - cost:FACTOR: the cost of an operation is more than FACTOR times as great, and that is no chance;
    ///   cost:1.2 for two reports of one job
    #[arg(long, value_name = "WHAT", default_value = "any", verbatim_doc_comment)]
    pub fail_on: FailOn,
    /// The output format
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
}

/// The differences that make a comparison fail.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FailOn {
    /// A cell has another status or (with --by-kernel) answer, or is in one report only.
    Any,
    /// A cell passed, and now fails, is unsupported or is missing.
    Regression,
    /// A cost is more than this many times as great.
    Cost(f64),
}

impl std::str::FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "any" => return Ok(Self::Any),
            "regression" => return Ok(Self::Regression),
            _ => {}
        }
        let factor = text.strip_prefix("cost:").map(str::parse::<f64>);
        match factor {
            Some(Ok(factor)) if factor >= 1.0 && factor.is_finite() => Ok(Self::Cost(factor)),
            Some(_) => Err("a factor of at least 1 is needed: cost:1.2".to_owned()),
            None => Err(metadata::did_you_mean(text, ["any", "regression", "cost:1.2"])),
        }
    }
}

/// The output formats of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Text for reading
    Text,
    /// Markdown for a comment on a pull request
    Markdown,
    /// JSON for programs
    Json,
}

#[derive(ClapArgs)]
pub struct FaultsArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Only this fault, or the faults that match a pattern ('kqueue-*'); repeatable
    #[arg(long = "fault", value_name = "NAME")]
    pub faults: Vec<String>,
    /// List the faults, and run nothing
    #[arg(long, conflicts_with_all = ["quick", "record", "resume"])]
    pub list: bool,
    /// Only verify the recorded kills: every fault is still killed, and every scenario still kills one
    #[arg(long, conflicts_with_all = ["record", "faults", "prefixes", "backends", "filters", "layer", "shard"])]
    pub quick: bool,
    /// Record the kills for --quick, with the kernel and the number of seeds that prove each; with a PREFIX
    /// or --fault, change the lines of those cells and faults only
    #[arg(long, conflicts_with_all = ["backends", "filters", "layer", "shard"])]
    pub record: bool,
    /// The record to verify or to write [default: the built-in one; with --record, that of the source tree]
    #[arg(long, value_name = "FILE")]
    pub recorded: Option<PathBuf>,
    /// The number of cells to try of each pair of fault and scenario. A scenario without a kill, a fault
    /// without a kill, and a pair that is to be recorded always get all of their cells
    /// [default: 1; with a PREFIX and without --record: all cells]
    #[arg(long, value_name = "N")]
    pub cells: Option<NonZeroUsize>,
    /// The number of cells to run in parallel [default: three times the number of processors, because many
    /// cells wait]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// Continue the interrupted run in the report directory
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// The format to print at the end; the report directory always gets JSON and Markdown
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

#[derive(ClapArgs)]
pub struct SoakArgs {
    /// The duration: 30s, 15m, 2h
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub duration: Duration,
    /// The number of worker threads [default: two per processor]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// The number of groups to spread the threads over
    #[arg(long, value_name = "N", default_value = "2")]
    pub groups: NonZeroUsize,
    /// The backend [default: the first one of matrix.yml that this machine has]
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct ExpectationsArgs {
    /// Only behaviours, or states of one, that begin with PREFIX: V, V26, V26/pipe:read-end
    #[arg(value_name = "PREFIX")]
    pub prefixes: Vec<String>,
    /// Only the answers of this system; repeatable
    #[arg(long = "os", value_name = "OS")]
    pub systems: Vec<Os>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Print no answers, only check the files; exit with 2 if one of them is malformed
    #[arg(long, conflicts_with_all = ["prefixes", "systems", "format"])]
    pub check: bool,
}

#[derive(ClapArgs)]
pub struct AdapterCheckArgs {
    /// The adapter and its arguments (./my-adapter epoll), or a built-in library (mio)
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
    /// Only the greeting, and checks whose name contains TEXT; repeatable
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// The time limit for an answer, and for an event of a ready descriptor, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    pub patience: NonZeroU32,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct ProbeArgs {
    /// A script of verbs, or the id of a behaviour, of a scenario
    /// [default with --behaviours: every behaviour]
    #[arg(value_name = "SCRIPT", required_unless_present = "behaviours")]
    pub script: Option<String>,
    /// Test this backend only; repeatable [default: every backend of this machine]
    #[arg(long = "backend", value_name = "NAME")]
    pub backends: Vec<String>,
    /// The transport of the descriptors: tcp, unix, unix-dgram, seqpacket, udp, pipe, fifo, pty, none
    /// [default: the first one of the scenario, or tcp]
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<Transport>,
    /// The mode of registrations without one in the script: level, edge, oneshot, dispatch, exclusive,
    /// exclusive-edge
    /// [default: the first one of the scenario, or level]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// Show the actions and answers of each clause
    #[arg(long)]
    pub trace: bool,
    #[command(flatten)]
    pub chance: ChanceArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
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
    /// expectations. With FILE, write the behaviours into it; if its name ends in .txt, write lines for --known
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

#[derive(ClapArgs)]
pub struct ScriptArgs {
    /// The script
    #[arg(value_name = "SCRIPT")]
    pub script: String,
    /// The poller: a backend, or the name of the `--adapter`
    #[arg(value_name = "POLLER")]
    pub poller: String,
    /// The transport
    #[arg(value_name = "TRANSPORT")]
    pub transport: Transport,
    /// The mode
    #[arg(value_name = "MODE")]
    pub mode: Mode,
    /// The seed of all random choices
    #[arg(value_name = "SEED")]
    pub seed: Seed,
    #[command(flatten)]
    pub slow: SlowArg,
}

#[derive(ClapArgs)]
pub struct LinesArgs {
    /// The poller
    #[arg(value_name = "POLLER")]
    pub poller: String,
    #[command(flatten)]
    pub slow: SlowArg,
}

#[derive(ClapArgs)]
pub struct OperationArgs {
    /// The poller
    #[arg(value_name = "POLLER")]
    pub poller: String,
    /// The operation
    #[arg(value_name = "OPERATION")]
    pub operation: String,
    /// The mode
    #[arg(value_name = "MODE")]
    pub mode: String,
    /// The number of registered descriptors
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    pub descriptors: u64,
}

#[derive(ClapArgs)]
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
    /// The root of the source tree to write to, without --expectations
    /// [default: the nearest parent folder with matrix.yml and crates]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct JudgeArgs {
    /// Results to judge: results.json files, or report directories
    #[arg(value_name = "RESULTS", required = true)]
    pub inputs: Vec<PathBuf>,
    /// Write the results with their new verdicts to this file, for `merge`, `diff` and `site`. Only for one
    /// input
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct CostArgs {
    /// Only operations with this name: register, modify, remove, close, wait-one, wait-all, wake, hand-over
    #[arg(value_name = "OPERATION")]
    pub operations: Vec<String>,
    /// Only this poller; repeatable [default: the backends of this system, and the `--adapter`s]
    #[arg(long = "backend", value_name = "NAME")]
    pub backends: Vec<String>,
    /// Only this mode: level, edge; repeatable
    #[arg(long = "mode", value_name = "MODE")]
    pub modes: Vec<String>,
    /// The numbers of registered descriptors
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "10,30,100,300,1000,3000,10000,30000,100000",
        value_parser = clap::value_parser!(u64).range(2..=10_000_000)
    )]
    pub descriptors: Vec<u64>,
    /// The numbers of threads that do it at once, each with a poller of its own [default: 1 and the number of
    /// processors]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Vec<u32>,
    /// The number of pairs of samples of each cost
    #[arg(long, value_name = "N", default_value = "21", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub pairs: u32,
    /// Refuse a figure whose 95 % interval is wider than this many percent of it
    #[arg(long, value_name = "PERCENT", default_value = "20", value_parser = noise)]
    pub noise: f64,
    /// Continue the interrupted run in the report directory, with the same options. Noise is measured again
    #[arg(long)]
    pub resume: bool,
    /// The report directory
    #[arg(long = "report-dir", value_name = "DIR", default_value = "pollmatrix-costs")]
    pub report_dir: PathBuf,
    /// The format to print; the report directory always gets every format
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
}

/// Reads a percentage.
fn noise(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if percent > 0.0 => Ok(percent),
        _ => Err("a number above 0 is needed".to_owned()),
    }
}

#[derive(ClapArgs)]
pub struct SiteArgs {
    /// Results of runs: results.json files, or report directories that have one. Each kernel has a column of
    /// its own
    #[arg(value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// The folder of the site. A folder with other files is refused
    #[arg(long, value_name = "DIR", default_value = "site")]
    pub out: PathBuf,
    /// The web address that the folder will have. It is needed for the sitemap, for previews in other sites
    /// and for badges
    #[arg(long, value_name = "URL", value_parser = site_address)]
    pub url: Option<String>,
    /// Findings: a folder with a Markdown file for each. Its title is a `#` heading, and the paragraph below
    /// it the day on which it was first described: `2026-11-21`. A program beside it has its name
    #[arg(long, value_name = "DIR")]
    pub findings: Option<PathBuf>,
    /// Include answers that came through an emulator or another command: they may be its own, not the
    /// kernel's
    #[arg(long, requires = "results")]
    pub emulated: bool,
    /// Which result to use if inputs have different results of the same cell on the same target and kernel
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Prefer::Worst)]
    pub prefer: Prefer,
    /// Build nothing, and check the site in this folder: links and their places, titles, descriptions and
    /// languages, missing and empty files, the sitemap, and the badges
    #[arg(long, value_name = "DIR", conflicts_with_all = ["results", "out", "url", "findings", "emulated", "prefer"])]
    pub check: Option<PathBuf>,
}

/// Reads the web address of a folder.
fn site_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:%".contains(c);
    match rest {
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') && rest.chars().all(is_plain) => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("a web address without a query is needed: https://example.org/pollmatrix".to_owned()),
    }
}

#[derive(ClapArgs)]
pub struct GenerateArgs {
    /// Write nothing; if files are out of date, list them and exit with 1
    #[arg(long)]
    pub check: bool,
    /// The root of the source tree [default: the nearest parent folder with matrix.yml and crates]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct ExecArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Run every cell
    #[arg(long, conflicts_with_all = ["prefixes", "backends", "filters", "layer", "cells"])]
    pub all: bool,
    /// Run the cells whose ids are in FILE, one per line; `-` is standard input, up to an empty line or its
    /// end
    #[arg(long, value_name = "FILE")]
    pub cells: Option<PathBuf>,
    /// The file for the lines; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Append each result to FILE, too, and do not run cells again that have a result in it
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,
    #[command(flatten)]
    pub attempts: AttemptArgs,
    /// Put this command in front of each cell's process, if it works here: 'qemu-s390x-static -L
    /// /usr/s390x-linux-gnu'
    #[arg(long, value_name = "COMMAND")]
    pub prefix: Option<Words>,
    /// This program's file, if the program cannot find it
    #[arg(long = "self", value_name = "FILE")]
    pub executable: Option<PathBuf>,
    /// End when standard input ends, which means that the process that started this one is gone
    #[arg(long, hide = true)]
    pub lifeline: bool,
}

#[derive(ClapArgs)]
pub struct CellArgs {
    /// The cell's full id
    #[arg(value_name = "ID")]
    pub id: String,
    /// The seed of all random choices
    #[arg(long, value_name = "SEED")]
    pub seed: Seed,
    #[command(flatten)]
    pub fault: FaultArg,
    #[command(flatten)]
    pub inject: InjectArg,
    #[command(flatten)]
    pub late: LateArg,
    #[command(flatten)]
    pub slow: SlowArg,
    /// How long to wait for an expected event, in milliseconds, for runs in which cells are expected to hang
    #[arg(long, value_name = "MS", hide = true, value_parser = value_parser!(u64).range(..=365 * 24 * 3_600_000))]
    pub patience_ms: Option<u64>,
    /// Kill this process group when standard input ends, which means that the process that started it is gone
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
