//! Reading matrix files: their cells, selections and targets, and the errors of wrong ones.

use std::path::Path;

use metadata::{Axes, Description, Layer, Mode, Transport};
use pollmatrix_matrix::{Build, Ci, Matrix, MatrixError, Runner, SelectError, Selection, Vm};

const FILE: &str = include_str!("../../../../matrix.yml");

const SMALL: &str = "\
version: 2
defaults: { timeout: 5 }
backends:
  - { id: epoll, os: [linux], triggers: [level, edge] }
  - { id: poll, os: all, triggers: [level] }
targets: []
scenarios:
  - id: group/one
    exclude: [{ backend: epoll, trigger: edge, threads: 1 }]
  - id: group/two
    transports: [pipe]
    threads: [1]
";

/// The scenarios that the files can name.
const CATALOGUE: [Description; 6] = [
    of_the_core("group/one"),
    of_the_core("group/two"),
    of_the_core("group/three"),
    raw("raw/one", &[Transport::Udp, Transport::UnixDgram]),
    raw("raw/two", &[Transport::None]),
    raw("rawer/one", &[Transport::Fifo]),
];

const fn of_the_core(id: &'static str) -> Description {
    let axes = Axes { transports: &[Transport::Tcp], threads: &[1, 2], groups: &[1, 2], ..Axes::PLAIN };
    Description { id, title: "It holds", layer: Layer::Contract, axes }
}

const fn raw(id: &'static str, transports: &'static [Transport]) -> Description {
    let axes = Axes { transports, triggers: &[Mode::Level], threads: &[1], groups: &[1] };
    Description { id, title: "What of it?", layer: Layer::Characterisation, axes }
}

const TARGETS: &str = "\
targets:
  - id: here
    triple: armv7-unknown-linux-gnueabihf
    os: linux
    arch: arm
    build: gcc
    runners:
      - native
      - prefix: qemu-arm-static -L /usr/arm-linux-gnueabihf
      - container: debian
      - container: scratch
    ci: { runs-on: ubuntu-24.04, runners: [prefix], shards: 3 }
  - { id: there, triple: x86_64-unknown-freebsd, os: freebsd, arch: x86_64, runners: [ssh, import], ci: { vm: freebsd, releases: [\"15.0\"] } }
";

/// Returns the small matrix with two targets.
fn targets() -> String {
    SMALL.replace("targets: []\n", TARGETS)
}

/// Returns the small matrix with a part of the targets replaced.
fn with(part: &str, other: &str) -> String {
    assert!(TARGETS.contains(part), "{part}");
    targets().replace(part, other)
}

/// Returns the backends and targets of this repository's matrix. Its scenarios belong to crates that this one
/// does not know.
fn this_repository() -> Matrix {
    let (rest, _) = FILE.split_once("\nscenarios:\n").expect("the scenarios come last");
    let text = format!("{rest}\nscenarios:\n  - id: group/one\n");
    Matrix::parse(&text, "matrix.yml", &CATALOGUE).expect("matrix.yml is well-formed")
}

fn small() -> Matrix {
    Matrix::parse(SMALL, "small.yml", &CATALOGUE).expect("the small matrix is well-formed")
}

/// Returns the line, column, message and help of the error in `text`.
fn error_of(text: &str) -> (u64, u64, String, String) {
    match Matrix::parse(text, "small.yml", &CATALOGUE) {
        Err(MatrixError::Malformed { file, line, column, message, help }) => {
            assert_eq!(file, "small.yml");
            (line, column, message, help)
        }
        other => panic!("expected a malformed matrix, found {other:?}"),
    }
}

fn ids(selection: &Selection) -> Vec<String> {
    selection.apply(&small()).expect("it selects a cell").iter().map(|cell| cell.id.to_string()).collect()
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
fn a_mistyped_prefix_or_backend_gets_the_nearest_one_as_help() {
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

#[test]
fn a_target_has_its_runners_its_build_and_its_place_in_ci() {
    let matrix = Matrix::parse(&targets(), "small.yml", &CATALOGUE).expect("well-formed");
    let here = matrix.target("here").expect("the target exists");
    assert_eq!(
        here.runners,
        [
            Runner::Native,
            Runner::Prefix("qemu-arm-static -L /usr/arm-linux-gnueabihf".into()),
            Runner::Container("debian".into()),
            Runner::Container("scratch".into()),
        ]
    );
    assert_eq!(here.runner("container"), Some(&Runner::Container("debian".into())));
    assert_eq!((here.build, here.linker().as_deref()), (Build::Gcc, Some("arm-linux-gnueabihf-gcc")));
    let runner = Ci::Hosted { label: "ubuntu-24.04".into(), runners: vec!["prefix".into()], shards: 3 };
    assert_eq!(here.ci, Some(runner));
    assert_eq!(matrix.native_target("armv7-unknown-linux-gnueabihf"), Some(here));

    let there = matrix.target("there").expect("the target exists");
    assert_eq!((there.build, there.linker(), there.runner("native")), (Build::Host, None, None));
    assert_eq!(there.ci, Some(Ci::Vm { system: Vm::FreeBsd, releases: vec!["15.0".into()] }));
    assert_eq!(matrix.native_target("x86_64-unknown-freebsd"), None);
}

#[test]
fn a_mistyped_runner_is_reported_with_its_place_and_the_nearest_one() {
    for (part, other, line, column, meant) in [
        ("- native\n", "- natvie\n", 13, 9, "unknown runner 'natvie': did you mean 'native'?"),
        ("- prefix:", "- prefx:", 14, 9, "unknown runner 'prefx': did you mean 'prefix'?"),
        ("- container: scratch", "- container", 16, 9, "write container: IMAGE"),
        ("- native\n", "- native: qemu\n", 13, 9, "takes no value: write native"),
        ("- container: scratch\n", "- { container: scratch, prefix: x }\n", 16, 9, "as its own item"),
        ("build: gcc", "build: gc", 11, 12, "unknown build 'gc': did you mean 'gcc'?"),
        ("vm: freebsd", "vm: frebsd", 18, 0, "unknown virtual machine 'frebsd': did you mean 'freebsd'?"),
        ("shards: 3", "shard: 3", 17, 0, "unknown field `shard`"),
        ("arch: arm\n", "arc: arm\n", 10, 5, "unknown field `arc`"),
    ] {
        let (at_line, at_column, message, _) = error_of(&with(part, other));
        assert!(message.contains(meant), "{message}");
        assert_eq!(at_line, line, "{message}");
        assert!(column == 0 || at_column == column, "{message}: column {at_column}");
    }
}

#[test]
fn ambiguous_and_meaningless_runners_are_refused() {
    for (part, other, line, meant) in [
        ("- container: scratch", "- container: debian", 16, "here has the runner 'container' twice"),
        ("- container: scratch", "- prefix: other", 16, "here has the runner 'prefix' twice"),
        ("- container: scratch", "- container: Dockerfile", 16, "not a name for a container image"),
        ("prefix: qemu-arm-static -L /usr/arm-linux-gnueabihf", "prefix: ' '", 14, "an empty prefix"),
        ("triple: armv7-unknown-linux-gnueabihf", "triple: armv7-apple-ios", 7, "no gcc links for"),
        ("runners: [prefix]", "runners: [ssh]", 17, "'ssh' in CI, which is none of its 'runners'"),
        ("runners: [prefix]", "runners: []", 17, "empty list of runners"),
        ("shards: 3", "shards: 0", 17, "0 shards"),
        ("vm: freebsd", "runs-on: x, vm: freebsd", 18, "'ci' of there is incomplete or mixes two forms"),
        (", releases: [\"15.0\"]", "", 18, "'ci' of there is incomplete or mixes two forms"),
    ] {
        let (at_line, _, message, help) = error_of(&with(part, other));
        assert!(message.contains(meant), "{message}");
        assert_eq!(at_line, line, "{message}");
        assert!(!help.is_empty());
    }
}

#[test]
fn every_container_runner_has_its_dockerfile() {
    let matrix = this_repository();
    let images = matrix.targets.iter().flat_map(|target| &target.runners).filter_map(|runner| match runner {
        Runner::Container(image) => Some(image),
        _ => None,
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docker");
    let missing: Vec<_> =
        images.filter(|image| !folder.join(format!("{image}.Dockerfile")).is_file()).collect();
    assert!(missing.is_empty(), "no docker/NAME.Dockerfile for {missing:?}");
}

/// Returns the small matrix with more entries.
fn with_entries(entries: &str) -> String {
    format!("{SMALL}{entries}")
}

/// Returns the ids of the cells on poll that the entries add to the small matrix.
fn added(entries: &str) -> Vec<String> {
    let matrix = Matrix::parse(&with_entries(entries), "small.yml", &CATALOGUE).expect("well-formed");
    let cells = matrix.cells().into_iter().filter(|cell| cell.id.backend == "poll");
    let ids = cells.map(|cell| cell.id.to_string());
    ids.filter(|id| !id.starts_with("group/one/") && !id.starts_with("group/two/")).collect()
}

#[test]
fn an_entry_runs_over_the_axes_of_the_scenarios_file() {
    let [dgram, udp, none, fifo] = [
        "raw/one/unix-dgram-level-1t1g@poll",
        "raw/one/udp-level-1t1g@poll",
        "raw/two/none-level-1t1g@poll",
        "rawer/one/fifo-level-1t1g@poll",
    ];
    assert_eq!(added("  - id: raw/*\n"), [udp, dgram, none]);
    assert_eq!(added("  - id: raw/*\n    exclude: [{ transport: udp }]\n"), [dgram, none]);
    assert_eq!(added("  - id: rawer/one\n  - id: raw/two\n"), [fifo, none]);
    let text = with_entries("  - id: raw/*\n    timeout: 9\n");
    let matrix = Matrix::parse(&text, "small.yml", &CATALOGUE).expect("well-formed");
    let two = matrix.scenario("raw/two").expect("the entry selects it");
    assert_eq!((two.title.as_str(), two.layer), ("What of it?", Layer::Characterisation));
    assert_eq!(two.timeout.as_secs(), 9);
}

#[test]
fn an_entry_narrows_and_widens_the_axes_of_the_scenarios_file() {
    let narrow = "  - id: group/three\n    threads: [1]\n";
    assert_eq!(added(narrow), ["group/three/tcp-level-1t1g@poll"]);
    let wide = "  - id: rawer/*\n    transports: [fifo, pty]\n    threads: [1, 4]\n";
    assert_eq!(
        added(wide),
        [
            "rawer/one/fifo-level-1t1g@poll",
            "rawer/one/fifo-level-4t1g@poll",
            "rawer/one/pty-level-1t1g@poll",
            "rawer/one/pty-level-4t1g@poll",
        ]
    );
}

#[test]
fn the_entry_of_a_scenario_overrides_that_of_its_group() {
    let one = "  - id: raw/one\n    transports: [udp]\n";
    let group = "  - id: raw/*\n    exclude: [{ transport: none }]\n";
    for entries in [format!("{one}{group}"), format!("{group}{one}")] {
        assert_eq!(added(&entries), ["raw/one/udp-level-1t1g@poll"], "{entries}");
    }
    // The small matrix has entries of its own for two of the group.
    assert_eq!(
        added("  - id: group/*\n"),
        ["1t1g", "2t1g", "2t2g"].map(|shape| format!("group/three/tcp-level-{shape}@poll"))
    );
}

#[test]
fn an_entry_that_selects_nothing_is_refused_with_its_place_and_the_nearest() {
    for (entries, line, meant) in [
        ("  - id: rwa/*\n", 13, "did you mean 'raw/*'?"),
        ("  - id: raw/on\n", 13, "did you mean 'raw/one'?"),
        ("  - id: raw/*\n  - id: weather/tomorrow\n", 14, "name a scenario of this pollmatrix"),
        ("  - id: raw/*\n  - id: raw/*\n", 14, "remove one"),
        ("  - id: raw/one\n    exclude: [{ transport: fifo }]\n", 14, "remove it"),
    ] {
        let (at, _, message, help) = error_of(&with_entries(entries));
        assert_eq!(at, line, "{message}");
        assert!(help.contains(meant), "{message}: {help}");
    }
}
