//! Malformed matrix files, each with the place, the message and the help of its error.

use matrix::{Matrix, MatrixError};
use metadata::{Axes, Description, Layer};

const GOOD: &str = "\
version: 2
defaults: { timeout: 5 }
backends:
  - { id: epoll, os: [linux], triggers: [level, edge] }
  - { id: poll, os: all, triggers: [level] }
targets:
  - id: here
    triple: t
    os: linux
    arch: a
    ways: [native]
    ci: { runner: r, shards: 3 }
scenarios:
  - id: group/one
    exclude: [{ backend: epoll, trigger: edge, threads: 1 }]
  - id: group/two
    transports: [pipe]
    threads: [1, 2]
...
";

/// The scenarios that the files name.
const CATALOGUE: [Description; 2] = [
    Description { id: "group/one", title: "One", layer: Layer::Contract, axes: AXES },
    Description { id: "group/two", title: "Two", layer: Layer::Contract, axes: AXES },
];

const AXES: Axes<'static> = Axes { threads: &[1, 2], groups: &[1, 2], ..Axes::PLAIN };

/// Words that no message may contain: terms of the YAML library, of Rust, and of YAML's specification.
const FOREIGN: [&str; 31] = [
    "serde",
    "saphyr",
    "granit",
    "u8",
    "u16",
    "u32",
    "u64",
    "usize",
    "i64",
    "struct",
    "enum",
    "Option",
    "variant",
    "scalar",
    "sequence",
    "mapping",
    "block",
    "flow",
    "token",
    "node",
    "alias",
    "anchor",
    "deserialize",
    "Policy",
    "budget",
    "breach",
    "stream",
    "document",
    "field",
    "Text",
    "invalid",
];

/// A part of the good file, its replacement, and the error: the start of `line:column: message`, and a part
/// of the help.
const WRONG: &[(&str, &str, &str, &str)] = &[
    // Keys.
    ("timeout: 5", "timeuot: 5", "2:13: unknown key 'timeuot'", "did you mean 'timeout'?"),
    ("version: 2", "vresion: 1", "1:1: unknown key 'vresion'", "did you mean 'version'?"),
    ("    threads: [1, 2]", "    title: Two", "18:5: unknown key 'title'", "use one of id, transports"),
    ("arch: a", "zzz: a", "10:5: unknown key 'zzz'", "use one of id, triple, os, arch, build, ways, ci"),
    ("trigger: edge", "tigger: edge", "15:33: unknown key 'tigger'", "did you mean 'trigger'?"),
    ("timeout: 5", "", "2:11: the key 'timeout' is missing", "the comments in matrix.yml"),
    ("    triple: t\n", "", "11:5: the key 'triple' is missing", "the comments in matrix.yml"),
    ("timeout: 5", "timeout: 5, timeout: 6", "2:25: the key 'timeout' appears twice", "remove one of them"),
    ("version: 2", "version: 2\nversion: 2", "2:1: the key 'version' appears twice", "remove one of them"),
    // Numbers.
    ("timeout: 5", "timeout: soon", "2:22: timeout: 'soon' is not a whole number", "the comments in"),
    ("timeout: 5", "timeout: 'five'", "2:22: timeout: 'five' is not a whole number", "the comments in"),
    ("timeout: 5", "timeout: 1.5", "2:22: timeout: '1.5' is not a whole number", "the comments in"),
    (
        "timeout: 5",
        "timeout: -1",
        "2:22: timeout: '-1' is not a whole number from 0 to 1844",
        "the comments in",
    ),
    (
        "timeout: 5",
        "timeout:",
        "2:20: timeout: the value is missing: a whole number belongs here",
        "the comments in",
    ),
    ("timeout: 5", "timeout: [5]", "2:22: timeout: a list is not a single value", "the comments in"),
    ("timeout: 5", "timeout: { a: 1 }", "2:22: timeout: keys with values are not a single value", "the"),
    ("version: 2", "version: 2]", "1:10: version: '2]' is not a whole number", "the comments in"),
    (
        "version: 2",
        "version: 4294967296",
        "1:10: version: '4294967296' is not a whole number from 0 to 4294967295",
        "the",
    ),
    ("shards: 3", "shards: many", "12:30: shards: 'many' is not a whole number", "the comments in"),
    ("threads: [1, 2]", "threads: [1, two]", "18:18: 'two' is not a whole number", "the comments in"),
    // Lists, keys with values, and single values in each other's places.
    ("threads: [1, 2]", "threads: 1", "18:14: threads: '1' is not a list", "the comments in"),
    ("ways: [native]", "ways: native", "11:11: ways: 'native' is not a list", "the comments in"),
    ("arch: a", "arch: [a]", "10:11: arch: a list is not a single value", "the comments in"),
    (
        "- { id: poll, os: all, triggers: [level] }",
        "- poll",
        "5:5: 'poll' is not a set of keys with values",
        "the",
    ),
    (
        "- { id: poll, os: all, triggers: [level] }",
        "- [poll]",
        "5:5: a list is not a set of keys with values",
        "the",
    ),
    ("- { id: poll, os: all, triggers: [level] }", "-", "5:4: the key 'id' is missing", "the comments in"),
    (
        "ci: { runner: r, shards: 3 }",
        "ci: 5",
        "12:9: ci: '5' is not a set of keys with values",
        "the comments in",
    ),
    (
        "exclude: [{ backend: epoll, trigger: edge, threads: 1 }]",
        "exclude: { backend: epoll }",
        "15:14: exclude: keys with values are not a list",
        "the",
    ),
    (
        "exclude: [{ backend: epoll, trigger: edge, threads: 1 }]",
        "exclude: [epoll]",
        "15:15: exclude: 'epoll' is not a set of keys",
        "the",
    ),
    (
        "os: all",
        "os: al",
        "5:17: os: 'al' is not a list of operating systems, or the word 'all'",
        "the comments in",
    ),
    (
        "os: all",
        "os: 5",
        "5:17: os: '5' is not a list of operating systems, or the word 'all'",
        "the comments in",
    ),
    ("os: all", "os: [[linux]]", "5:22: os: a list is not a single value", "the comments in"),
    (
        "[native]",
        "[5]",
        "11:12: ways: '5' is not native, ssh, import, prefix: COMMAND, container: IMAGE or vm: MACHINE",
        "the",
    ),
    ("[native]", "[{}]", "11:12: ways: the value is missing: native, ssh, import", "the comments in"),
    ("[native]", "[{ prefix: [a] }]", "11:22: prefix: a list is not a single value", "the comments in"),
    // Values.
    ("[pipe]", "[pip]", "17:18: unknown transport 'pip': did you mean 'pipe'?", "the comments in"),
    ("group/two", "group/tow", "16:9: there is no scenario 'group/tow'", "did you mean 'group/two'?"),
    ("trigger: edge", "trigger: 5", "15:42: unknown trigger '5'", "the comments in"),
    (
        "version: 2",
        "version: 1",
        "1:10: version 1 of the format is not known",
        "this pollmatrix reads version 2",
    ),
    // A key of version 1 does not hide the version.
    (
        "version: 2\ndefaults: { timeout: 5 }",
        "version: 1\ndefaults: { layer: contract, timeout: 5 }",
        "1:10: version 1 of the format is not known",
        "CHANGELOG.md says what changed",
    ),
    // Not YAML.
    (
        "[native]",
        "[native, { prefix: a ,",
        "14:3: a list or a set of keys in brackets is not closed",
        "close it with `]` or `}`",
    ),
    ("triple: t", "triple: \t] t", "8:14: a closing bracket has no opening one", "put the text in quotes"),
    ("triple: t", "triple: 't", "9:5: a quote is not closed", "close it"),
    ("triple: t", "triple: 't' or", "8:17: text follows a closing quote", "double a quote"),
    (
        "triple: t",
        "triple: \"T\\qwo\"",
        "8:13: `\\` before this character has no meaning",
        "use single quotes",
    ),
    ("triple: t", "triple: @x", "8:13: text cannot begin with '@'", "put it in quotes"),
    ("triple: t", "triple: \u{7}", "8:13: text cannot begin with '\\u{7}'", "put it in quotes"),
    (
        "triple: t",
        "triple: a: b",
        "8:14: a key is not allowed here, so `:` has no meaning",
        "put text that contains `: ` in",
    ),
    ("    triple: t", "\ttriple: t", "7:9: there is a tab", "use spaces"),
    (
        "    threads: [1, 2]",
        "  threads: [1, 2]",
        "18:3: the indentation does not fit the lines before",
        "the same column",
    ),
    ("triple: t", "triple t", "8:5: a key has no `:`", "write KEY: VALUE"),
    (
        "triple: t",
        "triple: *x",
        "8:13: `*` refers to a name that no `&` defines",
        "put a text that begins with `*` in",
    ),
    ("triple: t", "triple: *", "8:13: `*` or `&` has no name", "in quotes"),
    (
        "triple: t",
        "triple: !!binary 'gICA'",
        "8:22: a value with `!` is not allowed here",
        "write the value without",
    ),
    ("triple: t", "triple: &a t\n    <<: *a", "8:16: `<<` has no keys to add", "write the keys"),
    ("triple: t", "triple: |0\n  x", "8:13: this is not YAML", "check the quotes, the brackets"),
    ("[native]", "[native", "12:7: a key is not allowed here, so `:` has no meaning", "the brackets before"),
    ("version: 2", "{{{{", "4:3: a list or a set of keys in brackets is not closed", "close it with"),
    ("version: 2", "%YAML 3.0\n---\nversion: 2", "1:1: this is not YAML", "check the quotes"),
    ("version: 2\n", "version: 2\n...\n", "3:1: something follows the line `...`", "remove the other part"),
    ("version: 2\n", "[]\n", "1:1: a list is not a set of keys with values", "the comments in"),
];

#[track_caller]
fn error_of(text: &str) -> (String, String) {
    match Matrix::parse(text, "m.yml", &CATALOGUE) {
        Err(MatrixError::Malformed { file, line, column, message, help }) => {
            assert_eq!(file, "m.yml");
            (format!("{line}:{column}: {message}"), help)
        }
        other => panic!("the matrix is accepted: {other:?}\n{text}"),
    }
}

/// Returns the foreign word in a message, if there is one. Quotes from the file are ignored.
fn foreign(message: &str) -> Option<&'static str> {
    let own: String = message.split('\'').step_by(2).collect();
    let mut words = own.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| FOREIGN.into_iter().find(|foreign| *foreign == word))
}

#[test]
fn each_mistake_is_reported_with_its_place_in_the_terms_of_the_documentation() {
    Matrix::parse(GOOD, "m.yml", &CATALOGUE).expect("the good file is well-formed");
    let mut wrong = String::new();
    for &(part, other, message, help) in WRONG {
        assert!(GOOD.contains(part), "{part}");
        let (found, found_help) = error_of(&GOOD.replacen(part, other, 1));
        let foreign = foreign(&format!("{found} {found_help}"));
        if !found.starts_with(message) || !found_help.contains(help) || foreign.is_some() {
            wrong += &format!(
                "{other:?}:\n  {found}\n  {found_help}\n  expected: {message}, {help}; {foreign:?}\n"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A regression: the reader looked for the place of a key one byte after the text before it, in the middle of
/// a letter.
#[test]
fn a_letter_of_several_bytes_before_a_colon_is_read_or_refused_at_every_place() {
    for (at, _) in GOOD.char_indices() {
        let edited = format!("{}\u{a1}:{}", &GOOD[..at], &GOOD[at..]);
        if let Err(error) = Matrix::parse(&edited, "matrix.yml", &CATALOGUE) {
            assert!(!error.to_string().is_empty(), "at {at}");
        }
    }
}

#[test]
fn a_truncated_file_is_refused() {
    for end in (0..GOOD.len() - "...\n".len()).chain([GOOD.len() - 2, GOOD.len() - 3]) {
        let (message, help) = error_of(&GOOD[..end]);
        let lines = GOOD[..end].lines();
        let place = format!("{}:", lines.clone().count().max(1));
        assert!(message.starts_with(&place), "cut at {end}: {message}");
        let empty = GOOD[..end].is_empty();
        let expected = if empty { "the file is empty" } else { "the file ends here, without the line `...`" };
        assert!(
            message.contains(expected) && help.contains("get the whole file again"),
            "cut at {end}: {message}\n{help}"
        );
    }
    let (message, _) = error_of(GOOD.trim_end_matches("...\n"));
    assert_eq!(message, "18:20: the file ends here, without the line `...`: a part of it may be missing");
    for end in ["...", "...\r\n", "...\n\n# done\n", "... \n"] {
        Matrix::parse(&GOOD.replace("...\n", end), "m.yml", &CATALOGUE).expect("the file is complete");
    }
}

#[test]
fn deep_nesting_and_exponential_repetition_are_refused() {
    let deep = format!("version: {}\n...\n", "[".repeat(5000));
    let levels: String = ('b'..='j')
        .zip('a'..)
        .map(|(level, last)| format!("  {level}: &{level} [{}]\n", vec![format!("*{last}"); 20].join(", ")))
        .collect();
    let bomb = format!("version: 2\ndefaults:\n  a: &a [x]\n{levels}  timeout: *j\n...\n");
    for text in [deep, bomb] {
        let (message, help) = error_of(&text);
        assert_eq!(foreign(&format!("{message} {help}")), None, "{message}\n{help}");
    }
}
