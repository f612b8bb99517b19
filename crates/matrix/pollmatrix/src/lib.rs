//! The `pollmatrix` command: its subcommands, and their output. Each subcommand declares its arguments beside
//! its code.

mod adapter;
mod against;
mod args;
mod below;
mod ci;
mod config;
mod cost;
mod diff;
mod documents;
mod error;
mod exec;
mod exit;
mod expectations;
mod explore;
mod faults;
mod generate;
mod history;
mod input;
mod kernel_answers;
mod kernels;
pub mod lab;
mod list;
mod merge;
mod probe;
mod run;
mod run_cell;
mod sequence;
mod show;
mod shown;
mod site;
mod site_check;
mod soak;
mod targets;
mod triage;
mod vm;
mod worker;

use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use adapter::AdapterCommand;
use ci::CiArgs;
use clap::Parser;
use cost::CostArgs;
use diff::DiffArgs;
use error::Error;
use expectations::ExpectationsCommand;
use explore::ExploreArgs;
use faults::FaultsArgs;
use generate::GenerateArgs;
use list::ListArgs;
use matrix::provenance::VERSION;
use matrix::{Environment, descriptor_limits, diagnostics, output};
use merge::MergeArgs;
use probe::ProbeArgs;
use run::RunArgs;
use show::ShowArgs;
use site::SiteArgs;
use soak::SoakArgs;
use worker::WorkerMode;

/// Runs the same scenarios on every poller and every OS, and reports how they behave.
///
/// Without a command, runs every cell of the matrix that this machine can run: `pollmatrix run`.
#[derive(Parser)]
#[command(name = "pollmatrix", version = VERSION, after_help = exit::HELP, max_term_width = 110)]
struct CommandLine {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The options of every command.
#[derive(clap::Args)]
struct Common {
    /// Use this matrix file instead of the built-in one
    #[arg(long, global = true, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// Read the expectations in this folder over the built-in ones; a folder with a divergences.yml takes
    /// their place
    #[arg(long, visible_alias = "dir", global = true, value_name = "DIR")]
    expectations: Option<PathBuf>,
    /// Test another poller: a built-in library (mio), or an adapter, a program that speaks the protocol of
    /// docs/adapters.md ('./my-adapter epoll'); repeatable. Without --backend, selects the cells of these
    /// pollers only
    #[arg(long = "adapter", global = true, value_name = "NAME|COMMAND")]
    adapters: Vec<String>,
    /// Add the behaviours in this YAML file, each with its question and its script, to the matrix
    /// (docs/verbs.md has an example). Without a PREFIX, selects their cells only
    #[arg(long, global = true, value_name = "FILE")]
    behaviours: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Run cells, one process each, and write the report (the default command)
    ///
    /// The report directory gets report.html for browsing, report.md, results.json and junit.xml.
    #[command(after_help = exit::HELP)]
    Run(RunArgs),
    /// List cells, or the targets and their runners, and which of them this machine cannot run
    List(ListArgs),
    /// Show the newest result of one cell in full, on each target in the report
    Show(ShowArgs),
    /// Merge the results of several runs into one report, one column per target and backend
    ///
    /// The runs can be of different targets, or of different cells of one target. Every run keeps its
    /// provenance. The order of the inputs only matters with --prefer.
    #[command(after_help = exit::MERGE_HELP)]
    Merge(MergeArgs),
    /// Compare two reports cell by cell, or a report with a kernel's recorded answers
    #[command(after_help = exit::DIFF_HELP)]
    Diff(DiffArgs),
    /// Run a script of verbs on every backend of this machine, side by side
    ///
    /// A script lists actions and queries: 'own and peer are connected, watch own, peer shuts write, look at
    /// own'. The id of a behaviour (V06) or a scenario (readiness/peer-shut-write) stands for its scripts.
    /// Each backend is tested in a separate process.
    #[command(after_help = exit::PROBE_HELP)]
    Probe(ProbeArgs),
    /// Show, check and extend the expected answers of each system's pollers
    #[command(subcommand)]
    Expectations(ExpectationsCommand),
    /// Find the shortest script to which two pollers answer differently
    ///
    /// Draws random scripts of verbs, performs each on two sides, and compares the answers. A disagreement is
    /// shrunk, repeated in new processes, and listed with others of the same cause. docs/explore.md explains
    /// the output, the corpus, and how to compare two machines.
    #[command(after_help = exit::EXPLORE_HELP)]
    Explore(ExploreArgs),
    /// Measure what the operations of a poller cost, over the number of descriptors
    ///
    /// Each cost is the ratio to a floor that is measured alternately: the system call that the operation
    /// cannot avoid. The ratios are machine-independent enough to compare pollers; `pollmatrix diff --fail-on
    /// cost:1.2` compares two reports of one machine. docs/cost.md explains operations and floors.
    #[command(after_help = exit::COST_HELP)]
    Cost(CostArgs),
    /// Build a site of static pages: a page for each behaviour, system and poller
    ///
    /// The pages are built from the recorded answers and from RESULTS, which may come from several systems
    /// and kernels. They make no request and need no server. Equal inputs give equal pages. docs/site.md
    /// lists their addresses, which stay the same.
    #[command(after_help = exit::SITE_HELP)]
    Site(SiteArgs),
    /// Check the adapters of one's own repository: one command, one exit code
    ///
    /// Reads pollmatrix.toml. Checks each adapter, runs its cells, names each recorded answer that has
    /// changed in a sentence, and writes the report, and on GitHub the job's summary and annotations.
    /// docs/your-ci.md explains the file.
    #[command(after_help = exit::CI_HELP)]
    Ci(CiArgs),
    /// Check an adapter
    #[command(subcommand)]
    Adapter(AdapterCommand),
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
    /// Write the files that are generated from matrix.yml, and the table of docs/peers.md
    Generate(GenerateArgs),
    /// Be one of the processes that pollmatrix starts from its own file
    #[command(subcommand, hide = true)]
    Worker(WorkerMode),
}

/// Runs the subcommand that the process's arguments select.
pub fn main() -> ExitCode {
    descriptor_limits::raise();
    match parse() {
        Ok((common, command)) => run(&common, &command).unwrap_or_else(|error| error.exit()),
        Err(code) => code,
    }
}

/// Parses the process's arguments. For wrong arguments or a request for help, prints a message and returns
/// the exit code.
fn parse() -> Result<(Common, Command), ExitCode> {
    let parsed = CommandLine::try_parse().and_then(|line| match line.command {
        Some(command) => Ok((line.common, command)),
        // The default command is `run` without arguments.
        None => Ok((line.common, Command::Run(RunArgs::try_parse_from(["run"])?))),
    });
    parsed.map_err(|error| explain(&error))
}

/// Prints the help, the version, or the error in the arguments.
fn explain(error: &clap::Error) -> ExitCode {
    let written = error.print().and_then(|()| io::stdout().flush());
    match output::printed(written) {
        Err(lost) if !error.use_stderr() => Error::from(lost).exit(),
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::ERROR)),
    }
}

fn run(common: &Common, command: &Command) -> Result<ExitCode, Error> {
    let (matrix, expectations) = (common.matrix.as_deref(), common.expectations.as_deref());
    // The standard error of a cell belongs to its result, so it does not contain messages of adapters.
    if !matches!(command, Command::Worker(WorkerMode::Cell(_) | WorkerMode::Lines(_))) {
        adapters::show_messages(diagnostics::message);
    }
    let environment = || common.environment(false, command.slowness());
    match command {
        Command::Run(args) => run::run(&environment()?, matrix, args),
        Command::List(args) => list::run(&environment()?, matrix, args),
        Command::Show(args) => show::run(&environment()?, matrix, args),
        Command::Merge(args) => merge::run(&environment()?, matrix, args),
        Command::Diff(args) => diff::run(args, expectations),
        Command::Probe(args) => probe::run(&environment()?, args),
        Command::Expectations(command) => expectations::run(common, command),
        // It knows its pollers without the options of a run.
        Command::Explore(args) => explore::run(args, expectations),
        Command::Cost(args) => cost::run(&environment()?, matrix, args),
        Command::Site(args) => site::run(expectations, args),
        Command::Ci(args) => ci::run(common, args),
        Command::Adapter(command) => adapter::run(command),
        Command::Faults(args) => faults::run(&environment()?, matrix, args),
        Command::Soak(args) => soak::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Worker(mode) => worker::run(common, mode, command.slowness()),
    }
}

impl Command {
    /// Returns how many times slower than an ordinary machine this one is, by `--slow`.
    fn slowness(&self) -> NonZeroU32 {
        let slow = match self {
            Self::Run(args) => &args.attempts.chance.slow,
            Self::Faults(args) => &args.chance.slow,
            Self::Soak(args) => &args.chance.slow,
            Self::Probe(args) => &args.chance.slow,
            Self::Explore(args) => &args.chance.slow,
            Self::Worker(WorkerMode::Exec(args)) => &args.attempts.chance.slow,
            Self::Worker(WorkerMode::Cell(args)) => &args.slow,
            Self::Worker(WorkerMode::Script(args)) => &args.slow,
            _ => return NonZeroU32::MIN,
        };
        slow.factor()
    }
}

impl Common {
    /// Loads what the options of all commands name. `keep` the adapters that were started, if this process
    /// tests them.
    fn environment(&self, keep: bool, slowness: NonZeroU32) -> Result<Environment, Error> {
        let loaded =
            Environment::load(lab::boxed(), self.expectations.as_deref(), &self.adapters, keep, slowness)?;
        Ok(loaded.with_behaviours(self.behaviours.as_deref())?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::CommandLine;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    fn add_flags(command: &clap::Command, flags: &mut BTreeSet<String>) {
        flags.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
        command.get_subcommands().for_each(|command| add_flags(command, flags));
    }

    #[test]
    fn the_command_line_stays_small() {
        let command = CommandLine::command();
        let (hidden, shown): (Vec<_>, Vec<_>) = command.get_subcommands().partition(|one| one.is_hide_set());
        let names = |commands: &[&clap::Command]| -> Vec<_> {
            commands.iter().map(|command| command.get_name().to_owned()).collect()
        };
        assert_eq!(names(&hidden), ["worker"]);
        assert!(shown.len() <= 15, "{:?}", names(&shown));
        let mut flags = BTreeSet::new();
        add_flags(&command, &mut flags);
        assert!((40..=90).contains(&flags.len()), "{flags:?}");
    }
}
