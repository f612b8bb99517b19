//! The models and rules that `docs/protocol.md` and `docs/history.md` name exist, and the protocol names
//! every model.

use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the tests in the models' sources.
fn models() -> Vec<String> {
    let files = ["groups", "interest", "registration", "list", "mixes", "sleep", "updates"];
    let sources = files.map(|file| read(&format!("src/models/{file}.rs")));
    let names = |source: &String| -> Vec<String> {
        source.split("#[test]\nfn ").skip(1).filter_map(|test| Some(test.split_once('(')?.0.into())).collect()
    };
    sources.iter().flat_map(names).collect()
}

/// The words in backquotes.
fn quoted(page: &str) -> Vec<&str> {
    page.split('`').skip(1).step_by(2).collect()
}

fn looks_like_a_model(name: &str) -> bool {
    let number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('_');
    name.strip_prefix('m').is_some_and(number) || name.starts_with("mix_")
}

#[test]
fn every_model_is_in_the_page_and_every_model_of_the_pages_exists() {
    let models = models();
    assert!(models.len() > 20, "this test finds too few models: {models:?}");
    let (protocol, history) = (read("../../docs/protocol.md"), read("../../docs/history.md"));
    for model in &models {
        assert!(quoted(&protocol).contains(&model.as_str()), "docs/protocol.md does not mention {model}");
    }
    for name in quoted(&protocol).into_iter().chain(quoted(&history)).filter(|name| looks_like_a_model(name))
    {
        assert!(models.iter().any(|model| model == name), "there is no model {name}");
    }
}

#[test]
fn every_rule_and_fault_of_the_page_and_the_table_exists() {
    let rules = read("src/hooks/mutant.rs");
    let exists = |name: &str| {
        rules.contains(&format!(" = \"{name}\";"))
            || fd_core::hooks::fault::Fault::ALL.iter().any(|fault| fault.name() == name)
    };
    let table = read("src/models/weakened.tsv");
    for name in table.lines().filter_map(|line| line.split('\t').next()) {
        assert!(exists(name), "weakened.tsv: there is no rule and no fault {name}");
    }
    let page = read("../../docs/protocol.md");
    let (_, orderings) = page.split_once("## 18. Orderings").expect("the page has its table of orderings");
    let rows = orderings.lines().filter(|line| line.starts_with("| `"));
    let named: Vec<_> = rows.filter_map(|row| row.split('|').nth(4)).flat_map(quoted).collect();
    assert!(named.len() > 8, "this test finds too few rules in the table of orderings: {named:?}");
    for name in named {
        assert!(exists(name), "docs/protocol.md: there is no rule and no fault {name}");
    }
}
