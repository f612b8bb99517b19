//! The output on a terminal.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};

use crate::sandbox::{Sandbox, id};

/// The output of a command on a pseudo-terminal, and every state of the screen.
struct Shown {
    text: String,
    /// The rows of each state of the screen.
    screens: Vec<Vec<String>>,
    code: Option<i32>,
}

fn on_terminal(mut command: Command, columns: u16, term: Option<&str>) -> Shown {
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).expect("there are terminals");
    let terminal = || Stdio::from(pty.slave.try_clone().expect("there are descriptors"));
    command.stdin(terminal()).stdout(terminal()).stderr(terminal());
    for name in ["TERM", "CLICOLOR_FORCE", "NO_COLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    command.envs(term.map(|term| ("TERM", term)));
    let mut child = command.spawn().expect("the executable starts");
    drop((command, pty.slave));
    let sizes = [24, columns].map(|size| NonZero::new(size).expect("a terminal has a size"));
    let mut screen = vt100::Parser::new(sizes[0], sizes[1], 0);
    let (mut written, mut screens) = (Vec::new(), Vec::new());
    let mut buffer = [0; 4096];
    let mut master = File::from(pty.master);
    // On some systems the last read returns an error instead of 0.
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        written.extend_from_slice(&buffer[..count]);
        screen.process(&buffer[..count]);
        screens.push(screen.screen().rows(0, columns).collect());
    }
    let text = String::from_utf8_lossy(&written).replace("\r\n", "\n");
    Shown { text, screens, code: child.wait().expect("the command ends").code() }
}

impl Shown {
    /// Returns whether any row of any screen satisfied `predicate`.
    fn had(&self, predicate: impl Fn(&str) -> bool) -> bool {
        self.screens.iter().flatten().any(|row| predicate(row))
    }

    /// Returns whether any screen contained the text, possibly over several rows.
    fn had_text(&self, text: &str) -> bool {
        self.screens.iter().any(|rows| rows.concat().contains(text))
    }
}

/// A cell that fails, and one that takes long enough for the failure to be visible.
const CELLS: [&str; 3] = ["fail", "pass", "hang"];

fn run(columns: u16, term: Option<&str>) -> Shown {
    let sandbox = Sandbox::new(&CELLS, 3);
    let shown = on_terminal(sandbox.command(&["run", "--jobs", "1"]), columns, term);
    assert_eq!(shown.code, Some(1), "{}", shown.text);
    shown
}

#[test]
fn failures_are_visible_during_the_run_at_every_width_of_the_terminal() {
    for columns in [30, 40, 79, 80, 200] {
        let shown = run(columns, Some("xterm"));
        let all: Vec<_> = shown.screens.iter().map(|rows| rows.join("\n")).collect();
        let all = all.join("\n----\n");
        assert!(shown.had_text(&format!("fail {}: the answer", id("fail"))), "{columns}:\n{all}");
        // The progress bar is one row with the counts.
        assert!(shown.had(|row| row.contains("2/3") && row.contains("1 failed")), "{columns}:\n{all}");
    }
}

#[test]
fn on_a_terminal_without_cursor_control_each_cell_is_a_line() {
    for term in [Some("dumb"), None] {
        let shown = run(40, term);
        let line = |number, text: &str| format!("[{number}/3] {text}");
        let lines: Vec<_> = shown.text.lines().collect();
        let at = |begin: String| lines.iter().position(|line| line.starts_with(&begin));
        let [failed, passed, hung] = [
            line(1, &format!("fail {}: the answer (", id("fail"))),
            line(2, &format!("pass {} (", id("pass"))),
            line(3, &format!("timeout {}: ", id("hang"))),
        ]
        .map(at);
        assert!(failed.is_some() && failed < passed && passed < hung, "{}", shown.text);
        assert!(!shown.text.contains('\u{8}') && !shown.text.contains("\u{1b}["), "{:?}", shown.text);
        // The lines appear one by one, not all at the end.
        let alone = |rows: &Vec<String>| {
            let text = rows.concat();
            text.contains("[1/3] fail") && !text.contains("[3/3]")
        };
        assert!(shown.screens.iter().any(alone), "{:?}", shown.screens);
    }
}
