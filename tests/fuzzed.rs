//! Runs the entry points of `fuzz/` without a fuzzer, on noise and on valid files with random edits.

#[path = "../fuzz/entries.rs"]
mod entries;

use std::process::Command;
use std::sync::OnceLock;

use metadata::Description;
use proptest::prelude::*;

/// A change to a valid file.
#[derive(Clone, Debug)]
enum Edit {
    Drop,
    Double,
    Swap(prop::sample::Index),
    Insert(String),
    Cut,
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, Edit)>> {
    let piece = prop_oneof![
        Just("-1".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("null".to_owned()),
        Just("[".to_owned()),
        Just("}".to_owned()),
        Just("&a *a".to_owned()),
        Just("\\u0000".to_owned()),
        ".{0,8}",
    ];
    let edit = prop_oneof![
        Just(Edit::Drop),
        Just(Edit::Double),
        any::<prop::sample::Index>().prop_map(Edit::Swap),
        piece.prop_map(Edit::Insert),
        Just(Edit::Cut),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), edit), 0..4)
}

/// Applies the edits to the words of a file. Blanks, commas, colons, quotes and brackets separate words.
fn edited(text: &str, edits: &[(prop::sample::Index, Edit)]) -> String {
    let mut words: Vec<String> =
        text.split_inclusive([' ', ',', ':', '\n', '"', '[', '{']).map(str::to_owned).collect();
    for (at, edit) in edits {
        let at = at.index(words.len());
        match edit {
            Edit::Drop => drop(words.remove(at)),
            Edit::Double => {
                let word = words[at].clone();
                words.insert(at, word);
            }
            Edit::Swap(other) => {
                let other = other.index(words.len());
                words.swap(at, other);
            }
            Edit::Insert(piece) => words.insert(at, piece.clone()),
            Edit::Cut => words.truncate(at.max(1)),
        }
        if words.is_empty() {
            words.push(String::new());
        }
    }
    words.concat()
}

const CORPUS: &str = "# Lines\n\nown is fresh, add own?, wait\nown and peer are connected, add own?, wait\n\
    own and peer are connected, add own?, peer sends 1?, wait room 1\n";

const ACCEPTED: &str = "# Why\npipe level: own and peer are connected, remove own? => left: ENOENT; right: done\n\
    unix edge: own is fresh, add own?, wait => only left: HUP OUT\n";

const RECORDING: &str = include_str!("recorded-answers.json");

const MATRIX: &str = include_str!("../matrix.yml");

fn catalogue() -> &'static [Description] {
    static CATALOGUE: OnceLock<Vec<Description>> = OnceLock::new();
    CATALOGUE.get_or_init(|| pollmatrix::lab::environment().descriptions())
}

/// Returns the results of a run of the executable.
fn results() -> &'static str {
    static RESULTS: OnceLock<String> = OnceLock::new();
    RESULTS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let arguments = ["run", "deletion/own-handler/tcp-level-1t1g", "--format", "json", "--report-dir"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_pollmatrix"));
        let output = command.args(arguments).arg(folder.path()).output().expect("the executable starts");
        String::from_utf8(output.stdout).expect("results.json is UTF-8")
    })
}

#[test]
fn the_unedited_files_are_valid() {
    assert!(matrix::Matrix::parse(MATRIX, "matrix.yml", catalogue()).is_ok());
    assert!(metadata::Results::read(results().as_bytes()).is_ok());
    entries::matrix_yml(MATRIX.as_bytes(), catalogue());
    entries::results_json(results().as_bytes());
    let lines = explore::parse("unix-level.txt", CORPUS).expect("the corpus is valid");
    assert_eq!(lines.len(), 3);
    entries::corpus(CORPUS.as_bytes());
    assert_eq!(explore::parse_accepted("known.txt", ACCEPTED).expect("it is valid").len(), 2);
    let recording = explore::Recording::read(RECORDING).expect("the recording is valid");
    assert_eq!(recording.lines.len(), 2);
    entries::recorded_answers_json(RECORDING.as_bytes());
}

proptest! {
    #[test]
    fn noise_is_refused_with_a_position(text in prop::collection::vec(any::<u8>(), 0..200)) {
        entries::matrix_yml(&text, catalogue());
        entries::results_json(&text);
        entries::path_names(&text);
        entries::corpus(&text);
        entries::recorded_answers_json(&text);
    }

    #[test]
    fn an_edited_matrix_is_read_or_refused(edits in edits()) {
        entries::matrix_yml(edited(MATRIX, &edits).as_bytes(), catalogue());
    }

    #[test]
    fn edited_results_are_shown_or_refused(edits in edits()) {
        entries::results_json(edited(results(), &edits).as_bytes());
    }

    #[test]
    fn edited_accepted_disagreements_are_read_or_refused(edits in edits()) {
        entries::corpus(edited(ACCEPTED, &edits).as_bytes());
    }

    #[test]
    fn no_field_of_results_leads_a_path_out_of_its_folder(text in "[./\\\\a-cA-C_ \\-\n]{0,8}|.{0,8}") {
        entries::path_names(text.as_bytes());
    }

    #[test]
    fn an_edited_corpus_is_read_or_refused(edits in edits()) {
        entries::corpus(edited(CORPUS, &edits).as_bytes());
    }

    #[test]
    fn edited_recorded_answers_are_read_or_refused(edits in edits()) {
        entries::recorded_answers_json(edited(RECORDING, &edits).as_bytes());
    }
}
