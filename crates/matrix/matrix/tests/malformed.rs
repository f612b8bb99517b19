//! Malformed matrix files, each with the place, the message and the help of its error.

use metadata::{Axes, Description, Layer};
use pollmatrix_matrix::{Matrix, MatrixError};

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
    runners: [native]
    ci: { runs-on: r, shards: 3 }
scenarios:
  - id: group/one
    exclude: [{ backend: epoll, trigger: edge, threads: 1 }]
  - id: group/two
    transports: [pipe]
    threads: [1, 2]
";

/// The scenarios that the files name.
const CATALOGUE: [Description; 2] = [
    Description { id: "group/one", title: "One", layer: Layer::Contract, axes: AXES },
    Description { id: "group/two", title: "Two", layer: Layer::Contract, axes: AXES },
];

const AXES: Axes<'static> = Axes { threads: &[1, 2], groups: &[1, 2], ..Axes::PLAIN };

/// A part of the good file, its replacement, and the error: the start of `line:column: message`, and a part
/// of the help. The messages of the parser itself are not repeated here, only their places.
const WRONG: &[(&str, &str, &str, &str)] = &[
    // Keys.
    ("timeout: 5", "timeuot: 5", "2:13: unknown field `timeuot`", "did you mean 'timeout'?"),
    ("version: 2", "vresion: 1", "1:1: unknown field `vresion`", "did you mean 'version'?"),
    ("    threads: [1, 2]", "    title: Two", "18:5: unknown field `title`", "use one of id, transports"),
    ("arch: a", "zzz: a", "10:5: unknown field `zzz`", "use one of id, triple, os, arch, build, runners, ci"),
    ("trigger: edge", "tigger: edge", "15:33: unknown field `tigger`", "did you mean 'trigger'?"),
    ("timeout: 5", "", "2:11: missing field `timeout`", KEYS),
    ("    triple: t\n", "", "11:5: missing field `triple`", KEYS),
    ("timeout: 5", "timeout: 5, timeout: 6", "2:25: ", KEYS),
    ("version: 2", "version: 2\nversion: 2", "2:1: ", KEYS),
    // Numbers.
    ("timeout: 5", "timeout: soon", "2:22: ", KEYS),
    ("timeout: 5", "timeout: 'five'", "2:22: ", KEYS),
    ("timeout: 5", "timeout: 1.5", "2:22: ", KEYS),
    ("timeout: 5", "timeout: -1", "2:22: ", KEYS),
    ("timeout: 5", "timeout:", "2:20: ", KEYS),
    ("version: 2", "version: 4294967296", "1:10: ", KEYS),
    ("threads: [1, 2]", "threads: [1, two]", "18:18: ", KEYS),
    // Lists, keys with values, and single values in each other's places.
    ("timeout: 5", "timeout: [5]", "2:22: ", KEYS),
    ("timeout: 5", "timeout: { a: 1 }", "2:22: ", KEYS),
    ("threads: [1, 2]", "threads: 1", "18:14: ", KEYS),
    ("- { id: poll, os: all, triggers: [level] }", "- poll", "5:5: ", KEYS),
    ("- { id: poll, os: all, triggers: [level] }", "- [poll]", "5:5: ", KEYS),
    ("- { id: poll, os: all, triggers: [level] }", "-", "5:4: missing field `id`", KEYS),
    ("ci: { runs-on: r, shards: 3 }", "ci: 5", "12:9: ", KEYS),
    ("[native]", "[{ prefix: [a] }]", "11:25: ", KEYS),
    ("version: 2\n", "[]\n", "1:1: ", KEYS),
    // Values.
    (
        "os: all",
        "os: al",
        "5:17: invalid value: string \"al\", expected a list of operating systems, or the word 'all'",
        KEYS,
    ),
    (
        "[native]",
        "[5]",
        "11:15: invalid type: integer `5`, expected native, ssh, import, prefix: COMMAND",
        KEYS,
    ),
    ("[native]", "[{}]", "11:15: invalid length 0, expected native, ssh, import", KEYS),
    ("[pipe]", "[pip]", "17:18: unknown transport 'pip': did you mean 'pipe'?", KEYS),
    ("group/two", "group/tow", "16:9: there is no scenario 'group/tow'", "did you mean 'group/two'?"),
    ("trigger: edge", "trigger: 5", "15:42: unknown trigger '5'", KEYS),
    (
        "backend: epoll",
        "backend: epol",
        "15:15: group/one excludes the unknown backend 'epol'",
        "did you mean 'epoll'?",
    ),
    (
        "backend: epoll, trigger: edge",
        "backend: poll, trigger: edge",
        "15:15: an 'exclude' of group/one matches no cell",
        "remove it",
    ),
    ("group/two", "group/one", "16:9: the entry group/one appears twice", "remove one of them"),
    (
        "threads: [1, 2]",
        "threads: [1]\n    groups: [2]",
        "16:9: group/two has no cells",
        "more groups than threads",
    ),
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
    ("[native]", "[native, { prefix: a ,", "14:3: ", KEYS),
    ("triple: t", "triple: \t] t", "8:14: ", KEYS),
    ("triple: t", "triple: 't", "9:5: ", KEYS),
    ("triple: t", "triple: a: b", "8:14: ", KEYS),
    ("    triple: t", "\ttriple: t", "7:9: ", KEYS),
    ("    threads: [1, 2]", "  threads: [1, 2]", "18:3: ", KEYS),
    ("triple: t", "triple: *x", "8:13: ", KEYS),
    ("triple: t", "triple: \u{7}", "8:13: ", KEYS),
    ("version: 2", "%YAML 3.0\n---\nversion: 2", "1:1: ", KEYS),
    ("    threads: [1, 2]\n", "    threads: [1, 2]\n---\nversion: 2\n", "20:1: ", KEYS),
];

/// The help of an error without a more specific one.
const KEYS: &str = "the comments in matrix.yml";

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

#[test]
fn each_mistake_is_reported_with_its_place_and_a_help() {
    Matrix::parse(GOOD, "m.yml", &CATALOGUE).expect("the good file is well-formed");
    let mut wrong = String::new();
    for &(part, other, message, help) in WRONG {
        assert!(GOOD.contains(part), "{part}");
        let (found, found_help) = error_of(&GOOD.replacen(part, other, 1));
        let says_something = found.len() > "18:20: ".len() && found.lines().count() == 1;
        if !found.starts_with(message) || !found_help.contains(help) || !says_something {
            wrong += &format!("{other:?}:\n  {found}\n  {found_help}\n  expected: {message}, {help}\n");
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
fn deep_nesting_and_exponential_repetition_are_refused() {
    let deep = format!("version: {}\n", "[".repeat(5000));
    let levels: String = ('b'..='j')
        .zip('a'..)
        .map(|(level, last)| format!("  {level}: &{level} [{}]\n", vec![format!("*{last}"); 20].join(", ")))
        .collect();
    let bomb = format!("version: 2\ndefaults:\n  a: &a [x]\n{levels}  timeout: *j\n");
    for text in [deep, bomb] {
        error_of(&text);
    }
}
