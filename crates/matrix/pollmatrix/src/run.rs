//! `pollmatrix run`: runs cells, and writes the report.

mod all_targets;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::Runner;
use matrix::command::{Words, word};
use matrix::plan::{self, Source};
use matrix::runners::RunnerOptions;
use matrix::session::{self, Request};
use matrix::signals::{self, Stop};
use matrix::{Environment, backends, faults, output, report_dir, runners};
use metadata::{Results, Status, one_line};
use report::{first_line, markdown, terminal};

use crate::args::{AttemptArgs, DEFAULT_REPORT_DIR, NAMED, ReportDirArg, RunFormat, SelectionArgs};
use crate::error::Error;
use crate::exit;
use crate::expectations::adapters;
use crate::triage::{triage, wrapped};
use crate::vm::{self, VmAction};

#[derive(clap::Parser, Clone)]
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
    /// Converts the options to the type of the matrix crate.
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
#[derive(clap::Args, Clone)]
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
    /// For --runner prefix: the command in front of the executable: 'qemu-s390x-static -L
    /// /usr/s390x-linux-gnu'
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
    /// For --runner vm: leave the machine up after the run, for --vm attach
    #[arg(long)]
    pub keep: bool,
    /// For --runner vm: do this with the machine, and run no cells
    #[arg(long, value_enum, value_name = "ACTION", conflicts_with_all = ["prefixes", "target", "resume", "keep"])]
    pub vm: Option<VmAction>,
    /// For --runner import: the output of `pollmatrix worker exec`, or a results.json; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub import: Option<PathBuf>,
}

impl RunnerArgs {
    /// Converts the options to the type of the matrix crate.
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

/// Runs the selected cells, writes the report, and prints a summary.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &RunArgs) -> Result<ExitCode, Error> {
    if let Some(action) = args.runner.vm {
        let RunnerArgs { runner, executable, kernel, .. } = &args.runner;
        return vm::run(action, runner.as_deref(), executable.as_deref(), kernel.as_deref());
    }
    let source = Source::load(matrix, environment)?;
    if let Some(fault) = &args.attempts.fault.name {
        faults::find(fault)?;
    }
    if args.runner.target.as_deref() == Some(all_targets::ALL) {
        environment.refuse_adapters_elsewhere(false)?;
        return all_targets::run(&source, args, &args.request(environment));
    }
    if let Some(typed) = args.not_run.first() {
        let help = "use it with --target all only".to_owned();
        return Err(Error::NotRunArg { typed: typed.clone(), why: "the run has one target", help });
    }
    let request = args.request(environment);
    let chosen = runners::choose(&source, &request.runner)?;
    environment.refuse_adapters_elsewhere(matches!(chosen.runner, Runner::Native))?;
    environment.refuse_behaviours_elsewhere(&chosen.runner)?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let (results, ended) = session::run(&source, &chosen, &request, &stop, None)?;
    match args.format {
        RunFormat::Json => output::print(&results.to_json())?,
        RunFormat::Markdown => output::print(&markdown::report(&results))?,
        RunFormat::Text => {
            output::print_styled(&summary(
                &results,
                &RerunArguments::new(&source, &request),
                &(triage(environment, &results)? + &pages(environment, &results, &request.dir)?),
            ))?;
        }
    }
    Ok(match ended {
        Some(code) => ExitCode::from(code),
        None if results.has_failures() => ExitCode::from(exit::FAILED),
        None => ExitCode::SUCCESS,
    })
}

/// The options that other commands need to refer to this run.
struct RerunArguments {
    dir: PathBuf,
    /// The options for `pollmatrix show`.
    show: String,
    /// The options for `pollmatrix run --resume`.
    resume: String,
}

impl RerunArguments {
    fn new(source: &Source<'_>, request: &Request) -> Self {
        let dir = request.dir.clone();
        let mut show = String::new();
        if let Some(matrix) = &source.path {
            let _ = write!(show, " --matrix '{}'", matrix.display());
        }
        if dir != Path::new(DEFAULT_REPORT_DIR) {
            let _ = write!(show, " --report-dir '{}'", dir.display());
        }
        let expectations = source.environment.expectations_option();
        let behaviours =
            source.environment.behaviours().map(|behaviours| word(&behaviours.path.display().to_string()));
        let behaviours = behaviours.map(|file| format!(" --behaviours {file}")).unwrap_or_default();
        let mut resume = format!("{show}{expectations}{behaviours}{}", request.runner.to_arguments());
        resume.push_str(&plan::disturbance_options(&request.spec));
        if request.spec.repeat > 1 {
            let _ = write!(resume, " --repeat {}", request.spec.repeat);
        }
        Self { dir, show, resume }
    }
}

/// Returns where the page of each adapter is. That of one without recorded answers is built from the results.
fn pages(environment: &Environment, results: &Results, dir: &Path) -> Result<String, Error> {
    let recorded = adapters(environment.expectations())?;
    let foreign = results.characterisation().map(|cell| &cell.backend).filter(|name| !backends::is_own(name));
    let names: BTreeSet<_> = foreign.collect();
    let page = |name: &String| {
        let of = if recorded.contains(name) { String::new() } else { format!(" {}", dir.display()) };
        wrapped(&format!("{name} by topic: `pollmatrix site{of}` builds site/pollers/{name}.html"))
    };
    Ok(names.into_iter().map(page).collect())
}

/// Returns the table, the failed cells, the totals, the triage of the adapters, and the path of the report.
fn summary(results: &Results, rerun: &RerunArguments, triage: &str) -> String {
    let mut out = terminal::matrix(results, output::colour());
    let failed: Vec<_> = results.cells.iter().filter(|cell| cell.status.is_failure()).collect();
    // Cells that an interrupted run did not reach are only counted.
    let named: Vec<_> =
        failed.iter().filter(|cell| !(results.interrupted() && cell.status == Status::NotRun)).collect();
    if !named.is_empty() {
        out.push('\n');
    }
    for cell in named.iter().take(NAMED) {
        let reason = cell.reason.as_deref().map(first_line).unwrap_or_default();
        let line = format!("{} {}: {reason}", cell.status, cell.id);
        let _ = writeln!(out, "{}", one_line(&line));
    }
    if named.len() > NAMED {
        let _ = writeln!(out, "and {} more", named.len() - NAMED);
    }
    if let Some(first) = named.first() {
        let _ = writeln!(
            out,
            "\nDetails: {}",
            one_line(&format!("pollmatrix show {}{}", word(&first.id), rerun.show))
        );
        let _ = writeln!(out, "Rerun:   {}", one_line(&first.reproducer));
    }
    let mut fault = results.fault().map(|fault| format!(", fault {}", one_line(fault))).unwrap_or_default();
    if let Some(one_in) = results.inject_errors() {
        let _ = write!(fault, ", errors in one of {one_in} system calls");
    }
    if let Some(milliseconds) = results.late_data() {
        let _ = write!(fault, ", data up to {milliseconds} ms late");
    }
    let seeds: Vec<_> = results.runs.iter().map(|run| run.seed.to_string()).collect();
    let seed = format!(" (seed {}{fault})", seeds.join(", "));
    for (index, line) in results.totals_lines().into_iter().enumerate() {
        let _ = match index {
            0 => writeln!(out, "\n{line}{seed}"),
            _ => writeln!(out, "{line}"),
        };
    }
    out.push_str(triage);
    if results.interrupted() {
        let _ = writeln!(out, "Interrupted: `pollmatrix run --resume{}` continues.", one_line(&rerun.resume));
    }
    let _ = writeln!(out, "Report: {}", one_line(&rerun.dir.join(report_dir::REPORT).display().to_string()));
    out
}
