//! Tests of the model and of all pages.

use std::collections::BTreeMap;

use metadata::Os;

use crate::model::{Model, Place};
use crate::samples::{MEASURED, Sample, linux, measured};
use crate::{Answer, links};

/// Text that would end a tag, an attribute or a script, run, and reorder its surroundings.
const HOSTILE: &str =
    "</script><img src=x onerror=\"globalThis.broken = 1\">\u{202e}'&--><!--\u{2028}{{ 7 * 7 }}";

/// Returns the answers of `poll@level` in a state of V26 on a version of Linux.
fn answers(model: &Model<'_>, version: &str) -> Vec<Answer> {
    let is_it = |system: &crate::System<'_>| system.os == Os::Linux && system.version == linux(version);
    let place = Place::System(model.systems.iter().position(is_it).expect("the version is known"));
    let row = model.rows.iter().find(|row| row.about.id == "V26").unwrap();
    let question = row.of_kernels().find(|question| {
        (question.state.as_str(), question.asked.as_str()) == ("pipe:read-end-never-data", "poll@level")
    });
    question.unwrap().answers.iter().filter(|answer| answer.place == place).cloned().collect()
}

#[test]
fn recorded_answers_hold_for_each_measured_version() {
    let sample = Sample::new();
    let input = sample.input();
    let model = Model::new(&input);
    let names: Vec<_> = model.systems.iter().map(|system| system.name.as_str()).collect();
    assert_eq!(
        names,
        ["Linux 6.1.176", "Linux 6.1.192", "Linux 6.12.117", "Linux 6.18.44", "FreeBSD 12.3.5"]
    );
    for version in ["6.1.176", "6.12.117", "6.18.44"] {
        let [answer] = &answers(&model, version)[..] else { panic!("one answer on {version}") };
        assert_eq!((answer.allowed.as_slice(), answer.measured), (&["HUP".to_owned()][..], true));
    }
    let row = &model.rows[0];
    assert!(row.differs(), "FreeBSD answers IN|HUP");
    assert!(!model.rows[1].differs() && model.rows[1].questions.is_empty());
}

#[test]
fn an_answer_of_a_run_confirms_the_recorded_one_or_stands_beside_it() {
    let mut sample = Sample::new();
    sample.measured = vec![measured("6.18.44", "HUP"), measured("6.1.192", "IN"), measured("7.0", "HUP")];
    let input = sample.input();
    let model = Model::new(&input);
    assert_eq!(answers(&model, "6.18.44").len(), 1);
    let other = answers(&model, "6.1.192");
    assert_eq!(other.len(), 2, "{other:?}");
    assert_eq!(
        (other[1].allowed.as_slice(), &*other[1].remarks[0]),
        (&["IN".to_owned()][..], "not in the expectations")
    );
    // A hypothesis for a new version becomes a measurement.
    let [new] = &answers(&model, "7.0")[..] else { panic!("one answer") };
    assert_eq!((new.evidence, new.measured, new.source.as_str()), (MEASURED, true, "measured on linux 7.0"));
    let unmeasured = {
        sample.measured = vec![measured("7.0", "HUP")];
        sample.measured[0].answers.clear();
        let input = sample.input();
        answers(&Model::new(&input), "7.0")[0].measured
    };
    assert!(!unmeasured);
}

#[test]
fn a_row_says_what_other_pollers_show_and_hide() {
    let sample = Sample::new();
    let input = sample.input();
    let row = &Model::new(&input).rows[0];
    let select = row.shown_by("python-poll").expect("it has answers");
    assert!(select.compared > 0 && select.hidden.is_empty(), "{select:?}");
    let polling = row.shown_by("polling").expect("it has answers");
    assert!(polling.compared > 0, "{polling:?}");
    assert_eq!(row.shown_by("no-such-poller"), None);
}

#[test]
fn every_link_of_a_site_leads_somewhere() {
    let mut sample = Sample::new();
    sample.measured = vec![measured("6.18.44", "IN")];
    let files = sample.files();
    let checked = links::check(&files, &sample.url);
    assert_eq!(checked.problems, []);
    assert!(checked.pages > 20 && checked.links > 300, "{} {}", checked.pages, checked.links);
    for path in ["cost.html", "scenarios/group/name.html", "scenarios/deletion/known.html", "badges/poll.svg"]
    {
        assert!(files.contains_key(path), "{path}");
    }
}

#[test]
fn hostile_results_stay_text_on_every_page() {
    let mut value = serde_json::to_value(Sample::new().results).unwrap();
    poison(&mut value);
    let mut sample = Sample::new();
    sample.results =
        metadata::Results::read(value.to_string().as_bytes()).expect("hostile results are valid");
    sample.measured = vec![measured("6.18.44", HOSTILE)];
    let mut other = measured("6.1.192", "readable");
    other.poller = Some(format!("p{HOSTILE}"));
    other.source = HOSTILE.into();
    sample.measured.push(other);
    let files = sample.files();
    assert_eq!(links::check(&files, &sample.url).problems, []);
    let mut shown = 0;
    for (path, text) in &files {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.~/".contains(c);
        assert!(path.chars().all(is_plain) && !path.contains(".."), "{path}");
        assert!(!text.contains("<img") && !text.contains(['\u{202e}', '\u{2028}']), "{path}");
        let is_shown = text.contains("onerror=");
        assert!(!is_shown || text.contains("{{ 7 * 7 }}"), "{path}: a text was run as a template");
        shown += usize::from(is_shown);
    }
    assert!(shown >= 6, "{shown} pages show the texts");
}

/// Appends the hostile text to every text that a result file may choose.
fn poison(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Array(values) => values.iter_mut().for_each(poison),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                let is_closed =
                    ["status", "seed", "evidence", "layer", "transport", "trigger", "os", "kernel", "id"];
                if !is_closed.contains(&name.as_str()) {
                    poison(value);
                }
            }
            if let Some(Value::Object(entries)) = fields.get_mut("scenarios") {
                *entries = std::mem::take(entries)
                    .into_iter()
                    .map(|(id, about)| (format!("{id}{HOSTILE}"), about))
                    .collect();
            }
            let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
            if let (Some(_), Some(scenario), Some(backend)) = (text("id"), text("scenario"), text("backend"))
            {
                let id = fields["id"].as_str().unwrap().replace(['@', '/'], "-");
                fields.insert("id".into(), format!("{scenario}/{id}{HOSTILE}@{backend}").into());
            }
        }
        Value::String(text) => text.push_str(HOSTILE),
        _ => {}
    }
}

#[test]
fn equal_input_gives_equal_files() {
    assert_eq!(Sample::new().files(), Sample::new().files());
}

#[test]
fn no_page_makes_a_request() {
    for (path, text) in Sample::new().files().iter().filter(|(path, _)| path.ends_with(".html")) {
        let is_stand_in = ["report.html", "catalogue.html"].contains(&path.as_str());
        assert!(is_stand_in || text.contains("default-src 'none'"), "{path}");
        for part in ["<script src", "<link rel=\"stylesheet\"", "@import", "url(", "<iframe", "fetch("] {
            assert!(!text.contains(part), "{path}: {part}");
        }
    }
}

#[test]
fn a_badge_is_an_image_with_a_name_and_an_endpoint_of_shields_io() {
    let files: BTreeMap<_, _> = Sample::new().files();
    let svg = &files["badges/poll.svg"];
    assert!(svg.contains("aria-label=\"pollmatrix: 1 of 2 contract cells do not hold\""), "{svg}");
    let endpoint: serde_json::Value = serde_json::from_str(&files["badges/poll.json"]).unwrap();
    assert_eq!(endpoint["message"], "1 of 2 contract cells do not hold");
    assert_eq!((&endpoint["schemaVersion"], &endpoint["color"]), (&1.into(), &"red".into()));
}

#[test]
fn without_curves_there_is_no_page_of_costs() {
    let sample = Sample::new();
    let files = crate::build(&sample.input(), &[], &crate::Costs::default());
    assert!(files.iter().all(|file| file.path != "cost.html" && !file.text.contains("cost.html")));
}
