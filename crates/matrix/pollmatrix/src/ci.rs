//! `pollmatrix ci`: checks the adapters of one's own repository, with one command and one exit code.

mod findings;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adapters::Outcome;
use clap::Parser;
use matrix::command::{quoted, word};
use matrix::plan::Source;
use matrix::signals::{self, Stop};
use matrix::{
    Environment, Error as MatrixError, diagnostics, environment, output, report_dir, runners, session,
};

use crate::adapter::checks;
use crate::args::ReportDirArg;
use crate::below::closest;
use crate::config::{self, Config};
use crate::error::Error;
use crate::explore::{self, ExploreArgs};
use crate::run::RunArgs;
use crate::triage::triage;
use crate::{Common, exit, lab};
use findings::{Findings, Form};

#[derive(clap::Args)]
pub struct CiArgs {
    /// The file that names the adapters, the expectations and the accepted differences. Its paths and
    /// commands, and the report directory, are relative to its folder
    #[arg(long, value_name = "FILE", default_value = config::NAME)]
    pub config: PathBuf,
    /// Check nothing: write the file, for the adapter with this command ('./my-adapter epoll')
    #[arg(long, value_name = "COMMAND")]
    pub init: Option<String>,
    #[command(flatten)]
    pub report_dir: ReportDirArg,
}

/// The options of a run, which `ci` fills in.
#[derive(clap::Parser)]
struct Options<T: clap::Args> {
    #[command(flatten)]
    args: T,
}

/// Returns what a command makes of these options.
fn options<T: clap::Args>(given: &[&str]) -> Result<T, Error> {
    let parsed = Options::<T>::try_parse_from([&["pollmatrix"], given].concat());
    let unfit = |error: clap::Error| Error::Options(error.to_string());
    parsed.map(|options| options.args).map_err(unfit)
}

/// How often a cell with a change is run again.
const REPETITIONS: usize = 3;

const TEMPORARY: &str = "name a folder that you may write to in TMPDIR";

/// The name of the summary in the report directory.
const SUMMARY: &str = "ci.md";

/// Carries out the command.
pub fn run(common: &Common, args: &CiArgs) -> Result<ExitCode, Error> {
    if let Some(command) = &args.init {
        return init(&args.config, command);
    }
    if common.expectations.is_some() || !common.adapters.is_empty() {
        let names = args.config.display();
        return Err(Error::Options(format!("{names} names the adapters and the expectations")));
    }
    let config = Config::load(&args.config)?;
    // Before the folder changes.
    let matrix = common.matrix.as_deref().map(absolute);
    let behaviours = common.behaviours.as_deref().map(absolute);
    enter_folder_of(&args.config)?;
    let Checked { mut findings, interrupted } =
        check(&config, matrix.as_deref(), behaviours.as_deref(), args)?;
    let mut interrupted = interrupted.map(ExitCode::from);
    if let Some(duration) = &config.explore {
        for adapter in &config.adapters {
            if interrupted.is_none() {
                interrupted = explore(&config, adapter, duration, &mut findings)?;
            }
        }
    }
    if let Some(code) = interrupted {
        diagnostics::note("interrupted: nothing was judged");
        return Ok(code);
    }
    let report = args.report_dir.path.join(report_dir::REPORT);
    let summary = findings.text(Form::Markdown, &report);
    output::write_file(&args.report_dir.path.join(SUMMARY), &summary)?;
    if let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) {
        append(Path::new(&file), &summary)?;
    }
    output::print(&findings.text(Form::Terminal, &report))?;
    if std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        for line in findings.annotations() {
            output::print_line(&line)?;
        }
    }
    Ok(if findings.has_problems() { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS })
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Makes the folder of the file the current one: commands such as `./my-adapter` are relative to it.
fn enter_folder_of(config: &Path) -> Result<(), Error> {
    let Some(folder) = config.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let help = "give --config FILE, in a folder that you may enter";
    Ok(std::env::set_current_dir(folder).map_err(MatrixError::io("enter", folder, help))?)
}

/// Appends to the summary of the job, to which earlier steps can have written.
fn append(path: &Path, text: &str) -> Result<(), Error> {
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let written = opened.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    Ok(written.map_err(MatrixError::io("write", path, "unset GITHUB_STEP_SUMMARY"))?)
}

/// The outcome of the cells of all adapters.
struct Checked {
    findings: Findings,
    interrupted: Option<u8>,
}

/// Checks the adapters, runs their cells, and writes the report.
fn check(
    config: &Config,
    matrix: Option<&Path>,
    behaviours: Option<&Path>,
    args: &CiArgs,
) -> Result<Checked, Error> {
    let mut findings = Findings::default();
    for adapter in &config.adapters {
        let words = environment::words(adapter)?;
        let checks = checks(&words, crate::adapter::PATIENCE, &|_| true)?;
        for check in checks.iter().filter(|check| matches!(check.outcome, Outcome::Failed(_))) {
            findings
                .problem(format!("adapter check: {}", check.to_string().trim_start_matches("FAIL").trim()));
        }
    }
    let loaded = Environment::load(lab::boxed(), config.overlay(), &config.adapters, false, NonZeroU32::MIN)?;
    let environment = loaded.with_behaviours(behaviours)?;
    let source = Source::load(matrix, &environment)?;
    let dir = args.report_dir.path.display().to_string();
    let run: RunArgs = options(&["--layer", "characterisation", "--report-dir", &dir])?;
    let request = run.request(&environment);
    let chosen = runners::choose(&source, &request.runner)?;
    let stop = Stop::install().map_err(signals::cannot_start)?;
    let (mut results, mut interrupted) = session::run(&source, &chosen, &request, &stop, None)?;
    // Some answers race. A change counts if it shows each time.
    for _ in 0..REPETITIONS {
        let changed = findings::changed(&results);
        if changed.is_empty() || interrupted.is_some() {
            break;
        }
        let dir = tempfile::tempdir().map_err(MatrixError::io("create", std::env::temp_dir(), TEMPORARY))?;
        let mut request = request.clone();
        request.selection.prefixes = changed;
        request.dir = dir.path().to_path_buf();
        let (again, signal) = session::run(&source, &chosen, &request, &stop, None)?;
        for sentence in findings::keep_steady(&mut results, again) {
            findings.note(&format!("{sentence}; not each time"));
        }
        interrupted = signal;
    }
    if interrupted.is_none() {
        findings.judge(&mut results, &config.accepted);
        findings.note(&triage(&environment, &results)?);
        // The verdicts of this command, with what it accepts.
        report_dir::write(&args.report_dir.path, &results)?;
    }
    Ok(Checked { findings, interrupted })
}

/// Explores an adapter beside the interface below it. Returns the exit code of a signal that interrupted it.
fn explore(
    config: &Config,
    adapter: &str,
    duration: &str,
    findings: &mut Findings,
) -> Result<Option<ExitCode>, Error> {
    let environment = Environment::load(lab::boxed(), None, &[adapter.to_owned()], false, NonZeroU32::MIN)?;
    let (Some(name), Some(os)) = (environment.adapters().next(), environment::os()) else { return Ok(None) };
    let below = closest(&environment.column(name), os);
    let known = config.known.as_ref().map(|file| file.display().to_string());
    // The same scripts each time, as far as the time goes.
    let mut given = vec!["--left", below.name(), "--right", adapter, "--duration", duration, "--seed", "1"];
    given.extend(known.iter().flat_map(|file| ["--known", file]));
    let args: ExploreArgs = options(&given)?;
    let code = explore::run(&args, config.overlay())?;
    let has_failed = [exit::FAILED, exit::CELL_UNSUPPORTED].map(ExitCode::from).contains(&code);
    if has_failed {
        let adapter = quoted(&[adapter.to_owned()]);
        let again =
            format!("pollmatrix explore --left {} --right {adapter} --propose=known.txt", below.name());
        findings.problem(format!(
            "explore found differences of {name} from {below} that nothing explains, or no verdict: see above; `{again}` \
             writes them for `known`"
        ));
    }
    Ok(Some(code).filter(|code| !has_failed && *code != ExitCode::SUCCESS))
}

/// Writes a file for this adapter, which must work.
fn init(path: &Path, command: &str) -> Result<ExitCode, Error> {
    if path.exists() {
        let why = "it exists already".to_owned();
        return Err(Error::Unfit {
            path: path.to_path_buf(),
            why,
            help: "edit it, or name another --config FILE",
        });
    }
    let adapters = [command.to_owned()];
    Environment::load(lab::boxed(), None, &adapters, false, NonZeroU32::MIN)?;
    let string = |text: &str| {
        // A JSON string is a TOML string.
        serde_json::to_string(text).unwrap_or_default()
    };
    let text = format!(
        "# `pollmatrix ci` reads this file: docs/your-ci.md of pollmatrix explains every key.\n\
         adapter = {}\nexpectations = {}\n",
        string(command),
        string(config::FOLDER)
    );
    output::write_file(path, &text)?;
    let shown = path.display().to_string();
    let option = if shown == config::NAME { String::new() } else { format!(" --config {}", word(&shown)) };
    output::print(&format!(
        "wrote {shown}\n\npollmatrix ci{option}    # asks everything\n\
         pollmatrix expectations record pollmatrix-report\n\
         git add {shown} {}; then `pollmatrix ci{option}` fails on a change\n",
        config::FOLDER
    ))?;
    Ok(ExitCode::SUCCESS)
}
