//! docs/your-ci.md: its files are what they are for.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::tree::{blocks, read};

fn page() -> String {
    read("docs/your-ci.md")
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// Returns the steps of all jobs of a workflow.
fn steps(workflow: &Value) -> Vec<&Value> {
    let jobs = workflow["jobs"].as_object().expect("a workflow has jobs").values();
    jobs.flat_map(|job| job["steps"].as_array().expect("a job has steps")).collect()
}

#[test]
fn the_workflows_give_the_action_only_inputs_that_it_has() {
    let page = page();
    let action = yaml(&read("action.yml"));
    let (mut used, mut checked) = (0, 0);
    for block in blocks(&page, "yaml") {
        let file = yaml(block);
        if !block.starts_with("# .github/workflows/") {
            continue;
        }
        checked += 1;
        for step in steps(&file).into_iter().filter(|step| step["uses"] == "pollmatrix/pollmatrix@main") {
            used += 1;
            let given = step["with"].as_object().expect("it has inputs");
            given.keys().for_each(|key| assert!(action["inputs"].get(key).is_some(), "{key}"));
        }
    }
    assert_eq!((checked, used), (2, 1));
    let gitlab = yaml(
        blocks(&page, "yaml").iter().find(|block| block.starts_with("# .gitlab-ci.yml")).expect("GitLab"),
    );
    let script = gitlab["poller"]["script"].as_array().expect("a script");
    assert_eq!(script.last(), Some(&"pollmatrix ci".into()));
    assert_eq!(gitlab["poller"]["artifacts"]["reports"]["junit"], "pollmatrix-report/junit.xml");
    // The command takes the place of the one in the job.
    let job = yaml(&read("docker/job.yml"));
    assert!(job["spec"]["template"]["spec"]["containers"][0]["command"].is_array());
}

/// The configuration is read: what then fails is its adapter, which is not there.
#[test]
fn the_configuration_on_the_page_has_no_mistake() {
    let page = page();
    let [config] = blocks(&page, "toml")[..] else { panic!("one configuration") };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(folder.path().join("pollmatrix.toml"), config).expect("the folder is writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pollmatrix"));
    let output = command.arg("ci").current_dir(folder.path()).output().expect("the executable starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--adapter ./my-adapter epoll: './my-adapter' cannot be started"), "{text}");
}

#[test]
fn the_scripts_on_the_page_and_in_the_action_pass_shellcheck() {
    // `lacks` gives a program an empty script, which this one does not take.
    if Command::new("shellcheck").arg("--version").output().is_err() {
        return;
    }
    let (page, action) = (page(), yaml(&read("action.yml")));
    let mut scripts: Vec<String> =
        blocks(&page, "sh").into_iter().filter(|block| block.contains("ssh ")).map(str::to_owned).collect();
    assert_eq!(scripts.len(), 1, "the board");
    let steps = action["runs"]["steps"].as_array().expect("the action has steps");
    scripts.extend(steps.iter().filter_map(|step| step["run"].as_str()).map(str::to_owned));
    assert_eq!(scripts.len(), 4);
    for script in scripts {
        // An expression in a script would make an input a part of it.
        assert!(!script.contains("${{"), "{script}");
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("script");
        fs::write(&file, &script).expect("the folder is writable");
        let checked =
            Command::new("shellcheck").args(["-s", "bash"]).arg(&file).stdin(Stdio::null()).output();
        let checked = checked.expect("shellcheck starts");
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    }
}
