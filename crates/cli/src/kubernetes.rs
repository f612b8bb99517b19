//! `pollmatrix plan --format k8s-job`: the objects with which a cluster runs the shards.

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

/// The mount point of the results volume.
const RESULTS: &str = "/results";
/// The mount point of the matrix file and the expectations.
const CONFIG: &str = "/config";
/// The user id of the pods, which the image does not need to define.
const USER: u32 = 65532;
/// The name and access mode of the claim for a Job of one pod.
const CLAIM: (&str, &str) = ("pollmatrix-results", "ReadWriteOnce");
/// The claim for a Job of several pods, which can be on several nodes. It has another name, because the
/// access mode of a claim cannot be changed.
const SHARED_CLAIM: (&str, &str) = ("pollmatrix-results-shared", "ReadWriteMany");
/// How long a finished Job is kept for the logs of its pods. The results are on the volume.
const KEPT_SECONDS: u32 = 24 * 60 * 60;
/// The greatest size of the files in a ConfigMap, which may have 1 MiB including names.
const MOST_BYTES: usize = 1_000_000;
/// The greatest number of characters of the selection in a name, which becomes a part of a host name.
const SLUG: usize = 24;
/// The number of hexadecimal digits of the hash in a name, which make it unique.
const DIGITS: usize = 10;

/// The description of a Job.
pub struct Order<'a> {
    /// The matrix.
    pub source: &'a Source<'a>,
    /// The selected cells.
    pub selection: &'a Selection,
    /// The number of pods to split the cells over.
    pub of: usize,
    /// The target of the pods.
    pub target: &'a Target,
    /// The folder that `--expectations` names.
    pub expectations: Option<&'a Path>,
    /// The values of `--subject`.
    pub adapters: &'a [String],
}

/// Returns the text for `kubectl apply`.
pub fn manifest(order: &Order<'_>, args: &PlanArgs) -> Result<String, Error> {
    if order.target.os != Os::Linux {
        return Err(refused(
            format!("{} has {}", order.target.id, order.target.os),
            "omit --target, or name one with Linux, because pods run Linux".into(),
        ));
    }
    if let Some(rows) = order.source.environment.rows() {
        let help = "enter the behaviours in the catalogue: docs/verbs.md";
        let message = format!("--rows {} is a file of this machine", rows.path.display());
        return Err(refused(message, help.into()));
    }
    order.adapters.iter().try_for_each(|adapter| check_adapter(adapter))?;
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

/// Formats a document as YAML, or, if that would contain invisible characters, as JSON, which is also YAML.
fn text(document: &Value) -> String {
    let text = serde_saphyr::to_string(document).expect("JSON values are YAML values");
    if metadata::visible(&text) == text { text } else { metadata::json(document) }
}

fn refused(message: String, help: String) -> Error {
    Error::NotForKubernetes { message, help }
}

/// Checks that an adapter can be a command of the image: a file of this machine is not in the image.
fn check_adapter(typed: &str) -> Result<(), Error> {
    let program = shlex::split(typed).unwrap_or_default().into_iter().next().unwrap_or_default();
    if subjects::find(typed).is_some()
        || program.starts_with('/')
        || !program.is_empty() && !program.contains('/')
    {
        return Ok(());
    }
    let help = "put the program into the image, and give its path there: --subject '/opt/my-adapter epoll'";
    Err(refused(format!("--subject {typed} is a file of this machine"), help.into()))
}

/// The texts of files of this machine, by their paths below [`CONFIG`].
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

    /// Returns the files that a run in the cluster reads from a folder with expectations.
    fn expected(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let os = self.target.os;
        let mut names = vec!["divergences.yml".into(), expectations::answers_file(os, None)];
        let subjects = folder.join("subjects");
        if !self.adapters.is_empty() && subjects.is_dir() {
            let entries = std::fs::read_dir(&subjects).map_err(|source| failed(&subjects, source))?;
            for entry in entries {
                let name = entry.map_err(|source| failed(&subjects, source))?.file_name();
                names.push(expectations::answers_file(os, Some(&name.to_string_lossy())));
            }
        }
        Ok(names)
    }

    /// Returns the arguments of `pollmatrix run`.
    fn arguments(&self) -> Vec<String> {
        let mut words = self.selection.prefixes.clone();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        if self.source.path.is_some() {
            option("--matrix", format!("{CONFIG}/matrix.yml"));
        }
        if self.expectations.is_some() {
            option("--expectations", format!("{CONFIG}/expectations"));
        }
        for adapter in self.adapters {
            option("--subject", adapter.clone());
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

    /// Returns a name that equal orders share and different orders do not.
    fn name(&self, files: &Files, arguments: &[String], image: &str) -> String {
        let identity = json!({ "of": self.of, "image": image, "arguments": arguments, "files": files });
        let hash = hex(&Sha256::digest(identity.to_string()));
        format!("pollmatrix-{}-{}", slug(&self.selection.describe()), &hash[..DIGITS])
    }
}

/// Reduces a text to the characters of a name: lower-case letters, digits, and single hyphens between them.
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

/// Returns the key of a file in the ConfigMap, which cannot contain slashes.
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

/// The script of a pod. Kubernetes counts from 0. A pod that was evicted resumes its run, because its results
/// are on the volume. A pod whose cells failed is not restarted, because its results are complete. A Job that
/// is created again has another UID, and therefore another folder.
const SCRIPT: &str = "name=$0 of=$1 shard=$((JOB_COMPLETION_INDEX + 1))
shift
folder=/results/$name/$JOB_UID/shard-$shard-of-$of
echo \"pollmatrix: shard $shard of $of; the results go to $folder of the volume\"
exec pollmatrix run --shard \"$shard/$of\" --resume --report-dir \"$folder\" \"$@\"
";

fn job(name: &str, of: usize, image: &str, claim: &str, arguments: &[String], files: &Files) -> Value {
    let words = ["sh", "-c", SCRIPT, name, &of.to_string()].map(str::to_owned);
    // Kubernetes expands `$(…)`, and replaces `$$` by `$`.
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
                // Cells failed, or the arguments are wrong.
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
                        // The number of parallel cells is the number of processors, which follows the CPU
                        // limit.
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
    fn a_slug_is_valid_in_a_name_for_every_selection() {
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
