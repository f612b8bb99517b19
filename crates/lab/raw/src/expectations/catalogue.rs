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
        let [id, _, title] = tables::fields(line)?;
        Ok((id, title))
    })
});

/// What several behaviours are about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topic {
    /// A part of addresses: `half-close`.
    pub id: &'static str,
    /// `half-close`, `pipes and FIFOs`.
    pub title: &'static str,
    /// Words by which a reader searches for it: flags, error numbers, names of the problem.
    pub words: &'static str,
    /// The ids of the behaviours. Every behaviour has one topic.
    pub behaviours: Vec<&'static str>,
}

/// All topics, in the order of the pages.
pub static TOPICS: LazyLock<Vec<Topic>> = LazyLock::new(|| {
    let mut topics = tables::entries("topics.tsv", include_str!("../../topics.tsv"), |line| {
        let [id, title, words] = tables::fields(line)?;
        Ok(Topic { id, title, words, behaviours: Vec::new() })
    });
    tables::entries("catalogue.tsv", include_str!("../../catalogue.tsv"), |line| {
        let [id, of, _] = tables::fields(line)?;
        let topic = topics.iter().position(|topic| topic.id == of);
        Ok((topic.ok_or_else(|| format!("topics.tsv has no topic '{of}'"))?, id))
    })
    .into_iter()
    .for_each(|(topic, id)| topics[topic].behaviours.push(id));
    topics
});

/// An assumption that holds on epoll and not on kqueue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// The behaviour, the state and the question whose answers on Linux and FreeBSD show it. The question has
    /// the name that both queues share: `queue@level`.
    pub shown_by: [&'static str; 3],
    /// `Adding a descriptor twice fails`.
    pub text: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// Assumptions that hold on epoll and not on kqueue.
pub static ASSUMPTIONS: LazyLock<Vec<Assumption>> = LazyLock::new(|| {
    tables::entries("assumptions.tsv", include_str!("../../assumptions.tsv"), |line| {
        let [behaviour, state, asked, text, remedy] = tables::fields(line)?;
        Ok(Assumption { shown_by: [behaviour, state, asked], text, remedy })
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
            ("A", 1..=26),
            ("C", 1..=15),
            ("E", 1..=16),
            ("F", 1..=14),
            ("T", 1..=15),
            ("V", 1..=36),
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
    fn every_topic_has_behaviours_and_every_behaviour_a_topic() {
        assert!(TOPICS.iter().all(|topic| !topic.behaviours.is_empty() && !topic.words.is_empty()));
        let of_topics: usize = TOPICS.iter().map(|topic| topic.behaviours.len()).sum();
        assert_eq!(of_topics, BEHAVIOURS.len());
    }

    /// The recorded answers of both systems, of which at least FreeBSD's is measured, have nothing in common.
    #[test]
    fn every_assumption_is_shown_by_two_recorded_answers_that_differ() {
        let answers = crate::expectations::Expectations::built_in().unwrap();
        for Assumption { shown_by: [behaviour, state, asked], .. } in ASSUMPTIONS.iter() {
            let of = |os, queue| {
                let (_, all) = answers.systems().find(|(of, _)| *of == os).unwrap();
                let asked = asked.replacen("queue", queue, 1);
                let is_it = |answer: &&crate::expectations::Expectation| {
                    (answer.behaviour.as_str(), answer.variant.as_str()) == (*behaviour, *state)
                        && answer.question() == asked
                };
                let found: Vec<_> = all.iter().filter(is_it).collect();
                assert!(!found.is_empty(), "{os:?} {behaviour} {state} {asked}");
                assert!(
                    found.iter().all(|answer| !answer.source.evidence.is_hypothesis()),
                    "{behaviour} {state}"
                );
                found
            };
            let (linux, freebsd) = (of(metadata::Os::Linux, "epoll"), of(metadata::Os::FreeBsd, "kqueue"));
            let common = linux
                .iter()
                .flat_map(|one| &one.allowed)
                .find(|text| freebsd.iter().any(|other| other.allowed.contains(text)));
            assert_eq!(common, None, "{behaviour} {state}");
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
