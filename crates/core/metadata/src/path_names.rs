//! Names that become parts of paths and of addresses.

/// Returns whether a text can be a part of a path, of an address and of a page's id: lower-case letters,
/// digits,
/// `.`, `_` and `-`, with a letter or a digit first, and without `..`.
///
/// So no name leads out of its folder, is an option of a command, or equals another one in a folder that
/// ignores case. No file that a person keeps beside results has an upper-case name such as `README`, either.
pub fn is_path_name(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    let begins_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    begins_well && text.bytes().all(is_allowed) && !text.contains("..")
}

/// How to mend a text that [`is_path_name`] refuses.
pub const PATH_NAME_HELP: &str =
    "use lower-case letters, digits, '.', '_' and '-', without '..', beginning with a letter or a digit";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_exist_can_be_parts_of_paths() {
        for name in ["x86_64-linux-gnu-6-1", "linux-6.1.192-x86_64", "python-poll", "io-uring", "9p", "a.b_c"]
        {
            assert!(is_path_name(name), "{name}");
        }
    }

    #[test]
    fn a_text_that_could_lead_elsewhere_is_not_a_part_of_a_path() {
        for text in [
            "",
            ".",
            "..",
            "../..",
            "a/../b",
            "a..b",
            ".hidden",
            "/etc",
            "a/b",
            "a\\b",
            "c:",
            "README",
            "Epoll",
            "-rf",
            "_",
            "a b",
            "a\n",
            "a\0",
            "\u{1b}[2J",
            "a\u{202e}",
            "é",
            "%2e%2e",
            "a?b",
            "a#b",
            "~",
        ] {
            assert!(!is_path_name(text), "{text:?}");
        }
    }
}
