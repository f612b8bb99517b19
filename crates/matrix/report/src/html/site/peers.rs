//! The page about the test suites of other projects: what asks each of their cases here.

use metadata::peers::{Case, Open, Peers, Suite, Totals};
use serde::Serialize;

use super::super::catalogue::ScenarioEntry;
use super::scenarios::{self, Contract};
use super::{PEERS, Page, Site, behaviour_path};

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
    struct Numbers<'a> {
        /// The place of the suite.
        id: Option<&'a str>,
        name: &'a str,
        cases: u32,
        of: [u32; 4],
        percent: u32,
    }
    #[derive(Serialize)]
    struct Content<'a> {
        /// The numbers of each suite, then those of all.
        numbers: Vec<Numbers<'a>>,
        open: &'a [Open],
        suites: Vec<(&'a Suite, Vec<Shown<'a>>)>,
    }
    let address = |id: &str| address(site, contract, id).unwrap_or_else(|| id.to_owned());
    let number = |name| peers.open.iter().position(|open| open.name == name).map_or(0, |index| index + 1);
    let suites = peers.suites.iter().map(|suite| {
        let shown = suite.cases.iter().map(|case| Shown {
            case,
            asked_by: case.asked_by.iter().map(|id| (*id, address(id))).collect(),
            open: case.open.iter().map(|name| (*name, number(*name))).collect(),
        });
        (suite, shown.collect())
    });
    let numbers = |id, name, totals: Totals| {
        let (cases, percent) = (totals.cases(), totals.percent());
        Numbers { id, name, cases, of: totals.of, percent }
    };
    let of_suite = |suite: &Suite| numbers(Some(suite.id), suite.name, suite.totals());
    let all = numbers(None, "all", peers.totals());
    let content = Content {
        numbers: peers.suites.iter().map(of_suite).chain([all]).collect(),
        open: &peers.open,
        suites: suites.collect(),
    };
    let title = "What the peers ask".to_owned();
    let description = format!(
        "{} cases of {} test suites of other projects, and what asks them here",
        peers.totals().cases(),
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
