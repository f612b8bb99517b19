//! Which facts of a kernel's answer a poller above it shows, and which it hides.
//!
//! Answers are compared in the common vocabulary of [`exploration::vocabulary`].

use std::collections::BTreeSet;

use exploration::vocabulary::{Dialect, Said, Word, words};
use selector::Interest;

/// What a poller says about the facts of the kernel's answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The facts that both answers state.
    pub shown: BTreeSet<Word>,
    /// The facts that only the kernel's answer states.
    pub hidden: BTreeSet<Word>,
}

/// Compares an answer of `poller` with the kernel's answer, which is one of `interface`. `None` if an answer
/// is not one event: an errno, a count, a list.
pub fn compare(interface: &str, kernel: &str, poller: &str, answer: &str) -> Option<Facts> {
    let (kernel, answer) = (says(interface, kernel)?, says(poller, answer)?);
    let nothing = Dialect::of(poller).says(&BTreeSet::new(), Interest::ALL);
    let mut facts = Facts::default();
    for (index, word) in Word::ALL.into_iter().enumerate().filter(|(index, _)| kernel[*index] == Said::Yes) {
        match (answer[index], nothing[index]) {
            (Said::Yes, _) => facts.shown.insert(word),
            // It denies the fact, or has no word for it in any event.
            (Said::No, _) | (Said::Nothing, Said::Nothing) => facts.hidden.insert(word),
            // Its answer may mean the fact: mio has two words for the ends of both directions, and none for
            // both.
            (Said::Nothing, _) => false,
        };
    }
    Some(facts)
}

/// Returns what an answer says about each word.
fn says(poller: &str, record: &str) -> Option<[Said; 6]> {
    let dialect = Dialect::of(poller);
    if dialect != Dialect::Other && matches!(record, "silent" | "-" | "---") {
        return Some(dialect.says(&BTreeSet::new(), Interest::ALL));
    }
    let is_event = match dialect {
        Dialect::Other => false,
        Dialect::Bits => record.split('|').all(|bit| {
            !bit.is_empty()
                && bit != "NVAL"
                && bit.bytes().all(|byte| byte.is_ascii_uppercase())
                && !is_errno(bit)
        }),
        Dialect::Sets => record.len() == 3 && record.chars().all(|letter| "rwx-".contains(letter)),
        Dialect::Filters => {
            (record.starts_with('R') || record.starts_with('W')) && !record.contains([' ', ',', '*'])
        }
        Dialect::Mio | Dialect::Polling | Dialect::Libevent => {
            record.split('|').all(|word| !word.is_empty() && !is_errno(word))
                && record.chars().all(|c| c.is_ascii_alphabetic() || "|_".contains(c))
        }
    };
    if !is_event {
        return None;
    }
    Some(dialect.says(&words(dialect, record), Interest::ALL))
}

/// Whether a word is the name of an error such as `EBADF`. `ERR` and `END` are none.
fn is_errno(word: &str) -> bool {
    word.len() > 3 && word.starts_with('E') && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns the interface of the kernel to compare a poller with, by its name: `select` for `python-select`.
pub fn interface_of(poller: &str) -> Option<&'static str> {
    ["epoll", "kqueue", "poll", "select"]
        .into_iter()
        .find(|interface| poller.rsplit('-').next() == Some(interface) && poller != *interface)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(interface: &str, kernel: &str, poller: &str, answer: &str) -> Option<Vec<&'static str>> {
        let facts = compare(interface, kernel, poller, answer)?;
        Some(facts.hidden.into_iter().map(Word::name).collect())
    }

    #[test]
    fn a_word_that_the_poller_has_not_is_hidden() {
        assert_eq!(hidden("epoll", "IN|HUP", "mio", "readable|read_closed|write_closed"), Some(vec![]));
        assert_eq!(hidden("epoll", "HUP", "select", "r--"), Some(vec!["hang-up"]));
        assert_eq!(hidden("epoll", "IN|ERR", "mio", "silent"), Some(vec!["readable", "error"]));
        assert_eq!(hidden("poll", "-", "mio", "silent"), Some(vec![]));
    }

    #[test]
    fn only_single_events_are_compared() {
        for (kernel, answer) in [
            ("EBADF", "readable"),
            ("IN", "EBADF"),
            ("IN OUT", "readable"),
            ("3", "readable"),
            ("IN", "readable, writable"),
            ("NVAL", "readable"),
        ] {
            assert_eq!(compare("epoll", kernel, "mio", answer), None, "{kernel} {answer}");
        }
        assert_eq!(compare("epoll", "IN", "their-own", "READ"), None, "nothing is known of its words");
    }

    #[test]
    fn a_poller_is_compared_with_the_interface_that_it_is_named_after() {
        assert_eq!(interface_of("python-select"), Some("select"));
        assert_eq!(interface_of("libevent-epoll"), Some("epoll"));
        assert_eq!((interface_of("mio"), interface_of("epoll")), (None, None));
    }
}
