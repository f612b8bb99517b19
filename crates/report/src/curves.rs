//! What operations cost over the number of descriptors: charts and tables.
//!
//! A chart is SVG for embedding in a page. It has classes instead of colours, and no style, script or id of
//! its own: [`STYLE`] gives the classes their colours, dark and light.

use std::collections::BTreeSet;
use std::fmt::Write;

use metadata::{Cost, CostOutcome, Figure, Mode, Operation, visible};
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, Circle, Cross, DrawingArea, DrawingAreaErrorKind, EmptyElement,
    IntoDrawingArea, IntoFont, IntoLogRange, LineSeries, LogCoord, PathElement, RGBColor, Rectangle,
    SVGBackend, ShapeStyle, Text, TriangleMarker,
};
use plotters::style::Color;

use crate::text::{markdown as escaped, shortened};

/// The size of a chart.
const SIZE: (u32, u32) = (760, 420);
/// The room for the names of the lines, at the right.
const NAMES: i32 = 190;
/// The number of different lines. A further one looks as an earlier one does, and is told apart by its place.
const LINES: usize = 8;
/// The longest name of a line.
const LONGEST: usize = 24;

/// The placeholders for classes: colours that nothing else has.
const TEXT: RGBColor = RGBColor(1, 2, 0);
const AXIS: RGBColor = RGBColor(1, 2, 1);
const GRID: RGBColor = RGBColor(1, 2, 2);

fn line_colour(line: usize) -> RGBColor {
    RGBColor(1, 3, line as u8)
}

/// The style of the classes in a chart. A page that shows charts includes it.
pub const STYLE: &str = include_str!("html/curves.css");

/// The costs of an operation over the number of descriptors: a line per poller.
#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    /// The operation.
    pub operation: Operation,
    /// The mode of the registrations.
    pub trigger: Mode,
    /// The number of threads.
    pub threads: u32,
    /// The operation, the mode and the number of threads in words.
    pub title: String,
    /// The picture, for embedding in HTML.
    pub svg: String,
    /// The same figures.
    pub table: CostTable,
}

impl Chart {
    /// Returns a name for a file: `wait-one-level-1t`.
    pub fn name(&self) -> String {
        format!("{}-{}-{}t", self.operation, self.trigger, self.threads)
    }
}

/// The costs of an operation: a row per number of descriptors, a column per poller.
#[derive(Clone, PartialEq, Debug)]
pub struct CostTable {
    /// The pollers, with their targets if there are several.
    pub columns: Vec<String>,
    /// The numbers of descriptors with a field for each column: a ratio with its interval, or a word instead.
    pub rows: Vec<(u32, Vec<String>)>,
    /// Why fields have no figure: the reason, and the pollers with their numbers of descriptors.
    pub reasons: Vec<(String, Vec<String>)>,
    /// The part that the ratios are relative to.
    pub floor: String,
}

impl CostTable {
    /// Returns whether some field has a figure, or would have one without noise.
    pub fn has_figures(&self) -> bool {
        self.rows.iter().flat_map(|(_, fields)| fields).any(|field| !matches!(field.as_str(), "n/a" | "-"))
    }
}

/// Costs of the same operation, mode and number of threads.
struct Group<'a> {
    costs: Vec<&'a Cost>,
    has_several_targets: bool,
}

/// Returns a chart for each operation, mode and number of threads with at least one figure.
pub fn charts(costs: &[Cost]) -> Vec<Chart> {
    let of = |group: Group<'_>| {
        let first = *group.costs.first()?;
        let svg = group.svg()?;
        let (operation, trigger, threads) = (first.operation, first.trigger, first.threads);
        Some(Chart { operation, trigger, threads, title: group.title(), svg, table: group.table() })
    };
    groups(costs).into_iter().filter_map(of).collect()
}

/// Returns a chart as a file of its own, with its style.
pub fn standalone(chart: &Chart) -> String {
    let style = format!("<style>svg {{ color-scheme: light dark }}\n{STYLE}</style>");
    let end = chart.svg.find('>').map_or(0, |end| end + 1);
    format!("{}{style}{}", &chart.svg[..end], &chart.svg[end..])
}

/// Returns a Markdown heading and a table for each operation, mode and number of threads.
pub fn markdown(costs: &[Cost]) -> String {
    let mut out = String::new();
    for group in groups(costs) {
        let table = group.table();
        let _ = writeln!(out, "### {}\n\nTimes {}.\n", escaped(&group.title()), escaped(&table.floor));
        let columns: Vec<_> = table.columns.iter().map(|column| escaped(column)).collect();
        let _ = writeln!(out, "| descriptors | {} |", columns.join(" | "));
        let _ = writeln!(out, "|--:|{}", "--:|".repeat(columns.len()));
        for (descriptors, fields) in &table.rows {
            let _ = writeln!(out, "| {descriptors} | {} |", fields.join(" | "));
        }
        out.push('\n');
        for (reason, places) in &table.reasons {
            let _ = writeln!(out, "- {}", escaped(&format!("{}: {reason}", places.join(", "))));
        }
        if !table.reasons.is_empty() {
            out.push('\n');
        }
    }
    out
}

/// Returns the tables of every operation, mode and number of threads, with their titles.
pub fn tables(costs: &[Cost]) -> Vec<(String, CostTable)> {
    groups(costs).into_iter().map(|group| (group.title(), group.table())).collect()
}

/// Returns the titles of the operations without any figure, each with its reasons.
pub fn without_figures(costs: &[Cost]) -> Vec<(String, Vec<String>)> {
    let is_without = |group: &Group<'_>| group.costs.iter().all(|cost| cost.figure().is_none());
    let entry = |group: Group<'_>| {
        let reasons = group.table().reasons;
        let line = |(reason, places): (String, Vec<String>)| format!("{}: {reason}", places.join(", "));
        (group.title(), reasons.into_iter().map(line).collect())
    };
    groups(costs).into_iter().filter(is_without).map(entry).collect()
}

fn groups(costs: &[Cost]) -> Vec<Group<'_>> {
    let key = |cost: &Cost| (cost.operation, cost.trigger, cost.threads);
    let keys: BTreeSet<_> = costs.iter().map(key).collect();
    let targets: BTreeSet<_> = costs.iter().map(|cost| cost.target.as_str()).collect();
    let group = |of| Group {
        costs: costs.iter().filter(|cost| key(cost) == of).collect(),
        has_several_targets: targets.len() > 1,
    };
    keys.into_iter().map(group).collect()
}

impl Group<'_> {
    fn title(&self) -> String {
        let Some(first) = self.costs.first() else { return String::new() };
        let threads = match first.threads {
            1 => "1 thread".to_owned(),
            several => format!("{several} threads"),
        };
        format!("{}: {}-triggered, {threads}", first.operation.title(), first.trigger)
    }

    fn name(&self, cost: &Cost) -> String {
        match self.has_several_targets {
            true => format!("{} on {}", cost.poller, cost.target),
            false => cost.poller.clone(),
        }
    }

    /// The columns of the table and the lines of the chart, in the order of the pollers.
    fn names(&self) -> Vec<String> {
        self.costs.iter().map(|cost| self.name(cost)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn table(&self) -> CostTable {
        let columns = self.names();
        let numbers: BTreeSet<_> = self.costs.iter().map(|cost| cost.descriptors).collect();
        let field = |descriptors: u32, column: &String| {
            let found =
                self.costs.iter().find(|cost| cost.descriptors == descriptors && self.name(cost) == *column);
            found.map_or_else(|| "-".to_owned(), |cost| cost.outcome.to_string())
        };
        let row =
            |descriptors| (descriptors, columns.iter().map(|column| field(descriptors, column)).collect());
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for cost in &self.costs {
            let Some(reason) = cost.outcome.reason() else { continue };
            let place = format!("{} at {}", self.name(cost), cost.descriptors);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, places)) => places.push(place),
                None => reasons.push((reason, vec![place])),
            }
        }
        let floor = self.costs.first().map(|cost| cost.floor.clone()).unwrap_or_default();
        CostTable { rows: numbers.into_iter().map(row).collect(), columns, reasons, floor }
    }

    /// Returns the picture, unless there is no figure.
    fn svg(&self) -> Option<String> {
        let lines = self.lines();
        if lines.iter().all(|line| line.points.is_empty()) {
            return None;
        }
        let mut svg = String::new();
        draw(&mut svg, &lines).expect("text is always written");
        Some(with_classes(&svg, &self.title()))
    }

    fn lines(&self) -> Vec<Line> {
        let all_names = self.names();
        let of = |(index, name): (usize, &String)| {
            let costs = self.costs.iter().filter(|cost| self.name(cost) == *name);
            let mut points: Vec<_> = costs.filter_map(|cost| Point::of(cost)).collect();
            points.sort_by(|one, other| one.descriptors.total_cmp(&other.descriptors));
            let name = shortened(&visible(name), LONGEST);
            Line { name, style: 1 + index % LINES, points }
        };
        all_names.iter().enumerate().map(of).filter(|line| !line.points.is_empty()).collect()
    }
}

struct Line {
    name: String,
    /// The number of its class, from 1.
    style: usize,
    points: Vec<Point>,
}

#[derive(Clone, Copy)]
struct Point {
    descriptors: f64,
    ratio: f64,
    interval: [f64; 2],
}

impl Point {
    fn of(cost: &Cost) -> Option<Self> {
        let CostOutcome::Measured(Figure { ratio, interval, .. }) = &cost.outcome else { return None };
        Some(Self { descriptors: f64::from(cost.descriptors.max(1)), ratio: *ratio, interval: *interval })
    }
}

/// Returns the decades around some numbers.
fn decades(numbers: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let greatest = numbers.fold(0.0, f64::max);
    let low = least.log10().floor();
    let high = greatest.log10().ceil().max(low + 1.0);
    [low, high].map(|exponent| 10f64.powf(exponent))
}

type Drawn<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as plotters::prelude::DrawingBackend>::ErrorType>;
type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

fn draw<'a>(svg: &'a mut String, lines: &[Line]) -> Result<(), Drawn<'a>> {
    let points = || lines.iter().flat_map(|line| line.points.iter());
    let [left, right] = decades(points().map(|point| point.descriptors));
    let [low, high] = decades(points().flat_map(|point| point.interval));
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin(14)
        .margin_right(NAMES)
        .x_label_area_size(46)
        .y_label_area_size(70)
        .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
    let text = || ("sans-serif", 16).into_font().color(&TEXT);
    chart
        .configure_mesh()
        .axis_style(AXIS)
        .bold_line_style(GRID)
        .light_line_style(plotters::style::TRANSPARENT)
        .label_style(text())
        .axis_desc_style(text())
        .x_labels(6)
        .y_labels(8)
        .x_desc("registered descriptors")
        .y_desc("times the floor")
        .x_label_formatter(&tick)
        .y_label_formatter(&tick)
        .draw()?;
    for line in lines {
        draw_line(&mut chart, line)?;
    }
    draw_names(&area, &chart, lines)?;
    drop(chart);
    area.present()
}

/// Returns a number of an axis: `1000`, `0.1`.
fn tick(number: &f64) -> String {
    // The logarithm's error would be visible in the digits.
    let plain = format!("{number:.3}");
    plain.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn draw_line<'b>(chart: &mut Plot<'_, 'b>, line: &Line) -> Result<(), Drawn<'b>> {
    let colour = line_colour(line.style);
    let points = || line.points.iter();
    chart.draw_series(LineSeries::new(
        points().map(|point| (point.descriptors, point.ratio)),
        colour.stroke_width(2),
    ))?;
    let bar = |point: &Point| {
        let [low, high] = point.interval;
        PathElement::new([(point.descriptors, low), (point.descriptors, high)], colour.stroke_width(1))
    };
    chart.draw_series(points().map(bar))?;
    let places = points().map(|point| (point.descriptors, point.ratio));
    match line.style % 4 {
        1 => chart.draw_series(places.map(|place| Circle::new(place, 4, colour.filled())))?,
        2 => chart.draw_series(places.map(|place| EmptyElement::at(place) + square(colour.filled())))?,
        3 => chart.draw_series(places.map(|place| TriangleMarker::new(place, 6, colour.filled())))?,
        _ => chart.draw_series(places.map(|place| Cross::new(place, 4, colour.stroke_width(2))))?,
    };
    Ok(())
}

fn square(style: ShapeStyle) -> Rectangle<(i32, i32)> {
    Rectangle::new([(-4, -4), (4, 4)], style)
}

/// Writes the names at the right, in the order in which the lines end, from the top. A line joins each name
/// to the end of its line.
fn draw_names<'b>(
    area: &DrawingArea<SVGBackend<'b>, plotters::coord::Shift>,
    chart: &Plot<'_, 'b>,
    lines: &[Line],
) -> Result<(), Drawn<'b>> {
    const HEIGHT: i32 = 18;
    let (width, height) = (SIZE.0 as i32, SIZE.1 as i32);
    let x = width - NAMES + 14;
    let end = |line: &Line| {
        let last = line.points.last().map_or((1.0, 1.0), |last| (last.descriptors, last.ratio));
        chart.backend_coord(&last)
    };
    let mut named: Vec<_> = lines.iter().map(|line| (end(line), line)).collect();
    named.sort_by_key(|((_, y), _)| *y);
    // Each as near to its line as the ones above it and the room below allow.
    let mut above = HEIGHT;
    for (index, ((end_x, end_y), line)) in named.iter().enumerate() {
        let below = (named.len() - index) as i32;
        let y = (*end_y).min(height - 50 - below * HEIGHT + HEIGHT).max(above);
        above = y + HEIGHT;
        let colour = line_colour(line.style);
        // In the colour of the grid: it is no part of the line.
        area.draw(&PathElement::new([(*end_x + 7, *end_y), (x - 4, y)], GRID.stroke_width(1)))?;
        let style = ("sans-serif", 16).into_font().color(&colour);
        let style = style.pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Left,
            plotters::style::text_anchor::VPos::Center,
        ));
        area.draw(&Text::new(line.name.clone(), (x, y), style))?;
    }
    Ok(())
}

/// Replaces the placeholders by classes, and gives the picture a name.
fn with_classes(svg: &str, title: &str) -> String {
    let attribute = |name: &str, RGBColor(red, green, blue): RGBColor| {
        format!("{name}=\"#{red:02X}{green:02X}{blue:02X}\"")
    };
    let mut out = svg.to_owned();
    let parts = [(TEXT, "text".to_owned()), (AXIS, "axis".to_owned()), (GRID, "grid".to_owned())];
    for (colour, class) in parts {
        out = out.replace(&attribute("fill", colour), &format!("class=\"{class}\""));
        out = out.replace(&attribute("stroke", colour), &format!("class=\"{class}\""));
    }
    for line in 1..=LINES {
        let colour = line_colour(line);
        out = out.replace(&attribute("stroke", colour), &format!("class=\"line line-{line}\""));
        out = out.replace(&attribute("fill", colour), &format!("class=\"mark mark-{line}\""));
    }
    let title = visible(title).replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    out.replacen("<svg ", &format!("<svg class=\"curves\" role=\"img\" aria-label=\"{title}\" "), 1)
}

#[cfg(test)]
mod tests {
    use metadata::samples;

    use super::*;

    /// The classic picture: one stays flat, the other one grows.
    fn costs() -> Vec<Cost> {
        let figures = [10, 100, 1000].map(|descriptors| {
            let growing = samples::measured(f64::from(descriptors) / 5.0);
            [
                samples::cost("epoll", descriptors, samples::measured(2.0)),
                samples::cost("poll", descriptors, growing),
            ]
        });
        let unsupported = CostOutcome::Unsupported { reason: "FD_SETSIZE".into() };
        let select = [100, 1000].map(|number| samples::cost("select", number, unsupported.clone()));
        let noise = CostOutcome::Noise { spread_percent: 31.0, limit_percent: 10.0 };
        figures.into_iter().flatten().chain(select).chain([samples::cost("select", 10, noise)]).collect()
    }

    /// Returns the points of the line with this class.
    fn points(svg: &str, class: &str) -> Vec<(i32, i32)> {
        let line = svg.lines().find(|line| line.starts_with("<polyline") && line.contains(class));
        let line = line.unwrap_or_else(|| panic!("there is no {class} in {svg}"));
        let (_, points) = line.split_once("points=\"").unwrap();
        let points = points.split('"').next().unwrap().split_whitespace();
        let number = |text: &str| text.parse().unwrap();
        points.map(|point| point.split_once(',').unwrap()).map(|(x, y)| (number(x), number(y))).collect()
    }

    #[test]
    fn a_chart_has_a_line_per_poller_over_logarithmic_axes() {
        let charts = charts(&costs());
        let [chart] = &charts[..] else { panic!("{charts:?}") };
        assert_eq!(chart.title, "Wait, one descriptor is ready: level-triggered, 1 thread");
        assert_eq!(chart.name(), "wait-one-level-1t");
        let (flat, growing) = (points(&chart.svg, "line-1\""), points(&chart.svg, "line-2\""));
        assert_eq!((flat.len(), growing.len()), (3, 3));
        assert!(flat.iter().all(|(_, y)| *y == flat[0].1), "{flat:?}");
        // Decades are equally far from each other.
        for line in [&flat, &growing] {
            let steps: Vec<_> = line.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
            assert!(steps[0] > 50 && (steps[0] - steps[1]).abs() <= 1, "{line:?}");
        }
        let rises: Vec<_> = growing.windows(2).map(|pair| pair[0].1 - pair[1].1).collect();
        assert!(rises[0] > 20 && (rises[0] - rises[1]).abs() <= 1, "{growing:?}");
        // Without a figure, there is no line.
        assert!(!chart.svg.contains("line-3"));
    }

    #[test]
    fn a_chart_names_its_axes_and_lines_and_has_classes_only() {
        let svg = &charts(&costs())[0].svg;
        for text in ["registered descriptors", "times the floor", "epoll", "poll", "1000", "100", "10"] {
            let found = svg.lines().filter(|line| line.trim() == text).count();
            assert!(found >= 1, "{text} is not in {svg}");
        }
        assert!(svg.starts_with("<svg class=\"curves\" role=\"img\" aria-label=\"Wait, one"), "{svg}");
        for class in ["text", "axis", "grid", "line line-1", "line line-2", "mark mark-1", "mark mark-2"] {
            assert!(svg.contains(&format!("class=\"{class}\"")), "{class}");
        }
        assert!(!svg.contains('#') && !svg.contains("<style") && !svg.contains("id="), "{svg}");
    }

    #[test]
    fn every_class_of_a_line_has_a_colour() {
        for line in 1..=LINES {
            assert!(
                STYLE.contains(&format!(".line-{line} {{")) && STYLE.contains(&format!(".mark-{line} {{"))
            );
            assert!(STYLE.contains(&format!("--line-{line}: light-dark(")));
        }
    }

    #[test]
    fn a_file_of_its_own_has_the_style() {
        let chart = &charts(&costs())[0];
        let file = standalone(chart);
        assert!(file.starts_with("<svg ") && file.contains("<style>svg { color-scheme"), "{file}");
        assert_eq!(
            file.replacen(&file[file.find("<style>").unwrap()..file.find("</style>").unwrap() + 8], "", 1),
            chart.svg
        );
    }

    #[test]
    fn a_table_has_every_figure_and_every_reason() {
        let text = markdown(&costs());
        let expected = "### Wait, one descriptor is ready: level-triggered, 1 thread\n\n\
            Times one poll(2) of the ready descriptor alone.\n\n\
            | descriptors | epoll | poll | select |\n|--:|--:|--:|--:|\n\
            | 10 | 2.00 (1.80 to 2.20) | 2.00 (1.80 to 2.20) | noise |\n\
            | 100 | 2.00 (1.80 to 2.20) | 20.0 (18.0 to 22.0) | n/a |\n\
            | 1000 | 2.00 (1.80 to 2.20) | 200 (180 to 220) | n/a |\n";
        assert!(text.replace('\\', "").starts_with(expected), "{text}");
        let plain = text.replace('\\', "");
        assert!(plain.contains("- select at 100, select at 1000: FD_SETSIZE\n"), "{text}");
        assert!(
            plain.contains("- select at 10: noise: the interval is 31 % wide, more than 10 %\n"),
            "{text}"
        );
    }

    #[test]
    fn costs_without_any_figure_have_no_chart() {
        let not_run = CostOutcome::NotRun { reason: "interrupted".into() };
        assert_eq!(charts(&[samples::cost("epoll", 10, not_run)]), []);
        // One figure is a chart, although a line needs two.
        let one = charts(&[samples::cost("epoll", 10, samples::measured(2.0))]);
        assert!(one[0].svg.contains("mark-1"), "{one:?}");
    }

    #[test]
    fn lines_of_several_targets_have_their_names() {
        let mut costs = vec![samples::cost("epoll", 10, samples::measured(2.0))];
        costs.push(Cost { target: "<there> & \"x\"".into(), ..costs[0].clone() });
        let chart = &charts(&costs)[0];
        assert_eq!(chart.table.columns, ["epoll on <there> & \"x\"", "epoll on here"]);
        assert!(chart.svg.contains("epoll on &lt;there&gt; &amp;"), "{}", chart.svg);
    }
}
