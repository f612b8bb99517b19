//! `pollmatrix site`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::{Answer, Sandbox};

/// A sandbox with the results of a passing and a failing cell.
fn with_results() -> Sandbox {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    sandbox.run(&["run", "selftest/pass", "selftest/fail"]).expect(1, &[]);
    sandbox
}

impl Sandbox {
    /// Builds the site in the folder `pages`, with these arguments, too.
    fn site(&self, more: &[&str]) -> Answer {
        self.run(&[&["site", "--out", "pages"], more].concat())
    }

    fn pages(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.path("pages"), "", &mut files);
        files
    }
}

fn collect(folder: &Path, under: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("the folder was made") {
        let entry = entry.expect("readable");
        let name = entry.file_name().into_string().expect("a plain name");
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{under}{name}/"), files);
        } else {
            let text = fs::read_to_string(entry.path()).expect("every page is text");
            files.insert(format!("{under}{name}"), text);
        }
    }
}

/// The beginning of a target's row in the matrix at a glance.
fn row_of(target: &str) -> String {
    format!("<tr><th scope=\"row\">{target}</th>")
}

#[test]
fn a_site_has_the_report_of_the_runs_and_is_the_same_when_it_is_built_again() {
    let sandbox = with_results();
    let arguments = ["pollmatrix-report", "--url", "https://example.org/site/"];
    let answer = sandbox.site(&arguments);
    answer.expect(0, &["wrote ", " pages: pages/index.html\n"]);
    let first = sandbox.pages();
    for path in [
        "index.html",
        "report.html",
        "behaviours/V26.html",
        "systems/linux.html",
        "pollers/mio.html",
        "peers.html",
        "sitemap.xml",
    ] {
        assert!(first.contains_key(path), "{path}");
    }
    let pages = first.keys().filter(|path| path.ends_with(".html")).count();
    assert!(answer.stdout.starts_with(&format!("wrote {pages} pages")), "{}", answer.stdout);
    assert!(first["index.html"].contains("1 pass, 1 fail"), "the totals");
    assert!(first["sitemap.xml"].contains("<loc>https://example.org/site/index.html</loc>"));
    let endpoint: Value = serde_json::from_str(&first["badges/poll.json"]).expect("JSON");
    assert_eq!((&endpoint["color"], &endpoint["message"]), (&"red".into(), &"1 of 2 cells fail".into()));
    sandbox.site(&arguments).expect(0, &[]);
    assert_eq!(sandbox.pages(), first);
    let target = sandbox.results()["runs"][0]["target"].as_str().expect("a target").to_owned();
    assert!(first["index.html"].contains(&row_of(&target)), "a target with one kernel keeps its name");
}

#[test]
fn a_target_that_was_run_on_two_kernels_has_a_column_for_each() {
    let sandbox = with_results();
    let mut results = sandbox.results();
    let target = results["runs"][0]["target"].as_str().expect("a target").to_owned();
    results["runs"][0]["kernel"] = "5.4.1".into();
    sandbox.put("older.json", results.to_string());
    sandbox.site(&["pollmatrix-report", "older.json"]).expect(0, &[]);
    let index = &sandbox.pages()["index.html"];
    let older = format!("{}-5.4.1-{}", std::env::consts::OS, std::env::consts::ARCH);
    assert!(index.contains(&row_of(&older)) && !index.contains(&row_of(&target)), "{older}");
    let endpoint: Value = serde_json::from_str(&sandbox.pages()["badges/poll.json"]).expect("JSON");
    assert_eq!(endpoint["message"], "2 of 4 cells fail");
}

#[test]
fn pages_say_which_systems_were_never_measured() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.site(&[]).expect(0, &[]);
    let page = |path: &str| sandbox.text(&format!("pages/{path}"));
    assert!(page("systems/macos.html").contains("Nothing of macOS has been measured"));
    assert!(!page("systems/linux.html").contains("has been measured"));
    let says_so = |path| page(path).contains("(not measured)");
    assert_eq!(["index.html", "compare.html", "behaviours/V26.html"].map(says_so), [true; 3]);
    let heads = page("behaviours/V26.html");
    let heads = heads.lines().find(|line| line.contains(">macOS")).expect("macOS has a column");
    assert!(heads.contains("macOS <span class=\"quiet\">(not measured)</span></th>"), "{heads}");
    assert!(heads.contains("<th scope=\"col\">Linux</th>"), "{heads}");
}

#[test]
fn pages_of_an_earlier_site_are_removed_and_other_files_are_not() {
    let sandbox = with_results();
    sandbox.site(&["pollmatrix-report"]).expect(0, &[]);
    sandbox.put("pages/CNAME", "example.org");
    sandbox.site(&[]).expect(0, &[]);
    let pages = sandbox.pages();
    assert!(!pages.contains_key("report.html") && !pages.contains_key("pollers/poll.html"));
    assert!(pages.contains_key("CNAME") && pages.contains_key("behaviours/V26.html"));
    let mark: Value = serde_json::from_str(&pages["site.json"]).expect("JSON");
    assert_eq!(mark["files"].as_array().expect("a list").len() + 2, pages.len(), "with CNAME and the list");
}

#[test]
fn a_folder_with_other_files_is_refused_and_left_as_it_is() {
    let sandbox = Sandbox::new(&["pass"], 20);
    fs::create_dir(sandbox.path("pages")).expect("writable");
    sandbox.site(&[]).expect(0, &[]);
    fs::remove_file(sandbox.path("pages/site.json")).expect("it was written");
    let before = sandbox.pages();
    sandbox
        .site(&[])
        .expect(2, &["pages cannot be used: the folder has files, and was not made by", "--out DIR"]);
    assert_eq!(sandbox.pages(), before);
    // A list that would remove files elsewhere.
    let list = r#"{"pollmatrix_site": 1, "files": ["../keep.html"]}"#;
    for (text, why) in [
        (list, "was changed"),
        ("{}", "is not of `pollmatrix site`"),
        (r#"{"pollmatrix_site": 2, "files": []}"#, "another version"),
    ] {
        sandbox.put("pages/site.json", text);
        sandbox.put("keep.html", "");
        sandbox.site(&[]).expect(2, &["pages cannot be used: its site.json ", why]);
        assert!(sandbox.path("keep.html").exists());
    }
}

#[test]
fn inputs_that_cannot_be_used_are_named_with_a_remedy() {
    let sandbox = with_results();
    sandbox.site(&["none.json"]).expect(2, &["cannot read none.json", "give a results.json"]);
    sandbox.put("cut.json", r#"{"schema": 2, "runs": ["#);
    sandbox.site(&["cut.json"]).expect(2, &["cut.json"]);
    sandbox.site(&["--findings", "none"]).expect(2, &["cannot read none", "omit --findings"]);
    sandbox.site(&["--url", "example.org"]).expect(2, &["--url", "https://example.org/pollmatrix"]);
    sandbox.site(&["--emulated"]).expect(2, &["<RESULTS>"]);
    assert!(!sandbox.path("pages").exists(), "nothing is written");
    sandbox.run(&["run", "selftest/pass", "--fault", "double-close"]).expect(0, &[]);
    sandbox.site(&["pollmatrix-report"]).expect(2, &["it was run with the fault double-close switched on"]);
}

#[test]
fn findings_are_a_page_with_their_programs_and_the_newest_are_on_the_front_page() {
    let sandbox = Sandbox::new(&["pass"], 20);
    fs::create_dir(sandbox.path("found")).expect("writable");
    for (file, text) in [
        ("README.md", "# Found\n"),
        ("new.md", "# A newest one\n\n2026-11-22\n\nText.\n"),
        ("new.c", "int main(void) { return 0; }\n"),
        ("old.md", "# An older one\n\n2026-11-21\n"),
    ] {
        fs::write(sandbox.path("found").join(file), text).expect("writable");
    }
    sandbox.site(&["--findings", "found"]).expect(0, &[]);
    let pages = sandbox.pages();
    assert!(pages["index.html"].contains("<a href=\"findings.html#a-newest-one\">A newest one</a>"));
    let page = &pages["findings.html"];
    assert!(page.contains("<h2 id=\"an-older-one\">An older one</h2>") && !page.contains("Found"), "{page}");
    assert!(page.contains("int main(void) { return 0; }"), "{page}");
}

#[test]
fn a_site_is_checked_as_it_is_in_its_folder() {
    let sandbox = with_results();
    sandbox.site(&["pollmatrix-report", "--url", "https://example.org/site"]).expect(0, &[]);
    let check = || sandbox.run(&["site", "--check", "pages"]);
    check().expect(0, &["pages: ", " pages, 0 problems\n"]);
    // Another tool's file is no part of the site, and links to it are fine.
    sandbox.put("pages/404.html", "<a href=\"index.html\">x</a>\n<a href=\"CNAME\">y</a>");
    check().expect(1, &["pages/404.html:2: CNAME leads to no file\n", ", 1 problems\n"]);
    sandbox.put("pages/CNAME", "example.org");
    check().expect(0, &["0 problems"]);
    fs::remove_file(sandbox.path("pages/behaviours/V26.html")).expect("it was built");
    check().expect(
        1,
        &["pages/behaviours/V26.html: the file is missing\n", "behaviours/V26.html leads to no file"],
    );
    sandbox.put("pages/behaviours/V26.html", b"\xff");
    check().expect(
        1,
        &["pages/behaviours/V26.html: the page is not UTF-8\n", "V26.html: the page has no title"],
    );
    sandbox
        .run(&["site", "--check", "none"])
        .expect(2, &["none cannot be used: it has no site", "build one first"]);
    sandbox.run(&["site", "--check", "pollmatrix-report"]).expect(2, &["was not made by"]);
    sandbox.run(&["site", "--check", "pages", "--out", "x"]).expect(2, &["--out"]);
}
