//! The catalogue of states and situations that pollers are asked about.

use std::sync::LazyLock;

use metadata::did_you_mean;

use crate::tables;

/// The families of behaviours: the prefix of their ids, and a title.
pub const FAMILIES: [(&str, &str); 9] = [
    ("V", "readiness of one descriptor"),
    ("2.7", "pipes, sockets and FIFOs, step by step"),
    ("F", "kinds of files"),
    ("E", "edges and one-shots"),
    ("A", "registration and lifetime"),
    ("C", "connecting, accepting, sharing a listener"),
    ("W", "waking, threads, batches"),
    ("T", "time, signals, limits"),
    ("X", "further questions of a multi-threaded core"),
];

/// All behaviours: id and title, sorted by id. Ids are never re-used.
pub static BEHAVIOURS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    tables::entries("catalogue.tsv", include_str!("../../catalogue.tsv"), |line| {
        let [id, title] = tables::fields(line)?;
        Ok((id, title))
    })
});

/// Returns the title of the behaviour with this id.
pub fn title(id: &str) -> Option<&'static str> {
    let index = BEHAVIOURS.binary_search_by(|(known, _)| (*known).cmp(id)).ok()?;
    BEHAVIOURS.get(index).map(|(_, title)| *title)
}

/// Returns a suggestion for an unknown id.
pub fn suggestion(typed: &str) -> String {
    match metadata::nearest(typed, BEHAVIOURS.iter().map(|(id, _)| *id)) {
        Some(_) => did_you_mean(typed, BEHAVIOURS.iter().map(|(id, _)| *id)),
        None => "ids are 2.7, and one of the letters A, C, E, F, T, V, W and X with two digits: V01".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_complete_and_sorted() {
        let families = [
            ("A", 1..=24),
            ("C", 1..=15),
            ("E", 1..=16),
            ("F", 1..=11),
            ("T", 1..=14),
            ("V", 1..=35),
            ("W", 1..=19),
            ("X", 1..=13),
        ];
        let numbered = families
            .into_iter()
            .flat_map(|(letter, numbers)| numbers.map(move |n| format!("{letter}{n:02}")));
        // X08 turned out to be the same as A10.
        let expected: Vec<_> =
            std::iter::once("2.7".to_owned()).chain(numbered.filter(|id| id != "X08")).collect();
        let ids: Vec<_> = BEHAVIOURS.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, expected);
    }

    #[test]
    fn every_behaviour_belongs_to_one_family() {
        for (id, _) in BEHAVIOURS.iter() {
            assert_eq!(FAMILIES.iter().filter(|(prefix, _)| id.starts_with(prefix)).count(), 1, "{id}");
        }
    }

    #[test]
    fn a_behaviour_has_a_title_and_an_unknown_id_gets_a_suggestion() {
        assert_eq!(title("V26"), Some("a pipe's read end without data, the writer gone"));
        assert_eq!(title("V99"), None);
        assert!(suggestion("V0").starts_with("did you mean 'V0"), "{}", suggestion("V0"));
        assert!(suggestion("pipes").starts_with("ids are"), "{}", suggestion("pipes"));
    }
}
