//! Maps a cell to the code of its scenario, and runs it.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::SocketAddr;
use std::time::Duration;

use metadata::{CellResult, Link, Scenario, Status};

use crate::environment::Environment;
use crate::error::Error;
use crate::matrix_yml::{Cell, Matrix};
use crate::outcome::CellOutcome;
use crate::provenance::VERSION;
use crate::{backends, selftest};

/// Runs the cell once in this process. `patience` is how long a characterisation waits for an expected event;
/// contract scenarios have their own.
///
/// # Errors
/// The built-in expectations are malformed.
pub fn run(
    cell: &Cell,
    environment: &Environment,
    seed: u64,
    patience: Duration,
) -> Result<CellOutcome, Error> {
    let mut outcome = perform(cell, environment, seed, patience)?;
    if outcome.status == Status::Broken {
        outcome.reason = outcome.reason.map(with_cause);
    }
    Ok(outcome)
}

/// Adds the cause to the reason of a broken cell, if it is the path of the folder for temporary files.
pub fn with_cause(reason: String) -> String {
    let is_about_length = ["SUN_LEN", "ENAMETOOLONG"].iter().any(|words| reason.contains(words));
    match long_temporary_folder().filter(|_| is_about_length) {
        Some(cause) => format!("{reason}: {}: {cause}: {SHORTER}", std::env::temp_dir().display()),
        None => reason,
    }
}

/// How to mend [`long_temporary_folder`].
pub const SHORTER: &str = "set TMPDIR to a shorter path";

/// Returns why UNIX sockets in the folder for temporary files can have no address, if their paths are too
/// long.
pub fn long_temporary_folder() -> Option<String> {
    let folder = std::env::temp_dir();
    // As long as the longest name of a socket in a folder of its own.
    SocketAddr::from_pathname(folder.join(".tmp123456/listener-12")).err()?;
    let length = folder.as_os_str().len();
    Some(format!("its path is too long for the addresses of UNIX sockets in it ({length} bytes)"))
}

fn perform(
    cell: &Cell,
    environment: &Environment,
    seed: u64,
    patience: Duration,
) -> Result<CellOutcome, Error> {
    let (scenario, backend) = (cell.id.scenario.as_str(), cell.id.backend.as_str());
    if let Some(selftest) = selftest::find(scenario) {
        return Ok(selftest(seed).into());
    }
    if backend == "kqueue" {
        backends::start_library();
    }
    let missing = || {
        let why = match environment.adapters().any(|adapter| adapter == backend) {
            true => format!("it needs the event loop of fd-core, and {backend} is an adapter"),
            false => format!("this pollmatrix for {} was built without {backend}", std::env::consts::OS),
        };
        Ok(CellOutcome { status: Status::Unsupported, reason: Some(why), ..CellOutcome::default() })
    };
    if let Some(scenario) = environment.scripted(scenario) {
        let poller = environment.pollers().find(|poller| poller.name == backend);
        return poller.map_or_else(missing, |poller| {
            environment.lab().run(scenario, cell.variant, poller, environment, seed, patience)
        });
    }
    let Some(backend) = backends::find(backend) else { return missing() };
    let broken =
        |why: String| CellOutcome { status: Status::Broken, reason: Some(why), ..CellOutcome::default() };
    let Some(scenario) = scenarios::find(scenario) else {
        return Ok(broken(format!("{scenario} is in the matrix but not in this pollmatrix's catalogue")));
    };
    Ok(scenarios::run(scenario, backend.name, backend.core, cell.variant, seed).into())
}

/// Describes the scenarios of these cells, by id, with details that only the catalogues have. Skips
/// self-tests.
pub fn describe(
    matrix: &Matrix,
    environment: &Environment,
    cells: &[CellResult],
) -> BTreeMap<String, Scenario> {
    let ids: BTreeSet<_> = cells.iter().map(|cell| cell.scenario.as_str()).collect();
    let describe = |id: &str| {
        let scenario = matrix.scenario(id)?;
        let scripted = environment.scripted(id);
        let clauses = match scripted {
            Some(scripted) => vec![scripted.behaviour.to_owned()],
            None => scenarios::find(id)
                .map(|scenario| scenario.clauses.iter().map(|clause| (*clause).to_owned()).collect())
                .unwrap_or_default(),
        };
        let bugs = scripted.map_or(&[][..], |scripted| scripted.bugs).iter();
        let described = Scenario {
            title: scenario.title.clone(),
            layer: scenario.layer,
            clauses,
            question: scripted.map(|scripted| scripted.question.to_owned()),
            verbs: scripted.map(|scripted| scripted.script.to_owned()),
            links: bugs.map(|url| Link { text: short(url), url: (*url).to_owned() }).collect(),
            pollmatrix: VERSION.to_owned(),
        };
        Some((id.to_owned(), described))
    };
    ids.into_iter().filter_map(describe).collect()
}

/// Shortens the address of an issue or a pull request to `tokio-rs/mio#1893`. Returns any other address
/// unchanged.
pub fn short(url: &str) -> String {
    let Some(path) = url.strip_prefix("https://github.com/") else { return url.to_owned() };
    match path.split('/').collect::<Vec<_>>().as_slice() {
        [owner, name, "issues" | "pull", number] => format!("{owner}/{name}#{number}"),
        _ => url.to_owned(),
    }
}
