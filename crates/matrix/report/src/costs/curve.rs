//! Curves as SVG, without colours of their own.

use metadata::{CostOutcome, visible};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::Figure;
use crate::text::escaped;

const SIZE: (u32, u32) = (960, 360);

/// The colours in the drawing that stand for those of the page.
const TEXT: RGBColor = RGBColor(1, 0, 0);
const LINE: RGBColor = RGBColor(2, 0, 0);

const fn series(number: usize) -> RGBColor {
    RGBColor(3, 0, (number % SERIES) as u8)
}

/// The number of different colours of lines.
const SERIES: usize = 8;

type Error<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

/// A poller, and the parts of its line: points of descriptors and ratios. A line ends before noise, and
/// begins again after it.
type Curve<'a> = (&'a str, Vec<Vec<(f64, f64)>>);

/// See [`Figure::svg`].
pub(super) fn draw(figure: &Figure) -> Option<String> {
    let curves: Vec<Curve<'_>> =
        figure.lines.iter().map(|line| (line.poller.as_str(), parts(figure, line))).collect();
    if curves.iter().all(|(_, parts)| parts.iter().map(Vec::len).sum::<usize>() < 2) {
        return None;
    }
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        chart(&area, &curves).ok()?;
        area.present().ok()?;
    }
    Some(themed(&svg, figure))
}

fn parts(figure: &Figure, line: &super::Line) -> Vec<Vec<(f64, f64)>> {
    let mut parts = vec![Vec::new()];
    for (number, outcome) in figure.descriptors.iter().zip(&line.outcomes) {
        match (outcome, parts.last_mut()) {
            (Some(CostOutcome::Measured { ratio, .. }), Some(part)) => part.push((*number as f64, *ratio)),
            // A number that another poller alone was asked is no gap.
            (Some(_), _) => parts.push(Vec::new()),
            (None, _) => {}
        }
    }
    parts
}

fn chart<'a>(area: &DrawingArea<SVGBackend<'a>, Shift>, curves: &[Curve<'_>]) -> Result<(), Error<'a>> {
    let all = || curves.iter().flat_map(|(_, parts)| parts.iter().flatten());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (left, right) = range(&mut all().map(|(x, _)| *x));
    let (low, high) = range(&mut all().map(|(_, y)| *y));
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(110)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(
            (left..right * 1.05).log_scale(),
            (low.min(1.0) * 0.9..high.max(2.0) * 1.2).log_scale(),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(LINE)
        .axis_style(LINE)
        .label_style(("sans-serif", 15).into_font().color(&TEXT))
        .x_desc("descriptors")
        .y_desc("times the floor")
        .x_label_formatter(&|number| format!("{number:.0}"))
        .y_label_formatter(&|ratio| format!("{ratio}"))
        .draw()?;
    let mut taken: Vec<f64> = Vec::new();
    for (number, (name, parts)) in curves.iter().enumerate() {
        let colour = series(number);
        for part in parts.iter().filter(|part| part.len() > 1) {
            chart.draw_series(LineSeries::new(part.iter().copied(), colour.stroke_width(2)))?;
        }
        let points = || parts.iter().flatten();
        chart.draw_series(points().map(|point| Circle::new(*point, 3, colour.filled())))?;
        // The name stands at the end of its line, or below another name.
        let Some((x, y)) = points().last() else { continue };
        let (pixel_x, pixel_y) = chart.backend_coord(&(*x, *y));
        let mut at = f64::from(pixel_y);
        while taken.iter().any(|other| (other - at).abs() < 13.0) {
            at += 1.0;
        }
        taken.push(at);
        let place = (pixel_x + 8, at as i32 - 6);
        area.draw(&Text::new(
            visible(name).into_owned(),
            place,
            ("sans-serif", 15).into_font().color(&colour),
        ))?;
    }
    Ok(())
}

/// Replaces the colours by those of the page, and says what the picture shows.
fn themed(svg: &str, figure: &Figure) -> String {
    let mut svg = svg.replace(&hex(TEXT), "currentColor").replace(&hex(LINE), "var(--line)");
    for number in 0..SERIES {
        svg = svg.replace(&hex(series(number)), &format!("var(--series-{})", number + 1));
    }
    let title = escaped(&figure.title(true));
    let label = format!("<svg class=\"curve\" role=\"img\" aria-label=\"{title}\" ");
    let mut text = svg.replacen("<svg ", &label, 1);
    // Readers of the picture alone.
    if let Some(end) = text.find(">\n") {
        text.insert_str(end + 2, &format!("<title>{title}</title>\n"));
    }
    text
}

fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
