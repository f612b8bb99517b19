//! The matrix as a table for a terminal.

use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, Table, presets};

use crate::grid::{Grid, Tally};
use crate::results::Results;
use crate::status::Status;

/// Scenarios as rows, backends as columns, a letter and a count per status, and the legend.
pub fn matrix(results: &Results, colour: bool) -> String {
    let grid = Grid::new(&results.cells, |cell| &cell.scenario);
    let mut table = Table::new();
    // The caller knows the stream that this goes to; comfy-table would look at standard output.
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    if colour {
        table.enforce_styling();
    }
    table.set_header(std::iter::once("").chain(grid.backends.iter().map(String::as_str)));
    for (scenario, tallies) in &grid.rows {
        let cells = tallies.iter().map(|tally| Cell::new(tally).fg(colour_of(tally)));
        table.add_row(std::iter::once(Cell::new(scenario)).chain(cells));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Left);
        column.set_padding((0, 2));
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    format!("{}\n\n{}\n", lines.join("\n"), grid.legend())
}

fn colour_of(tally: &Tally) -> Color {
    if tally.has_failures() {
        Color::Red
    } else if tally.statuses().all(|status| status == Status::Unsupported) {
        Color::DarkGrey
    } else if tally.statuses().any(|status| matches!(status, Status::Permitted | Status::KnownFail)) {
        Color::Yellow
    } else {
        Color::Green
    }
}
