//! The pages of behaviours: questions, answers of systems, and which pollers show or hide them.

use metadata::Evidence;
use serde::Serialize;

use super::Page;
use super::pollers::{Comparison, PollerAnswer, Shares};
use super::{BEHAVIOUR, Behaviour, Named, Site, behaviour_path};

/// A poller's answers about a behaviour on one system.
#[derive(Serialize)]
struct Shown<'a> {
    poller: Named<'a>,
    system: &'a str,
    below: Option<&'a str>,
    shares: Shares,
    #[serde(skip)]
    verdict: Comparison,
    answers: Vec<&'a PollerAnswer>,
}

#[derive(Serialize)]
struct Row<'a> {
    behaviour: &'a Behaviour,
    family: &'a str,
    previous: Option<&'a Behaviour>,
    next: Option<&'a Behaviour>,
    /// Those that show the answers of the interface below them, those that differ, and the others.
    verdicts: [Vec<(&'a str, String, &'a str)>; 3],
    shown_by: Vec<Shown<'a>>,
    hidden_by: Vec<Named<'a>>,
    legend: Vec<(&'static str, &'static str)>,
}

/// Returns the page of each behaviour.
pub(super) fn pages<'s>(site: &'s Site<'_>) -> impl Iterator<Item = Page> + 's {
    let all: Vec<_> = site.behaviours().collect();
    let families =
        site.catalogue.families.iter().flat_map(|family| family.behaviours.iter().map(|_| &family.title));
    let families: Vec<_> = families.collect();
    let page = move |index: usize| {
        let behaviour = all[index];
        let (shown_by, hidden_by) = answers(site, behaviour);
        let of = |verdict: Comparison| {
            let of_this = shown_by.iter().filter(|shown| shown.verdict == verdict);
            of_this.map(|shown| (shown.poller.name, shown.poller.path.clone(), shown.system)).collect()
        };
        let row = Row {
            behaviour,
            family: families[index],
            previous: index.checked_sub(1).map(|before| all[before]),
            next: all.get(index + 1).copied(),
            verdicts: [Comparison::Shows, Comparison::Differs, Comparison::CannotCompare].map(of),
            shown_by,
            hidden_by,
            legend: Evidence::ALL.map(|evidence| (evidence.letter(), evidence.meaning())).into(),
        };
        let title = format!("{}: {}", behaviour.id, behaviour.title);
        let question = behaviour.scenarios.first().map(|scenario| scenario.question.as_str());
        let description = question.unwrap_or(&behaviour.title).to_owned();
        site.page(&BEHAVIOUR, behaviour_path(&behaviour.id), ("behaviours", title, description), &row)
    };
    (0..site.behaviours().count()).map(page)
}

/// Returns the pollers with answers about a behaviour, and the others.
fn answers<'s>(site: &Site<'s>, behaviour: &Behaviour) -> (Vec<Shown<'s>>, Vec<Named<'s>>) {
    let (mut shown_by, mut hidden_by) = (Vec::new(), Vec::new());
    for poller in site.pollers.iter().filter(|poller| poller.answers() > 0) {
        let before = shown_by.len();
        for on in &poller.systems {
            let answers: Vec<_> =
                on.answers.iter().filter(|answer| answer.behaviour == behaviour.id).collect();
            if !answers.is_empty() {
                let shares = Shares::of(answers.iter().copied());
                let (below, verdict) = (on.below.as_deref(), shares.verdict());
                let (poller, system) = (Named::of(poller), on.name.as_str());
                shown_by.push(Shown { poller, system, below, shares, verdict, answers });
            }
        }
        if shown_by.len() == before {
            hidden_by.push(Named::of(poller));
        }
    }
    (shown_by, hidden_by)
}
