//! `pollmatrix site`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Answer, Sandbox};

/// Returns the files below a folder, by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("the folder was written") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it is below").display().to_string();
                files.insert(name, fs::read(path).expect("the file was written"));
            }
        }
    }
    files
}

/// Creates a sandbox with the results of two kernels of one target: `one.json` and `two.json`.
fn kernels() -> Sandbox {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    sandbox.run(&["run", "--seed", "2"]);
    let results = sandbox.results();
    for (name, kernel) in [("one", "6.1.192"), ("two", "6.18.44")] {
        let mut results = results.clone();
        let run = &mut results["runs"][0];
        (run["os"], run["kernel"]) = ("linux".into(), kernel.into());
        // One of its cells asks a question to a raw poller.
        let cells = results["cells"].as_array_mut().expect("cells is a list");
        let cell = cells.iter_mut().find(|cell| cell["scenario"] == "selftest/pass").expect("it was run");
        cell["layer"] = "characterisation".into();
        cell["checks"] = json!([{
            "what": "a question", "expected": ["HUP"], "observed": format!("answer of {kernel}"), "source": "a test",
            "holds": false,
            "asked": { "row": "V26", "variant": "pipe:read-end-never-data", "api": "poll", "trigger": "level" },
        }]);
        fs::write(sandbox.path(&format!("{name}.json")), results.to_string())
            .expect("the sandbox is writable");
    }
    sandbox
}

impl Sandbox {
    fn site(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["site"], arguments].concat())
    }

    /// Returns the text of a page, with slashes as they are.
    fn page(&self, path: &str) -> String {
        let text = fs::read_to_string(self.path("site").join(path)).expect("the page was written");
        text.replace("&#x2f;", "/")
    }
}

#[test]
fn a_site_has_the_answers_of_each_kernel_and_no_broken_link() {
    let sandbox = kernels();
    sandbox.site(&["one.json", "two.json"]).expect(0, &["wrote: site (", " 0 broken\n"]);
    let row = sandbox.page("rows/V26.html");
    for text in
        ["<code>answer of 6.1.192</code>", "<code>answer of 6.18.44</code>", "systems/freebsd-12.3.5.html"]
    {
        assert!(row.contains(text), "{text}");
    }
    // The targets are told apart by their kernels.
    let scenario = sandbox.page("scenarios/selftest/fail.html");
    assert!(
        scenario.contains(", linux 6.1.192</th>") && scenario.contains(", linux 6.18.44</th>"),
        "{scenario}"
    );
    assert!(sandbox.page("systems/linux-6.1.192.html").contains("<h3>here, linux 6.1.192</h3>"));
    let badge: Value = serde_json::from_str(&sandbox.page("badges/poll.json")).expect("it is JSON");
    assert_eq!((&badge["schemaVersion"], &badge["label"]), (&json!(1), &json!("pollmatrix")));
    assert!(
        badge["message"].as_str().is_some_and(|text| text.contains("contract cells do not hold")),
        "{badge}"
    );
    assert_eq!(badge["color"], "red");
}

#[test]
fn published_addresses_stay() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.site(&[]).expect(0, &[" 0 broken\n"]);
    let files = files(&sandbox.path("site"));
    for path in [
        "index.html",
        "matrix.html",
        "compare.html",
        "search.html",
        "findings.html",
        "report.html",
        "catalogue.html",
        "sitemap.xml",
        "rows/V26.html",
        "rows/2.7.html",
        "systems/linux.html",
        "systems/freebsd.html",
        "systems/linux-6.18.44.html",
        "systems/freebsd-12.3.5.html",
        "pollers/epoll.html",
        "pollers/kqueue.html",
        "pollers/mio.html",
        "pollers/python-epoll.html",
        "badges/epoll.svg",
        "badges/mio.json",
        "scenarios/deletion/cloned-dup.html",
        "scenarios/migration/idle-takeover.html",
    ] {
        assert!(files.contains_key(path), "{path} is gone: readers have links to it");
    }
}

#[test]
fn equal_input_gives_equal_bytes_in_any_order_of_the_files() {
    let sandbox = kernels();
    sandbox.site(&["one.json", "two.json", "--out", "first"]).expect(0, &[]);
    sandbox.site(&["two.json", "one.json", "--out", "second"]).expect(0, &[]);
    let (first, second) = (files(&sandbox.path("first")), files(&sandbox.path("second")));
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    for (path, text) in &first {
        assert!(second[path] == *text, "{path} differs");
    }
    sandbox.site(&["one.json", "two.json", "--out", "first"]).expect(0, &[" 0 changed, 0 removed)"]);
}

#[test]
fn a_broken_link_is_named_and_fails_the_check() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.site(&[]).expect(0, &[]);
    sandbox.site(&["--check"]).expect(0, &[" 0 broken\n"]);
    let page = sandbox.path("site/rows/V26.html");
    let text = fs::read_to_string(&page).expect("the page was written");
    let broken = text.replace("href=\"#sources\"", "href=\"#nowhere\"");
    assert_ne!(text, broken);
    fs::write(&page, broken).expect("the sandbox is writable");
    sandbox
        .site(&["--check"])
        .expect(1, &["broken: site/rows/V26.html: links rows/V26.html#nowhere", " 1 broken\n"]);
    fs::remove_file(&page).expect("the page was written");
    sandbox.site(&["--check"]).expect(1, &["links rows/V26.html, and there is no such file"]);
    sandbox.site(&[]).expect(0, &["1 changed"]);
}

#[test]
fn a_folder_that_is_no_site_is_refused_and_kept() {
    let sandbox = Sandbox::new(&["pass"], 20);
    fs::create_dir(sandbox.path("mine")).expect("the sandbox is writable");
    fs::write(sandbox.path("mine/index.html"), "precious").expect("the sandbox is writable");
    sandbox
        .site(&["--out", "mine"])
        .expect(2, &["error: mine has files, and is no site of pollmatrix", "help: choose another folder"]);
    let kept = files(&sandbox.path("mine"));
    assert_eq!(kept, [("index.html".to_owned(), b"precious".to_vec())].into());
    sandbox.site(&["--out", "mine/index.html"]).expect(2, &["error: mine/index.html is no folder"]);
    sandbox
        .site(&["--check", "--out", "mine"])
        .expect(2, &["error: mine is no site of pollmatrix", "build one first"]);
}

#[test]
fn a_file_without_results_is_named_with_the_place_and_the_remedy() {
    let sandbox = kernels();
    sandbox.site(&["none.json"]).expect(2, &["cannot read none.json", "help: give a results.json"]);
    let whole = fs::read(sandbox.path("one.json")).expect("it was written");
    fs::write(sandbox.path("cut.json"), &whole[..whole.len() / 2]).expect("the sandbox is writable");
    sandbox.site(&["one.json", "cut.json"]).expect(2, &["error: cut.json:1:", "help: "]);
    fs::write(sandbox.path("other.json"), "[1]").expect("the sandbox is writable");
    sandbox.site(&["other.json"]).expect(2, &["error: other.json:1:"]);
    assert!(!sandbox.path("site").exists(), "nothing is written before all results are read");
    for url in ["https://example.org", "ftp://example.org/", "https://example.org/a b/", "x"] {
        sandbox.site(&["--url", url]).expect(2, &["--url"]);
    }
}

#[test]
fn a_file_of_an_earlier_site_that_is_gone_is_removed_and_other_files_stay() {
    let sandbox = kernels();
    sandbox.site(&["one.json"]).expect(0, &[]);
    fs::write(sandbox.path("site/CNAME"), "example.org").expect("the sandbox is writable");
    assert!(sandbox.path("site/scenarios/selftest/fail.html").exists());
    sandbox.site(&[]).expect(0, &[" removed)", " 0 broken\n"]);
    assert!(!sandbox.path("site/scenarios/selftest").exists() && sandbox.path("site/CNAME").exists());
}

#[test]
fn absolute_addresses_are_those_of_the_option() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.site(&["--url", "https://example.org/matrix/"]).expect(0, &[" 0 broken\n"]);
    let (sitemap, row) = (sandbox.page("sitemap.xml"), sandbox.page("rows/V26.html"));
    assert!(sitemap.contains("<loc>https://example.org/matrix/rows/V26.html</loc>"), "{sitemap}");
    assert!(!sitemap.contains("github.io"));
    for part in [
        "<meta property=\"og:url\" content=\"https://example.org/matrix/rows/V26.html\">",
        "<link rel=\"canonical\" href=\"https://example.org/matrix/rows/V26.html\">",
        "<meta property=\"og:title\" content=\"V26: a pipe",
        "<meta property=\"og:description\" content=\"What does a poller report",
    ] {
        assert!(row.contains(part), "{part}");
    }
}
