//! Shortens text, and escapes it for Markdown and XML.

use metadata::{one_line, visible};

/// Returns a number with its noun: `1 state`, `9 states`.
pub fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Returns the first line, shortened to 240 characters.
pub fn first_line(text: &str) -> String {
    /// The approximate room after a cell's id. The report has the whole text.
    const LONGEST: usize = 240;
    shortened(text.lines().next().unwrap_or_default(), LONGEST)
}

/// Returns at most `longest` characters, with an ellipsis if the text is longer.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a text for XML, and for the title of a page, which needs no other escapes.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in visible(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Returns at most the last `bytes` bytes, beginning at a character boundary.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let start = (text.len().saturating_sub(bytes)..text.len()).find(|start| text.is_char_boundary(*start));
    &text[start.unwrap_or(text.len())..]
}

/// Returns a Markdown code block. Its fence is longer than any in the text, so that the text cannot end the
/// block.
pub(crate) fn code_block(text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(longest_fence(&text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// Returns a Markdown code span, in which nothing is a link, a tag or a mention.
pub(crate) fn code_span(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_fence(&text) + 1);
    // A renderer removes one space at both ends. Without it, a backtick at either end would lengthen the
    // fence.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns code for a field of a Markdown table.
pub(crate) fn table_code(text: &str) -> String {
    // A table is split at its pipes before code spans are parsed. A pipe after a backslash cannot be escaped
    // by another.
    if text.contains("\\|") || text.ends_with('\\') {
        return format!("<code>{}</code>", markdown(text));
    }
    code_span(text).replace('|', "\\|")
}

/// Escapes text for a line or a table field of Markdown: it contains no markup and starts no block.
pub fn markdown(text: &str) -> String {
    let text = one_line(text);
    let mut out = String::with_capacity(text.len());
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let ends_number = if number.len() < text.len() { text.len() - number.len() } else { usize::MAX };
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let after = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            ' ' if at == 0 => out.push_str("&#32;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => out.extend(['\\', c]),
            // An underscore within a word is no markup.
            '_' if !(before.is_alphanumeric() && after.is_alphanumeric()) => out.push_str("\\_"),
            '#' | '-' | '+' | '=' if at == 0 => out.extend(['\\', c]),
            '.' | ')' if at == ends_number && after == ' ' => out.extend(['\\', c]),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

fn longest_fence(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_fence_in_the_text() {
        assert!(code_block("a ```` b").starts_with("`````text\n"));
        assert!(code_block("plain").starts_with("```text\n"));
        assert_eq!(code_span("plain"), "`plain`");
        assert_eq!(code_span("a `b`"), "`` a `b` ``");
    }

    #[test]
    fn a_tail_begins_at_a_character_boundary() {
        assert_eq!(tail("aéb", 2), "b");
        assert_eq!(tail("abc", 9), "abc");
        assert_eq!(tail("", 9), "");
    }

    #[test]
    fn a_first_line_is_shortened() {
        assert_eq!(first_line("one\ntwo"), "one");
        assert_eq!(first_line(&"é".repeat(500)), format!("{}…", "é".repeat(240)));
    }

    #[test]
    fn markup_in_text_is_escaped() {
        assert_eq!(markdown("x86_64-linux-gnu (1.5)"), "x86_64-linux-gnu (1.5)");
        assert_eq!(markdown("a|b\n<!-- _c_ `d` \\"), "a\\|b\\\\n&lt;!-- \\_c\\_ \\`d\\` \\\\");
        for (text, expected) in
            [("2.7: a", "2.7: a"), ("# a", "\\# a"), ("- a", "\\- a"), ("12. a", "12\\. a"), (" a", "&#32;a")]
        {
            assert_eq!(markdown(text), expected);
        }
    }

    #[test]
    fn code_in_a_table_stays_in_its_field() {
        assert_eq!(table_code("a|b\nc"), "`a\\|b\\nc`");
        assert_eq!(table_code("a\\|b"), "<code>a\\\\\\|b</code>");
        assert_eq!((code_span(""), table_code("")), (String::new(), String::new()));
    }
}
