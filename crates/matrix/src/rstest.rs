//! The generated test file: every cell as one named rstest case.

use std::fmt::Write;

use crate::cells::Cell;
use crate::file::{Backend, Matrix};

/// The text of `tests/matrix.rs`.
///
/// A test's name is its cell's id as a path: `migration::idle_takeover::epoll::tcp_level_2t1g`. rstest's own cases
/// would do with fewer lines, but it numbers them: a new variant would rename the others. Tests of a backend that the
/// compiling OS does not have are ignored, with the reason, so that they are counted and seen.
pub fn rstest_file(matrix: &Matrix) -> String {
    let mut out = String::from(HEADER);
    let cells = matrix.cells();
    let mut groups: Vec<&str> = Vec::new();
    for group in matrix.groups() {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for group in groups {
        let _ = writeln!(out, "\nmod {} {{", identifier(group));
        let members = matrix.scenarios.iter().filter_map(|scenario| {
            let name = scenario.id.strip_prefix(group)?.strip_prefix('/')?;
            Some((scenario, name))
        });
        for (index, (scenario, name)) in members.enumerate() {
            let blank = if index == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{blank}    mod {} {{", identifier(name));
            for backend in &matrix.backends {
                let of_this = |cell: &&Cell| cell.id.scenario == scenario.id && cell.id.backend == backend.id;
                let cells: Vec<_> = cells.iter().filter(of_this).collect();
                if !cells.is_empty() {
                    write_cells(&mut out, backend, &cells);
                }
            }
            out.push_str("    }\n");
        }
        out.push_str("}\n");
    }
    out
}

const HEADER: &str = r#"//! Every cell of matrix.yml as a test. Each test is one process, as in `pollmatrix run`.
//!
//! Generated from matrix.yml by `pollmatrix generate`: do not edit.

use cli::testing::Runner;
use rstest::{fixture, rstest};

#[fixture]
fn runner() -> Runner {
    Runner::new(env!("CARGO_BIN_EXE_pollmatrix"))
}

/// The cells of one scenario on one backend.
macro_rules! cells {
    (
        #[$condition:meta] $backend:ident: $scenario:literal, $seconds:literal seconds;
        $($name:ident $variant:literal)*
    ) => {
        mod $backend {
            use crate::*;

            $(
                #[rstest]
                #[$condition]
                fn $name(runner: Runner) {
                    runner.assert_cell($scenario, $variant, stringify!($backend), $seconds);
                }
            )*
        }
    };
}
"#;

fn write_cells(out: &mut String, backend: &Backend, cells: &[&Cell]) {
    let (id, seconds) = (&cells[0].id, cells[0].timeout.as_secs());
    let _ = writeln!(out, "        cells! {{");
    let _ = writeln!(out, "            #[{}]", condition(backend));
    let _ = writeln!(out, "            {}: \"{}\", {seconds} seconds;", identifier(&id.backend), id.scenario);
    for cell in cells {
        let variant = &cell.id.variant;
        let _ = writeln!(out, "            {} \"{variant}\"", identifier(variant));
    }
    out.push_str("        }\n");
}

/// The attribute that every test of a backend has.
fn condition(backend: &Backend) -> String {
    if backend.os.len() == crate::axes::Os::ALL.len() {
        return "cfg(unix)".into();
    }
    let systems: Vec<_> = backend.os.iter().map(|os| format!("target_os = \"{os}\"")).collect();
    let systems = systems.join(", ");
    format!("cfg_attr(not(any({systems})), ignore = \"{} does not exist on this OS\")", backend.id)
}

/// An id's part as a Rust identifier.
fn identifier(name: &str) -> String {
    name.replace('-', "_")
}
