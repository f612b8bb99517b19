#![no_main]

#[allow(dead_code)]
#[path = "../entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(|text: &[u8]| entries::recorded_answers_json(text));
