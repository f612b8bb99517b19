use super::parse::{MOST_BYTES, MOST_CLAUSES};
use super::*;

fn parsed(text: &str) -> Script {
    text.parse().unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Returns the forms of clauses and their examples, as the table in docs/verbs.md has them.
fn forms() -> Vec<(&'static str, String)> {
    let page = include_str!("../../../../../docs/verbs.md");
    let (_, table) = page.split_once("| clause | what it does | for example |\n|---|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let form = |row: &'static str| {
        let [_, form, _, example, _] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let [form, example] = [form, example].map(|cell| cell.trim().trim_matches('`'));
        (form, example.replace("…, ", "own and peer are connected, "))
    };
    rows.map(form).collect()
}

#[test]
fn every_documented_form_parses_and_prints_as_it_is_written() {
    for (form, example) in forms() {
        assert_eq!(parsed(&example).to_string(), example, "{form}");
    }
    assert_eq!(forms().len(), 111, "no form is lost");
}

/// Compares the parser's words with the documented forms.
#[test]
fn every_verb_of_the_parser_has_a_form() {
    let forms = forms();
    let words: Vec<_> = forms.iter().flat_map(|(form, _)| form.split([' ', ',', '['])).collect();
    for verb in parse::STARTING_WORDS.iter().chain(parse::ACTOR_VERBS) {
        assert!(words.contains(verb), "no form documents '{verb}'");
    }
}

#[test]
fn the_canonical_form_has_one_space_and_no_defaults() {
    for (typed, canonical) in [
        ("  own   and peer are connected ,watch own in first", "own and peer are connected, watch own"),
        ("own is a file of 5 at 0", "own is a file of 5"),
        ("own is a timer, own is overdue  1 times", "own is a timer, own is overdue"),
        ("own is  a watched file", "own is a watched file"),
        ("own is a watched  directory, own loses a file", "own is a watched directory, own loses a file"),
        ("p is a process, own is  the first thread of p", "p is a process, own is the first thread of p"),
        ("own is a  message queue, own gets  a message", "own is a message queue, own gets a message"),
        ("own is a  packet socket, own gets a  packet", "own is a packet socket, own gets a packet"),
        ("own is a raw  socket, own is a netlink socket", "own is a raw socket, own is a netlink socket"),
        ("own is the  domain name, own  changes", "own is the domain name, own changes"),
        ("own is fresh, own sets  IP_RECVERR", "own is fresh, own sets IP_RECVERR"),
        ("own is fresh, own sets  SO_TIMESTAMPING", "own is fresh, own sets SO_TIMESTAMPING"),
        ("own is fresh, add own for OUT|IN", "own is fresh, add own for both"),
        ("own is fresh, add own for RDNORM|IN", "own is fresh, add own for IN|RDNORM"),
        (
            "own is fresh, own asks SO_ERROR  ? as  unconnected",
            "own is fresh, own asks SO_ERROR? as unconnected",
        ),
    ] {
        assert_eq!(parsed(typed).to_string(), canonical);
        assert_eq!(parsed(canonical), parsed(typed));
    }
}

#[test]
fn a_clause_can_have_a_question_mark_and_a_state() {
    let script = parsed("own and peer are connected, own reads 1? as read-before, look at own as idle");
    let Clause { action, is_question, state, .. } = &script.clauses[1];
    assert_eq!(*action, Action::Call(OWN.into(), Call::Reads(ReadExtent::Bytes(1))));
    assert!(*is_question);
    assert_eq!(state.as_deref(), Some("read-before"));
    assert_eq!(script.clauses[2].state.as_deref(), Some("idle"));
    assert!(!script.clauses[2].is_question);
}

#[test]
fn a_registration_can_have_interest_mode_poller_and_name() {
    let script = parsed("own is fresh, add own for both one-shot in second called again");
    let Action::Change(change) = &script.clauses[1].action else { panic!("{script}") };
    assert_eq!(change.kind, ChangeKind::Add);
    assert_eq!(change.interest, Some(Interest { read: true, write: true, ..Interest::NONE }));
    assert_eq!(change.mode, Some(Mode::OneShot));
    assert_eq!((change.poller.as_str(), change.label.as_deref()), ("second", Some("again")));
}

#[test]
fn an_error_has_a_column_the_expected_word_and_a_suggestion() {
    for (script, column, expected) in [
        (
            "own and peer are conected",
            18,
            "expected 'connected', found 'conected'; did you mean 'connected'?",
        ),
        (
            "own is fresh, wach own",
            15,
            "expected a verb or the name of a descriptor, found 'wach'; did you mean 'watch'?",
        ),
        ("own is fresh, own snds 3", 19, "expected a verb, found 'snds'; did you mean 'sends'?"),
        (
            "own is fresh, watch onw",
            21,
            "expected a descriptor that an earlier clause makes, found 'onw'; did you mean 'own'?",
        ),
        (
            "own is fresh, add own for raeding",
            27,
            "expected an interest, found 'raeding'; did you mean 'reading'?",
        ),
        ("own is fresh, own shuts wirte", 25, "expected a direction, found 'wirte'; did you mean 'write'?"),
        (
            "own is fresh, own sends",
            24,
            "expected a number of bytes, 'nothing' or 'urgent', found the end of the clause",
        ),
        (
            "own is fresh, look at own idle",
            27,
            "expected the end of the clause, found 'idle'; known words: as",
        ),
        ("own is fresh, look at own as", 29, "expected the name of a state, found the end of the clause"),
        (
            "own is fresh, own sets SO_RCVLOWTA 3",
            24,
            "expected a socket option, found 'SO_RCVLOWTA'; did you mean 'SO_RCVLOWAT'?",
        ),
        (
            "own is a signal, t waits, own is raised for u",
            45,
            "expected a thread that waits, found 'u'; did you mean 't'?",
        ),
        ("own is SIGUSR2 and SIGWINHC", 20, "expected a signal, found 'SIGWINHC'; did you mean 'SIGWINCH'?"),
        (
            "own is the hostnam",
            12,
            "expected 'first thread of', 'slave of', 'mount table', 'hostname' or 'domain name', found 'hostnam'; did you mean 'hostname'?",
        ),
        (
            "own is a packet socket, own gets a pakcet",
            36,
            "expected 'file', 'packet' or 'message', found 'pakcet'; did you mean 'packet'?",
        ),
        ("own is a watched fiel", 18, "expected 'file' or 'directory', found 'fiel'; did you mean 'file'?"),
        (
            "p is a process, own is a thread of q",
            36,
            "expected a descriptor that an earlier clause makes, found 'q'; did you mean 'p'?",
        ),
        ("own is fresh, t answers", 15, "expected a thread that waits, found 't'"),
        ("own is fresh,", 14, "expected a verb or the name of a descriptor, found the end of the clause"),
        ("", 1, "expected a verb or the name of a descriptor, found the end of the clause"),
        (
            "own is a fiel of 3",
            10,
            "expected 'copy', 'file', 'directory', 'queue', 'timer', 'wall-clock timer', 'process', 'thread', 'signal', 'watched file', 'packet socket', 'raw socket', 'netlink socket', 'message queue' or 'user event', found 'fiel'; did you mean 'file'?",
        ),
        ("wiat", 1, "expected a verb, or a descriptor with one, found 'wiat'; did you mean 'wait'?"),
    ] {
        let error = script.parse::<Script>().expect_err(script);
        assert_eq!(error.to_string(), format!("column {column}: {expected}"), "{script}");
    }
}

/// A script without a bound is parsed, printed and performed for hours, or is no argument for a process.
#[test]
fn a_script_has_a_bounded_length() {
    let script = |clauses: usize| "own is fresh, ".repeat(clauses - 1) + "own closes";
    assert_eq!(script(MOST_CLAUSES).parse::<Script>().unwrap().clauses.len(), MOST_CLAUSES);
    let error = script(200_000).parse::<Script>().unwrap_err();
    assert_eq!(error.to_string(), "column 14000: a script has at most 1000 clauses; ask in several scripts");
    let error =
        format!("own is fresh, add own called {}", "é".repeat(MOST_BYTES)).parse::<Script>().unwrap_err();
    assert_eq!(error.to_string(), "column 14: a script has at most 65536 bytes; ask in several scripts");
}
