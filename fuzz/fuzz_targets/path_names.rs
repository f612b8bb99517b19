#![no_main]

#[allow(dead_code)]
#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(|text: &[u8]| entries::path_names(text));
