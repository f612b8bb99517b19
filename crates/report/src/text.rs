//! Text that has to fit: first lines, ends, code spans, cells of tables; and text that hides nothing.

use std::borrow::Cow;

/// The first line of a text of several, shortened.
pub fn first_line(text: &str) -> String {
    /// What fits beside a cell's id, roughly. The whole text is in the report.
    const LONGEST: usize = 240;
    shortened(text.lines().next().unwrap_or_default(), LONGEST)
}

/// At most `longest` characters, and a sign if that is not all.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// At most the last `bytes` bytes, from the beginning of a character.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let start = (text.len().saturating_sub(bytes)..text.len()).find(|start| text.is_char_boundary(*start));
    &text[start.unwrap_or(text.len())..]
}

/// A block of code in Markdown. Its fence is longer than any in the text, so that no text can end it.
pub(crate) fn code_block(text: &str) -> String {
    let fence = "`".repeat(longest_fence(text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// Code in a line of Markdown: nothing in it is a link, a tag or somebody's name.
pub(crate) fn code_span(text: &str) -> String {
    let fence = "`".repeat(longest_fence(text) + 1);
    // A space at both ends is taken away again; without it, a text that begins with a backtick would lengthen the fence.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A cell of a Markdown table: one line, without what would end the cell.
pub(crate) fn table_cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// The text with every character that cannot be seen, or that reorders others, written as `\u{202e}`. Ends of lines and
/// tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let unseen = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(unseen) {
        return Cow::Borrowed(text);
    }
    let each = |c: char| if unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(each).collect())
}

fn longest_fence(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert!(code_block("a ```` b").starts_with("`````text\n"));
        assert!(code_block("plain").starts_with("```text\n"));
        assert_eq!(code_span("plain"), "`plain`");
        assert_eq!(code_span("a `b`"), "`` a `b` ``");
    }

    #[test]
    fn a_tail_begins_at_a_character() {
        assert_eq!(tail("aéb", 2), "b");
        assert_eq!(tail("abc", 9), "abc");
        assert_eq!(tail("", 9), "");
    }

    #[test]
    fn a_first_line_is_one_line_and_short() {
        assert_eq!(first_line("one\ntwo"), "one");
        assert_eq!(first_line(&"é".repeat(500)), format!("{}…", "é".repeat(240)));
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(visible("a\u{202e}b\x1b[0m\r\u{feff}"), "a\\u{202e}b\\u{1b}[0m\\u{d}\\u{feff}");
        assert!(matches!(visible("é 漢\n\t"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_cell_of_a_table_stays_one() {
        assert_eq!(table_cell("a|b\nc"), "a\\|b c");
    }
}
