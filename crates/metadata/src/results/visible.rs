//! Text and JSON that hide nothing.

use std::borrow::Cow;

use serde::Serialize;

/// The text with every character that cannot be seen, that reorders others, or that a terminal obeys, written as
/// `\u{202e}`. Ends of lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, |c| is_unseen(c) && c != '\n' && c != '\t', |c| c.escape_unicode().to_string())
}

/// [`visible`] text in one line: ends of lines are written as `\n`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let each = |c: char| match c {
        '\n' | '\t' => c.escape_default().to_string(),
        _ => c.escape_unicode().to_string(),
    };
    written_out(text, is_unseen, each)
}

/// A value as JSON in which everything can be seen: what [`visible`] writes out is escaped as JSON does it.
pub fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    visible_json(text.expect("the types have string keys and no fallible parts")) + "\n"
}

/// [`json`] in one line.
pub fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    visible_json(text.expect("the types have string keys and no fallible parts")) + "\n"
}

fn visible_json(text: String) -> String {
    let each = |c: char| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    written_out(&text, |c| is_unseen(c) && c != '\n', each).into_owned()
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        // No characters at all, and none that XML could hold.
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}

fn written_out(text: &str, which: impl Fn(char) -> bool, each: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(&which) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if which(c) { each(c) } else { c.to_string() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(visible("a\u{202e}b\x1b[0m\r\u{feff}"), "a\\u{202e}b\\u{1b}[0m\\u{d}\\u{feff}");
        assert!(matches!(visible("é 漢\n\t"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_of_one_line_stays_one() {
        assert_eq!(one_line("a\nb\tc\rd"), "a\\nb\\tc\\u{d}d");
        assert!(matches!(one_line("é 漢"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_says_the_same_and_hides_nothing() {
        let text = "\u{9b}31m \u{7f}\u{202e}\u{e0041} é\n";
        let json = json_line(&text);
        assert_eq!(json, "\"\\u009b31m \\u007f\\u202e\\udb40\\udc41 é\\n\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
