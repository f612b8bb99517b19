//! Writes the macro `every_cell`: every contract cell of matrix.yml, and every characterisation, as a test.
//!
//! The name of a test is the id of its cell as a path: `migration::idle_takeover::epoll::tcp_level_2t1g`. The
//! cases of rstest itself need fewer lines, but rstest numbers them, so a new variant would rename the
//! others. Tests of a backend that the compiling OS does not have are ignored, with the reason, so that test
//! runs list them.
//!
//! A characterisation is one test per backend, with all of its variants: `readiness::epoll::peer_shut_write`.
//! Reports list its answers one by one; the test only checks that none has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use matrix::{Backend, Matrix};
use metadata::{Layer, Os};

/// Relative to the folder of this package, in which cargo starts this program.
const MATRIX: &str = "../../matrix.yml";

fn main() {
    println!("cargo::rerun-if-changed={MATRIX}");
    let contract = scenarios::catalogue().map(scenarios::Scenario::description);
    let characterisation = raw::scenarios().map(metadata::Scripted::description);
    let catalogue: Vec<_> = contract.chain(characterisation).collect();
    match Matrix::load(Path::new(MATRIX), &catalogue) {
        Ok((matrix, _)) => {
            let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
            let text = format!(
                "/// Expands to a test for every cell.\n#[macro_export]\nmacro_rules! every_cell {{ () => {{\n{}}} }}\n",
                modules(&matrix).text()
            );
            fs::write(Path::new(&folder).join("cells.rs"), text).expect("the folder is writable");
        }
        Err(error) => println!("cargo::error={error}\ncargo::error=help: {}", error.help()),
    }
}

/// A module of the tests.
#[derive(Default)]
struct Module {
    modules: BTreeMap<String, Module>,
    tests: BTreeSet<String>,
}

impl Module {
    /// Returns the module at `path`, and creates it first if need be.
    fn at(&mut self, path: &[&str]) -> &mut Self {
        path.iter().fold(self, |module, name| module.modules.entry(identifier(name)).or_default())
    }

    fn text(&self) -> String {
        let modules = self.modules.iter();
        let modules =
            modules.map(|(name, module)| format!("mod {name} {{ use crate::*;\n{}}}\n", module.text()));
        modules.chain(self.tests.iter().cloned()).collect()
    }
}

fn modules(matrix: &Matrix) -> Module {
    let mut root = Module::default();
    for backend in &matrix.backends {
        let condition = condition(backend);
        for cell in matrix.cells().iter().filter(|cell| cell.id.backend == backend.id) {
            let (id, seconds) = (&cell.id, cell.timeout.as_secs());
            let (group, scenario) = id.scenario.split_once('/').expect("the id of a scenario has a family");
            let (path, name, call) = match cell.layer {
                Layer::Contract => (
                    &[group, scenario, &backend.id][..],
                    identifier(&id.variant),
                    format!("assert_cell({:?}, {:?}, {:?}, {seconds})", id.scenario, id.variant, id.backend),
                ),
                Layer::Characterisation => (
                    &[group, &backend.id][..],
                    identifier(scenario),
                    format!("assert_scenario({:?}, {:?})", id.scenario, id.backend),
                ),
            };
            let test =
                format!("#[rstest] #[{condition}] fn {name}(runner: CellRunner) {{ runner.{call}; }}\n");
            root.at(path).tests.insert(test);
        }
    }
    root
}

/// Returns the attribute of every test of a backend.
fn condition(backend: &Backend) -> String {
    if backend.os.len() == Os::ALL.len() {
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
