use pulldown_cmark::{Event, Options, Parser};

use super::*;
use crate::samples;

fn cost(poller: &str, descriptors: u64, ratio: f64) -> Cost {
    samples::cost(poller, descriptors, samples::measured(ratio * 0.99, ratio, ratio * 1.01))
}

/// Costs of a poller that stays flat, of one that grows, and of one that has no figure.
pub(crate) fn with_costs(mut results: Results) -> Results {
    let not_measured = |reason: &str| CostOutcome::NotMeasured { reason: reason.into() };
    results.costs = vec![
        cost("epoll", 10, 1.25),
        cost("epoll", 1000, 1.27),
        Cost { outcome: CostOutcome::Noise { low: 1.0, high: 2.0, pairs: 15 }, ..cost("epoll", 100, 0.0) },
        cost("poll", 10, 1.5),
        cost("poll", 100, 12.34),
        cost("poll", 1000, 123.4),
        Cost { outcome: not_measured("it has no room"), ..cost("select", 1000, 0.0) },
        cost("select", 10, 1.6),
        Cost { outcome: not_measured("it is a program"), ..cost("python-poll", 10, 0.0) },
        Cost { threads: 2, ..cost("epoll", 10, 1.5) },
    ];
    results
}

fn without_cells() -> Results {
    let mut results = with_costs(samples::merged());
    results.cells.clear();
    results
}

#[test]
fn a_figure_has_a_line_for_each_poller_and_a_column_for_each_number() {
    let figures = Figure::all(&without_cells());
    assert_eq!(figures.len(), 2);
    let figure = &figures[0];
    assert_eq!(
        (figure.title(false).as_str(), figures[1].title(false).as_str()),
        ("wait-one, level", "wait-one, level, 2 threads")
    );
    assert_eq!(figure.title(true), "wait-one, level on x86_64-linux-gnu");
    assert_eq!(figure.descriptors, [10, 100, 1000]);
    assert_eq!(figure.floor, "100 ns");
    let lines: Vec<_> = figure.lines.iter().map(|line| (line.poller.as_str(), line.texts.clone())).collect();
    assert_eq!(
        lines,
        [
            ("epoll", vec!["1.25".to_owned(), "noise".into(), "1.27".into()]),
            ("poll", vec!["1.50".into(), "12.3".into(), "123".into()]),
            ("select", vec!["1.60".into(), String::new(), String::new()]),
        ]
    );
    assert_eq!(
        figure.missing,
        [
            Missing { reason: "it has no room".into(), what: vec!["select: 1000".into()] },
            Missing { reason: "it is a program".into(), what: vec!["python-poll: 10".into()] },
        ]
    );
}

#[test]
fn no_line_goes_through_noise() {
    let numbers = |noisy: usize| {
        let mut results = without_cells();
        results.costs = [10, 30, 100, 300, 1000].map(|descriptors| cost("epoll", descriptors, 1.25)).into();
        if let Some(cost) = results.costs.get_mut(noisy) {
            cost.outcome = CostOutcome::Noise { low: 1.0, high: 9.0, pairs: 21 };
        }
        let svg = Figure::all(&results)[0].svg().unwrap();
        let lines = svg.split("<polyline").filter(|part| part.contains("var(--series-1)"));
        (lines.count(), svg.matches("<circle").count())
    };
    assert_eq!(numbers(9), (1, 5));
    assert_eq!(numbers(0), (1, 4), "noise at the end of a line");
    assert_eq!(numbers(1), (1, 4), "a point, and a line");
    assert_eq!(numbers(2), (2, 4), "two lines");
}

#[test]
fn a_curve_has_a_line_per_poller_names_and_the_colours_of_the_page() {
    let mut figures = Figure::all(&without_cells());
    figures[0].lines[0].outcomes[1] = None;
    let svg = figures[0].svg().unwrap();
    assert!(
        svg.starts_with(
            "<svg class=\"curve\" role=\"img\" aria-label=\"wait-one, level on x86_64-linux-gnu\" "
        ),
        "{svg}"
    );
    assert!(svg.contains("<title>wait-one, level on x86_64-linux-gnu</title>"));
    // One point is no line, but it has a mark.
    assert_eq!(
        svg.matches("<polyline fill=\"none\" opacity=\"1\" stroke=\"var(--series-").count(),
        2,
        "{svg}"
    );
    assert_eq!(svg.matches("<circle").count(), 2 + 3 + 1);
    for text in ["epoll", "poll", "select", "descriptors", "times the floor", "1000", "100"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text} is not in {svg}");
    }
    // epoll is flat and poll rises: by more than half of the height.
    let heights = |line: usize| {
        let marked =
            svg.split("<polyline").filter(|part| part.contains(&format!("var(--series-{line})"))).last();
        let points = marked.unwrap().split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let heights: Vec<f64> = points
            .split_whitespace()
            .map(|point| point.split(',').nth(1).unwrap().parse().unwrap())
            .collect();
        heights[0] - heights[heights.len() - 1]
    };
    assert!(heights(1).abs() < 5.0 && heights(2) > 180.0, "{} and {}", heights(1), heights(2));
    assert!(!svg.contains('#'), "no colour is left: {svg}");
    assert_eq!(figures[1].svg(), None, "one point is no curve");
}

#[test]
fn the_reports_have_the_costs() {
    let results = without_cells();
    let terminal = terminal(&results);
    let table = "\
wait-one, level on x86_64-linux-gnu
descriptors    10    100  1000
epoll        1.25  noise  1.27
poll         1.50   12.3   123
select       1.60      -     -
not measured: it has no room (select: 1000)
not measured: it is a program (python-poll: 10)
";
    assert!(terminal.starts_with(table), "{terminal}");
    let markdown = crate::markdown::report(&results);
    for line in [
        "## Costs",
        "| descriptors | 10 | 100 | 1000 |",
        "|---|---:|---:|---:|",
        "| `epoll` | 1.25 | noise | 1.27 |",
    ] {
        assert!(markdown.contains(&format!("\n{line}\n")), "{line} is not in {markdown}");
    }
    assert!(markdown.contains("\nNot measured: it has no room (select: 1000)\n"));
    let html = crate::html::report(&results);
    assert!(html.contains("<h2 id=\"costs-heading\">Costs</h2>") && html.contains("class=\"curve\""));
    assert!(html.contains(">12.3</td>"));
    let none = samples::merged();
    assert_eq!((super::terminal(&none), section(&none)), (String::new(), String::new()));
    assert!(!crate::html::report(&none).contains("costs-heading"));
}

#[test]
fn the_system_calls_of_each_poller_stand_beside_its_ratios() {
    let mut results = without_cells();
    let calls = [
        samples::counted(&[("epoll_wait", 0.1)]),
        samples::counted(&[("epoll_wait", 0.001), ("brk", 1.0)]),
        None,
        samples::counted(&[]),
        Some(Calls::NotCounted { reason: "ptrace(2) is refused: EPERM".into() }),
    ];
    for (cost, calls) in results.costs.iter_mut().zip(calls) {
        cost.calls = calls;
    }
    results.costs[0].unbound = Some("sched_setaffinity(2) is refused: EPERM".into());
    let figures = Figure::all(&results);
    let lines = &figures[0].lines;
    assert_eq!(lines[0].calls, ["epoll_wait 0.10", "", "brk 1.00, epoll_wait 0.001"]);
    assert_eq!(lines[0].all_calls, "brk 0.00 to 1.00, epoll_wait 0.001 to 0.10");
    assert_eq!((lines[1].calls[0].as_str(), lines[1].all_calls.as_str()), ("none", "none"));
    assert_eq!(lines[2].all_calls, "");
    assert!(figures[0].has_calls() && !figures[1].has_calls());
    let terminal = terminal(&results);
    let table = "\
wait-one, level on x86_64-linux-gnu
descriptors    10    100  1000  system calls
epoll        1.25  noise  1.27  brk 0.00 to 1.00, epoll_wait 0.001 to 0.10
poll         1.50   12.3   123  none
select       1.60      -     -
not measured: it has no room (select: 1000)
not measured: it is a program (python-poll: 10)
system calls not counted: ptrace(2) is refused: EPERM (poll: 100)
threads not bound to processors: sched_setaffinity(2) is refused: EPERM (epoll: 10)
";
    assert!(terminal.starts_with(table), "{terminal}");
    let markdown = crate::markdown::report(&results);
    for line in [
        "| descriptors | 10 | 100 | 1000 | system calls |",
        "|---|---:|---:|---:|---|",
        "| `poll` | 1.50 | 12.3 | 123 | none |",
        "System calls not counted: ptrace(2) is refused: EPERM (poll: 100)",
    ] {
        assert!(markdown.contains(&format!("\n{line}\n")), "{line} is not in {markdown}");
    }
    let html = crate::html::report(&results);
    assert!(html.contains(" ns; epoll_wait 0.10\">1.25</td>"), "{html}");
    assert!(html.contains("<td class=\"calls\">none</td>"));
    assert!(html.contains("System calls not counted: ptrace(2) is refused: EPERM (poll: 100)"));
}

#[test]
fn hostile_names_are_visible_and_no_markup() {
    let mut results = without_cells();
    let hostile = "</svg><script>alert(1)</script>\u{202e}\"&|`";
    for cost in &mut results.costs {
        (cost.target, cost.poller, cost.operation) =
            (hostile.into(), format!("{}{hostile}", cost.poller), hostile.into());
        cost.calls = samples::counted(&[(hostile, 1.0)]);
    }
    let svg = Figure::all(&results)[0].svg().unwrap();
    assert!(!svg.contains("<script") && !svg.contains('\u{202e}'), "{svg}");
    let html = crate::html::report(&results);
    assert!(!html.contains("<script>alert") && !html.contains('\u{202e}'));
    assert!(!terminal(&results).contains('\u{202e}'));
    let section = section(&results);
    let is_html = |event: &Event<'_>| matches!(event, Event::Html(_) | Event::InlineHtml(_));
    assert!(!Parser::new_ext(&section, Options::ENABLE_TABLES).any(|event| is_html(&event)), "{section}");
}
