//! The command line.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use matrix::{Layer, Selection, Shard};
use report::Seed;

use crate::exit;
use crate::provenance::VERSION;

/// Where reports are unless something else is asked for.
pub const DEFAULT_REPORT_DIR: &str = "pollmatrix-report";

/// Says the same as `--slow`, to the tests too.
pub const SLOW_VARIABLE: &str = "POLLMATRIX_SLOW";

/// The same scenarios, over every poller, on every OS, with published answers.
///
/// Without a command, runs every cell of the matrix that this machine can run: `pollmatrix run`.
#[derive(Parser)]
#[command(name = "pollmatrix", version = VERSION, after_help = exit::HELP, max_term_width = 110)]
struct CommandLine {
    #[command(flatten)]
    matrix: MatrixArg,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What was asked for.
pub struct Args {
    /// The file to read in place of the matrix that is built in.
    pub matrix: Option<PathBuf>,
    /// The command.
    pub command: Command,
}

/// Reads the process's arguments. Leaves the process if they are wrong or ask for help.
pub fn parse() -> Args {
    let line = CommandLine::parse();
    // No command is `run` with its defaults.
    let command = line.command.or_else(|| CommandLine::parse_from(["pollmatrix", "run"]).command);
    Args {
        matrix: line.matrix.matrix,
        command: command.unwrap_or_else(|| unreachable!("`run` is a command")),
    }
}

#[derive(ClapArgs)]
struct MatrixArg {
    /// Use this matrix file instead of the one built into pollmatrix.
    #[arg(long, global = true, value_name = "FILE")]
    matrix: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run cells, each in a process of its own, and write the report (this is the default command)
    #[command(after_help = exit::HELP)]
    Run(RunArgs),
    /// List cells, and say which this machine cannot run
    List(ListArgs),
    /// Show the newest result of one cell in full
    Show(ShowArgs),
    /// List the faults that --fault can switch on
    Faults(FaultsArgs),
    /// Split the cells over several machines, for the matrix of a CI or for a Kubernetes Job
    ///
    /// Each of the N machines runs `pollmatrix run --shard K/N`, and `pollmatrix merge` joins what they report. The
    /// split is even by how long the cells of each scenario took when that was last recorded, and the same wherever it
    /// is made.
    Plan(PlanArgs),
    /// Write again what is generated from matrix.yml and from the result types
    Generate(GenerateArgs),
    /// Run one attempt of one cell in this very process and print its result as one JSON line
    ///
    /// `pollmatrix run` starts one of these per attempt. It has no time limit, and it may leave signals, limits
    /// and descriptors changed until it ends. Under a debugger or a tracer this is the command to start.
    #[command(after_help = exit::CELL_HELP)]
    RunCell(RunCellArgs),
}

/// Which cells.
#[derive(ClapArgs)]
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
    /// As the matrix crate wants it.
    pub fn selection(&self) -> Selection {
        Selection {
            prefixes: self.prefixes.clone(),
            backends: self.backends.clone(),
            filters: self.filters.clone(),
            layer: self.layer,
            shard: self.shard,
        }
    }
}

/// How fast the machine is.
#[derive(ClapArgs)]
pub struct SlowArg {
    /// This machine is N times slower than an ordinary one (an emulator, a debugger): wait N times longer before a cell
    /// is said to hang
    #[arg(long = "slow", value_name = "N", env = SLOW_VARIABLE, default_value = "1")]
    pub times: NonZeroU32,
}

/// Where reports are.
#[derive(ClapArgs)]
pub struct ReportDirArg {
    /// Where the report is
    #[arg(long = "report-dir", value_name = "DIR", default_value = DEFAULT_REPORT_DIR)]
    pub path: PathBuf,
}

#[derive(ClapArgs)]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// How many cells to run at the same time [default: what this machine runs at once]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Run each cell N times: all pass is a pass, some is flaky
    #[arg(long, value_name = "N", default_value = "1")]
    pub repeat: NonZeroU32,
    /// The seed of each cell's first attempt; each further attempt counts up [default: a new one per run]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<Seed>,
    /// Switch a fault on in every cell: cells are then meant to fail (`pollmatrix faults` lists them)
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
    #[command(flatten)]
    pub slow: SlowArg,
    /// Continue the interrupted run in the report directory; without cells given, with the same ones
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// What to print at the end; the report directory gets every format in any case
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub format: RunFormat,
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
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct ShowArgs {
    /// The cell's id, or the beginning of it if no other begins so
    #[arg(value_name = "ID")]
    pub id: String,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(ClapArgs)]
pub struct FaultsArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
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
    /// Split nothing: record how long the cells in this results.json took, for the splits to come; repeatable
    #[arg(long, value_name = "FILE", conflicts_with_all = ["shards", "prefixes", "backends", "filters", "layer", "shard"])]
    pub record: Vec<PathBuf>,
    /// The top of the source tree, to record in [default: the nearest folder upwards that has a matrix.yml and crates]
    #[arg(long, value_name = "DIR", requires = "record")]
    pub root: Option<PathBuf>,
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
    /// An indexed Job for Kubernetes; results go to the volume claim pollmatrix-results
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
pub struct RunCellArgs {
    /// The cell's full id
    #[arg(value_name = "ID")]
    pub id: String,
    /// For everything random
    #[arg(long, value_name = "SEED")]
    pub seed: Seed,
    /// Switch this fault on
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
    #[command(flatten)]
    pub slow: SlowArg,
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
