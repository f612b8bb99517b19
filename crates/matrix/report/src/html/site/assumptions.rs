//! The page of assumptions that hold on epoll and not on kqueue.

use serde::Serialize;

use super::behaviours::{Shared, place, shared};
use super::{ASSUMPTIONS, Page, Site, behaviour_path, plain};
use crate::html::catalogue::Assumption;

/// The systems whose answers stand side by side.
const SIDES: [&str; 2] = ["Linux", "FreeBSD"];

#[derive(Serialize)]
struct Content<'a> {
    assumptions: Vec<Shown<'a>>,
}

#[derive(Serialize)]
struct Shown<'a> {
    assumption: &'a Assumption,
    /// The place of the answers.
    path: String,
    asked: String,
    /// The answers of each side.
    answers: Vec<(&'static str, Vec<Shared<'a>>)>,
}

/// Returns the page, if the answers of an assumption are recorded.
pub(super) fn page<'s>(site: &'s Site<'_>) -> Option<Page> {
    let shown = |assumption: &'s Assumption| {
        let behaviour = site.behaviours().find(|behaviour| behaviour.id == assumption.behaviour)?;
        let state = behaviour.states.iter().find(|state| state.name == assumption.state)?;
        let row = state.rows.iter().find(|row| row.asked == assumption.asked)?;
        let answers = |name| {
            let column = behaviour.columns.iter().position(|column| column.name == name);
            (name, column.map(|column| shared(row, &[column])).unwrap_or_default())
        };
        Some(Shown {
            assumption,
            path: format!("{}#{}", behaviour_path(&behaviour.id), place(&state.name)),
            asked: format!("{}: {}", plain::state(&state.name), plain::question(&row.asked)),
            answers: SIDES.map(answers).into(),
        })
    };
    let assumptions: Vec<_> = site.catalogue.assumptions.iter().filter_map(shown).collect();
    if assumptions.is_empty() {
        return None;
    }
    let title = format!("{} assumptions about epoll that break on kqueue", assumptions.len());
    let description = "What holds on Linux and not on FreeBSD, with the measured answers of both".to_owned();
    let content = Content { assumptions };
    Some(site.page(&ASSUMPTIONS, "assumptions.html".into(), ("behaviours", title, description), &content))
}
