//! The generated test file: every contract cell, and every characterisation, as a named rstest case.

use std::fmt::Write;

use metadata::Layer;

use crate::cells::Cell;
use crate::file::{Backend, Matrix, Scenario};

/// Returns the text of `tests/matrix.rs`.
///
/// The name of a test is the id of its cell as a path: `migration::idle_takeover::epoll::tcp_level_2t1g`. The
/// cases of rstest itself need fewer lines, but rstest numbers them, so a new variant would rename the
/// others. Tests of a backend that the compiling OS does not have are ignored, with the reason, so that test
/// runs list them.
///
/// A characterisation is one test per backend, with all of its variants: `readiness::epoll::peer_shut_write`.
/// Reports list its answers one by one; the test only checks that none has changed.
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
        let of_layer = |layer: Layer| {
            matrix.scenarios.iter().filter_map(move |scenario| {
                let name = scenario.id.strip_prefix(group)?.strip_prefix('/')?;
                (scenario.layer == layer).then_some((scenario, name))
            })
        };
        let mut blank = "";
        for (scenario, name) in of_layer(Layer::Contract) {
            let _ = writeln!(out, "{blank}    mod {} {{", identifier(name));
            for backend in &matrix.backends {
                let of_this = |cell: &&Cell| cell.id.scenario == scenario.id && cell.id.backend == backend.id;
                let cells: Vec<_> = cells.iter().filter(of_this).collect();
                if !cells.is_empty() {
                    write_cells(&mut out, backend, &cells);
                }
            }
            out.push_str("    }\n");
            blank = "\n";
        }
        for backend in &matrix.backends {
            let has_cells = |(scenario, _): &(&Scenario, &str)| {
                cells.iter().any(|cell| cell.id.scenario == scenario.id && cell.id.backend == backend.id)
            };
            let scenarios: Vec<_> = of_layer(Layer::Characterisation).filter(has_cells).collect();
            if !scenarios.is_empty() {
                out.push_str(blank);
                write_answers(&mut out, backend, &scenarios);
                blank = "\n";
            }
        }
        out.push_str("}\n");
    }
    out
}

const HEADER: &str = r#"//! Every cell of matrix.yml in a test. Each cell is one process, as in `pollmatrix run`.
//!
//! Generated from matrix.yml by `pollmatrix generate`: do not edit.

use ::runner::testing::CellRunner;
use rstest::{fixture, rstest};

#[fixture]
fn runner() -> CellRunner {
    CellRunner::new(env!("CARGO_BIN_EXE_pollmatrix"))
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
                fn $name(runner: CellRunner) {
                    runner.assert_cell($scenario, $variant, stringify!($backend), $seconds);
                }
            )*
        }
    };
}

/// The answers of one backend: a test per scenario, with all of its cells.
macro_rules! answers {
    (#[$condition:meta] $backend:ident; $($name:ident $scenario:literal)*) => {
        mod $backend {
            use crate::*;

            $(
                #[rstest]
                #[$condition]
                fn $name(runner: CellRunner) {
                    runner.assert_scenario($scenario, stringify!($backend));
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

fn write_answers(out: &mut String, backend: &Backend, scenarios: &[(&Scenario, &str)]) {
    let _ = writeln!(out, "    answers! {{");
    let _ = writeln!(out, "        #[{}]", condition(backend));
    let _ = writeln!(out, "        {};", identifier(&backend.id));
    for (scenario, name) in scenarios {
        let _ = writeln!(out, "        {} \"{}\"", identifier(name), scenario.id);
    }
    out.push_str("    }\n");
}

/// Returns the attribute of every test of a backend.
fn condition(backend: &Backend) -> String {
    if backend.os.len() == metadata::Os::ALL.len() {
        return "cfg(unix)".into();
    }
    let systems: Vec<_> = backend.os.iter().map(|os| format!("target_os = \"{os}\"")).collect();
    let systems = systems.join(", ");
    format!("cfg_attr(not(any({systems})), ignore = \"{} does not exist on this OS\")", backend.id)
}

/// Returns a part of an id as a Rust identifier.
fn identifier(name: &str) -> String {
    name.replace('-', "_")
}
