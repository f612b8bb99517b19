#![no_main]

#[allow(dead_code)]
#[path = "../entries.rs"]
mod entries;

use std::sync::LazyLock;

use metadata::Description;

static CATALOGUE: LazyLock<Vec<Description>> = LazyLock::new(|| {
    let of_the_core = scenarios::catalogue().map(scenarios::Scenario::description);
    of_the_core.chain(raw::scenarios().map(metadata::Scripted::description)).collect()
});

libfuzzer_sys::fuzz_target!(|text: &[u8]| entries::matrix_yml(text, &CATALOGUE));
