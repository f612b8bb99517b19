//! The committed tables, parsed.

use wildmatch::WildMatch;

/// One build of the probes.
pub struct Target {
    /// The name of its assembly file, without `.s`.
    pub name: &'static str,
    /// What rustc calls it.
    pub triple: &'static str,
    /// For `-C target-feature`; `-` for none.
    pub features: &'static str,
    /// Its rows in `instructions.tsv`.
    pub processor: &'static str,
}

/// What an instruction does to memory. `instructions.tsv` explains each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An atomic read-modify-write.
    Write,
    /// The load of one that takes two instructions.
    Linked,
    /// Its store.
    Conditional,
    /// A full fence.
    Fence,
    /// A fence for the compiler alone.
    Compiler,
    /// A weaker fence.
    Light,
    /// A load.
    Read,
    /// A plain store.
    Store,
    /// The function's own frame.
    Stack,
    /// No access, though it looks so.
    None,
    /// Anything else that may touch memory.
    Unknown,
}

/// A row of `instructions.tsv`.
pub struct Pattern {
    /// The processor.
    pub processor: &'static str,
    /// What the instruction does.
    pub kind: Kind,
    /// The instruction in lower case, its parts separated by single spaces.
    pub pattern: WildMatch,
}

/// A step of a side, in the order of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The write of the side's own word.
    Write,
    /// The fence.
    Fence,
    /// A read of the other side's word, or of both.
    Read,
}

/// One function of the probes.
pub struct Side {
    /// Its name, without `probe_`.
    pub name: &'static str,
    /// Its accesses.
    pub steps: Vec<Step>,
}

/// A step of a side of a pair, with its word and value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Writes the value.
    Write(&'static str, u8),
    /// The fence.
    Fence,
    /// Reads; the value is part of the outcome that must not be.
    Read(&'static str, u8),
}

/// A pair (or three sides), and the outcome that it must not have.
pub struct Pair {
    /// Its name.
    pub name: &'static str,
    /// Each side's name and accesses.
    pub sides: Vec<(&'static str, Vec<Access>)>,
}

/// The rows of a table, without its comments.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows = table.lines().filter(|line| !line.starts_with("# "));
    rows.map(|line| line.split('\t').collect())
}

fn wrong(table: &str, row: &[&str]) -> ! {
    panic!(
        "error: {table}: this row is not of the table's form: {row:?}\nhelp: the comment above the table says what it holds"
    )
}

/// `targets.tsv`.
pub fn targets() -> Vec<Target> {
    let target = |row: Vec<&'static str>| match row[..] {
        [name, triple, features, processor] => Target { name, triple, features, processor },
        _ => wrong("targets.tsv", &row),
    };
    rows(include_str!("../targets.tsv")).map(target).collect()
}

/// `instructions.tsv`.
pub fn patterns() -> Vec<Pattern> {
    let kind = |name: &str| {
        Some(match name {
            "write" => Kind::Write,
            "linked" => Kind::Linked,
            "conditional" => Kind::Conditional,
            "fence" => Kind::Fence,
            "compiler" => Kind::Compiler,
            "light" => Kind::Light,
            "read" => Kind::Read,
            "store" => Kind::Store,
            "stack" => Kind::Stack,
            "none" => Kind::None,
            "unknown" => Kind::Unknown,
            _ => return None,
        })
    };
    let pattern = |row: Vec<&'static str>| match row[..] {
        [processor, name, pattern] => {
            let kind = kind(name).unwrap_or_else(|| wrong("instructions.tsv", &row));
            Pattern { processor, kind, pattern: WildMatch::new(pattern) }
        }
        _ => wrong("instructions.tsv", &row),
    };
    rows(include_str!("../instructions.tsv")).map(pattern).collect()
}

/// `sides.tsv`.
pub fn sides() -> Vec<Side> {
    let step = |name: &str| match name {
        "write" => Step::Write,
        "fence" => Step::Fence,
        "read" => Step::Read,
        _ => wrong("sides.tsv", &[name]),
    };
    let side = |row: Vec<&'static str>| match row[..] {
        [name, steps] => Side { name, steps: steps.split(' ').map(step).collect() },
        _ => wrong("sides.tsv", &row),
    };
    rows(include_str!("../sides.tsv")).map(side).collect()
}

/// `pairs.tsv`.
pub fn pairs() -> Vec<Pair> {
    let access = |text: &'static str| {
        let part = |text: &'static str| {
            let (word, value) = text.split_once('=')?;
            Some((word, value.parse().ok()?))
        };
        let known = match text.split_at_checked(2) {
            Some(("W:", rest)) => part(rest).map(|(word, value)| Access::Write(word, value)),
            Some(("R:", rest)) => part(rest).map(|(word, value)| Access::Read(word, value)),
            _ => (text == "F").then_some(Access::Fence),
        };
        known.unwrap_or_else(|| wrong("pairs.tsv", &[text]))
    };
    let mut pairs: Vec<Pair> = vec![];
    for row in rows(include_str!("../pairs.tsv")) {
        let [name, side, accesses] = row[..] else { wrong("pairs.tsv", &row) };
        let side = (side, accesses.split(' ').map(access).collect());
        match pairs.iter_mut().find(|pair| pair.name == name) {
            Some(pair) => pair.sides.push(side),
            None => pairs.push(Pair { name, sides: vec![side] }),
        }
    }
    pairs
}

/// `compiled.tsv`: target, side, instructions.
pub fn compiled() -> Vec<(&'static str, &'static str, &'static str)> {
    let row = |row: Vec<&'static str>| match row[..] {
        [target, side, instructions] => (target, side, instructions),
        _ => wrong("compiled.tsv", &row),
    };
    rows(include_str!("../compiled.tsv")).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_patterns_and_every_pair_sides_that_are_compiled() {
        let (patterns, sides) = (patterns(), sides());
        for target in targets() {
            for kind in [Kind::Fence, Kind::Read, Kind::Store, Kind::Unknown] {
                let known = patterns
                    .iter()
                    .any(|pattern| pattern.processor == target.processor && pattern.kind == kind);
                assert!(known, "{}: {kind:?}", target.processor);
            }
        }
        for pair in pairs() {
            assert!(pair.sides.len() >= 2, "{}", pair.name);
            for (name, accesses) in pair.sides {
                let side = sides.iter().find(|side| side.name == name).expect(name);
                let mut steps = side.steps.iter();
                for access in accesses {
                    let step = match access {
                        Access::Write(..) => Step::Write,
                        Access::Fence => Step::Fence,
                        Access::Read(..) => Step::Read,
                    };
                    assert!(steps.any(|compiled| *compiled == step), "{} {name}: {access:?}", pair.name);
                }
            }
        }
    }

    /// Each side of a pair misses the other: it reads what was there before the other's write. Where a third side writes, one
    /// of them has seen that write.
    #[test]
    fn every_read_of_a_pair_is_of_a_word_that_another_side_writes() {
        for pair in pairs() {
            for (index, (name, accesses)) in pair.sides.iter().enumerate() {
                for access in accesses {
                    let Access::Read(word, _) = access else { continue };
                    let others = pair.sides.iter().enumerate().filter(|(other, _)| *other != index);
                    let writes =
                        |access: &Access| matches!(access, Access::Write(written, _) if written == word);
                    let written = others.flat_map(|(_, (_, accesses))| accesses).any(writes);
                    assert!(written, "{} {name}: nobody else writes {word}", pair.name);
                }
            }
        }
    }
}
