//! Text and JSON without invisible characters.

use std::borrow::Cow;

use serde::Serialize;

/// Escapes every character that is invisible, reorders other characters, or controls a terminal: `\u{202e}`.
/// Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_invisible(c) && c != '\n' && c != '\t', |c| c.escape_unicode().to_string())
}

/// Escapes as [`visible`] does, and line breaks and tabs as `\n` and `\t`.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let escape = |c: char| match c {
        '\n' | '\t' => c.escape_default().to_string(),
        _ => c.escape_unicode().to_string(),
    };
    escaped(text, is_invisible, escape)
}

/// Returns the value as indented JSON, with invisible characters in JSON's own escapes.
pub fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    visible_json(text.expect("the types have string keys and no fallible parts")) + "\n"
}

/// Returns the value as JSON on one line, with invisible characters in JSON's own escapes.
pub fn json_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    visible_json(text.expect("the types have string keys and no fallible parts")) + "\n"
}

fn visible_json(text: String) -> String {
    let escape = |c: char| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    // Without a copy of a text that needs no escape: a report can have hundreds of megabytes.
    match escaped(&text, |c| is_invisible(c) && c != '\n', escape) {
        Cow::Owned(escaped) => escaped,
        Cow::Borrowed(_) => text,
    }
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        // Noncharacters, among them U+FFFE and U+FFFF, which XML cannot hold.
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}

fn escaped(text: &str, needs: impl Fn(char) -> bool, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    // The first test looks at every byte, without branches: the compiler makes vector instructions of it.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte));
    if is_plain || !unusual(text).any(&needs) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if needs(c) { escape(c) } else { c.to_string() }).collect())
}

/// The characters that are not printable ASCII: no other needs an escape.
fn unusual(text: &str) -> impl Iterator<Item = char> {
    let mut left = text;
    std::iter::from_fn(move || {
        let at = left.bytes().position(|byte| !(b' '..=b'~').contains(&byte))?;
        let unusual = left[at..].chars().next()?;
        left = &left[at + unusual.len_utf8()..];
        Some(unusual)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        assert_eq!(visible("a\u{202e}b\x1b[0m\r\u{feff}"), "a\\u{202e}b\\u{1b}[0m\\u{d}\\u{feff}");
        assert!(matches!(visible("é 漢\n\t"), Cow::Borrowed(_)));
    }

    #[test]
    fn line_breaks_are_escaped_in_one_line() {
        assert_eq!(one_line("a\nb\tc\rd"), "a\\nb\\tc\\u{d}d");
        assert!(matches!(one_line("é 漢"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_escapes_invisible_characters_and_keeps_the_value() {
        let text = "\u{9b}31m \u{7f}\u{202e}\u{e0041} é\n";
        let json = json_line(&text);
        assert_eq!(json, "\"\\u009b31m \\u007f\\u202e\\udb40\\udc41 é\\n\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
