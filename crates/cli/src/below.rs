//! The interface of the system below a library's poller, and what the poller shows of its answers.

use std::collections::BTreeSet;

use expectations::{Expectation, Expectations};
use exploration::vocabulary::{Dialect, Said, Word, base, words};
use metadata::{Asked, Os};
use report::html::site::{Beside, Comparison};
use selector::Interest;

/// What a poller is built on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Below {
    /// An interface with recorded answers of its own: `epoll`.
    Interface(&'static str),
    /// Another interface of the kernel, which this project does not ask.
    Other,
}

const INTERFACES: [&str; 4] = ["epoll", "kqueue", "poll", "select"];

/// Returns the interface to compare a poller with: the one that it is built on, or whose name is the end of
/// its own (`their-poll`), otherwise the system's queue.
pub fn closest(poller: &str, os: Os) -> &'static str {
    match (below(poller, os), queue(os)) {
        (Some(Below::Interface(interface)), _) => interface,
        (_, queue) => {
            let last = poller.rsplit('-').next();
            let named = INTERFACES.into_iter().find(|known| Some(*known) == last);
            named.unwrap_or(match queue {
                Below::Interface(queue) => queue,
                Below::Other => "poll",
            })
        }
    }
}

/// Returns the system's queue.
fn queue(os: Os) -> Below {
    match os {
        Os::Linux => Below::Interface("epoll"),
        Os::Illumos => Below::Other,
        _ => Below::Interface("kqueue"),
    }
}

/// Returns what the poller of this name is built on. `None` if that is not known here.
pub fn below(poller: &str, os: Os) -> Option<Below> {
    match base(poller) {
        "mio" | "polling" | "tokio" | "libuv" | "java-nio" | "go-netpoll" | "node-net" => Some(queue(os)),
        // kqueue for Linux, over epoll.
        "libkqueue" => Some(Below::Interface("epoll")),
        "io-uring" | "io_uring" => Some(Below::Other),
        // Libraries with a backend for each interface, named after it.
        name => {
            let named = ["libevent-", "libev-"].into_iter().find_map(|library| name.strip_prefix(library));
            let named = named.or_else(|| poller.strip_prefix("python-"));
            INTERFACES.into_iter().find(|known| Some(*known) == named).map(Below::Interface)
        }
    }
}

/// Compares an answer of `poller` with the interface's answer to the same question. `None` if nothing is
/// known of the interface below it, or if it has no recorded answer.
pub fn beside(answers: &Expectations, os: Os, poller: &str, answer: &Expectation) -> Option<Beside> {
    let Below::Interface(interface) = below(poller, os)? else { return None };
    let asked = Asked {
        row: answer.behaviour.clone(),
        variant: answer.variant.clone(),
        api: answer.api.clone(),
        trigger: answer.trigger.clone(),
    };
    let version = answer.source.version.as_ref();
    let asked_below = questions_below(&asked, poller, interface);
    let known = asked_below.iter().find_map(|asked| answers.expected(os, version, asked))?;
    let (verdict, why) = compare_all((interface, &known.allowed), (poller, &answer.allowed))?;
    Some(Beside { verdict, why, asked: known.question(), allowed: known.allowed.clone() })
}

/// Returns the questions to the interface that correspond to one to the poller, the closest first. None if
/// the question is that of another system call.
pub fn questions_below(asked: &Asked, poller: &str, interface: &str) -> Vec<Asked> {
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
pub fn compare_all(below: (&str, &[String]), own: (&str, &[String])) -> Option<(Comparison, String)> {
    let pairs = own.1.iter().flat_map(|own| below.1.iter().map(move |below| (below, own)));
    let compared = pairs.map(|(in_below, in_own)| compare((below.0, in_below), (own.0, in_own)));
    compared.min_by_key(|(verdict, _)| match verdict {
        Comparison::Shows => 0,
        Comparison::Differs => 1,
        Comparison::CannotCompare => 2,
    })
}

/// Compares an answer of the interface with the poller's. Returns the words in which they differ, too.
fn compare(below: (&str, &str), own: (&str, &str)) -> (Comparison, String) {
    let is_same = below.1 == own.1 || (is_silent(below.1) && is_silent(own.1));
    if is_same {
        return (Comparison::Shows, String::new());
    }
    // A result of a call is no event, and means the same for each of them.
    if is_result(below.1) && is_result(own.1) {
        return (Comparison::Differs, String::new());
    }
    let ((below_dialect, below_says), (own_dialect, own_says)) = match (event(below), event(own)) {
        (Some(below), Some(own)) => (below, own),
        _ => return (Comparison::CannotCompare, String::new()),
    };
    let own_silent = own_dialect.says(&BTreeSet::new(), Interest::ALL);
    let below_silent = below_dialect.says(&BTreeSet::new(), Interest::ALL);
    // It is hidden if the other one denies it, or has no word for it in any event.
    let lacks =
        |said: Said, silent: Said| said == Said::No || (said, silent) == (Said::Nothing, Said::Nothing);
    let (mut hides, mut adds) = (Vec::new(), Vec::new());
    for (index, word) in Word::ALL.into_iter().enumerate() {
        if below_says[index] == Said::Yes && lacks(own_says[index], own_silent[index]) {
            hides.push(word.name());
        }
        // The interface says less than the poller only if it has a word for it.
        if own_says[index] == Said::Yes
            && below_says[index] == Said::No
            && below_silent[index] != Said::Nothing
        {
            adds.push(word.name());
        }
    }
    let part =
        |what: &str, words: &[&str]| (!words.is_empty()).then(|| format!("{what} {}", words.join(", ")));
    let parts: Vec<_> = part("hides", &hides).into_iter().chain(part("adds", &adds)).collect();
    match parts.is_empty() {
        true => (Comparison::Shows, String::new()),
        false => (Comparison::Differs, parts.join("; ")),
    }
}

fn is_silent(answer: &str) -> bool {
    matches!(answer, "silent" | "-" | "---")
}

/// Whether an answer is `0` or the name of an error, the result of a call.
fn is_result(answer: &str) -> bool {
    answer == "0" || is_errno(answer)
}

/// `EBADF`. `ERR` and `END` are events.
fn is_errno(answer: &str) -> bool {
    answer.len() > 3 && answer.starts_with('E') && answer.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns what an answer says about each word, if it is one event whose words are known.
fn event((poller, record): (&str, &str)) -> Option<(Dialect, [Said; 6])> {
    let dialect = Dialect::of(poller);
    if is_silent(record) {
        return Some((dialect, dialect.says(&BTreeSet::new(), Interest::ALL)));
    }
    // An errno is no event, in whatever dialect.
    let is_known = !record.split('|').any(is_errno) && dialect.knows(record);
    is_known.then(|| (dialect, dialect.says(&words(dialect, record), Interest::ALL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An adapter that was recorded and that is missing here would have no comparison on the site.
    #[test]
    fn the_interface_below_each_recorded_poller_is_known() {
        let recorded: Vec<_> = expectations::subjects().collect();
        assert!(recorded.len() > 5, "{recorded:?}");
        let coming = ["java-nio", "tokio", "libev-epoll", "libev-poll", "libev-select", "io-uring"];
        for name in recorded.into_iter().chain(coming) {
            assert!(below(name, Os::Linux).is_some(), "name the interface below {name} in `below`");
        }
    }

    #[test]
    fn libraries_are_above_the_systems_queue_or_the_interface_of_their_name() {
        use Below::{Interface, Other};
        for (name, linux, freebsd) in [
            ("mio", Interface("epoll"), Interface("kqueue")),
            ("tokio", Interface("epoll"), Interface("kqueue")),
            ("go-netpoll", Interface("epoll"), Interface("kqueue")),
            ("node-net", Interface("epoll"), Interface("kqueue")),
            ("libevent-poll", Interface("poll"), Interface("poll")),
            ("libev-select", Interface("select"), Interface("select")),
            ("python-epoll", Interface("epoll"), Interface("epoll")),
            ("io-uring", Other, Other),
        ] {
            assert_eq!(
                (below(name, Os::Linux), below(name, Os::FreeBsd)),
                (Some(linux), Some(freebsd)),
                "{name}"
            );
        }
        assert_eq!(below("polling", Os::Illumos), Some(Other));
        // Neither a name that is not known, nor an interface itself.
        for name in ["their-own", "epoll", "libevent-", "python-trio", "libevent-epoll2"] {
            assert_eq!(below(name, Os::Linux), None, "{name}");
        }
    }

    #[test]
    fn an_unknown_poller_is_compared_with_the_interface_in_its_name_or_the_systems_queue() {
        for (name, linux, freebsd) in [
            ("libevent-poll", "poll", "poll"),
            ("nio4r-select", "select", "select"),
            ("nio4r", "epoll", "kqueue"),
            ("their-epoll2", "epoll", "kqueue"),
            ("io-uring", "epoll", "kqueue"),
            ("mio", "epoll", "kqueue"),
        ] {
            assert_eq!((closest(name, Os::Linux), closest(name, Os::FreeBsd)), (linux, freebsd), "{name}");
        }
        assert_eq!(closest("mio", Os::Illumos), "poll");
    }

    #[test]
    fn answers_are_compared_in_common_words() {
        use Comparison::{CannotCompare, Differs, Shows};
        for (below, own, verdict, why) in [
            (("epoll", "IN|RDHUP"), ("python-epoll", "IN|RDHUP"), Shows, ""),
            (("poll", "-"), ("python-poll", "silent"), Shows, ""),
            (("epoll", "IN|OUT|RDHUP"), ("mio", "readable|writable|read_closed"), Shows, ""),
            (("epoll", "HUP"), ("mio", "read_closed|write_closed"), Shows, ""),
            (("epoll", "IN|HUP"), ("polling", "readable"), Differs, "hides hang-up"),
            (("epoll", "IN"), ("libuv", "silent"), Differs, "hides readable"),
            (("epoll", "silent"), ("mio", "readable"), Differs, "adds readable"),
            (("epoll", "HUP"), ("libevent-epoll", "READ|WRITE"), Differs, "hides hang-up"),
            (("select", "rw-"), ("python-select", "r|w"), Shows, ""),
            (("select", "rw-"), ("python-select", "w"), Differs, "hides readable"),
            (("epoll", "EPERM"), ("mio", "EPERM"), Shows, ""),
            (("epoll", "0"), ("libuv", "EPERM"), Differs, ""),
            (("epoll", "IN"), ("their-own", "signalled"), CannotCompare, ""),
            (("epoll", "IN x2"), ("mio", "readable"), CannotCompare, ""),
            (("epoll", "EBADF"), ("mio", "readable"), CannotCompare, ""),
        ] {
            assert_eq!(compare(below, own), (verdict, why.to_owned()), "{below:?} {own:?}");
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
