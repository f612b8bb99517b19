//! Every poller that is here keeps what scenarios rely on, and what does not is named by the check that says so.

use std::time::Duration;

use selector::MakeSelector;
use subjects::{Check, Outcome, SUBJECTS, check, check_process};

const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/python/adapter.py");

#[test]
fn python() {
    for p in ["epoll", "poll", "select"] {
        let line = ["python3", ADAPTER, p].map(String::from);
        for check in check_process(&line, Duration::from_secs(2)) { println!("{p} {check}"); }
    }
    for s in SUBJECTS {
        for check in check(s.make) { println!("{} {check}", s.name); }
    }
}
