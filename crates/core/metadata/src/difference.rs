//! How one answer differs from another one to the same question, by what both mean.

use std::fmt;

use crate::answer::{Answer, Outcome};
use crate::column::{Column, Interest, Meaning, Said};

/// How an answer differs from another one to the same question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// Both mean the same.
    None,
    /// A call has another result.
    Result,
    /// The events differ.
    Meanings {
        /// What only the first answer says.
        hides: Vec<Meaning>,
        /// What only the second answer says.
        adds: Vec<Meaning>,
    },
    /// An answer has no meaning that can be compared: a count, or the events of several descriptors or waits.
    Unknown,
}

impl Difference {
    /// Compares an answer with another poller's.
    pub fn between(one: (&Column, &Answer), other: (&Column, &Answer)) -> Self {
        let (in_one, in_other) = match (one.1.single(), other.1.single()) {
            _ if one.1 == other.1 => return Self::None,
            (Some(one), Some(other)) => (one, other),
            _ => return Self::Unknown,
        };
        // A result of a call is no event, and means the same for each of them.
        let is_result = |outcome: &Outcome| matches!(outcome, Outcome::Done | Outcome::Failed(_));
        if is_result(in_one) && is_result(in_other) {
            return Self::Result;
        }
        let (Some(one_says), Some(other_says)) = (in_one.report(one.0), in_other.report(other.0)) else {
            return Self::Unknown;
        };
        let silent = |column: &Column| column.report([], Interest::ALL);
        let (one_silent, other_silent) = (silent(one.0), silent(other.0));
        let (mut hides, mut adds) = (Vec::new(), Vec::new());
        for (index, meaning) in Meaning::ALL.iter().enumerate() {
            // It is hidden if the other one denies it, or has no word for it in any event.
            let is_wordless = (other_says[index], other_silent[index]) == (Said::Nothing, Said::Nothing);
            if one_says[index] == Said::Yes && (other_says[index] == Said::No || is_wordless) {
                hides.push(*meaning);
            }
            // The first one says less only if it has a word for it.
            let has_word = one_silent[index] != Said::Nothing;
            if other_says[index] == Said::Yes && one_says[index] == Said::No && has_word {
                adds.push(*meaning);
            }
        }
        if hides.is_empty() && adds.is_empty() { Self::None } else { Self::Meanings { hides, adds } }
    }

    /// Compares answers of which each may be given. Of several, one pair may be the same state. `None`
    /// without a pair.
    pub fn least(one: (&Column, &[Answer]), other: (&Column, &[Answer])) -> Option<Self> {
        let pairs = other.1.iter().flat_map(|other| one.1.iter().map(move |one| (one, other)));
        let differences = pairs.map(|(of_one, of_other)| Self::between((one.0, of_one), (other.0, of_other)));
        differences.min_by_key(|difference| match difference {
            Self::None => 0,
            Self::Result | Self::Meanings { .. } => 1,
            Self::Unknown => 2,
        })
    }
}

/// `hides readable, hang-up; adds end`. Empty if no event differs.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Meanings { hides, adds } = self else { return Ok(()) };
        let part = |verb: &str, meanings: &[Meaning]| {
            let names: Vec<_> = meanings.iter().map(|meaning| meaning.name()).collect();
            (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
        };
        let parts: Vec<_> = part("hides", hides).into_iter().chain(part("adds", adds)).collect();
        f.write_str(&parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Interface;

    #[test]
    fn answers_are_compared_by_their_meanings() {
        let [epoll, poll, select] = [Interface::Epoll, Interface::Poll, Interface::Select].map(Column::of);
        let closed = [("read_closed", "end hang-up?"), ("write_closed", "writable? hang-up?")];
        let mio = Column::new(None, &[[("readable", "readable"), ("writable", "writable")], closed].concat());
        let polling = Column::new(None, &[("readable", "readable"), ("interrupt", "hang-up")]);
        let sets = Column::new(None, &[("READ", "readable"), ("WRITE", "writable")]);
        let between = |one: (&Column, &str), other: (&Column, &str)| {
            let answer = |(column, text): (&Column, &str)| Answer::of_wait(text, column);
            Difference::between((one.0, &answer(one)), (other.0, &answer(other)))
        };
        for (one, other, expected) in [
            ((&epoll, "IN|RDHUP"), (&epoll, "IN|RDHUP"), "None"),
            ((&poll, "-"), (&epoll, "silent"), "None"),
            ((&epoll, "HUP"), (&mio, "read_closed|write_closed"), "None"),
            ((&epoll, "IN|HUP"), (&polling, "readable"), "hides hang-up"),
            ((&epoll, "IN"), (&sets, "silent"), "hides readable"),
            ((&epoll, "IN|OUT"), (&sets, "WRITE"), "hides readable"),
            ((&epoll, "silent"), (&mio, "readable"), "adds readable"),
            ((&epoll, "HUP"), (&sets, "READ|WRITE"), "hides hang-up"),
            ((&epoll, "IN|OUT"), (&mio, "readable|read_closed"), "hides writable; adds end"),
            ((&select, "rw-"), (&select, "r|w"), "None"),
            ((&select, "rw-"), (&select, "w"), "hides readable"),
            ((&epoll, "EPERM"), (&mio, "EPERM"), "None"),
            ((&epoll, "0"), (&sets, "EPERM"), "Result"),
            ((&epoll, "IN"), (&sets, "signalled"), "Unknown"),
            ((&epoll, "IN x2"), (&mio, "readable"), "Unknown"),
            ((&epoll, "EBADF"), (&mio, "readable"), "Unknown"),
        ] {
            let difference = between(one, other);
            let text = match &difference {
                Difference::Meanings { .. } => difference.to_string(),
                other => format!("{other:?}"),
            };
            assert_eq!(text, expected, "{} {}", one.1, other.1);
        }
    }
}
