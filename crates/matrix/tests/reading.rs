//! What a matrix file may say, and what it is told when it is wrong.

use matrix::{Matrix, MatrixError, SelectError, Selection};

const FILE: &str = include_str!("../../../matrix.yml");

const SMALL: &str = "\
version: 1
defaults: { layer: contract, transports: [tcp], triggers: [level, edge], threads: [1, 2], groups: [1, 2], timeout: 5 }
backends:
  - { id: epoll, os: [linux], triggers: [level, edge] }
  - { id: poll, os: all, triggers: [level] }
targets: []
scenarios:
  - id: group/one
    title: One
    exclude: [{ backend: epoll, trigger: edge, threads: 1 }]
  - id: group/two
    title: Two
    transports: [pipe]
    threads: [1]
";

fn small() -> Matrix {
    Matrix::parse(SMALL, "small.yml").expect("the small matrix is well-formed")
}

/// The position, message and help of the error that `text` gives.
fn error_of(text: &str) -> (u64, u64, String, String) {
    match Matrix::parse(text, "small.yml") {
        Err(MatrixError::Malformed { file, line, column, message, help }) => {
            assert_eq!(file, "small.yml");
            (line, column, message, help)
        }
        other => panic!("expected a malformed matrix, found {other:?}"),
    }
}

fn ids(selection: &Selection) -> Vec<String> {
    selection.apply(&small()).expect("selects something").iter().map(|cell| cell.id.to_string()).collect()
}

#[test]
fn the_cells_of_a_small_matrix_are_exactly_these() {
    let expected = [
        "group/one/tcp-level-1t1g@epoll",
        "group/one/tcp-level-2t1g@epoll",
        "group/one/tcp-level-2t2g@epoll",
        "group/one/tcp-edge-2t1g@epoll",
        "group/one/tcp-edge-2t2g@epoll",
        "group/one/tcp-level-1t1g@poll",
        "group/one/tcp-level-2t1g@poll",
        "group/one/tcp-level-2t2g@poll",
        "group/two/pipe-level-1t1g@epoll",
        "group/two/pipe-edge-1t1g@epoll",
        "group/two/pipe-level-1t1g@poll",
    ];
    assert_eq!(ids(&Selection::default()), expected);
}

#[test]
fn the_matrix_of_this_repository_has_the_size_it_is_meant_to_have() {
    let matrix = Matrix::parse(FILE, "matrix.yml").expect("matrix.yml is well-formed");
    let linux = matrix.cells().iter().filter(|cell| cell.id.backend != "kqueue").count();
    // A run is to take minutes; a mistake in an axis multiplies.
    assert!((400..=2000).contains(&linux), "{linux} cells on Linux");
}

#[test]
fn ids_are_unique() {
    let matrix = Matrix::parse(FILE, "matrix.yml").expect("matrix.yml is well-formed");
    let mut ids: Vec<_> = matrix.cells().into_iter().map(|cell| cell.id).collect();
    let total = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), total);
}

#[test]
fn a_grammar_mistake_is_reported_with_its_place() {
    let (line, column, message, _) = error_of(&SMALL.replace("title: Two", "title: \t] Two"));
    assert_eq!((line, column), (12, 13), "{message}");
}

#[test]
fn an_unknown_field_is_reported_with_its_place() {
    let (line, column, message, _) =
        error_of(&SMALL.replace("    transports: [pipe]", "    transport: [pipe]"));
    assert_eq!((line, column), (13, 5), "{message}");
    assert!(message.contains("unknown field `transport`"), "{message}");
}

#[test]
fn an_unknown_axis_value_is_reported_with_its_place_and_the_nearest_one() {
    let (line, column, message, _) = error_of(&SMALL.replace("[pipe]", "[pip]"));
    assert_eq!((line, column), (13, 18), "{message}");
    assert!(message.contains("unknown transport 'pip': did you mean 'pipe'?"), "{message}");
}

#[test]
fn an_exclude_of_an_unknown_backend_is_reported_with_the_nearest_one() {
    let (line, _, message, help) = error_of(&SMALL.replace("backend: epoll", "backend: epol"));
    assert_eq!(line, 10, "{message}");
    assert_eq!(help, "did you mean 'epoll'?");
}

#[test]
fn an_exclude_that_excludes_nothing_is_refused() {
    let (line, _, message, _) = error_of(&SMALL.replace("backend: epoll, trigger: edge", "transport: unix"));
    assert_eq!(line, 10, "{message}");
    assert!(message.contains("matches no cell"), "{message}");
}

#[test]
fn an_id_that_is_there_twice_is_refused() {
    let (line, column, message, _) = error_of(&SMALL.replace("group/two", "group/one"));
    assert_eq!((line, column), (11, 9), "{message}");
    assert!(message.contains("twice"), "{message}");
}

#[test]
fn a_scenario_without_cells_is_refused() {
    let (line, _, message, _) =
        error_of(&SMALL.replace("    threads: [1]\n", "    threads: [1]\n    groups: [2]\n"));
    assert_eq!(line, 11, "{message}");
    assert!(message.contains("has no cells"), "{message}");
}

#[test]
fn a_prefix_may_end_anywhere() {
    let prefix = |text: &str| Selection { prefixes: vec![text.into()], ..Selection::default() };
    assert_eq!(ids(&prefix("group/t")).len(), 3);
    assert_eq!(ids(&prefix("group/one/tcp-level-2t1g@epoll")), ["group/one/tcp-level-2t1g@epoll"]);
}

#[test]
fn a_filter_is_a_part_of_the_id_or_a_pattern_of_all_of_it() {
    let filter = |text: &str| Selection { filters: vec![text.into()], ..Selection::default() };
    assert_eq!(ids(&filter("edge-2t")).len(), 2);
    assert_eq!(ids(&filter("*edge*@epoll")).len(), 3);
    assert_eq!(ids(&filter("*-?t2g@poll")), ["group/one/tcp-level-2t2g@poll"]);
}

#[test]
fn a_mistyped_prefix_or_backend_is_told_the_nearest_one() {
    for (typed, meant) in [
        ("gruop", "group"),
        ("group/on/", "group/one"),
        ("group/tow", "group/two"),
        ("two", "group/two"),
        ("group/two/pipe-level-1t1g@pol1", "group/two/pipe-level-1t1g@poll"),
    ] {
        let selection = Selection { prefixes: vec![typed.into()], ..Selection::default() };
        let error = selection.apply(&small()).expect_err(typed);
        assert!(error.help().contains(meant), "{typed}: {}", error.help());
    }
    let selection = Selection { backends: vec!["pol".into()], ..Selection::default() };
    let error = selection.apply(&small()).expect_err("pol");
    assert_eq!(error.help(), "did you mean 'poll'?");
}

#[test]
fn a_selection_of_nothing_is_an_error() {
    let selection = Selection { filters: vec!["nowhere".into()], ..Selection::default() };
    assert!(matches!(selection.apply(&small()), Err(SelectError::Nothing(_))));
}
