use std::collections::BTreeMap;

use Status::Pass;
use metadata::visible;
use serde_json::Value;

use super::shell::hash;
use super::*;
use crate::samples;

/// Text that would end a script, begin a tag, run, reorder text, or break a JSON string or an attribute.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202e}\"'&<!--\u{2028}{{ 7 * 7 }}\\u003c\x1b";

fn merged() -> Results {
    samples::merged()
}

/// Splits the page into the page without its data, and the data.
fn split(page: &str) -> (String, Value) {
    let (before, rest) = page.split_once("id=\"data\">").expect("the page has data");
    let (data, after) = rest.split_once("</script>").expect("the data element is closed");
    let mut data = data::unpacked(data);
    // As model.js does.
    let added = |step: &mut Value, sum: &mut i64| {
        *sum += step.as_i64().unwrap();
        *step = (*sum).into();
    };
    for (values, rising) in [("cells", 0), ("checks", 1)] {
        let fields = data[values].as_array_mut().unwrap();
        let mut sum = 0;
        if let Some(field) = fields.get_mut(rising) {
            field.as_array_mut().unwrap().iter_mut().for_each(|step| added(step, &mut sum));
        }
        let count = fields.first().map_or(0, |field| field.as_array().unwrap().len());
        let value = |index: usize| fields.iter().map(|field| field[index].clone()).collect::<Value>();
        data[values] = (0..count).map(value).collect();
    }
    let mut sum = 0;
    for list in data["lists"].as_array_mut().unwrap() {
        list.as_array_mut().unwrap().iter_mut().for_each(|step| added(step, &mut sum));
    }
    (format!("{before}{after}"), data)
}

fn strings(data: &Value) -> Vec<&str> {
    data["strings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn every_text_of_a_result_file_is_shown_and_none_becomes_markup() {
    let mut results = merged();
    // The page has no notes of a cell that passes.
    results.cells[0].status = Status::Fail;
    let harmless = report(&results);
    let mut value = serde_json::to_value(&results).unwrap();
    let mut poisoned = Vec::new();
    samples::poison(&mut value, HOSTILE, &mut poisoned);
    let results = serde_json::from_value::<Results>(value).expect("hostile results are valid");
    let page = report(&results);

    // The number of tags is unchanged, and the data is valid JSON.
    for tag in ["<script", "</script", "<style", "</style", "<img", "<!--", "<a "] {
        assert_eq!(page.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    let (mut html, data) = split(&page);
    let pictures = data["timelines"].as_array().unwrap();
    html.extend(pictures.iter().map(|of| of[1].as_str().unwrap()));
    assert!(!html.contains("<img src=x"), "{html}");
    let shown = format!("{html}{}", data["strings"]);
    assert!(!shown.contains(['\u{202e}', '\u{2028}', '\x1b']), "invisible characters are escaped");

    // Without the escapes, the page contains each text in full.
    let escapes =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&amp;", "&")];
    let html = escapes.iter().fold(html, |html, (escape, plain)| html.replace(escape, plain));
    let strings = strings(&data);
    assert!(poisoned.len() > 80, "{}", poisoned.len());
    for text in poisoned {
        let text = visible(&text);
        assert!(strings.contains(&text.as_ref()) || html.contains(text.as_ref()), "{text:?} is lost");
    }
}

#[test]
fn the_data_has_the_tallies_of_the_grid() {
    let results = merged();
    let grid = columns(&results);
    let (_, data) = split(&report(&results));
    let strings = strings(&data);
    let text = |value: &Value| strings[number(value)].to_owned();

    let columns: Vec<_> = data["columns"].as_array().unwrap().iter().collect();
    let named: Vec<_> = columns.iter().map(|column| (text(&column[0]), text(&column[2]))).collect();
    let expected =
        grid.columns.iter().map(|column| (column.target.clone(), column.backend.clone().unwrap_or_default()));
    assert_eq!(named, expected.collect::<Vec<_>>());
    // Targets that were not run, and absent backends, have a reason.
    let notes: Vec<_> = columns.iter().map(|column| (text(&column[3]), number(&column[4]))).collect();
    let no = || (String::new(), 0);
    let unsupported = || ("why unsupported".to_owned(), 1);
    let expected = [no(), unsupported(), no(), no(), unsupported(), no(), ("no machine".to_owned(), 2)];
    assert_eq!(notes, expected);

    let mut tallies: BTreeMap<(usize, usize), BTreeMap<usize, usize>> = BTreeMap::new();
    for cell in data["cells"].as_array().unwrap() {
        let scenario = number(&data["rows"][number(&cell[0])][0]);
        *tallies.entry((scenario, number(&cell[1]))).or_default().entry(number(&cell[2])).or_default() += 1;
    }
    for (scenario, (id, row)) in grid.rows.iter().enumerate() {
        assert_eq!(text(&data["scenarios"][scenario]["id"]), *id);
        for (column, expected) in row.iter().enumerate() {
            let found = tallies.remove(&(scenario, column)).unwrap_or_default();
            let parts: Vec<_> = found
                .iter()
                .map(|(status, count)| format!("{}{count}", data["statuses"][status][0].as_str().unwrap()))
                .collect();
            let found = if parts.is_empty() { "-".to_owned() } else { parts.join(" ") };
            assert_eq!(found, expected.to_string(), "{id} {column}");
        }
    }
    assert!(tallies.is_empty(), "{tallies:?}");
}

#[test]
fn the_data_has_every_field_of_a_cell() {
    let mut results = merged();
    // The page has no notes of a cell that passes.
    results.cells[0].status = Status::Fail;
    let (_, data) = split(&report(&results));
    let strings = strings(&data);
    let texts = |values: &Value| -> Vec<_> {
        values.as_array().unwrap().iter().map(|text| strings[number(text)]).collect()
    };
    let cell = &data["cells"][0];
    let list = &data["lists"][number(&cell[12])];
    let check = &data["checks"][number(&list[0])];
    assert_eq!((strings[number(&check[1])], texts(&check[2])), ("the answer", vec!["42", "forty-two"]));
    assert_eq!(
        (strings[number(&check[3])], strings[number(&check[4])], &check[5]),
        ("41", "poll(2)", &0.into())
    );
    let more: Vec<_> = (6..10).map(|index| strings[number(&check[index])]).collect();
    assert_eq!(more, ["6.1", "6.9", "https://example.org/bug", "D"]);
    // A number that a JSON reader would round is a string.
    let counters = cell[13].as_array().unwrap();
    assert_eq!((strings[number(&counters[1][0])], &counters[1][1]), ("many", &u64::MAX.to_string().into()));
    assert_eq!((strings[number(&counters[0][0])], &counters[0][1]), ("few", &3.into()));
    assert_eq!((texts(&cell[14]), strings[number(&cell[15])]), (vec!["a note"], "an error"));
}

#[test]
fn an_answer_has_its_poller_and_an_expected_one_is_not_stored_twice() {
    let mut results = merged();
    let check = &mut results.cells[0].checks[0];
    (check.what, check.expected) = ("epoll@level pipe-idle".into(), vec!["silent".into()]);
    check.observed = "silent".into();
    let (_, data) = split(&report(&results));
    let strings = strings(&data);
    let check = &data["checks"][number(&data["lists"][number(&data["cells"][0][12])][0])];
    assert_eq!([0, 1, 3].map(|field| strings[number(&check[field])]), ["epoll@level", "pipe-idle", "silent"]);
    assert_eq!(check[2], Value::Null);
}

#[test]
fn equal_checks_and_texts_are_stored_once() {
    let mut results = merged();
    let checks = results.cells[0].checks.clone();
    results.cells.iter_mut().for_each(|cell| cell.checks = [&checks[..]; 3].concat());
    let (_, data) = split(&report(&results));
    assert_eq!(data["checks"].as_array().map(Vec::len), Some(1));
    assert_eq!(data["lists"], serde_json::json!([[0, 0, 0]]));
    let strings = strings(&data);
    let distinct: std::collections::HashSet<_> = strings.iter().collect();
    assert_eq!(distinct.len(), strings.len());
}

#[test]
fn of_a_contract_cell_that_passes_the_first_checks_are_in_the_page_and_the_number_of_the_others() {
    let shown = |status: Status, contract: bool| {
        let mut results = merged();
        let cell = &mut results.cells[0];
        cell.status = status;
        cell.layer = if contract { metadata::Layer::Contract } else { metadata::Layer::Characterisation };
        cell.checks = vec![cell.checks[0].clone(); 30];
        cell.notes = vec!["one".into(), "two".into()];
        let (_, data) = split(&report(&results));
        let cell = &data["cells"][0];
        let counts =
            [&data["lists"][number(&cell[12])], &cell[14]].map(|list| list.as_array().unwrap().len());
        (counts, [number(&cell[16]), number(&cell[17])])
    };
    assert_eq!(shown(Pass, true), ([10, 0], [20, 2]));
    assert_eq!(shown(Pass, false), ([30, 0], [0, 2]));
    assert_eq!(shown(Status::Fail, true), ([30, 2], [0, 0]));
}

#[test]
fn without_a_script_the_failures_and_the_scenarios_are_read() {
    let mut results = merged();
    results.cells[0].status = Status::Fail;
    results.cells[0].reason = Some("because\nof this".into());
    let (html, _) = split(&report(&results));
    let cell = &results.cells[0];
    let item =
        format!("</span> <a href=\"#{}\">{}</a>\n      on {}: because", fragment(cell), cell.id, cell.target);
    assert!(html.replace("&#x2f;", "/").contains(&item.replace('&', "&amp;")), "{item} is not in {html}");
    for scenario in results.contract().map(|cell| &cell.scenario) {
        let row = format!("<th scope=\"row\">{scenario}</th><td>");
        assert!(html.replace("&#x2f;", "/").contains(&row), "{row}");
    }
}

#[test]
fn timelines_of_cells_that_pass_are_drawn_if_all_are() {
    let mut results = merged();
    let mut passing = results.cells[0].clone();
    (passing.status, passing.timeline) = (Pass, Some(samples::timeline()));
    let mut failing = passing.clone();
    failing.status = Status::Fail;
    results.cells = vec![passing.clone(), failing];
    let drawn = |results: &Results| {
        let (_, data) = split(&report(results));
        let pictures = data["timelines"].as_array().unwrap().clone();
        assert!(pictures.iter().all(|of| of[1].as_str().unwrap().starts_with("<svg ")), "{pictures:?}");
        pictures.iter().map(|of| number(&of[0])).collect::<Vec<_>>()
    };
    assert_eq!(drawn(&results), [0, 1]);
    results.cells.extend(vec![passing; DRAWN]);
    assert_eq!(drawn(&results), [1]);
}

#[test]
fn equal_results_give_equal_pages() {
    let first = report(&merged());
    assert!((0..5).all(|_| report(&merged()) == first));
}

#[test]
fn the_policy_has_the_hashes_of_the_scripts_and_the_style() {
    let page = report(&merged());
    let policy = page.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    let within = |tag: &str, index: usize| {
        let rest = page.split(&format!("<{tag}>")).nth(index).unwrap();
        rest.split(&format!("</{tag}>")).next().unwrap()
    };
    for (directive, text) in [
        ("style-src", within("style", 1)),
        ("script-src", within("script", 1)),
        ("script-src", within("script", 2)),
    ] {
        let allowed = policy.split("; ").find(|part| part.starts_with(directive)).unwrap();
        assert!(allowed.contains(&format!("'{}'", hash(text))), "{directive}: {policy}");
        assert!(!text.contains("innerHTML") && !text.contains("</"), "{directive}");
    }
}

#[test]
fn the_page_refers_to_no_external_resource() {
    let page = report(&samples::results("here", &[("a", "poll", Pass)]));
    assert!(!page.contains("url(") && !page.contains("@import"));
    let is_external = |address: &&str| !address.starts_with("data:") && !address.starts_with('#');
    let external: Vec<_> = [" href=\"", " src=\""]
        .iter()
        .flat_map(|attribute| page.split(attribute).skip(1))
        .filter_map(|rest| rest.split('"').next())
        .filter(is_external)
        .collect();
    assert!(external.is_empty(), "{external:?}");
}
