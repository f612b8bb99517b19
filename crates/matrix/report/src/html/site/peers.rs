//! The page about the test suites of other projects: what asks each of their cases here.

use serde::Serialize;

use super::super::catalogue::ScenarioEntry;
use super::scenarios::{self, Contract};
use super::{PEERS, Page, Site, behaviour_path};

/// The test suites of other projects.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Peers {
    /// The suites.
    pub suites: Vec<Suite>,
    /// The questions that no script asks yet.
    pub open: Vec<OpenQuestion>,
    /// The numbers of all cases.
    pub totals: Totals,
}

/// A test suite.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Suite {
    /// `epoll-shim`. Its place on the page.
    pub id: String,
    /// Its proper name.
    pub name: String,
    /// The repository and the commit.
    pub source: String,
    /// The part of it that was read.
    pub read: String,
    /// The numbers of its cases.
    pub totals: Totals,
    /// The cases.
    pub cases: Vec<Case>,
}

/// Numbers of cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Totals {
    /// All of them.
    pub cases: u32,
    /// Covered, partly covered, missing, and out.
    pub of: [u32; 4],
    /// How many percent of those that ask a poller something are covered.
    pub percent: u32,
}

/// Test functions with one verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Case {
    /// Their number.
    pub count: u32,
    /// Their names.
    pub name: String,
    /// `covered`.
    pub verdict: &'static str,
    /// The ids of the behaviours, scripts and contract scenarios that ask it.
    pub asked_by: Vec<String>,
    /// The names of the open questions that it waits for.
    pub open: Vec<String>,
    /// Why it asks a poller nothing. May be empty.
    pub reason: String,
}

/// A question that no script asks yet.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OpenQuestion {
    /// `timer as a source`.
    pub name: String,
    /// A sentence with a question mark.
    pub question: String,
    /// What asking it needs.
    pub needs: String,
}

/// The place of a suite, for pages of the site.
pub(super) fn path(suite: &Suite) -> String {
    format!("peers.html#{}", suite.id)
}

/// Returns the page. `contract` has pages.
pub(super) fn page(site: &Site<'_>, peers: &Peers, contract: &[Contract]) -> Page {
    #[derive(Serialize)]
    struct Shown<'a> {
        case: &'a Case,
        /// The ids with their addresses. The address of an id without a page is its own, which is reported as
        /// broken.
        asked_by: Vec<(&'a str, String)>,
        /// The open questions with their numbers. An unknown one has 0, which is no place.
        open: Vec<(&'a str, usize)>,
    }
    #[derive(Serialize)]
    struct Content<'a> {
        /// The place of each suite, its name and its numbers; then those of all.
        numbers: Vec<(Option<&'a str>, &'a str, Totals)>,
        open: &'a [OpenQuestion],
        suites: Vec<(&'a Suite, Vec<Shown<'a>>)>,
    }
    let address = |id: &String| address(site, contract, id).unwrap_or_else(|| id.clone());
    let number = |name: &String| {
        let index = peers.open.iter().position(|open| open.name == *name);
        index.map_or(0, |index| index + 1)
    };
    let suites = peers.suites.iter().map(|suite| {
        let shown = suite.cases.iter().map(|case| Shown {
            case,
            asked_by: case.asked_by.iter().map(|id| (id.as_str(), address(id))).collect(),
            open: case.open.iter().map(|name| (name.as_str(), number(name))).collect(),
        });
        (suite, shown.collect())
    });
    let numbers =
        peers.suites.iter().map(|suite| (Some(suite.id.as_str()), suite.name.as_str(), suite.totals));
    let content = Content {
        numbers: numbers.chain([(None, "all", peers.totals)]).collect(),
        open: &peers.open,
        suites: suites.collect(),
    };
    let title = "What the peers ask".to_owned();
    let description = format!(
        "{} cases of {} test suites of other projects, and what asks them here",
        peers.totals.cases,
        peers.suites.len()
    );
    site.page(&PEERS, "peers.html".into(), ("peers", title, description), &content)
}

/// Returns the page of a behaviour, of a script's behaviour, or of a contract scenario.
fn address(site: &Site<'_>, contract: &[Contract], id: &str) -> Option<String> {
    let asks = |scenario: &ScenarioEntry| scenario.id == id;
    let behaviour =
        site.behaviours().find(|behaviour| behaviour.id == id || behaviour.scenarios.iter().any(asks));
    let scenario = || contract.iter().find(|scenario| scenario.id == id);
    behaviour
        .map(|behaviour| behaviour_path(&behaviour.id))
        .or_else(|| scenario().map(|scenario| scenarios::path(&scenario.id)))
}
