//! The instructions of a probe, and the check that they keep the order of the protocol.

use orderings::Step;

use crate::tables::{Kind, Pattern};

/// An instruction that accesses memory or orders accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Its effect on memory.
    pub kind: Kind,
    /// Its text in lower case, with its parts separated by single spaces.
    pub text: String,
}

impl Instruction {
    /// Returns the instruction without the registers, which the compiler chooses.
    fn without_registers(&self) -> &str {
        match self.kind {
            Kind::Fence | Kind::Light | Kind::Compiler => &self.text,
            _ if self.text.starts_with("bl ") => &self.text,
            _ if self.text.starts_with("lock ") => {
                self.text.match_indices(' ').nth(1).map_or(&self.text, |(end, _)| &self.text[..end])
            }
            _ => self.text.split(' ').next().unwrap_or_default(),
        }
    }

    /// Returns the register that holds the address.
    fn base(&self) -> Option<&str> {
        let open = self.text.rfind(['(', '['])?;
        let end = self.text[open..].find([')', ']', ','])?;
        Some(&self.text[open + 1..open + end])
    }
}

/// Returns the instructions of the function whose symbol ends with `name`, without those that access no
/// memory or only the stack. `None` if there is no such function.
pub fn instructions<'a>(assembly: &'a str, name: &str, patterns: &[&Pattern]) -> Option<Vec<Instruction>> {
    // The older mangling appends a hash.
    let is_symbol = |label: &str| label.ends_with(name) || label.contains(&format!("{name}17h"));
    // Of equal functions, the compiler emits one; the others are second names of it.
    let assigned = |line: &'a str| line.trim_start_matches("\t.set\t").split_once([' ', ',']);
    let same = assembly.lines().filter_map(assigned).find(|(it, _)| !it.starts_with('\t') && is_symbol(it));
    let same = same.map(|(_, same)| same.trim_start_matches(['=', ' ']));
    let is_label = |label: &str| same.map_or_else(|| is_symbol(label), |same| label == same);
    let mut lines =
        assembly.lines().skip_while(|line| !line.strip_suffix(':').is_some_and(is_label)).skip(1).peekable();
    lines.peek()?;
    let body = lines.take_while(|line| !line.starts_with(".Lfunc_end") && !line.starts_with("Lfunc_end"));
    let instruction = |line: &str| {
        let text = line.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        if text.is_empty() || text.starts_with('.') || text.ends_with(':') {
            return None;
        }
        let known = patterns.iter().find(|pattern| pattern.matches(&text))?;
        (!matches!(known.kind, Kind::Stack | Kind::None)).then_some(Instruction { kind: known.kind, text })
    };
    Some(body.filter_map(instruction).collect())
}

/// Returns the instructions in the notation of `compiled.tsv`.
pub fn summary(instructions: &[Instruction]) -> String {
    instructions.iter().map(Instruction::without_registers).collect::<Vec<_>>().join("; ")
}

/// Returns whether the processor itself orders a read-modify-write before every later load. The compiler must
/// still not move the load.
fn write_is_a_fence(processor: &str) -> bool {
    // A locked instruction is a full barrier: Intel SDM, volume 3, 9.2.3.9; AMD64 APM, volume 2, 7.4.2.
    processor == "x86"
}

/// Joins the two instructions of a read-modify-write. Drops the loads of its word before it, which are part
/// of its loop.
fn joined(instructions: &[Instruction]) -> Vec<Instruction> {
    let mut joined: Vec<Instruction> = vec![];
    let mut instructions = instructions.iter().peekable();
    while let Some(instruction) = instructions.next() {
        let mut instruction = instruction.clone();
        match instruction.kind {
            // The code below drops it if it precedes the store.
            Kind::Linked => instruction.kind = Kind::Read,
            Kind::Conditional => {
                instruction.kind = Kind::Write;
                // The loop may continue at a second copy of its load.
                while instructions.next_if(|instruction| instruction.kind == Kind::Linked).is_some() {}
            }
            _ => {}
        }
        if instruction.kind == Kind::Write {
            joined.retain(|earlier| earlier.kind != Kind::Read || earlier.base() != instruction.base());
        }
        joined.push(instruction);
    }
    joined
}

/// Checks that the instructions keep the steps in order. The error describes the first difference.
pub fn check(instructions: &[Instruction], steps: &[Step], processor: &str) -> Result<(), String> {
    if let Some(unknown) = instructions.iter().find(|instruction| instruction.kind == Kind::Unknown) {
        return Err(format!("instructions.tsv has no pattern for `{}`", unknown.text));
    }
    let joined = joined(instructions);
    let mut rest = joined.iter().filter(|instruction| instruction.kind != Kind::Light).peekable();
    let mut after_write = false;
    for step in steps {
        let mut fences = 0;
        while let Some(fence) = rest.next_if(|it| matches!(it.kind, Kind::Fence | Kind::Compiler)) {
            let counts = fence.kind == Kind::Fence || after_write && write_is_a_fence(processor);
            fences += usize::from(counts);
        }
        let (kind, name) = match step {
            Step::Fence if fences > 0 => continue,
            Step::Fence => return Err(missing("a fence", rest.next())),
            Step::Write => (Kind::Write, "a read-modify-write"),
            Step::Read => (Kind::Read, "a load"),
        };
        let found = rest.next();
        if found.is_none_or(|instruction| instruction.kind != kind) {
            return Err(missing(name, found));
        }
        after_write = *step == Step::Write;
    }
    match rest.find(|it| !matches!(it.kind, Kind::Fence | Kind::Compiler)) {
        Some(more) => Err(format!("`{}` is an unexpected access", more.text)),
        None => Ok(()),
    }
}

fn missing(wanted: &str, found: Option<&Instruction>) -> String {
    let found = found.map_or_else(|| "the end".to_owned(), |instruction| format!("`{}`", instruction.text));
    format!("expected {wanted}, found {found}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    const WRITE_AND_READ: [Step; 3] = [Step::Write, Step::Fence, Step::Read];

    /// Checks a function with this body.
    fn verdict(processor: &str, body: &str) -> Result<(), String> {
        let all = tables::patterns();
        let patterns: Vec<_> = all.iter().filter(|pattern| pattern.processor == processor).collect();
        let lines = body.split(" | ").map(|line| format!("\t{line}\n")).collect::<String>();
        let assembly = format!("_RNvCs0_9orderings12probe_delete:\n{lines}.Lfunc_end0:\n\tunknown\n");
        let instructions = instructions(&assembly, "probe_delete", &patterns).expect("the function is there");
        check(&instructions, &WRITE_AND_READ, processor)
    }

    #[test]
    fn a_fence_between_write_and_read_keeps_the_order() {
        for (processor, body) in [
            ("x86", "lock\t\torq\t%rdx, (%rdi) | #MEMBARRIER | movq\t(%rsi), %rax | retq"),
            ("x86", "xchgq\t%rax, (%rsi) | #MEMBARRIER | movq\t(%rdi), %rax | retq"),
            (
                "x86",
                "movl\t20(%esp), %edi | movl\t(%edi), %eax | movl\t4(%edi), %edx | .LBB0_1: | lock\t\tcmpxchg8b\t(%edi) | \
                 jne\t.LBB0_1 | #MEMBARRIER | movq\t(%esi), %xmm0 | movd\t%xmm0, %eax | retl",
            ),
            ("aarch64", "swpal\txzr, x8, [x1] | dmb\tish | ldapr\tx0, [x0] | ret"),
            (
                "aarch64",
                ".LBB0_1: | ldaxr\tx8, [x1] | stlxr\tw9, xzr, [x1] | cbnz\tw9, .LBB0_1 | dmb\tish | ldar\tx0, [x0] | ret",
            ),
            (
                "aarch64",
                "stp\tx29, x30, [sp, #-32]! | bl\t__aarch64_swp8_acq_rel | dmb\tish | ldar\tx0, [x19] | ret",
            ),
            (
                "arm",
                "ldrexd\tr4, r5, [r0] | bne\t.LBB4_4 | dmb\tish | strexd\tr4, r6, r7, [r0] | ldrexd\tr4, r5, [r0] | clrex | \
                 dmb\tish | ldrb\tr0, [r1] | dmb\tish",
            ),
            (
                "powerpc",
                "lwsync | ldarx 5, 0, 4 | stdcx. 6, 0, 4 | bne- 0, .LBB3_1 | lwsync | sync | ld 3, 0(3) | isync | blr",
            ),
            (
                "riscv",
                "amoswap.d.aqrl\tzero, zero, (a1) | fence\trw, rw | ld\ta0, 0(a0) | fence\tr, rw | ret",
            ),
        ] {
            assert_eq!(verdict(processor, body), Ok(()), "{processor}: {body}");
        }
    }

    /// B1: the compiled pair for apple-m1, neoverse-n1 and pwr8, when its fence existed only under loom.
    #[test]
    fn a_pair_without_its_fence_is_found() {
        for (processor, body) in [
            ("aarch64", "swpal\txzr, x8, [x1] | ldapr\tx0, [x0] | ret"),
            ("aarch64", "ldaxr\tx8, [x1] | stlxr\tw9, xzr, [x1] | ldar\tx0, [x0] | ret"),
            ("aarch64", "swpal\txzr, x8, [x1] | //MEMBARRIER | ldapr\tx0, [x0] | ret"),
            ("aarch64", "swpal\txzr, x8, [x1] | dmb\tishld | ldapr\tx0, [x0] | ret"),
            ("powerpc", "lwsync | ldarx 5, 0, 4 | stdcx. 6, 0, 4 | lwsync | ld 3, 0(3) | isync | blr"),
            ("riscv", "amoswap.d.aqrl\tzero, zero, (a1) | #MEMBARRIER | ld\ta0, 0(a0) | fence\tr, rw | ret"),
            ("riscv", "amoswap.d.aqrl\tzero, zero, (a1) | ld\ta0, 0(a0) | fence\tr, rw | ret"),
            ("riscv", "amoswap.d.aqrl\tzero, zero, (a1) | fence\tr, rw | ld\ta0, 0(a0) | ret"),
            ("x86", "lock\t\torq\t%rdx, (%rdi) | movq\t(%rsi), %rax | retq"),
        ] {
            let error = verdict(processor, body).expect_err(body);
            assert!(error.starts_with("expected a fence, found"), "{error}");
        }
    }

    #[test]
    fn a_plain_store_or_an_early_load_is_found() {
        for (processor, body) in [
            ("x86", "movq\t$0, (%rsi) | #MEMBARRIER | movq\t(%rdi), %rax | retq"),
            ("x86", "movq\t(%rdi), %rax | xchgq\t%rcx, (%rsi) | #MEMBARRIER | retq"),
            ("aarch64", "ldapr\tx0, [x0] | swpal\txzr, x8, [x1] | dmb\tish | ret"),
            ("aarch64", "stlr\txzr, [x1] | dmb\tish | ldapr\tx0, [x0] | ret"),
            ("powerpc", "ld 3, 0(3) | ldarx 5, 0, 4 | stdcx. 6, 0, 4 | lwsync | sync | isync | blr"),
            (
                "riscv",
                "amoswap.d.aqrl\tzero, zero, (a1) | fence\trw, rw | ld\ta0, 0(a0) | sd\ta0, 0(a1) | ret",
            ),
        ] {
            assert!(verdict(processor, body).is_err(), "{processor}: {body}");
        }
    }

    #[test]
    fn an_unknown_instruction_is_an_error() {
        let error =
            verdict("aarch64", "swpal\txzr, x8, [x1] | dmb\tish | ld64b\tx0, [x0] | ret").unwrap_err();
        assert!(error.contains("has no pattern for `ld64b x0, [x0]`"), "{error}");
    }

    #[test]
    fn a_second_name_of_a_function_has_its_instructions() {
        let pattern = Pattern { processor: "x86", kind: Kind::Read, pattern: "movq *" };
        for second in ["probe_want = probe_exit\n", "\t.set\tprobe_want, probe_exit\n"] {
            let assembly = format!("probe_exit:\n\tmovq\t(%rdi), %rax\n\tret\n.Lfunc_end0:\n{second}");
            let found = instructions(&assembly, "probe_want", &[&pattern]);
            assert_eq!(found, instructions(&assembly, "probe_exit", &[&pattern]));
            assert_eq!(found.map(|found| found.len()), Some(1));
        }
    }

    #[test]
    fn a_missing_function_is_not_found() {
        assert_eq!(instructions("probe_exit:\n\tret\n", "probe_delete", &[]), None);
    }
}
