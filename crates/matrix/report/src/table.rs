//! Tables for a terminal: columns without borders.

use std::collections::BTreeMap;
use std::ops::Range;

use anstyle::AnsiColor;
use metadata::one_line;
use unicode_width::UnicodeWidthStr;

/// The space between columns.
pub const GAP: usize = 2;

/// A text of one line, and its colour.
pub(crate) type Cell = (String, Option<AnsiColor>);

/// A table. A column is as wide as its widest cell.
#[derive(Default)]
pub struct Table {
    rows: Vec<Vec<Cell>>,
    /// The columns whose texts stand at the right.
    right: Range<usize>,
    /// Additional space after columns.
    pub(crate) space: BTreeMap<usize, usize>,
}

impl Table {
    /// Returns a table in whose columns `right` the texts stand at the right.
    pub(crate) fn with_right(right: Range<usize>) -> Self {
        Self { right, ..Self::default() }
    }

    /// Adds a row. The first one is the header.
    pub fn add<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|text| (one_line(text.as_ref()).into_owned(), None)).collect());
    }

    /// Adds a row with colours.
    pub(crate) fn add_coloured(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Returns the lines, without spaces at their ends.
    pub fn text(&self, colour: bool) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            widths.resize(widths.len().max(row.len()), 0);
            row.iter().zip(&mut widths).for_each(|((text, _), width)| *width = text.width().max(*width));
        }
        let mut out = String::new();
        for row in &self.rows {
            let mut spaces = 0;
            for (column, (text, of)) in row.iter().enumerate() {
                let fill = widths[column] - text.width();
                let (before, after) = if self.right.contains(&column) { (fill, 0) } else { (0, fill) };
                if !text.is_empty() {
                    out.extend(std::iter::repeat_n(' ', spaces + before));
                    spaces = 0;
                    match of.filter(|_| colour) {
                        Some(of) => {
                            out.push_str(&format!("{}{text}{}", of.render_fg(), anstyle::Reset.render()))
                        }
                        None => out.push_str(text),
                    }
                } else {
                    spaces += before;
                }
                spaces += after + GAP + self.space.get(&column).copied().unwrap_or_default();
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::with_right(1..2);
        table.add(["", "b", "c"]);
        table.add(["é漢", "20", ""]);
        table.add(["a\nb", "3", "x"]);
        table.space.insert(0, 1);
        assert_eq!(table.text(false), "        b  c\né漢    20\na\\nb    3  x\n");
    }

    #[test]
    fn only_texts_are_coloured() {
        let mut table = Table::default();
        table.add_coloured(vec![("a".into(), Some(AnsiColor::BrightRed)), ("b".into(), None)]);
        assert_eq!(table.text(true), "\x1b[91ma\x1b[0m  b\n");
        assert_eq!(table.text(false), "a  b\n");
    }
}
