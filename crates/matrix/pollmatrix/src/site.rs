//! `pollmatrix site`: static pages from recorded answers and the results of runs.

mod catalogue;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use matrix::Selection;
use matrix::plan::Source;
use matrix::{diagnostics, output};
use metadata::{Layer, Os, Outcome, Results, is_api_of};
use raw::expectations::{Expectation, Expectations, Version};
use report::html::site::{Contract, Killed, Poller, PollerAnswer, PollerOnSystem, Site, Wrong, build};
use report::{Input, Rules};
use serde::{Deserialize, Serialize};

use catalogue::{catalogue, proper_name, remarks};

use crate::below::{beside, closest};
use crate::error::Error;
use crate::expectations::{adapters, record};
use crate::merge::Prefer;
use crate::{exit, faults, input, kernels, lab, site_check};

#[derive(clap::Args)]
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

/// The file by which a folder is known to be a site of this program. It lists the other files.
const MARK: &str = "site.json";

const OUT_HELP: &str = "choose another folder with --out DIR";

/// The content of [`MARK`].
#[derive(Serialize, Deserialize)]
struct Mark {
    /// The version of this file.
    pollmatrix_site: u32,
    files: BTreeSet<String>,
}

/// Builds the site and writes it to its folder. Prints the number of its pages.
pub fn run(expectations: Option<&Path>, args: &SiteArgs) -> Result<ExitCode, Error> {
    if let Some(folder) = &args.check {
        return site_check::run(folder, known_files(folder)?);
    }
    let before = known_files(&args.out)?;
    let results = merged(args)?;
    let catalogue = catalogue(expectations, &results)?;
    let pollers = pollers(expectations, &results)?;
    let findings = args.findings.as_deref().map(findings).transpose()?;
    let contract = contract()?;
    let built = build(&Site {
        url: args.url.as_deref(),
        catalogue: &catalogue,
        contract: &contract,
        results: &results,
        pollers: &pollers,
        findings: findings.as_deref(),
        peers: Some(raw::peers()),
    });
    if !built.broken.is_empty() {
        for broken in &built.broken {
            diagnostics::error(&broken.to_string(), "nothing was written");
        }
        return Ok(ExitCode::from(exit::FAILED));
    }
    let files: BTreeSet<_> = built.files.iter().map(|page| page.path.clone()).collect();
    // First the list: if this program is interrupted, the next one knows the folder as its own.
    let all = before.union(&files).cloned().collect();
    write(&args.out, MARK, &metadata::json(&Mark { pollmatrix_site: 1, files: all }))?;
    for page in &built.files {
        write(&args.out, &page.path, &page.text)?;
    }
    for stale in before.difference(&files) {
        remove(&args.out.join(stale))?;
    }
    let pages = files.iter().filter(|path| path.ends_with(".html")).count();
    write(&args.out, MARK, &metadata::json(&Mark { pollmatrix_site: 1, files }))?;
    output::print(&format!("wrote {pages} pages: {}\n", args.out.join("index.html").display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the files that an earlier site has in the folder. Refuses a folder with other content.
fn known_files(out: &Path) -> Result<BTreeSet<String>, Error> {
    let unfit = |why: &str| Error::Unfit { path: out.to_path_buf(), why: why.to_owned(), help: OUT_HELP };
    let text = match std::fs::read_to_string(out.join(MARK)) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return match std::fs::read_dir(out) {
                Ok(mut entries) => match entries.next() {
                    None => Ok(BTreeSet::new()),
                    Some(_) => Err(unfit("the folder has files, and was not made by `pollmatrix site`")),
                },
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeSet::new()),
                Err(error) => Err(io("read", out)(error)),
            };
        }
        Err(error) => return Err(io("read", &out.join(MARK))(error)),
    };
    let mark: Mark = serde_json::from_str(&text)
        .map_err(|error| unfit(&format!("its {MARK} is not of `pollmatrix site`: {error}")))?;
    let stays_inside =
        |path: &String| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if mark.pollmatrix_site != 1 || !mark.files.iter().all(stays_inside) {
        return Err(unfit(&format!("its {MARK} is of another version of pollmatrix, or was changed")));
    }
    Ok(mark.files)
}

fn io(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Error {
    let failed = matrix::Error::io(action, path, OUT_HELP);
    move |source| failed(source).into()
}

fn write(out: &Path, path: &str, text: &str) -> Result<(), Error> {
    let path = out.join(path);
    if std::fs::read_to_string(&path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    output::create_folder_of(&path, OUT_HELP)?;
    Ok(output::write_file(&path, text)?)
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Reads the results of the runs on a kernel of their own, or of all runs with `emulated`.
fn of_kernels(path: &Path, emulated: bool) -> Result<Results, Error> {
    let mut results = input::read_undisturbed(path)?;
    let left_out = results.runs.extract_if(.., |run| !emulated && input::is_emulated(run));
    for run in left_out {
        let why = format!("{} was run {}", run.target, run.runner_in_full());
        diagnostics::note(&format!("{why}, so its answers are left out; --emulated includes them"));
    }
    Ok(results)
}

/// Merges the results. If one target was run on several kernels, each kernel is a target of its own.
fn merged(args: &SiteArgs) -> Result<Results, Error> {
    let read = |path: &PathBuf| {
        let mut results = of_kernels(path, args.emulated)?;
        let targets: BTreeSet<_> = results.runs.iter().map(|run| run.target.clone()).collect();
        // The cells of the runs that were left out.
        results.cells.retain(|cell| targets.contains(&cell.target));
        results.costs.retain(|cost| targets.contains(&cost.target));
        Ok((input::file(path), results))
    };
    let mut inputs = args.results.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    if has_several_kernels(&inputs) {
        for (file, results) in &mut inputs {
            let read = std::mem::replace(results, Results::of_no_run(Vec::new()));
            *results = kernels::by_kernel(file, read)?;
        }
    }
    let input = |(file, results): (PathBuf, Results)| Input { name: file.display().to_string(), results };
    let rules = Rules { prefer: Some(args.prefer.into()), mixed: true };
    let merged = report::merge(inputs.into_iter().map(input).collect(), rules)?;
    for note in &merged.notes {
        diagnostics::note(note);
    }
    Ok(merged.results)
}

/// Whether one target was run on several kernels.
fn has_several_kernels(inputs: &[(PathBuf, Results)]) -> bool {
    let mut kernels: BTreeMap<&str, &str> = BTreeMap::new();
    let mut runs = inputs.iter().flat_map(|(_, results)| &results.runs);
    runs.any(|run| kernels.insert(&run.target, &run.kernel).is_some_and(|other| other != run.kernel))
}

/// Returns the pollers with recorded answers, and those that only the results have, sorted by name.
fn pollers(dir: Option<&Path>, results: &Results) -> Result<Vec<Poller>, Error> {
    let names = adapters(dir)?;
    let recorded: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut measured = measured(results, &names)?;
    let mut pollers: BTreeMap<String, Vec<PollerOnSystem>> =
        names.iter().map(|name| (name.clone(), Vec::new())).collect();
    for &os in Os::ALL {
        let mut answers = match dir {
            Some(dir) => Expectations::load_of(dir, os, &recorded)?,
            None => Expectations::built_in_of(os, &recorded)?,
        };
        let mut all = names.clone();
        for (name, own) in measured.remove(&os).into_iter().flatten() {
            answers = answers.overlaid(own);
            pollers.entry(name.clone()).or_default();
            all.insert(name);
        }
        let mut of: BTreeMap<&String, Vec<&Expectation>> = BTreeMap::new();
        for answer in answers.systems().flat_map(|(_, answers)| answers) {
            // The longest name: `libev-epoll` is not an interface of `libev`.
            let named = all.iter().filter(|name| is_api_of(&answer.api, name));
            if let Some(name) = named.max_by_key(|name| name.len()) {
                of.entry(name).or_default().push(answer);
            }
        }
        for (name, own) in &of {
            pollers.entry((*name).clone()).or_default().push(on_system(&answers, own, name, os));
        }
    }
    Ok(pollers.into_iter().map(|(name, systems)| Poller { name, systems }).collect())
}

/// Returns the answers in the results of adapters that have no recorded ones.
fn measured(
    results: &Results,
    recorded: &BTreeSet<String>,
) -> Result<BTreeMap<Os, Vec<(String, Expectations)>>, Error> {
    let mut texts: BTreeMap<(String, Os), String> = BTreeMap::new();
    for run in &results.runs {
        let system = run.system().and_then(|os| Some((os, Version::of_release(os, &run.kernel)?)));
        let Some((os, version)) = system else { continue };
        for (name, answered) in record::collect(results, run) {
            let is_new =
                |name: &String| !recorded.contains(name) && run.kqueue_library() != Some(name.as_str());
            let Some(name) = name.filter(is_new) else { continue };
            let mut source = record::SourceAnswers::of(run, &version, Some(&name));
            source.answered = answered;
            source.answered.retain(|asked, _| raw::expectations::title(&asked.behaviour).is_some());
            let recording = source.recording(os, false);
            let text = texts.entry((name, os)).or_default();
            (*text, _) = raw::expectations::record(text, &format!("{os}.yml"), &recording)?;
        }
    }
    let mut measured: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for ((name, os), text) in texts {
        let mut answers = Expectations::default();
        answers.read(&text, &format!("{os}.yml"))?;
        measured.entry(os).or_default().push((name, answers));
    }
    Ok(measured)
}

/// Returns a poller's own answers on one system; `answers` has the kernel's, too.
fn on_system(answers: &Expectations, own: &[&Expectation], name: &str, os: Os) -> PollerOnSystem {
    let sources: BTreeSet<_> = own.iter().map(|answer| answer.source.text.clone()).collect();
    let answer = |answer: &&Expectation| {
        let has = |is: fn(&Outcome) -> bool| answer.answers().any(|one| one.rounds().flatten().any(is));
        PollerAnswer {
            behaviour: answer.behaviour.clone(),
            state: answer.variant.clone(),
            asked: answer.question(),
            allowed: answer.allowed.clone(),
            means: answer.answers().map(|one| one.meaning(&answer.column).unwrap_or_default()).collect(),
            remarks: remarks(os, answer),
            wrong: if has(Outcome::ends) {
                Some(Wrong::Ends)
            } else {
                has(|outcome| *outcome == Outcome::Early).then_some(Wrong::Early)
            },
            beside: beside(answers, os, name, answer),
        }
    };
    PollerOnSystem {
        system: os.name().to_owned(),
        name: proper_name(os).to_owned(),
        sources: sources.into_iter().collect(),
        is_over: own.iter().any(|answer| answer.column.over.is_some()),
        below: own.first().map(|answer| closest(&answer.column, os).name().to_owned()),
        answers: own.iter().map(answer).collect(),
    }
}

/// Returns the contract scenarios, with the recorded kills.
fn contract() -> Result<Vec<Contract>, Error> {
    let environment = lab::environment();
    let source = Source::load(None, &environment)?;
    let cells = match source.matrix.targets.first() {
        Some(target) => source.plan(target, &Selection::default())?,
        None => Vec::new(),
    };
    let record = faults::recorded(&cells);
    let one = |scenario: &scenarios::Scenario| {
        let mut kills: BTreeMap<&str, Killed> = BTreeMap::new();
        for kill in record.kills.iter().filter(|kill| kill.scenario() == scenario.id) {
            let (fault, summary) = (kill.fault.name(), kill.fault.summary().to_owned());
            let killed = kills.entry(fault).or_insert_with(|| Killed {
                fault: fault.to_owned(),
                summary,
                recorded: Vec::new(),
            });
            killed.recorded.push(format!("{} on {}", kill.cell, kill.os));
        }
        Contract {
            id: scenario.id.to_owned(),
            title: scenario.title.to_owned(),
            clauses: scenario.clauses.iter().map(|clause| (*clause).to_owned()).collect(),
            source: format!("crates/matrix/scenarios/src/{}.rs", scenario.id.replace('-', "_")),
            kills: kills.into_values().collect(),
            excuse: record.excuse(scenario.id).map(str::to_owned),
        }
    };
    Ok(scenarios::catalogue().filter(|scenario| scenario.layer == Layer::Contract).map(one).collect())
}

/// Reads the findings of a folder: all its pages except README.md in one text, each with the program that has
/// its name.
fn findings(folder: &Path) -> Result<String, Error> {
    let help = "give a folder with a page of Markdown for each finding, or omit --findings";
    let at = |path: &Path| matrix::Error::io("read", path.to_path_buf(), help);
    let entries =
        fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(at(folder))?;
    let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let (pages, programs): (Vec<_>, Vec<_>) =
        paths.into_iter().partition(|path| path.extension().is_some_and(|own| own == "md"));
    let mut text = String::new();
    for page in pages.iter().filter(|path| !path.ends_with("README.md")) {
        let content = metadata::read_text(page).map_err(at(page))?;
        // The site has one page for all: the title of each becomes a heading.
        text += &content.strip_prefix("# ").map_or_else(|| content.clone(), |rest| format!("## {rest}"));
        for program in programs.iter().filter(|path| path.file_stem() == page.file_stem()) {
            let language = program.extension().unwrap_or_default().to_string_lossy();
            let code = metadata::read_text(program).map_err(at(program))?;
            let _ = write!(text, "\n```{language}\n{}\n```\n", code.trim_end());
        }
        text.push('\n');
    }
    Ok(text)
}
