//! `pollmatrix plan --format k8s-job`: everything that a cluster needs to run the shards, and nothing that it has not got.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use matrix::{Selection, Target};
use metadata::Os;
use runner::plan::Source;
use runner::provenance::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::args::PlanArgs;
use crate::error::Error;

/// Where the volume is mounted, where the files from here are, and the user whom the image need not know.
const RESULTS: &str = "/results";
const CONFIG: &str = "/config";
const USER: u32 = 65532;
/// The claims that come with a Job of one pod, and of several, which may be on several nodes. What a claim is for cannot be
/// changed: two names.
const CLAIM: (&str, &str) = ("pollmatrix-results", "ReadWriteOnce");
const SHARED_CLAIM: (&str, &str) = ("pollmatrix-results-shared", "ReadWriteMany");
/// What a finished Job is kept for: its pods' logs. The results are on the volume.
const KEPT_SECONDS: u32 = 24 * 60 * 60;
/// A ConfigMap may have 1 MiB; the names count, too.
const MOST_BYTES: usize = 1_000_000;
/// So many characters of a name tell a person which cells it is; it becomes a host's name with a number behind it.
const SLUG: usize = 24;
/// So many digits of a hash tell it from every other.
const DIGITS: usize = 10;

/// What is to be run there.
pub struct Order<'a> {
    /// The matrix.
    pub source: &'a Source<'a>,
    /// Which cells.
    pub selection: &'a Selection,
    /// Over how many pods they are split.
    pub of: usize,
    /// What they are run on.
    pub target: &'a Target,
    /// The folder that `--expectations` names.
    pub expectations: Option<&'a Path>,
    /// What `--subject` names.
    pub subjects: &'a [String],
}

/// The text to give to `kubectl apply`.
pub fn manifest(order: &Order<'_>, args: &PlanArgs) -> Result<String, Error> {
    if order.target.os != Os::Linux {
        return Err(refused(
            format!("{} has {}", order.target.id, order.target.os),
            "leave --target out, or name one with Linux: that is what pods have".into(),
        ));
    }
    order.subjects.iter().try_for_each(|subject| check_subject(subject))?;
    let files = order.files()?;
    let arguments = order.arguments();
    let name = order.name(&files, &arguments, &args.image);
    let own = if order.of == 1 { CLAIM } else { SHARED_CLAIM };
    let mut documents = Vec::new();
    if args.claim.is_none() {
        documents.push(claim(own));
    }
    if !files.is_empty() {
        documents.push(config(&name, &files));
    }
    let claim = args.claim.as_deref().unwrap_or(own.0);
    documents.push(job(&name, order.of, &args.image, claim, &arguments, &files));
    Ok(documents.iter().map(text).collect::<Vec<_>>().join("---\n"))
}

/// As people write it. Where that would have characters that cannot be seen, as JSON, which is YAML, too.
fn text(document: &Value) -> String {
    let text = serde_saphyr::to_string(document).expect("JSON values are YAML values");
    if metadata::visible(&text) == text { text } else { metadata::json(document) }
}

fn refused(what: String, help: String) -> Error {
    Error::NotForKubernetes { what, help }
}

/// A program of this machine is not in the image.
fn check_subject(typed: &str) -> Result<(), Error> {
    let program = shlex::split(typed).unwrap_or_default().into_iter().next().unwrap_or_default();
    if subjects::find(typed).is_some()
        || program.starts_with('/')
        || !program.is_empty() && !program.contains('/')
    {
        return Ok(());
    }
    let help = "put the program into the image, and name it as it is called there: --subject '/opt/my-adapter epoll'";
    Err(refused(format!("--subject {typed} is a file of this machine"), help.into()))
}

/// A file of this machine, by the name that it has below [`CONFIG`].
type Files = BTreeMap<PathBuf, String>;

impl Order<'_> {
    fn files(&self) -> Result<Files, Error> {
        let mut files = Files::new();
        if let Some(path) = &self.source.path {
            files.insert("matrix.yml".into(), read(path)?.unwrap_or_default());
        }
        if let Some(folder) = self.expectations {
            for name in self.expected(folder)? {
                if let Some(text) = read(&folder.join(&name))? {
                    files.insert(Path::new("expectations").join(name), text);
                }
            }
        }
        let bytes: usize = files.values().map(String::len).sum();
        if bytes > MOST_BYTES {
            let help =
                format!("a ConfigMap has room for {MOST_BYTES}: build them into the image's pollmatrix");
            return Err(refused(format!("--matrix and --expectations have {bytes} bytes"), help));
        }
        Ok(files)
    }

    /// What a run there reads of a folder with expectations.
    fn expected(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let os = self.target.os;
        let mut names = vec!["divergences.yml".into(), expectations::answers_file(os, None)];
        let subjects = folder.join("subjects");
        if !self.subjects.is_empty() && subjects.is_dir() {
            let entries = std::fs::read_dir(&subjects).map_err(|source| failed(&subjects, source))?;
            for entry in entries {
                let name = entry.map_err(|source| failed(&subjects, source))?.file_name();
                names.push(expectations::answers_file(os, Some(&name.to_string_lossy())));
            }
        }
        Ok(names)
    }

    /// What follows `pollmatrix run`, one argument each.
    fn arguments(&self) -> Vec<String> {
        let mut words = self.selection.prefixes.clone();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        if self.source.path.is_some() {
            option("--matrix", format!("{CONFIG}/matrix.yml"));
        }
        if self.expectations.is_some() {
            option("--expectations", format!("{CONFIG}/expectations"));
        }
        for subject in self.subjects {
            option("--subject", subject.clone());
        }
        for backend in &self.selection.backends {
            option("--backend", backend.clone());
        }
        for filter in &self.selection.filters {
            option("--filter", filter.clone());
        }
        if let Some(layer) = self.selection.layer {
            option("--layer", layer.to_string());
        }
        words
    }

    /// The same order has the same name; what differs in anything has another.
    fn name(&self, files: &Files, arguments: &[String], image: &str) -> String {
        let identity = json!({ "of": self.of, "image": image, "arguments": arguments, "files": files });
        let hash = hex(&Sha256::digest(identity.to_string()));
        format!("pollmatrix-{}-{}", slug(&self.selection.describe()), &hash[..DIGITS])
    }
}

/// What a name may have of a text: lower-case letters, digits, and single hyphens between them.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.to_ascii_lowercase().chars().take_while(char::is_ascii) {
        match c.is_ascii_alphanumeric() {
            true => slug.push(c),
            false if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
    }
    slug.truncate(SLUG);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "cells".to_owned() } else { slug.to_owned() }
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(failed(path, source).into()),
    }
}

fn failed(path: &Path, source: std::io::Error) -> runner::Error {
    runner::Error::Io {
        action: "read",
        path: path.to_path_buf(),
        source,
        help: "make it readable, as UTF-8 text",
    }
}

fn labels(name: &str) -> Value {
    json!({ "app.kubernetes.io/name": "pollmatrix", "app.kubernetes.io/instance": name })
}

fn claim((name, mode): (&str, &str)) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": { "name": name, "labels": { "app.kubernetes.io/name": "pollmatrix" } },
        "spec": { "accessModes": [mode], "resources": { "requests": { "storage": "1Gi" } } },
    })
}

/// The key of a file: it has no folders.
fn key(path: &Path) -> String {
    path.to_string_lossy().replace('/', "__")
}

fn config(name: &str, files: &Files) -> Value {
    let data: BTreeMap<_, _> = files.iter().map(|(path, text)| (key(path), text)).collect();
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "labels": labels(name) },
        "immutable": true,
        "data": data,
    })
}

/// Kubernetes counts from 0. A pod that was evicted goes on where it was, because its results are on the volume; one whose
/// cells failed is not started again, because it has its results. A Job that is created again has another UID, and so a folder of
/// its own.
const SCRIPT: &str = "name=$0 of=$1 shard=$((JOB_COMPLETION_INDEX + 1))
shift
folder=/results/$name/$JOB_UID/shard-$shard-of-$of
echo \"pollmatrix: shard $shard of $of; the results go to $folder of the volume\"
exec pollmatrix run --shard \"$shard/$of\" --resume --report-dir \"$folder\" \"$@\"
";

fn job(name: &str, of: usize, image: &str, claim: &str, arguments: &[String], files: &Files) -> Value {
    let words = ["sh", "-c", SCRIPT, name, &of.to_string()].map(str::to_owned);
    // A dollar that is not Kubernetes' own is doubled.
    let command: Vec<_> = words.iter().chain(arguments).map(|word| word.replace('$', "$$")).collect();
    let mut mounts = vec![
        json!({ "name": "results", "mountPath": RESULTS }),
        json!({ "name": "tmp", "mountPath": "/tmp" }),
    ];
    let mut volumes = vec![
        json!({ "name": "results", "persistentVolumeClaim": { "claimName": claim } }),
        json!({ "name": "tmp", "emptyDir": {} }),
    ];
    if !files.is_empty() {
        let items: Vec<_> = files.keys().map(|path| json!({ "key": key(path), "path": path })).collect();
        mounts.push(json!({ "name": "config", "mountPath": CONFIG, "readOnly": true }));
        volumes.push(json!({ "name": "config", "configMap": { "name": name, "items": items } }));
    }
    let uid = "metadata.labels['batch.kubernetes.io/controller-uid']";
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name, "labels": labels(name) },
        "spec": {
            "completionMode": "Indexed",
            "completions": of,
            "parallelism": of,
            "backoffLimitPerIndex": 2,
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "podFailurePolicy": { "rules": [
                { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
                // Cells failed, or the command is wrong.
                {
                    "action": "FailIndex",
                    "onExitCodes": { "containerName": "pollmatrix", "operator": "In", "values": [1, 2] },
                },
            ]},
            "template": {
                "metadata": { "labels": labels(name) },
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": false,
                    "securityContext": {
                        "runAsNonRoot": true,
                        "runAsUser": USER,
                        "runAsGroup": USER,
                        "fsGroup": USER,
                        "seccompProfile": { "type": "RuntimeDefault" },
                    },
                    "containers": [{
                        "name": "pollmatrix",
                        "image": image,
                        "command": command,
                        "workingDir": RESULTS,
                        "env": [{ "name": "JOB_UID", "valueFrom": { "fieldRef": { "fieldPath": uid } } }],
                        // As many cells at a time as there are processors: the limit is what is counted.
                        "resources": {
                            "requests": { "cpu": "2", "memory": "1Gi" },
                            "limits": { "cpu": "2", "memory": "2Gi" },
                        },
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "readOnlyRootFilesystem": true,
                            "capabilities": { "drop": ["ALL"] },
                        },
                        "volumeMounts": mounts,
                    }],
                    "volumes": volumes,
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_part_of_a_name_whatever_is_selected() {
        for (text, expected) in [
            ("everything", "everything"),
            ("deletion --backend poll --filter '*own*'", "deletion-backend-poll-fi"),
            ("--layer contract", "layer-contract"),
            ("*", "cells"),
            ("a-very-long-name-of-a---b", "a-very-long-name-of-a-b"),
            ("twenty-three-letters-abc--------", "twenty-three-letters-abc"),
        ] {
            assert_eq!(slug(text), expected);
        }
    }
}
