//! The arguments of `pollmatrix faults`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::args::{ChanceArgs, ReportDirArg, RunFormat, SelectionArgs};

#[derive(clap::Args)]
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
