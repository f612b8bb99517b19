//! The front page.

use metadata::Evidence;
use serde::Serialize;

use super::poller::{Summary, summaries};
use super::{Builder, File, Kind, family_id};
use crate::findings::Finding;
use crate::model::{Place, Row};

/// The number of findings on the front page.
const NEWEST: usize = 6;

#[derive(Serialize)]
struct Content {
    rows: usize,
    questions: usize,
    differing: usize,
    systems: Vec<SystemLink>,
    families: Vec<Family>,
    pollers: Vec<Summary>,
    findings: Vec<Found>,
    runs: Vec<RunLine>,
    totals: String,
    costs: bool,
}

#[derive(Serialize)]
struct SystemLink {
    name: String,
    path: String,
}

#[derive(Serialize)]
struct Family {
    id: String,
    title: String,
    fields: Vec<Field>,
}

/// The number of behaviours with measured answers, and of those with other answers elsewhere.
#[derive(Serialize, Default)]
struct Field {
    measured: usize,
    differing: usize,
}

#[derive(Serialize)]
struct Found {
    id: String,
    title: String,
    found: String,
}

#[derive(Serialize)]
struct RunLine {
    path: Option<String>,
    target: String,
    headline: String,
}

pub(super) fn page(builder: &Builder<'_>) -> File {
    let model = builder.model;
    let families = builder.input.catalogue.families.iter().map(|family| {
        let rows: Vec<_> = model.rows.iter().filter(|row| row.family == family.title).collect();
        let field = |place: usize| {
            let place = Place::System(place);
            let measured: Vec<_> = rows.iter().filter(|row| is_measured(row, &place)).collect();
            let differs = |row: &&&&Row<'_>| row.of_kernels().any(|question| question.differs_at(&place));
            Field { measured: measured.len(), differing: measured.iter().filter(differs).count() }
        };
        let fields = (0..model.systems.len()).map(field).collect();
        Family { id: family_id(&family.title), title: family.title.clone(), fields }
    });
    let found = |finding: &Finding| Found {
        id: finding.id.clone(),
        title: finding.title.clone(),
        found: finding.found.clone(),
    };
    let runs = builder.input.results.runs.iter().map(|run| RunLine {
        path: model
            .systems
            .iter()
            .find(|system| system.runs.contains(&run))
            .map(|system| system.path.clone()),
        target: run.target.clone(),
        headline: report::html::headline(run),
    });
    let content = Content {
        rows: model.rows.len(),
        questions: model.rows.iter().map(|row| row.questions.len()).sum(),
        differing: model.rows.iter().filter(|row| row.differs()).count(),
        systems: model
            .systems
            .iter()
            .map(|system| SystemLink { name: system.name.clone(), path: system.path.clone() })
            .collect(),
        families: families.collect(),
        pollers: summaries(builder),
        findings: builder.findings.newest.iter().take(NEWEST).map(found).collect(),
        runs: runs.collect(),
        totals: builder.input.results.totals_lines().join(" · "),
        costs: builder.has_costs,
    };
    let kind = Kind {
        template: include_str!("../templates/front.html"),
        scripts: &[include_str!("../templates/front.js")],
        style: "",
    };
    let title = "pollmatrix: what epoll, kqueue, poll and select really do";
    let description = "One matrix of scenarios over every poller, on every system, with published answers: what differs between \
        pollers, kernels and releases.";
    builder.page(&kind, "index.html".into(), title, description, content)
}

/// Returns whether an answer of the kernel was measured at this place.
pub(super) fn is_measured(row: &Row<'_>, place: &Place) -> bool {
    let mut answers = row.of_kernels().flat_map(|question| &question.answers);
    answers.any(|answer| answer.place == *place && answer.measured && answer.evidence == Evidence::Measured)
}
