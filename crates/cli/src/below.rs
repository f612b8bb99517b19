//! The interface of the system below a poller, and what the poller shows of its answers.

use expectations::{Expectation, Expectations};
use metadata::{Answer, Asked, Column, Interest, Interface, Meaning, Os, Outcome, Said};
use report::html::site::{Beside, Comparison};

/// Returns the interface to compare a poller with: the one that it declares, otherwise the system's queue.
pub fn closest(column: &Column, os: Os) -> Interface {
    column.over.unwrap_or(match os {
        Os::Linux => Interface::Epoll,
        Os::Illumos => Interface::Poll,
        _ => Interface::Kqueue,
    })
}

/// Compares an answer of `poller` with the interface's answer to the same question. `None` if the poller declares
/// no interface below it, or if that has no recorded answer.
pub fn beside(answers: &Expectations, os: Os, poller: &str, answer: &Expectation) -> Option<Beside> {
    let interface = answer.column.over?;
    let asked = Asked {
        row: answer.behaviour.clone(),
        variant: answer.variant.clone(),
        api: answer.api.clone(),
        trigger: answer.trigger.clone(),
    };
    let version = answer.source.version.as_ref();
    let asked_below = questions_below(&asked, poller, interface);
    let known = asked_below.iter().find_map(|asked| answers.expected(os, version, asked))?;
    let below: Vec<_> = known.answers().collect();
    let own: Vec<_> = answer.answers().collect();
    let (verdict, why) = compare_all((&known.column, &below), (&answer.column, &own))?;
    Some(Beside { verdict, why, asked: known.question(), allowed: known.allowed.clone() })
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

/// Compares the allowed answers of the interface with those of the poller. Of several answers, one pair may
/// be the same state.
pub fn compare_all(below: (&Column, &[Answer]), own: (&Column, &[Answer])) -> Option<(Comparison, String)> {
    let pairs = own.1.iter().flat_map(|own| below.1.iter().map(move |below| (below, own)));
    let compared = pairs.map(|(in_below, in_own)| compare((below.0, in_below), (own.0, in_own)));
    compared.min_by_key(|(verdict, _)| match verdict {
        Comparison::Shows => 0,
        Comparison::Differs => 1,
        Comparison::CannotCompare => 2,
    })
}

/// Compares an answer of the interface with the poller's. Returns the meanings in which they differ, too.
fn compare(below: (&Column, &Answer), own: (&Column, &Answer)) -> (Comparison, String) {
    let (in_below, in_own) = match (below.1.single(), own.1.single()) {
        _ if below.1 == own.1 => return (Comparison::Shows, String::new()),
        (Some(below), Some(own)) => (below, own),
        _ => return (Comparison::CannotCompare, String::new()),
    };
    // A result of a call is no event, and means the same for each of them.
    let is_result = |outcome: &Outcome| matches!(outcome, Outcome::Done | Outcome::Failed(_));
    if is_result(in_below) && is_result(in_own) {
        return (Comparison::Differs, String::new());
    }
    let (Some(below_says), Some(own_says)) = (in_below.report(below.0), in_own.report(own.0)) else {
        return (Comparison::CannotCompare, String::new());
    };
    let silent = |column: &Column| column.report([], Interest::ALL);
    let (below_silent, own_silent) = (silent(below.0), silent(own.0));
    // It is hidden if the other one denies it, or has no word for it in any event.
    let lacks =
        |said: Said, silent: Said| said == Said::No || (said, silent) == (Said::Nothing, Said::Nothing);
    let (mut hides, mut adds) = (Vec::new(), Vec::new());
    for (index, meaning) in Meaning::ALL.iter().enumerate() {
        if below_says[index] == Said::Yes && lacks(own_says[index], own_silent[index]) {
            hides.push(meaning.name());
        }
        // The interface says less than the poller only if it has a word for it.
        if own_says[index] == Said::Yes
            && below_says[index] == Said::No
            && below_silent[index] != Said::Nothing
        {
            adds.push(meaning.name());
        }
    }
    let part = |what: &str, meanings: &[&str]| {
        (!meanings.is_empty()).then(|| format!("{what} {}", meanings.join(", ")))
    };
    let parts: Vec<_> = part("hides", &hides).into_iter().chain(part("adds", &adds)).collect();
    match parts.is_empty() {
        true => (Comparison::Shows, String::new()),
        false => (Comparison::Differs, parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(over: Option<Interface>, words: &[(&str, &str)]) -> Column {
        Column::new(over, words)
    }

    #[test]
    fn a_poller_is_compared_with_the_interface_that_it_declares_or_the_systems_queue() {
        let (over_poll, over_nothing) = (column(Some(Interface::Poll), &[]), Column::default());
        assert_eq!(closest(&over_poll, Os::Linux), Interface::Poll);
        assert_eq!(closest(&over_nothing, Os::Linux), Interface::Epoll);
        assert_eq!(closest(&over_nothing, Os::FreeBsd), Interface::Kqueue);
        assert_eq!(closest(&over_nothing, Os::Illumos), Interface::Poll);
    }

    #[test]
    fn answers_are_compared_by_their_meanings() {
        use Comparison::{CannotCompare, Differs, Shows};
        let closed = [("read_closed", "end hang-up?"), ("write_closed", "writable? hang-up?")];
        let mio = column(None, &[[("readable", "readable"), ("writable", "writable")], closed].concat());
        let polling = column(None, &[("readable", "readable"), ("interrupt", "hang-up")]);
        let sets = column(None, &[("READ", "readable"), ("WRITE", "writable")]);
        for (below, own, verdict, why) in [
            (("epoll", "IN|RDHUP"), (&Column::of(Interface::Epoll), "IN|RDHUP"), Shows, ""),
            (("poll", "-"), (&Column::of(Interface::Epoll), "silent"), Shows, ""),
            (("epoll", "HUP"), (&mio, "read_closed|write_closed"), Shows, ""),
            (("epoll", "IN|HUP"), (&polling, "readable"), Differs, "hides hang-up"),
            (("epoll", "IN"), (&sets, "silent"), Differs, "hides readable"),
            (("epoll", "IN|OUT"), (&sets, "WRITE"), Differs, "hides readable"),
            (("epoll", "silent"), (&mio, "readable"), Differs, "adds readable"),
            (("epoll", "HUP"), (&sets, "READ|WRITE"), Differs, "hides hang-up"),
            (("select", "rw-"), (&Column::of(Interface::Select), "r|w"), Shows, ""),
            (("select", "rw-"), (&Column::of(Interface::Select), "w"), Differs, "hides readable"),
            (("epoll", "EPERM"), (&mio, "EPERM"), Shows, ""),
            (("epoll", "0"), (&sets, "EPERM"), Differs, ""),
            (("epoll", "IN"), (&sets, "signalled"), CannotCompare, ""),
            (("epoll", "IN x2"), (&mio, "readable"), CannotCompare, ""),
            (("epoll", "EBADF"), (&mio, "readable"), CannotCompare, ""),
        ] {
            let below_column = Column::of(below.0.parse().unwrap());
            let answer = |column: &Column, text: &str| Answer::of_wait(text, column);
            let (in_below, in_own) = (answer(&below_column, below.1), answer(own.0, own.1));
            let compared = compare((&below_column, &in_below), (own.0, &in_own));
            assert_eq!(compared, (verdict, why.to_owned()), "{below:?} {}", own.1);
        }
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
}
