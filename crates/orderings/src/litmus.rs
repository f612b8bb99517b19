//! The pairs as litmus tests for herd7: in C with the orderings of the source, and per processor with the
//! instructions of the probes.
//!
//! A test contains only the accesses and fences that the pair depends on. The fences of an acquire or a
//! release are left out. Every word has 32 bits, and every write is a swap, because each side changes one
//! bit.

use crate::tables::{Access, Pair};

/// Herd's name of a processor, the target of `targets.tsv` whose instructions the test has, and the names of
/// its registers.
struct Dialect(&'static str, &'static str, &'static [&'static str]);

const DIALECTS: [Dialect; 6] = [
    Dialect("X86", "x86_64", &["", "EAX", "", "", "", "EBX", "", "", "", "ECX"]),
    Dialect("AArch64", "aarch64-inline", &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    Dialect("AArch64", "aarch64+lse+rcpc", &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]),
    Dialect("ARM", "armv7", &["R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9"]),
    Dialect("PPC", "powerpc64", &["r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10"]),
    Dialect("RISCV", "riscv64", &["x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14"]),
];

/// The number of registers of an access: its address, the value that is written or read, the previous value,
/// and the success of the store.
const REGISTERS: usize = 4;

/// The initial value of the registers of reads. No word has this value.
const UNREAD: u8 = 9;

impl Dialect {
    fn register(&self, index: usize) -> String {
        let Self(architecture, _, names) = self;
        format!("{}{}", if *architecture == "AArch64" { "X" } else { "" }, names[index])
    }

    /// Returns the swap of `value` into the word whose address is in register `at`.
    fn write(&self, at: usize, word: &str, value: u8, thread: usize) -> Vec<String> {
        let Self(architecture, target, names) = self;
        let name = |offset: usize| names[at + offset];
        match (*architecture, *target) {
            ("X86", _) => vec![format!("MOV {},${value}", name(1)), format!("XCHG [{word}],{}", name(1))],
            (_, "aarch64+lse+rcpc") => {
                vec![
                    format!("MOV W{},#{value}", name(1)),
                    format!("SWPAL W{},W{},[X{}]", name(1), name(2), name(0)),
                ]
            }
            ("AArch64", _) => vec![
                format!("MOV W{},#{value}", name(1)),
                format!("LDAXR W{},[X{}]", name(2), name(0)),
                format!("STLXR W{},W{},[X{}]", name(3), name(1), name(0)),
            ],
            ("ARM", _) => vec![
                format!("MOV {},#{value}", name(1)),
                format!("LDREX {},[{}]", name(2), name(0)),
                format!("STREX {},{},[{}]", name(3), name(1), name(0)),
            ],
            ("PPC", _) => vec![
                format!("li {},{value}", name(1)),
                format!("lwarx {},r0,{}", name(2), name(0)),
                format!("stwcx. {},r0,{}", name(1), name(0)),
                format!("bne Fail{thread}"),
            ],
            _ => vec![
                format!("ori {},x0,{value}", name(1)),
                format!("amoswap.w.aq.rl {},{},({})", name(2), name(1), name(0)),
            ],
        }
    }

    fn read(&self, at: usize, word: &str) -> String {
        let Self(architecture, target, names) = self;
        let (address, value) = (names[at], names[at + 1]);
        match (*architecture, *target) {
            ("X86", _) => format!("MOV {value},[{word}]"),
            (_, "aarch64+lse+rcpc") => format!("LDAPR W{value},[X{address}]"),
            ("AArch64", _) => format!("LDAR W{value},[X{address}]"),
            ("ARM", _) => format!("LDR {value},[{address}]"),
            ("PPC", _) => format!("lwz {value},0({address})"),
            _ => format!("lw {value},0({address})"),
        }
    }

    fn fence(&self, after_write: bool) -> Option<&'static str> {
        match self.0 {
            // The exchange has an implicit lock.
            "X86" if after_write => None,
            "X86" => Some("MFENCE"),
            "PPC" => Some("sync"),
            "RISCV" => Some("fence rw,rw"),
            _ => Some("DMB ISH"),
        }
    }

    fn test(&self, pair: &Pair) -> String {
        let Self(architecture, target, _) = self;
        let words = words(pair).iter().map(|(word, value)| format!("{word}={value};")).collect::<String>();
        let (mut init, mut outcome, mut columns) = (vec![words], vec![], vec![]);
        for (thread, (_, accesses)) in pair.sides.iter().enumerate() {
            let (mut column, mut registers, mut at) = (vec![format!("P{thread}")], String::new(), 0);
            for access in accesses {
                match access {
                    Access::Fence => {
                        // A side with a write begins with it.
                        let after_write = matches!(accesses.first(), Some(Access::Write(..)));
                        column.extend(self.fence(after_write).map(str::to_owned));
                        continue;
                    }
                    Access::Write(word, value) => {
                        column.extend(self.write(at, word, *value, thread));
                        if matches!(*target, "aarch64-inline" | "armv7") {
                            outcome.push(format!("{thread}:{}=0", self.register(at + 3)));
                        }
                    }
                    Access::Read(word, value) => {
                        column.push(self.read(at, word));
                        registers += &format!("{thread}:{}={UNREAD}; ", self.register(at + 1));
                        outcome.push(format!("{thread}:{}={value}", self.register(at + 1)));
                    }
                }
                let (Access::Write(word, _) | Access::Read(word, _)) = access else { continue };
                if *architecture != "X86" {
                    registers += &format!("{thread}:{}={word}; ", self.register(at));
                }
                at += REGISTERS;
            }
            if column.iter().any(|line| line.starts_with("bne ")) {
                column.push(format!("Fail{thread}:"));
            }
            init.push(registers.trim_end().to_owned());
            columns.push(column);
        }
        let init = init.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let name = format!("{}.{target}", pair.name);
        format!(
            "{architecture} {name}\n{{\n{init}\n}}\n{}~exists ({})\n",
            side_by_side(&columns),
            outcome.join(" /\\ ")
        )
    }
}

/// Formats the instructions of each thread as a column.
fn side_by_side(columns: &[Vec<String>]) -> String {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: &Vec<String>| column.iter().map(String::len).max().unwrap_or(0);
    let cell = |column: &Vec<String>, line: usize| {
        let text = column.get(line).map_or("", String::as_str);
        format!(" {text:width$} ", width = width(column))
    };
    let line = |line| columns.iter().map(|column| cell(column, line)).collect::<Vec<_>>().join("|") + ";\n";
    (0..height).map(line).collect()
}

/// Returns the words and their initial values: the value of the bit that no side writes.
fn words(pair: &Pair) -> Vec<(&'static str, u8)> {
    let written = |access: &Access| match access {
        Access::Write(word, value) => Some((*word, 1 - value)),
        _ => None,
    };
    let mut words: Vec<_> =
        pair.sides.iter().flat_map(|(_, accesses)| accesses).filter_map(written).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the test in C.
fn in_c(pair: &Pair) -> String {
    let words = words(pair);
    let init: String = words.iter().map(|(word, value)| format!(" [{word}] = {value};")).collect();
    let parameters =
        words.iter().map(|(word, _)| format!("atomic_int* {word}")).collect::<Vec<_>>().join(", ");
    let (mut outcome, mut threads) = (vec![], String::new());
    for (thread, (_, accesses)) in pair.sides.iter().enumerate() {
        threads += &format!("P{thread}({parameters}) {{\n");
        for (index, access) in accesses.iter().enumerate() {
            threads += &match access {
                Access::Write(word, value) => {
                    format!(
                        "  int r{index} = atomic_exchange_explicit({word}, {value}, memory_order_acq_rel);\n"
                    )
                }
                Access::Fence => "  atomic_thread_fence(memory_order_seq_cst);\n".to_owned(),
                Access::Read(word, value) => {
                    outcome.push(format!("{thread}:r{index}={value}"));
                    format!("  int r{index} = atomic_load_explicit({word}, memory_order_acquire);\n")
                }
            };
        }
        threads += "}\n";
    }
    format!("C {}.c\n{{{init} }}\n{threads}~exists ({})\n", pair.name, outcome.join(" /\\ "))
}

/// Returns every test, with the name of its file.
pub fn tests(pairs: &[Pair]) -> Vec<(String, String)> {
    let of_pair = |pair: &Pair| {
        let name = |target: &str| format!("{}.{target}.litmus", pair.name);
        let mut tests = vec![(name("c"), in_c(pair))];
        tests.extend(DIALECTS.iter().map(|dialect| (name(dialect.1), dialect.test(pair))));
        tests
    };
    pairs.iter().flat_map(of_pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    #[test]
    fn the_committed_tests_are_those_of_the_table() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus");
        let mut committed: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        committed.sort_unstable();
        let mut tests = tests(&tables::pairs());
        tests.sort_unstable();
        assert_eq!(committed, tests.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        for (name, text) in tests {
            let committed = std::fs::read_to_string(folder.join(&name)).unwrap();
            assert_eq!(committed, text, "{name}: update it with `cargo run -p orderings -- litmus`");
        }
    }

    #[test]
    fn every_target_with_a_test_is_compiled() {
        let targets = tables::targets();
        for Dialect(_, name, _) in &DIALECTS {
            assert!(targets.iter().any(|target| target.name == *name), "{name}");
        }
    }
}
