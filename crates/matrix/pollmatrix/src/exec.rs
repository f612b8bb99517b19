//! `pollmatrix worker exec`: the executor. Runs cells on this machine, and streams the results. It needs only
//! its own file: no writable folder, no /proc, no terminal.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Read, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use matrix::command::Words;
use matrix::executable::Executable;
use matrix::plan::{self, Planned, Source};
use matrix::schedule::{self, Settings};
use matrix::self_start::SelfStart;
use matrix::signals::Stop;
use matrix::stream::{self, Line};
use matrix::{
    Environment, command, diagnostics, faults, json_lines, lifeline, pipes, provenance, self_start,
};
use metadata::{CellResult, Run, Status};

use crate::args::{AttemptArgs, SelectionArgs};
use crate::error::Error;
use crate::exit;

#[derive(clap::Args)]
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

/// Runs the selected cells, and writes their results as lines.
pub fn run(environment: &Environment, matrix: Option<&Path>, args: &ExecArgs) -> Result<ExitCode, Error> {
    let source = Source::load(matrix, environment)?;
    if let Some(fault) = &args.attempts.fault.name {
        faults::find(fault)?;
    }
    let mut planned = chosen(&source, args)?;
    let mut spec = args.attempts.spec();
    plan::add_rerun_arguments(&mut planned, "", &spec, environment)?;
    // After the list of cells, which can also come from standard input.
    if args.lifeline {
        lifeline::watch();
    }
    let own = own(args)?;
    let executable = Executable::watch(&own.executable);
    spec.slow.get_or_insert_with(|| self_start::slowness(own.took));
    let settings = Settings {
        environment,
        prefix: &own.prefix,
        executable: &executable,
        matrix: source.path.as_deref(),
        spec: &spec,
    };
    let here = about(&source, args, &settings)?;
    let mut kept = args.keep.as_deref().map(|path| Kept::open(path, &here)).transpose()?;
    let mut output = Output::open(&args.output)?;
    output.write(&Line::Begin {
        format: stream::FORMAT,
        run: Box::new(here),
        slow: spec.slowness(),
        cells: planned.len(),
    })?;

    let mut statuses = Vec::with_capacity(planned.len());
    let mut left = Vec::new();
    for cell in planned {
        let known = kept.as_mut().and_then(|kept| kept.results.remove(&cell.spec.id));
        match (known, &cell.unsupported) {
            (None, None) => left.push(cell),
            (None, Some(why)) => {
                let result = CellResult::without_attempt(cell.spec, Status::Unsupported, why.clone());
                statuses.push(result.status);
                output.write(&Line::Cell(Box::new(result)))?;
            }
            (Some(result), _) => {
                statuses.push(result.status);
                output.write(&Line::Cell(Box::new(result)))?;
            }
        }
    }
    let failed = matrix::Error::io("start cells of", &own.executable, "start pollmatrix again");
    let stop = Stop::install().map_err(failed)?;
    let mut problem = None;
    schedule::run(&left, &settings, &stop, |result| {
        statuses.push(result.status);
        let line = Line::Cell(Box::new(result));
        let written =
            kept.as_mut().map_or(Ok(()), |kept| kept.write(&line)).and_then(|()| output.write(&line));
        if let Err(error) = written {
            problem.get_or_insert(error);
            stop.halt();
        }
    });
    if let Some(error) = problem {
        return Err(error);
    }
    executable.check()?;
    if let Some(code) = stop.signal() {
        return Ok(ExitCode::from(code));
    }
    output.write(&Line::End { cells: statuses.len() })?;
    Ok(ExitCode::from(verdict(&statuses)))
}

/// Finds the command by which this program starts cells here.
fn own(args: &ExecArgs) -> Result<SelfStart, Error> {
    let own = self_start::find(
        &own_files(args.executable.as_deref())?,
        args.prefix.as_ref().map(|words| words.0.as_slice()),
    )?;
    if let Some(given) = args.executable.as_deref().filter(|given| *given != own.executable) {
        let (given, own) = (given.display(), own.executable.display());
        diagnostics::note(&format!("{given} does not start here: using {own} to start cells"));
    }
    Ok(own)
}

fn verdict(statuses: &[Status]) -> u8 {
    if statuses.iter().any(|status| status.is_failure()) {
        exit::FAILED
    } else if !statuses.is_empty() && statuses.iter().all(|status| *status == Status::Unsupported) {
        exit::CELL_UNSUPPORTED
    } else {
        0
    }
}

/// Returns the cells that the arguments select. Requires `--all` for every cell, because users often start an
/// executor by hand on a slow machine.
fn chosen(source: &Source<'_>, args: &ExecArgs) -> Result<Vec<Planned>, Error> {
    let selection = match args.all || args.cells.is_some() && !args.selection.is_given() {
        true => matrix::Selection::default(),
        false => args.selection.selection(source.environment),
    };
    let Some(list) = &args.cells else {
        if selection == matrix::Selection::default() && !args.all {
            return Err(Error::NoCells);
        }
        return Ok(source.plan(source.target()?, &selection)?);
    };
    let failed = matrix::Error::io("read the cells in", list, "give a file with one id per line, or `-`");
    let ids = if list.as_os_str() == "-" {
        read_ids(io::stdin().lock())
    } else {
        File::open(list).and_then(|file| read_ids(io::BufReader::new(file)))
    };
    let (ids, ended) = ids.map_err(failed)?;
    if args.lifeline && !ended {
        return Err(Error::CutCells);
    }
    let planned = source.plan(source.target()?, &selection)?;
    let mut by_id: HashMap<_, _> = planned.into_iter().map(|cell| (cell.spec.id.clone(), cell)).collect();
    let mut chosen = Vec::with_capacity(ids.len());
    for id in ids {
        match by_id.remove(&id) {
            Some(cell) => chosen.push(cell),
            // A duplicate line.
            None if chosen.iter().any(|cell: &Planned| cell.spec.id == id) => {}
            None => return Err(plan::unknown_cell(&id, &source.matrix.cells()).into()),
        }
    }
    Ok(chosen)
}

/// The greatest size of a list of ids, in bytes. The ids of all cells are shorter.
const IDS_BYTES: u64 = 16 << 20;

/// Reads ids up to an empty line or the end. Returns the ids, and whether an empty line follows them.
fn read_ids(from: impl BufRead) -> io::Result<(Vec<String>, bool)> {
    let mut ids = Vec::new();
    let mut from = from.take(IDS_BYTES);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 && from.limit() == 0 {
            let why = format!("it is longer than {}", pipes::bytes(IDS_BYTES as usize));
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        } else if line.is_empty() {
            return Ok((ids, false));
        }
        match line.trim() {
            "" => return Ok((ids, true)),
            id => ids.push(id.to_owned()),
        }
    }
}

/// Returns the possible names of this program's file: the given one, and the one that the system reports or
/// that the shell must have found. The given name can be one on another machine, and Linux does not report a
/// name without /proc.
fn own_files(given: Option<&Path>) -> Result<Vec<PathBuf>, Error> {
    let found = std::env::current_exe().or_else(|error| {
        let name = std::env::args_os().next();
        name.and_then(|name| command::on_path(&name, std::env::var_os("PATH").as_deref())).ok_or(error)
    });
    match (given, found) {
        (Some(given), Ok(found)) if given == found => Ok(vec![found]),
        (Some(given), found) => Ok([given.to_path_buf()].into_iter().chain(found).collect()),
        (None, Ok(found)) => Ok(vec![found]),
        (None, Err(error)) => {
            Err(matrix::Error::io("find the file of", "this program", "name it with --self FILE")(error)
                .into())
        }
    }
}

/// Returns the provenance of the results.
fn about(source: &Source<'_>, args: &ExecArgs, settings: &Settings<'_>) -> Result<Run, Error> {
    let now = provenance::now();
    Ok(Run {
        selection: args.selection.selection(source.environment).describe(),
        matrix: source.hash.clone(),
        // The hash can be unknown, unless there is a keep file.
        executable: settings.executable.hash().unwrap_or(provenance::UNKNOWN).to_owned(),
        seed: settings.spec.seed,
        repeat: settings.spec.repeat,
        fault: settings.spec.fault.clone(),
        inject_errors: settings.spec.inject_errors,
        late_data: settings.spec.late_data,
        adapters: source.environment.versions(),
        columns: source.environment.columns(),
        ..provenance::run_here(source.target()?.id.clone(), now)
    })
}

/// The output for the lines.
struct Output {
    to: Box<dyn Write + Send>,
    path: PathBuf,
}

impl Output {
    /// Opens a file, or standard output.
    fn open(path: &Path) -> Result<Self, Error> {
        let to: Box<dyn Write + Send> = if path.as_os_str() == "-" {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).map_err(write_failed(path))?)
        };
        Ok(Self { to, path: path.to_path_buf() })
    }

    /// Writes a line with one call, so that other programs cannot write into the middle of it.
    fn write(&mut self, line: &Line) -> Result<(), Error> {
        let written = self.to.write_all(line.to_text().as_bytes()).and_then(|()| self.to.flush());
        Ok(written.map_err(write_failed(&self.path))?)
    }
}

fn write_failed(path: &Path) -> impl Fn(io::Error) -> matrix::Error {
    let help = "the previous results are written; use --keep FILE to be able to continue from them";
    let path = if path.as_os_str() == "-" { Path::new("standard output") } else { path };
    matrix::Error::io("write the results to", path, help)
}

/// The file of `--keep`, and the results in it.
struct Kept {
    file: File,
    path: PathBuf,
    results: HashMap<String, CellResult>,
}

impl Kept {
    /// Opens the file, and reads the results of the same run.
    fn open(path: &Path, here: &Run) -> Result<Self, Error> {
        let help = "choose another place with --keep FILE, or omit it";
        let failed = matrix::Error::io("keep results in", path, help);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(&failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(&failed)?;
        let mut kept = Self { file, path: path.to_path_buf(), results: HashMap::new() };
        let lines = json_lines::read(path, &bytes, |line| Line::find(&String::from_utf8_lossy(line)).0)?;
        if let Some(loss) = lines.loss(path) {
            diagnostics::warning(&format!("{loss}, and cells without a result run again"));
        }
        // Remove a truncated line, so that the next line does not continue it.
        if let Some((_, whole)) = lines.torn {
            kept.file.set_len(whole).map_err(failed)?;
        }
        let is_empty = lines.is_empty();
        let mut lines = lines.whole.into_iter();
        match lines.next() {
            None if is_empty => kept.write(&Line::Begin {
                format: stream::FORMAT,
                run: Box::new(here.clone()),
                slow: NonZeroU32::MIN,
                cells: 0,
            })?,
            Some((1, Line::Begin { format: stream::FORMAT, run, .. })) => {
                if let Some(difference) = difference(&run, here) {
                    return Err(Error::ForeignKeep { path: path.to_path_buf(), difference });
                }
                for (_, line) in lines {
                    if let Line::Cell(result) = line {
                        kept.results.insert(result.id.clone(), *result);
                    }
                }
            }
            _ => {
                let difference = "its first line is not that of an executor of this version".into();
                return Err(Error::ForeignKeep { path: path.to_path_buf(), difference });
            }
        }
        Ok(kept)
    }

    fn write(&mut self, line: &Line) -> Result<(), Error> {
        let written = self.file.write_all(line.to_text().as_bytes());
        Ok(written.map_err(write_failed(&self.path))?)
    }
}

/// Returns how the run of the kept results differs from this one, if it does.
fn difference(kept: &Run, here: &Run) -> Option<String> {
    let differs = [
        ("matrix", kept.matrix == here.matrix),
        ("executable", kept.executable == here.executable),
        ("--seed", kept.seed == here.seed),
        ("--repeat", kept.repeat == here.repeat),
        ("--fault", kept.fault == here.fault),
        ("--inject-errors", kept.inject_errors == here.inject_errors),
        ("--late-data", kept.late_data == here.late_data),
    ];
    differs.into_iter().find(|(_, same)| !same).map(|(name, _)| format!("it is of a run with another {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_reflects_the_statuses() {
        use Status::{Fail, Pass, Unsupported};
        for (statuses, code) in [
            (&[][..], 0),
            (&[Pass, Unsupported][..], 0),
            (&[Unsupported, Unsupported][..], 127),
            (&[Unsupported, Fail][..], 1),
        ] {
            assert_eq!(verdict(statuses), code, "{statuses:?}");
        }
    }

    #[test]
    fn ids_end_at_an_empty_line() {
        let read = |text: &str| read_ids(text.as_bytes()).unwrap();
        assert_eq!(read("a\r\n  b \n\nc\n"), (vec!["a".into(), "b".into()], true));
        assert_eq!(read("a"), (vec!["a".into()], false));
        assert_eq!(read(""), (Vec::new(), false));
    }
}
