//! The interface of the system below a poller, and what the poller shows of its answers.

use metadata::{Asked, Column, Difference, Interface, Meaning, Os};
use raw::expectations::{Expectation, Expectations};
use report::html::site::{Beside, Comparison};

/// Returns the interface to compare a poller with: the one that it declares, otherwise the system's queue.
pub fn closest(column: &Column, os: Os) -> Interface {
    column.over.unwrap_or(match os {
        Os::Linux | Os::Gvisor => Interface::Epoll,
        Os::Illumos => Interface::Poll,
        _ => Interface::Kqueue,
    })
}

/// Compares an answer of `poller` with the closest interface's answer to the same question. `None` if that
/// has no recorded answer.
pub fn beside(answers: &Expectations, os: Os, poller: &str, answer: &Expectation) -> Option<Beside> {
    let interface = closest(&answer.column, os);
    let asked = Asked {
        behaviour: answer.behaviour.clone(),
        variant: answer.variant.clone(),
        api: answer.api.clone(),
        trigger: answer.trigger.clone(),
    };
    let version = answer.source.version.as_ref();
    let asked_below = questions_below(&asked, poller, interface);
    let known = asked_below.iter().find_map(|asked| answers.expected(os, version, asked))?;
    let below: Vec<_> = known.answers().collect();
    let own: Vec<_> = answer.answers().collect();
    let difference = Difference::least((&known.column, &below), (&answer.column, &own))?;
    let names = |meanings: Vec<Meaning>| meanings.iter().map(|meaning| meaning.name().to_owned()).collect();
    let (verdict, hides, adds) = match difference {
        Difference::None => (Comparison::Shows, Vec::new(), Vec::new()),
        Difference::Result => (Comparison::Differs, Vec::new(), Vec::new()),
        Difference::Meanings { hides, adds } => (Comparison::Differs, names(hides), names(adds)),
        Difference::Unknown => (Comparison::CannotCompare, Vec::new(), Vec::new()),
    };
    Some(Beside { verdict, hides, adds, asked: known.question(), allowed: known.allowed.clone() })
}

/// Returns the questions to the interface that correspond to one to the poller, the closest first. None if
/// the question is that of another system call.
pub fn questions_below(asked: &Asked, poller: &str, interface: Interface) -> Vec<Asked> {
    let rests = match asked.api.strip_prefix(poller) {
        // A library looks through a registration that it made before the state began.
        Some("") => vec!["", "-add-before"],
        Some(rest) if rest.starts_with('-') => vec![rest],
        _ => Vec::new(),
    };
    rests.into_iter().map(|rest| Asked { api: format!("{interface}{rest}"), ..asked.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poller_is_compared_with_the_interface_that_it_declares_or_the_systems_queue() {
        let (over_poll, over_nothing) = (Column::new(Some(Interface::Poll), &[]), Column::default());
        assert_eq!(closest(&over_poll, Os::Linux), Interface::Poll);
        assert_eq!(closest(&over_nothing, Os::Linux), Interface::Epoll);
        assert_eq!(closest(&over_nothing, Os::FreeBsd), Interface::Kqueue);
        assert_eq!(closest(&over_nothing, Os::Illumos), Interface::Poll);
    }

    #[test]
    fn the_answer_below_is_that_to_the_same_question_on_the_same_version() {
        let answers = Expectations::built_in_of(Os::Linux, &["mio", "libevent-poll"]).unwrap();
        let find = |poller: &str, variant: &str| {
            let (_, all) = answers.systems().next().unwrap();
            let is_it =
                |one: &&Expectation| one.behaviour == "V26" && one.variant == variant && one.api == poller;
            beside(&answers, Os::Linux, poller, all.iter().find(is_it).unwrap())
        };
        let mio = find("mio", "pipe:read-end-never-data").unwrap();
        assert_eq!(
            (mio.asked.as_str(), mio.allowed.as_slice()),
            ("epoll-add-before@edge", &["HUP".to_owned()][..])
        );
        assert_eq!(mio.verdict, Comparison::Shows);
        let libevent = find("libevent-poll", "pipe:read-end-never-data").unwrap();
        assert_eq!((libevent.asked.as_str(), libevent.verdict), ("poll@level", Comparison::Differs));
    }

    /// A recorded answer is read with the words of its file.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_recorded_words_are_those_that_each_poller_declares() {
        let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../adapters/python/adapter.py");
        let adapter = |poller: &str| {
            adapters::process(["python3", python, poller].map(String::from).to_vec(), adapters::PATIENCE)
        };
        let libraries = adapters::LIBRARIES.iter().map(|library| library.make);
        let adapters: Vec<_> = match adapters::testing::lacks("python3") {
            true => Vec::new(),
            false => ["epoll", "poll", "select"].map(adapter).to_vec(),
        };
        let mut compared = std::collections::BTreeSet::new();
        for make in libraries.chain(adapters) {
            let Ok(made) = make() else { continue };
            let answers = Expectations::built_in_of(Os::Linux, &[made.name()]).unwrap();
            let own = answers.systems().flat_map(|(_, all)| all).find(|answer| answer.api == made.name());
            if let Some(own) = own {
                assert_eq!(*own.column, made.column(), "expectations/adapters/{}/linux.yml", made.name());
                compared.insert(made.name().to_owned());
            }
        }
        let is_compared = |name: &str| name.starts_with("libevent-") || compared.contains(name);
        assert!(adapters::LIBRARIES.iter().all(|library| is_compared(library.name)), "{compared:?}");
    }
}
