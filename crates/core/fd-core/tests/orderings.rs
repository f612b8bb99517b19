//! The models check the fences and orderings of the real build: none of them exists in one kind of build
//! only.

use std::collections::BTreeMap;

use pollmatrix_fd_core::hooks::fault::Fault;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use source::{inside, is_punct};

mod source;

/// The code that may depend on the build: the file, the first tokens and, with `Some`, the last ones.
const ALLOWED: &[(&str, &str)] = &[
    // The primitives. `every_build_imports_the_same_primitives` compares them.
    ("words/sync.rs", "pub (crate) use core :: sync :: atomic :: {"),
    ("words/sync.rs", "pub (crate) use loom :: sync :: atomic :: {"),
    ("words/sync.rs", "pub (crate) use shuttle :: sync :: atomic :: {"),
    // The documented x86 case. `ci/proofs.sh orderings` checks the instructions.
    (
        "words/sync.rs",
        "if cfg ! (all (any (target_arch = \"x86\" , target_arch = \"x86_64\") , not (any (loom , shuttle)))) {",
    ),
    ("words/sync.rs", "fn fence_after_rmw: 1"),
    // Functions of the models, which no code of the protocol calls.
    ("shared/wake.rs", "pub (crate) fn is_notified"),
];

/// The attribute of unit tests, which belong to no model and to no real build.
const UNIT_TESTS: &str = "cfg (all (test , not (any (loom , shuttle))))";

/// The files that belong to a real build and to a model, by their path below `src`.
fn sources() -> BTreeMap<String, TokenStream> {
    let files = source::files("fd-core").into_iter().filter(|(name, _)| !name.starts_with("models/"));
    files.map(|(name, text)| (name, text.parse().unwrap())).collect()
}

fn any_ident(tokens: &[TokenTree], wanted: &[&str]) -> bool {
    tokens.iter().any(|token| match token {
        TokenTree::Ident(ident) => wanted.iter().any(|name| ident == name),
        TokenTree::Group(group) => any_ident(&trees(group.stream()), wanted),
        _ => false,
    })
}

/// Whether a predicate depends on the checker or on the processor.
fn depends_on_build(predicate: &[TokenTree]) -> bool {
    any_ident(predicate, &["loom", "shuttle", "target_arch"])
}

fn orders_memory(tokens: &[TokenTree]) -> bool {
    const WORDS: [&str; 8] =
        ["fence", "compiler_fence", "Ordering", "SeqCst", "AcqRel", "Acquire", "Release", "Relaxed"];
    any_ident(tokens, &WORDS)
}

fn trees(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

fn text(tokens: &[TokenTree]) -> String {
    tokens.iter().cloned().collect::<TokenStream>().to_string()
}

fn is_ident(token: Option<&TokenTree>, wanted: &[&str]) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if wanted.iter().any(|name| ident == name))
}

/// The end of the item, statement, field or arm that begins at `start`.
fn end_of(tokens: &[TokenTree], start: usize) -> usize {
    let mut at = start;
    while is_punct(tokens.get(at), '#') {
        at += 2;
    }
    let needs_semicolon = tokens[at..]
        .iter()
        .take(3)
        .any(|token| is_ident(Some(token), &["use", "let", "static", "const", "type", "return"]))
        && !tokens[at..].iter().take(6).any(|token| is_ident(Some(token), &["fn"]));
    while let Some(token) = tokens.get(at) {
        let block = inside(Some(token), Delimiter::Brace).is_some();
        at += 1;
        let ends = is_punct(Some(token), ';')
            || !needs_semicolon && is_punct(Some(token), ',')
            || !needs_semicolon && block && !is_ident(tokens.get(at), &["else"]);
        if ends {
            break;
        }
    }
    at
}

/// Appends the code of `tokens` that orders memory and exists in some builds only.
fn gated_orderings(tokens: &[TokenTree], found: &mut Vec<String>) {
    let mut note = |gated: &[TokenTree]| {
        if orders_memory(gated) {
            found.push(text(gated));
        }
    };
    let (mut at, mut statement) = (0, 0);
    while at < tokens.len() {
        let inner = is_punct(tokens.get(at), '#') && is_punct(tokens.get(at + 1), '!');
        let attribute = if is_punct(tokens.get(at), '#') {
            inside(tokens.get(at + 1 + usize::from(inner)), Delimiter::Bracket)
        } else {
            None
        };
        let is_cfg = |attribute: &[TokenTree]| is_ident(attribute.first(), &["cfg", "cfg_attr"]);
        if let Some(attribute) = attribute.filter(|attribute| is_cfg(attribute)) {
            let after = at + 2 + usize::from(inner);
            let end = if inner { tokens.len() } else { end_of(tokens, after) };
            if text(&attribute) == UNIT_TESTS {
                at = end;
                statement = end;
                continue;
            }
            if depends_on_build(&attribute) {
                note(&attribute);
                note(&tokens[after..end]);
            }
        }
        if is_ident(tokens.get(at), &["cfg"])
            && is_punct(tokens.get(at + 1), '!')
            && inside(tokens.get(at + 2), Delimiter::Parenthesis).is_some_and(|it| depends_on_build(&it))
        {
            note(&tokens[statement..end_of(tokens, statement)]);
        }
        let block = inside(tokens.get(at), Delimiter::Brace).is_some();
        let separator = is_punct(tokens.get(at), ';') || is_punct(tokens.get(at), ',');
        if separator || block && !is_ident(tokens.get(at + 1), &["else"]) {
            statement = at + 1;
        }
        at += 1;
    }
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            // Unit tests are skipped at their attribute.
            let inside = trees(group.stream());
            if let Some(name) = body_of(tokens, at).filter(|_| orders_memory(&inside) && gates(&inside) > 0) {
                // The condition decides whether the rest is reached.
                found.push(format!("fn {name}: {}", gates(&inside)));
            }
            if !is_unit_tests(tokens, token) {
                gated_orderings(&inside, found);
            }
        }
    }
}

/// The name of the function whose body is the token at `at`.
fn body_of(tokens: &[TokenTree], at: usize) -> Option<String> {
    inside(tokens.get(at), Delimiter::Brace)?;
    let is_end =
        |token: &TokenTree| is_punct(Some(token), ';') || inside(Some(token), Delimiter::Brace).is_some();
    let signature = tokens[..at].iter().rposition(is_end).map_or(0, |end| end + 1)..at;
    let name = tokens[signature.clone()].iter().position(|token| is_ident(Some(token), &["fn"]))? + 1;
    tokens.get(signature.start + name).map(TokenTree::to_string)
}

/// The number of conditions in `tokens` that depend on the build.
fn gates(tokens: &[TokenTree]) -> usize {
    let is_gate = |(at, pair): &(usize, &[TokenTree])| {
        let attribute =
            is_punct(pair.first(), '#').then(|| inside(pair.get(1), Delimiter::Bracket)).flatten();
        let attribute = attribute.filter(|it| is_ident(it.first(), &["cfg", "cfg_attr"]));
        let condition = is_ident(pair.first(), &["cfg"]) && is_punct(pair.get(1), '!');
        let condition = condition.then(|| inside(tokens.get(at + 2), Delimiter::Parenthesis)).flatten();
        attribute.or(condition).is_some_and(|predicate| depends_on_build(&predicate))
    };
    let inside = tokens.iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(gates(&trees(group.stream()))),
        _ => None,
    });
    tokens.windows(2).enumerate().filter(is_gate).count() + inside.sum::<usize>()
}

/// Whether `block` is the body of a module of unit tests.
fn is_unit_tests(tokens: &[TokenTree], block: &TokenTree) -> bool {
    let Some(at) = tokens.iter().position(|token| std::ptr::eq(token, block)) else { return false };
    let attribute = at.checked_sub(3).and_then(|at| inside(tokens.get(at), Delimiter::Bracket));
    is_ident(tokens.get(at.wrapping_sub(2)), &["mod"]) && attribute.is_some_and(|it| text(&it) == UNIT_TESTS)
}

fn found_in(source: &str) -> Vec<String> {
    let mut found = vec![];
    gated_orderings(&trees(source.parse().unwrap()), &mut found);
    found
}

#[test]
fn no_ordering_exists_in_one_kind_of_build_only() {
    let sources = sources();
    assert!(
        sources.contains_key("table/registration.rs") && sources.contains_key("words/sync.rs"),
        "{:?}",
        sources.keys()
    );
    let mut unused: Vec<_> = ALLOWED.to_vec();
    for (file, tokens) in &sources {
        let mut found = vec![];
        gated_orderings(&trees(tokens.clone()), &mut found);
        for gated in found {
            let allowed = |(name, begins): &(&str, &str)| name == file && gated.starts_with(begins);
            let known = unused.iter().position(allowed);
            let Some(known) = known else {
                panic!(
                    "error: src/{file}: this orders memory in some builds only: {gated}\n\
                     help: a model must check what ships; take the condition away, or see docs/protocol.md, Orderings"
                );
            };
            unused.remove(known);
        }
    }
    assert!(unused.is_empty(), "allowed, but not found: {unused:?}");
}

/// The protocol uses the macros of the hooks only. Without the hooks, they expand to the correct code.
#[test]
fn the_protocol_does_not_depend_on_whether_faults_can_be_switched_on() {
    const KNOWN_TO_HOOKS: [&str; 3] = ["ARMED", "IN_MODELS", "is_on"];
    for (file, tokens) in sources().into_iter().filter(|(file, _)| !file.starts_with("hooks/")) {
        let asks = any_ident(&trees(tokens), &KNOWN_TO_HOOKS);
        assert!(
            !asks,
            "src/{file} asks for one of {KNOWN_TO_HOOKS:?} by itself: use a macro of src/hooks/macros.rs"
        );
    }
}

#[test]
fn every_build_imports_the_same_primitives() {
    let text = sources()["words/sync.rs"].to_string();
    let lists: Vec<_> =
        ["core :: sync :: atomic", "super :: counted", "loom :: sync :: atomic", "shuttle :: sync :: atomic"]
            .map(|root| format!("use {root} :: {{"))
            .iter()
            .map(|start| text.split_once(start.as_str()).unwrap().1.split_once('}').unwrap().0.to_owned())
            .collect();
    assert!(lists[0].contains("fence") && lists.iter().all(|list| *list == lists[0]), "{lists:?}");
}

/// The fences of the Dekker pairs once had this form: they existed in the models, and not in the real build.
#[test]
fn a_fence_that_only_models_have_is_found() {
    let old = "
        #[inline(always)]
        pub(crate) fn dekker(side: Weak) {
            if !weak::on(side) {
                #[cfg(loom)]
                loom::sync::atomic::fence(Ordering::SeqCst);
            }
        }";
    let found = found_in(old);
    assert!(found.iter().any(|gated| gated.starts_with("loom :: sync :: atomic :: fence")), "{found:?}");
}

#[test]
fn every_form_of_condition_is_found() {
    for source in [
        "#[cfg(loom)] use loom::sync::atomic::fence;",
        "fn f() { if cfg!(any(loom, shuttle)) { fence(SeqCst); } }",
        "fn f() { if cfg!(not(loom)) { a() } else { fence(SeqCst) } }",
        "const ORDER: Ordering = if cfg!(loom) { Ordering::SeqCst } else { Ordering::Relaxed };",
        "fn f() { let order = match cfg!(loom) { true => SeqCst, false => Relaxed }; }",
        "fn f() { #[cfg(not(loom))] return; fence(SeqCst) }",
        "fn f() { if cfg!(loom) { return } fence(SeqCst) }",
        "fn f() { x.fetch_or(me, if cfg!(loom) { AcqRel } else { Relaxed }); }",
        "fn f() { a(); x.load(if cfg!(loom) { SeqCst } else { Acquire }); b(); }",
        "#[cfg(not(any(loom, shuttle)))] #[inline] fn f(&self) -> u64 { self.word.load(Ordering::Relaxed) }",
        "#![cfg(loom)] fn f() { fence(SeqCst) }",
        "mod a { #[cfg(all(test, loom))] fn f() { fence(SeqCst) } }",
        "cfg_if! { if #[cfg(loom)] { fn f() { fence(SeqCst) } } else { fn f() {} } }",
        "cfg_if! { if #[cfg(loom)] { fn f() {} } else { fn f() { fence(SeqCst) } } }",
        "struct S { #[cfg(loom)] order: Ordering, other: u64 }",
        "#[cfg_attr(loom, order(SeqCst))] fn f() {}",
        "fn f() { #[cfg(target_arch = \"aarch64\")] { fence(SeqCst) } }",
    ] {
        assert!(!found_in(source).is_empty(), "not found: {source}");
    }
}

#[test]
fn code_of_every_build_is_not_found() {
    for source in [
        "fn f() { fence(SeqCst) } fn g() { if cfg!(loom) { a() } }",
        "struct S { #[cfg(loom)] cell: u64, order: Ordering }",
        "#[cfg(loom)] use loom::thread::yield_now; use core::sync::atomic::Ordering;",
        "#[cfg(all(test, not(any(loom, shuttle))))] mod tests { fn f() { fence(SeqCst) } }",
        "const ROUNDS: u32 = if cfg!(loom) { 1 } else { 128 }; fn f() { fence(SeqCst) }",
    ] {
        assert_eq!(found_in(source), Vec::<String>::new(), "{source}");
    }
}

/// The files of the protocol: without those for tests, and without the child of a fork, which has one thread.
fn protocol_files() -> BTreeMap<String, String> {
    const NOT_PROTOCOL: [&str; 5] =
        ["model_based.rs", "shared/activity.rs", "table/checks.rs", "table/fork.rs", "testing.rs"];
    let is_protocol = |name: &str| {
        !(NOT_PROTOCOL.contains(&name)
            || name.starts_with("hooks/")
            || name.starts_with("models/")
            || name.ends_with("mistakes.rs")
            || name.ends_with("tests.rs"))
    };
    let mut files = source::files("fd-core");
    files.retain(|name, _| is_protocol(name));
    for text in files.values_mut() {
        // Without its unit tests, which are at the end.
        text.truncate(text.find("#[cfg(all(test, not(any(loom, shuttle))))]\nmod ").unwrap_or(text.len()));
    }
    files
}

/// loom treats a `SeqCst` access as acquire and release. Only a `SeqCst` fence orders more, in all builds.
#[test]
fn no_access_is_seq_cst() {
    for (file, text) in protocol_files() {
        for line in
            text.lines().filter(|line| line.contains("SeqCst") && !line.trim_start().starts_with("//"))
        {
            let statement = line.trim_start();
            let is_fence = statement.starts_with("fence(")
                || statement.starts_with("unless!(") && statement.contains("Fence => fence(")
                || statement.starts_with("core::sync::atomic::compiler_fence(");
            assert!(is_fence, "src/{file}: loom checks a weaker access: {statement}");
        }
    }
}

/// The names after `Pair:` or `Pairs:` in a comment, up to the full stop.
fn pairs_of(line: &str) -> Vec<&str> {
    let Some((_, names)) = line.split_once("Pair: ").or_else(|| line.split_once("Pairs: ")) else {
        return vec![];
    };
    names.split('.').next().unwrap_or_default().split(", ").collect()
}

/// Every access that orders another one names its pair.
#[test]
fn every_ordering_names_its_pair() {
    const LINES_ABOVE: usize = 12;
    let mut unnamed = vec![];
    for (file, text) in protocol_files() {
        let lines: Vec<_> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let orders = ["Ordering::AcqRel", "Ordering::Acquire", "Ordering::Release", "ordering!("]
                .iter()
                .any(|it| line.contains(it));
            // A fault is no part of the protocol.
            if !orders || ["//", "fault!("].iter().any(|it| line.trim_start().starts_with(it)) {
                continue;
            }
            let above = lines[at.saturating_sub(LINES_ABOVE)..=at].iter().rev();
            // The end of the previous function.
            let above: Vec<_> = above.take_while(|line| !matches!(**line, "    }" | "}")).collect();
            let named = above.iter().any(|line| {
                !pairs_of(line).is_empty() || line.contains("No pair") || line.contains("Any pair")
            });
            // A read in an assertion is no part of it, either.
            let near = &above[..above.len().min(4)];
            let exempt =
                near.iter().any(|line| ["assert", "cfg(all(test"].iter().any(|it| line.contains(it)));
            if !named && !exempt {
                unnamed.push(format!("src/{file}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(
        unnamed.is_empty(),
        "error: these order memory and do not say for which pair:\n{}\nhelp: a comment `// Pair: NAME.` within {LINES_ABOVE} lines above, of docs/protocol.md",
        unnamed.join("\n")
    );
}

/// The first cells of the rows below `heading`, up to the next heading.
fn first_cells(page: &str, heading: &str) -> Vec<String> {
    let (_, rest) = page.split_once(&format!("## {heading}\n")).expect("the page has this heading");
    let section = rest.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn the_page_has_every_pair_and_no_other() {
    let page = include_str!("../../../../docs/protocol.md");
    let described = first_cells(page, "18. Orderings");
    let files = protocol_files();
    let named: std::collections::BTreeSet<_> =
        files.values().flat_map(|text| text.lines()).flat_map(pairs_of).map(str::to_owned).collect();
    for pair in &named {
        assert!(described.contains(pair), "docs/protocol.md does not have the pair {pair}");
    }
    for pair in &described {
        assert!(named.contains(pair), "docs/protocol.md: no access of the source belongs to the pair {pair}");
    }
    for rule in Fault::MODELS.iter().map(|fault| fault.name()).filter(|name| name.ends_with("-fence")) {
        assert!(page.contains(&format!("`{rule}`")), "docs/protocol.md does not have the rule {rule}");
    }
}
