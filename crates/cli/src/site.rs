//! `pollmatrix site`: a static site from results and recorded answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use expectations::{Divergences, Expectations, History};
use metadata::{Os, Results, Run, one_line};
use report::{Input, Prefer, Rules};
use runner::{diagnostics, output};
use site::links::Checked;
use site::{Contract, Costs, File, Measured, build, folder, links};

use crate::args::SiteArgs;
use crate::error::Error;
use crate::record::{collect, source};
use crate::shown::Shown;
use crate::{catalogue_page, exit, input, merge};

/// The number of problems that are printed.
const PRINTED: usize = 50;

/// Builds the site and checks its links, or only checks one.
pub fn run(expectations: Option<&Path>, args: &SiteArgs) -> Result<ExitCode, Error> {
    if args.check {
        let (files, url) = folder::read(&args.out)?;
        return judge(&args.out, &links::check(&files, &url));
    }
    // Before minutes of work, perhaps.
    folder::accepts(&args.out)?;
    let mut shown = Shown::new(4);
    shown.update(0, || "reading results".to_owned());
    let read = read(&args.results, args.emulated)?;
    for note in &read.notes {
        diagnostics::note(note);
    }
    shown.update(1, || "building pages".to_owned());
    let files = files(expectations, &read, &args.url)?;
    shown.update(2, || format!("writing {} files", files.len()));
    let written = folder::write(&args.out, &args.url, &files, |path, text| {
        output::write_file(path, text).map_err(Error::from)
    })?;
    shown.update(3, || "checking links".to_owned());
    // What is on the disk is published.
    let (present, url) = folder::read(&args.out)?;
    let checked = links::check(&present, &url);
    shown.end();
    let changes = format!("{} files, {} changed, {} removed", files.len(), written.changed, written.removed);
    output::print(&format!("wrote: {} ({changes})\n", args.out.display()))?;
    judge(&args.out, &checked)
}

/// Prints the problems of a site. The exit code says whether it has any.
fn judge(folder: &Path, checked: &Checked) -> Result<ExitCode, Error> {
    let Checked { pages, links, problems } = checked;
    for problem in problems.iter().take(PRINTED) {
        let line = format!("{}/{problem}", folder.display());
        output::print(&format!("broken: {}\n", one_line(&line)))?;
    }
    if problems.len() > PRINTED {
        output::print(&format!("and {} more\n", problems.len() - PRINTED))?;
    }
    output::print(&format!("{pages} pages, {links} links within the site, {} broken\n", problems.len()))?;
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// The results of all inputs.
struct Read {
    merged: Results,
    /// The same without the runs through an emulator.
    of_kernels: Results,
    measured: Vec<Measured>,
    notes: Vec<String>,
}

/// Reads and merges the results. Targets of one name with several kernels get the names of their kernels.
fn read(paths: &[PathBuf], emulated: bool) -> Result<Read, Error> {
    let inputs = merge::in_parallel(paths, |path| Ok((path.to_path_buf(), input::read_undisturbed(path)?)))?;
    let mut notes = Vec::new();
    let of_kernel = |run: &Run| emulated || !input::is_emulated(run);
    for (path, results) in &inputs {
        for run in results.runs.iter().filter(|run| !of_kernel(run)) {
            notes.push(format!(
                "{}: {} was run {}, so its answers are not published as the kernel's; --emulated includes them",
                path.display(),
                run.target,
                run.runner()
            ));
        }
    }
    let mut answers = Vec::new();
    for (path, results) in &inputs {
        answers.extend(measured(path, results, of_kernel, &mut notes));
    }
    let mut kernels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in inputs.iter().flat_map(|(_, results)| &results.runs) {
        kernels.entry(run.target.clone()).or_default().insert(run.kernel.clone());
    }
    let inputs = inputs.into_iter().map(|(path, mut results)| {
        by_kernel(&mut results, &kernels);
        Input { results, name: input::file(&path).display().to_string() }
    });
    let rules = Rules { prefer: Some(Prefer::Worst), mixed: true };
    let merged = report::merge(inputs.collect(), rules)?;
    notes.extend(merged.notes);
    let mut of_kernels = merged.results.clone();
    of_kernels.runs.retain(of_kernel);
    Ok(Read { merged: merged.results, of_kernels, measured: answers, notes })
}

/// Renames each target that has runs on several kernels: `x86_64-linux-gnu, linux 6.1.192`.
fn by_kernel(results: &mut Results, kernels: &BTreeMap<String, BTreeSet<String>>) {
    let several = |target: &String| kernels.get(target).is_some_and(|kernels| kernels.len() > 1);
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in results.runs.iter().filter(|run| several(&run.target)) {
        let name = format!("{}, {} {}", run.target, run.os, run.kernel);
        names.entry(run.target.clone()).or_default().insert(name);
    }
    // Within one file, nothing says which run has a cell.
    let name =
        |target: &String| match names.get(target).map(|names| names.iter().collect::<Vec<_>>()).as_deref() {
            Some([name]) => (*name).clone(),
            _ => target.clone(),
        };
    for run in &mut results.runs {
        run.target = name(&run.target);
    }
    for cell in &mut results.cells {
        cell.target = name(&cell.target);
    }
}

/// Returns the answers in a file by the system that gave them.
fn measured(
    path: &Path,
    results: &Results,
    of_kernel: impl Fn(&Run) -> bool,
    notes: &mut Vec<String>,
) -> Vec<Measured> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for run in results.runs.iter().filter(|run| of_kernel(run) && seen.insert(run.target.as_str())) {
        let same = results.runs.iter().filter(|other| other.target == run.target);
        let kernels: BTreeSet<_> = same.map(|run| run.kernel.as_str()).collect();
        let of = |why: &str| format!("{}: the answers of {} are left out: {why}", path.display(), run.target);
        if kernels.len() > 1 {
            let kernels = kernels.into_iter().collect::<Vec<_>>().join(" and ");
            notes.push(of(&format!("it was run on {kernels}; give the results of each run instead")));
            continue;
        }
        let Ok((os, version)) = input::system(path, run) else {
            notes.push(of(&format!("nothing is known of {} {}", run.os, run.kernel)));
            continue;
        };
        for (poller, answers) in collect(results, run) {
            let source = source(run, &version, poller.as_deref()).1;
            let answers = answers.into_iter().map(|(asked, counts)| (asked, counts.into_keys().collect()));
            let (version, answers) = (version.clone(), answers.collect());
            all.push(Measured { os, version, poller, source, answers });
        }
    }
    all
}

/// Returns all files of the site.
fn files(folder: Option<&Path>, read: &Read, url: &str) -> Result<Vec<File>, Error> {
    let (loaded_divergences, loaded_history);
    let (divergences, history) = match folder {
        Some(folder) => {
            loaded_divergences = Divergences::load(folder)?;
            loaded_history = History::load(folder)?;
            (&loaded_divergences, &loaded_history)
        }
        None => (Divergences::built_in()?, History::built_in()?),
    };
    let answers = answers(folder)?;
    let catalogue = catalogue_page::contents(folder, None)?;
    let contract = scenarios::catalogue().filter(|scenario| scenario.layer == metadata::Layer::Contract);
    let contract: Vec<_> = contract
        .map(|scenario| Contract { id: scenario.id, title: scenario.title, clauses: scenario.clauses })
        .collect();
    let input = site::Input {
        answers: &answers,
        history,
        divergences,
        catalogue: &catalogue,
        results: &read.merged,
        of_kernels: &read.of_kernels,
        measured: &read.measured,
        url,
        pollmatrix: env!("CARGO_PKG_VERSION"),
    };
    let mut files = build(&input, &contract, &Costs::default());
    files.push(File { path: "report.html".into(), text: report::html::report(&read.merged) });
    let text = catalogue_page::read(folder, Some(&read.of_kernels))?;
    files.push(File { path: "catalogue.html".into(), text });
    Ok(files)
}

/// Returns the recorded answers of every system's kernel and adapters.
fn answers(folder: Option<&Path>) -> Result<Vec<(Os, Expectations)>, Error> {
    let names = match folder {
        Some(folder) => subjects_in(folder)?,
        None => expectations::subjects().map(str::to_owned).collect(),
    };
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let of = |os: &Os| {
        let answers = match folder {
            Some(folder) => Expectations::load_of(folder, *os, &names)?,
            None => Expectations::built_in_of(*os, &names)?,
        };
        Ok((*os, answers))
    };
    Os::ALL.iter().map(of).collect()
}

/// Returns the names of the adapters in a folder of expectations.
fn subjects_in(folder: &Path) -> Result<BTreeSet<String>, Error> {
    let folder = folder.join("subjects");
    let failed = |source| runner::Error::Io {
        action: "read",
        path: folder.clone(),
        source,
        help: "name another folder with --expectations DIR",
    };
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(failed(error).into()),
    };
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect()
}
