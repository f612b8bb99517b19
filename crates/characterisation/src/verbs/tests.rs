use super::*;

fn parsed(text: &str) -> Script {
    text.parse().unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn every_form_parses_and_prints_as_it_is_written() {
    for form in FORMS {
        assert_eq!(parsed(form.example).to_string(), form.example);
    }
}

/// A form that the documentation forgets has no example here, and the parser's verbs are found in the forms.
#[test]
fn every_verb_of_the_parser_has_a_form() {
    let forms: Vec<_> = FORMS.iter().flat_map(|form| form.form.split([' ', ',', '['])).collect();
    for verb in parse::STARTING_WORDS.iter().chain(parse::ACTOR_VERBS) {
        assert!(forms.contains(verb), "'{verb}' is in no form");
    }
}

#[test]
fn the_canonical_form_has_one_space_and_no_defaults() {
    for (typed, canonical) in [
        ("  own   and peer are connected ,watch own in first", "own and peer are connected, watch own"),
        ("own is a file of 5 at 0", "own is a file of 5"),
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
fn a_clause_has_its_question_mark_and_its_state() {
    let line = parsed("own and peer are connected, own reads 1? as read-before, look at own as idle");
    let Clause { action, is_question, state, .. } = &line.clauses[1];
    assert_eq!(*action, Action::Call(OWN.into(), Call::Reads(ReadExtent::Bytes(1))));
    assert!(*is_question);
    assert_eq!(state.as_deref(), Some("read-before"));
    assert_eq!(line.clauses[2].state.as_deref(), Some("idle"));
    assert!(!line.clauses[2].is_question);
}

#[test]
fn interest_mode_poller_and_name_of_a_registration_are_read() {
    let line = parsed("own is fresh, add own for both one-shot in second called again");
    let Action::Change(change) = &line.clauses[1].action else { panic!("{line}") };
    assert_eq!(change.kind, ChangeKind::Add);
    assert_eq!(change.interest, Some(Interest { read: true, write: true, ..Interest::NONE }));
    assert_eq!(change.mode, Some(Mode::OneShot));
    assert_eq!((change.poller.as_str(), change.label.as_deref()), ("second", Some("again")));
}

/// Each says where, what was expected, what was found, and what was probably meant.
#[test]
fn an_error_says_where_and_what_would_be_right() {
    for (line, column, expected) in [
        (
            "own and peer are conected",
            18,
            "'connected' was expected, and 'conected' was found; did you mean 'connected'?",
        ),
        (
            "own is fresh, wach own",
            15,
            "a verb or the name of a descriptor was expected, and 'wach' was found; did you mean 'watch'?",
        ),
        (
            "own is fresh, own snds 3",
            19,
            "what it does was expected, and 'snds' was found; did you mean 'sends'?",
        ),
        (
            "own is fresh, watch onw",
            21,
            "a descriptor that was made before was expected, and 'onw' was found; did you mean 'own'?",
        ),
        (
            "own is fresh, add own for raeding",
            27,
            "an interest was expected, and 'raeding' was found; did you mean 'reading'?",
        ),
        (
            "own is fresh, own shuts wirte",
            25,
            "a direction was expected, and 'wirte' was found; did you mean 'write'?",
        ),
        (
            "own is fresh, own sends",
            24,
            "a number of bytes, 'nothing' or 'urgent' was expected, and the clause ends",
        ),
        (
            "own is fresh, look at own idle",
            27,
            "the end of the clause was expected, and 'idle' was found; known are as",
        ),
        ("own is fresh, look at own as", 29, "the name of a state was expected, and the clause ends"),
        (
            "own is fresh, own sets SO_RCVLOWTA 3",
            24,
            "a socket option was expected, and 'SO_RCVLOWTA' was found; did you mean 'SO_RCVLOWAT'?",
        ),
        ("own is fresh, t answers", 15, "a thread that waits was expected, and 't' was found"),
        ("own is fresh,", 14, "a verb or the name of a descriptor was expected, and the clause ends"),
        ("", 1, "a verb or the name of a descriptor was expected, and the clause ends"),
        (
            "own is a fiel of 3",
            10,
            "'copy', 'file', 'directory' or 'queue' was expected, and 'fiel' was found; did you mean 'file'?",
        ),
        (
            "wiat",
            1,
            "a verb or a descriptor with one was expected, and 'wiat' was found; did you mean 'wait'?",
        ),
    ] {
        let error = line.parse::<Script>().expect_err(line);
        assert_eq!(error.to_string(), format!("column {column}: {expected}"), "{line}");
    }
}

/// The table of docs/verbs.md is this one.
#[test]
fn the_documentation_has_every_form() {
    let documented = include_str!("../../../../docs/verbs.md");
    let mut table = String::from("| clause | what it does | for example |\n|---|---|---|\n");
    for Form { form, means, example } in FORMS {
        table += &format!("| `{form}` | {means} | `{example}` |\n");
    }
    assert!(documented.contains(&table), "put this table into docs/verbs.md:\n{table}");
}
