//! The timeline of a cell: columns for a terminal, trace events for Perfetto, a picture for a page.

use std::collections::BTreeMap;
use std::fmt::Write;

use metadata::{Act, CellResult, Event, Lane, Timeline, one_line};
use serde_json::json;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::text::{self, shortened};

/// The width of the columns together, whatever the width of the terminal is.
const WIDTH: usize = 80;
/// The narrowest column: it holds the names of five lanes, one of them the scenario's own.
const NARROWEST: usize = 10;

/// Returns the lanes as columns of text, with a row for each event, in order. Lanes that do not fit are
/// named in each row instead.
pub fn text(timeline: &Timeline) -> String {
    let shown: Vec<_> = timeline.shown().collect();
    let Some((first, _)) = shown.first() else { return String::new() };
    let times: Vec<_> =
        shown.iter().map(|(event, _)| microseconds(event.ns.saturating_sub(first.ns))).collect();
    let time_width = times.iter().map(String::len).max().unwrap_or_default().max(2);
    let lanes: Vec<_> = timeline.lanes.iter().map(|lane| one_line(&lane.name)).collect();
    let width = (WIDTH - time_width).checked_div(lanes.len()).unwrap_or_default().saturating_sub(3);
    let mut out = String::new();
    let mut row = |time: &str, texts: &dyn Fn(usize) -> String| {
        let wrapped: Vec<_> = (0..lanes.len()).map(|lane| wrap(&texts(lane), width)).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or_default().max(1);
        for line in 0..height {
            let mut text = format!("{:>time_width$}", if line == 0 { time } else { "" });
            for lines in &wrapped {
                let part = lines.get(line).map(String::as_str).unwrap_or_default();
                let padding = " ".repeat(width.saturating_sub(part.width()));
                let _ = write!(text, " | {part}{padding}");
            }
            let _ = writeln!(out, "{}", text.trim_end());
        }
    };
    if width >= NARROWEST {
        row("µs", &|lane| lanes[lane].to_string());
        if timeline.lanes.iter().any(|lane| lane.dropped > 0) {
            row("", &|lane| dropped(&timeline.lanes[lane]));
        }
        for ((event, _), time) in shown.iter().zip(&times) {
            let text = event.text();
            row(time, &|lane| if lane == event.lane { one_line(&text).into_owned() } else { String::new() });
        }
    } else {
        let name_width = lanes.iter().map(|name| name.width()).max().unwrap_or_default().max(1);
        for (lane, name) in timeline.lanes.iter().zip(&lanes).filter(|(lane, _)| lane.dropped > 0) {
            let _ = writeln!(out, "{name}: {}", dropped(lane));
        }
        let _ = writeln!(out, "{:>time_width$}", "µs");
        for ((event, _), time) in shown.iter().zip(&times) {
            let name = &lanes[event.lane];
            let padding = " ".repeat(name_width - name.width());
            let _ = writeln!(out, "{time:>time_width$}  {name}{padding}  {}", one_line(&event.text()));
        }
    }
    if let Some(missing) = missing(timeline) {
        let _ = writeln!(out, "{missing}");
    }
    out
}

fn dropped(lane: &Lane) -> String {
    match lane.dropped {
        0 => String::new(),
        count => format!("({count} dropped)"),
    }
}

/// Returns how many events are missing, if some are.
fn missing(timeline: &Timeline) -> Option<String> {
    let events = |count: u64| {
        if count == 1 { "1 earlier event was".into() } else { format!("{count} earlier events were") }
    };
    Some(timeline.missing()).filter(|count| *count > 0).map(|count| format!("{} dropped", events(count)))
}

/// Nanoseconds as microseconds, with one decimal.
fn microseconds(ns: u64) -> String {
    format!("{}.{}", ns / 1000, ns % 1000 / 100)
}

/// Wraps a text at spaces. Breaks words that are longer than a line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => {
                lines.push(String::new());
                for c in word.chars() {
                    let line = lines.last_mut().expect("a line was pushed");
                    if line.width() + c.width().unwrap_or_default() > width && !line.is_empty() {
                        lines.push(String::new());
                    }
                    lines.last_mut().expect("a line was pushed").push(c);
                }
            }
        }
    }
    lines
}

/// A part of a lane from the beginning of something to its end: indices into the shown events.
struct Span {
    from: usize,
    to: usize,
    kind: Act,
}

/// Returns what ends something that this act begins.
fn end_of(act: Act) -> Option<Act> {
    match act {
        Act::Wait => Some(Act::Awake),
        Act::Report => Some(Act::Return),
        Act::Held => Some(Act::Released),
        Act::Begin => Some(Act::Done),
        _ => None,
    }
}

/// Returns the spans, nested within each lane. A beginning without an end, or the reverse, makes none.
fn spans(shown: &[(&Event, &Lane)]) -> Vec<Span> {
    let mut open: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut spans = Vec::new();
    for (index, (event, _)) in shown.iter().enumerate() {
        let open = open.entry(event.lane).or_default();
        if end_of(event.act).is_some() {
            open.push(index);
        } else if let Some(at) = open.iter().rposition(|from| end_of(shown[*from].0.act) == Some(event.act)) {
            let from = open[at];
            open.truncate(at);
            spans.push(Span { from, to: index, kind: shown[from].0.act });
        }
    }
    spans
}

/// Returns the timelines of these results in the trace-event format, which Perfetto and Chrome read: a
/// process for each result, a thread for each lane.
pub fn trace<'a>(cells: impl IntoIterator<Item = &'a CellResult>) -> String {
    let mut events = Vec::new();
    for (pid, cell) in (1..).zip(cells) {
        let Some(timeline) = &cell.timeline else { continue };
        let named = |kind: &str, tid: usize, name: String| json!({ "ph": "M", "pid": pid, "tid": tid, "name": kind, "args": { "name": name } });
        let mut process = named("process_name", 0, format!("{} on {}", cell.id, cell.target));
        if let Some(missing) = missing(timeline) {
            process["args"]["note"] = missing.into();
        }
        events.push(process);
        for (tid, lane) in (1..).zip(&timeline.lanes) {
            events.push(named("thread_name", tid, lane.name.clone()));
        }
        let shown: Vec<_> = timeline.shown().collect();
        let spans = spans(&shown);
        for (index, (event, _)) in shown.iter().enumerate() {
            if spans.iter().any(|span| span.to == index) {
                continue;
            }
            let ts = |event: &Event| event.ns as f64 / 1000.0;
            let mut traced = json!({
                "ph": "i", "s": "t", "pid": pid, "tid": event.lane + 1, "ts": ts(event), "name": event.text(),
                "cat": event.act,
            });
            if let Some(span) = spans.iter().find(|span| span.from == index) {
                let end = shown[span.to].0;
                traced["ph"] = "X".into();
                traced["dur"] = (end.ns.saturating_sub(event.ns) as f64 / 1000.0).into();
                traced["args"] = json!({ "end": end.text() });
                traced.as_object_mut().map(|fields| fields.remove("s"));
            }
            events.push(traced);
        }
    }
    metadata::json(&json!({ "displayTimeUnit": "ns", "traceEvents": events }))
}

/// The picture's measures, in pixels.
const TIME: usize = 84;
const LANE: usize = 190;
const ROW: usize = 20;
const HEAD: usize = 44;
/// The number of characters that fit into a lane.
const FITS: usize = 23;

/// Returns the picture of a timeline as SVG, with a title and a description, in the colours of the page. Time
/// runs down, a row for each event. Empty without events.
pub fn svg(cell: &CellResult) -> String {
    let Some(timeline) = &cell.timeline else { return String::new() };
    let shown: Vec<_> = timeline.shown().collect();
    let Some((first, _)) = shown.first() else { return String::new() };
    // Lanes without a shown event need no room.
    let mut columns: Vec<usize> = shown.iter().map(|(event, _)| event.lane).collect();
    columns.sort_unstable();
    columns.dedup();
    let kernel = columns.len();
    let x = |column: usize| TIME + column * LANE + 12;
    let column = |lane: usize| columns.binary_search(&lane).unwrap_or_default();
    let y = |row: usize| HEAD + row * ROW;
    let (width, height) = (x(kernel) + 60, y(shown.len()) + 8);

    let title = escaped(&format!("What each thread did in {}", cell.id));
    let names = columns.iter().map(|lane| timeline.lanes[*lane].name.as_str()).collect::<Vec<_>>().join(", ");
    let missing = missing(timeline).map(|missing| format!(" {missing}.")).unwrap_or_default();
    let described = escaped(&format!(
        "{} events of {names}, the oldest at the top.{missing} pollmatrix show --timeline prints them as text.",
        shown.len()
    ));
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg class=\"timeline\" role=\"img\" aria-labelledby=\"timeline-title timeline-desc\" \
         viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
         <title id=\"timeline-title\">{title}</title>\n<desc id=\"timeline-desc\">{described}</desc>"
    );
    let mut heading = |at: usize, name: &str, below: &str| {
        let _ = writeln!(
            out,
            "<line class=\"life\" x1=\"{at}\" y1=\"30\" x2=\"{at}\" y2=\"{height}\"/>\
             <text class=\"name\" x=\"{}\" y=\"14\">{}</text><text class=\"time\" x=\"{}\" y=\"28\">{}</text>",
            at - 6,
            escaped(&shortened(&one_line(name), FITS)),
            at + 8,
            escaped(below)
        );
    };
    for (index, lane) in columns.iter().enumerate() {
        heading(x(index), &timeline.lanes[*lane].name, &dropped(&timeline.lanes[*lane]));
    }
    heading(x(kernel), "kernel", "");
    for Span { from, to, kind } in spans(&shown) {
        let class = match kind {
            Act::Wait => "wait",
            Act::Report => "report",
            Act::Held => "held",
            _ => "action",
        };
        let (left, top) = (x(column(shown[from].0.lane)) - 4, y(from) + 4);
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"8\" height=\"{}\"/>",
            (y(to) + 12).saturating_sub(top)
        );
    }
    for (row, (event, _)) in shown.iter().enumerate() {
        let (here, middle) = (x(column(event.lane)), y(row) + 10);
        if let Some((from, to)) = arrow(event, here, x(kernel), &|name| {
            let lane = timeline.lanes.iter().position(|lane| lane.name == name)?;
            columns.binary_search(&lane).ok().map(&x)
        }) {
            let back = if to > from { to - 5 } else { to + 5 };
            let _ = writeln!(
                out,
                "<path class=\"arrow\" d=\"M{from} {middle}H{to}M{back} {}L{to} {middle}L{back} {}\"/>",
                middle - 3,
                middle + 3
            );
        }
        let text = one_line(&event.text()).into_owned();
        let class = if event.act == Act::Wrong { "event wrong" } else { "event" };
        let hint = if text.chars().count() > FITS {
            format!("<title>{}</title>", escaped(&text))
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "<text class=\"time\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>\
             <circle class=\"dot\" cx=\"{here}\" cy=\"{middle}\" r=\"2.5\"/>\
             <text class=\"{class}\" x=\"{}\" y=\"{}\">{}{hint}</text>",
            TIME - 14,
            middle + 4,
            microseconds(event.ns.saturating_sub(first.ns)),
            here + 8,
            middle + 4,
            escaped(&shortened(&text, FITS))
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Returns from where to where an event reaches: to another thread, to the kernel, or from it.
fn arrow(
    event: &Event,
    here: usize,
    kernel: usize,
    lane: &dyn Fn(&str) -> Option<usize>,
) -> Option<(usize, usize)> {
    match event.act {
        Act::Send | Act::Update | Act::Close | Act::Wait => Some((here, kernel)),
        Act::Awake => Some((kernel, here)),
        Act::Wake | Act::Fence => {
            let other = lane(&format!("worker {}", event.detail.as_ref()?))?;
            (other != here).then_some((here, other))
        }
        _ => None,
    }
}

fn escaped(text: &str) -> String {
    text::escaped(&one_line(text))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use metadata::Status;
    use quick_xml::events::Event as Xml;
    use serde_json::Value;

    use super::*;
    use crate::samples;

    fn failed(timeline: Timeline) -> CellResult {
        let mut cell = samples::cell("here", "a", "epoll", Status::Fail);
        cell.timeline = Some(timeline);
        cell
    }

    /// The timeline of a hostile file: in each text, and with more than is drawn.
    fn hostile(text: &str) -> Timeline {
        let mut timeline = samples::timeline();
        timeline.lanes.iter_mut().for_each(|lane| lane.name += text);
        for event in &mut timeline.events {
            event.detail = Some(text.into());
        }
        timeline.events.push(Event { lane: usize::MAX, ns: 0, ..timeline.events[0].clone() });
        timeline
    }

    #[test]
    fn each_event_is_in_the_column_of_its_thread_in_order() {
        let expected = " µs | main                   | worker 1/0             | worker 1/1
    |                        | (7 dropped)            |
0.0 |                        | waits                  |
0.5 | wakes 1/1              |                        |
1.0 |                        | awake ×12              |
1.3 |                        | has event 9            |
1.4 |                        | held at                |
    |                        | ReportBeforeRunning 9  |
4.0 |                        |                        | begins takes
4.1 |                        |                        | takes over 9
4.2 |                        |                        | done takes = Ok(())
7.0 |                        | released               |
    |                        | ReportBeforeRunning 9  |
7.0 |                        | waits                  |
8.0 | WRONG the thread that  |                        |
    | reports                |                        |
7 earlier events were dropped
";
        assert_eq!(text(&samples::timeline()), expected);
    }

    #[test]
    fn five_lanes_are_columns_of_80_characters_and_more_are_a_list() {
        let of = |count: usize| {
            let mut timeline = samples::timeline();
            timeline.lanes = (0..count).map(|n| Lane { name: format!("worker 1/{n}"), dropped: 3 }).collect();
            timeline.events.iter_mut().for_each(|event| event.ns *= 1000);
            text(&timeline)
        };
        let (columns, list) = (of(5), of(6));
        assert!(columns.lines().all(|line| line.width() <= WIDTH), "{columns}");
        assert!(columns.contains(" | worker 1/4\n"), "{columns}");
        assert!(list.contains("4100.0  worker 1/2  takes over 9\n"), "{list}");
        assert!(list.starts_with("worker 1/0: (3 dropped)\n"), "{list}");
    }

    #[test]
    fn a_trace_keeps_the_rules_of_the_format() {
        let mut other = failed(samples::timeline());
        other.target = "there".into();
        let trace: Value = serde_json::from_str(&trace([&failed(hostile("\u{1b}<x>")), &other])).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let mut named = BTreeSet::new();
        for event in events {
            let of = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("{name}: {event}"));
            let thread = (of("pid"), of("tid"));
            assert!(event["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
            if event["ph"] == "M" {
                assert!(
                    ["process_name", "thread_name"].contains(&event["name"].as_str().unwrap()),
                    "{event}"
                );
                assert!(event["args"]["name"].is_string(), "{event}");
                named.insert(thread);
                continue;
            }
            assert!(event["ts"].as_f64().is_some_and(|ts| ts >= 0.0), "{event}");
            assert!(named.contains(&thread), "no name before it: {event}");
            match event["ph"].as_str() {
                Some("X") => assert!(event["dur"].as_f64().is_some_and(|dur| dur >= 0.0), "{event}"),
                Some("i") => assert_eq!(event["s"], "t", "{event}"),
                _ => panic!("{event}"),
            }
        }
        // One thread's complete events contain each other, or have nothing in common.
        let complete = || events.iter().filter(|event| event["ph"] == "X");
        let time = |event: &Value| {
            let (from, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
            (from, from + dur)
        };
        for (one, other) in complete().flat_map(|one| complete().map(move |other| (one, other))) {
            if (&one["pid"], &one["tid"]) == (&other["pid"], &other["tid"]) {
                let ((a, b), (c, d)) = (time(one), time(other));
                assert!(b <= c || d <= a || (a <= c && d <= b) || (c <= a && b <= d), "{one} {other}");
            }
        }
        let held = complete().find(|event| event["name"] == "held at ReportBeforeRunning 9").unwrap();
        assert_eq!(
            (&held["ts"], &held["dur"], &held["pid"], &held["tid"]),
            (&json!(2.4), &json!(5.6), &json!(2), &json!(2))
        );
        assert_eq!(events[0]["args"]["note"], "8 earlier events were dropped");
    }

    #[test]
    fn spans_of_a_thread_end_inside_of_each_other() {
        let event = |act| Event { ns: 0, lane: 0, act, fd: None, detail: None, times: 1 };
        let acts = [Act::Report, Act::Held, Act::Wait, Act::Return, Act::Released, Act::Awake, Act::Begin];
        let (events, lane) = (acts.map(event), Lane { name: String::new(), dropped: 0 });
        let shown: Vec<_> = events.iter().map(|event| (event, &lane)).collect();
        let found: Vec<_> = spans(&shown).iter().map(|span| (span.from, span.to)).collect();
        assert_eq!(found, [(0, 3)], "what an outer end leaves open has no end");
    }

    /// The elements of a picture in order, and its texts.
    fn elements(svg: &str) -> (Vec<String>, String) {
        let mut reader = quick_xml::Reader::from_str(svg);
        let (mut elements, mut texts) = (Vec::new(), String::new());
        loop {
            match reader.read_event().expect("the picture is XML") {
                Xml::Start(tag) | Xml::Empty(tag) => {
                    let attributes: Vec<_> = tag.attributes().map(|attribute| attribute.unwrap()).collect();
                    let names: Vec<_> = attributes
                        .iter()
                        .map(|a| String::from_utf8_lossy(a.key.as_ref()).into_owned())
                        .collect();
                    let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                    elements.push(format!("{name} {}", names.join(" ")));
                }
                Xml::Text(text) => texts += &String::from_utf8_lossy(&text),
                Xml::GeneralRef(entity) => texts += &format!("&{};", String::from_utf8_lossy(&entity)),
                Xml::Eof => return (elements, texts),
                _ => {}
            }
        }
    }

    #[test]
    fn the_picture_has_a_title_a_lifeline_per_lane_and_an_arrow_from_the_waker() {
        let svg = svg(&failed(samples::timeline()));
        let (elements, texts) = elements(&svg);
        let count = |name: &str| elements.iter().filter(|element| element.starts_with(name)).count();
        assert!(svg.contains("role=\"img\" aria-labelledby=\"timeline-title timeline-desc\""), "{svg}");
        assert_eq!((count("title id"), count("desc id"), count("line "), count("circle ")), (1, 1, 4, 11));
        // A wait, a hold, an action.
        assert_eq!((count("rect "), svg.matches("class=\"held\"").count()), (3, 1), "{svg}");
        let (waker, woken) = (TIME + 12, TIME + 2 * LANE + 12);
        assert!(svg.contains(&format!("d=\"M{waker} {}H{woken}", HEAD + ROW + 10)), "{svg}");
        assert!(texts.contains("(7 dropped)") && texts.contains("7 earlier events were dropped"), "{texts}");
        assert!(svg.contains("class=\"event wrong\""));
    }

    #[test]
    fn hostile_names_and_details_add_no_element_and_stay_visible() {
        let text = "\x1b[8m\u{202e}</text></svg><script>\"' &lt;\n]]>";
        let [(harmless, _), (hostile, texts)] =
            ["x".repeat(text.len()), text.to_owned()].map(|text| elements(&svg(&failed(hostile(&text)))));
        assert_eq!(hostile, harmless);
        let picture = svg(&failed(self::hostile(text)));
        assert!(!picture.contains(['\x1b', '\u{202e}']), "{picture}");
        assert!(texts.contains("\\u{1b}[8m\\u{202e}&lt;/text&gt;"), "{texts}");
        let printed = super::text(&self::hostile(text));
        assert!(!printed.contains(['\x1b', '\u{202e}']), "{printed}");
        assert!(printed.lines().all(|line| line.width() <= WIDTH), "{printed}");
    }
}
