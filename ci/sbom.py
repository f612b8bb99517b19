"""Which crates are linked into an executable of the release: ci/release.sh artefacts calls this.

sbom.py write TARGET EXECUTABLE EPOCH SBOM LICENCES   writes the bill of materials (CycloneDX), and the crates' licences
sbom.py check TARGET EXECUTABLE SBOM                  compares the bill with its schema, Cargo.lock and what was built
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid
from datetime import datetime, timezone

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

NOTICES = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def packages():
    """Every package of the workspace and its dependencies, by name and version."""
    metadata = json.loads(output("cargo", "metadata", "--format-version", "1", "--locked"))
    return {(package["name"], package["version"]): package for package in metadata["packages"]}


def locked():
    """The checksum of each package in Cargo.lock that has one, by name and version."""
    lock = tomllib.loads(pathlib.Path("Cargo.lock").read_text())
    return {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}


def linked(target):
    """The crates that are linked, the first is the command's, each with those that it names. Procedural macros run in the compiler."""
    tree = output("cargo", "tree", "--locked", "-p", "pollmatrix", "-e", "normal", "--target", target, "--prefix", "depth", "--format", " {p}")
    above, edges, macros = [], {}, set()
    for line in tree.splitlines():
        depth, name, version, *rest = line.split()
        crate = (name, version.removeprefix("v"))
        edges.setdefault(crate, set())
        if "(proc-macro)" in rest:
            macros.add(crate)
        del above[int(depth) :]
        if above:
            edges[above[-1]].add(crate)
        above.append(crate)
    root = next(iter(edges))
    found, left = {}, [root]
    while left:
        crate = left.pop()
        if crate not in found:
            found[crate] = sorted(edges[crate] - macros)
            left.extend(found[crate])
    return found


def write(target, executable, epoch, sbom, licences):
    known, checksums, crates, factory = packages(), locked(), linked(target), LicenseFactory()
    digest = hashlib.sha256(pathlib.Path(executable).read_bytes()).hexdigest()
    components = {}
    for name, version in crates:
        package, checksum = known[name, version], checksums[name, version]
        components[name, version] = Component(
            type=ComponentType.LIBRARY if components else ComponentType.APPLICATION,
            name=name,
            version=version,
            description=package["description"],
            licenses=[factory.make_from_string(package["license"].replace("/", " OR "))],
            purl=PackageURL("cargo", name=name, version=version),
            bom_ref=f"{name}@{version}",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum or digest)] if checksum or not components else [],
            external_references=[ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(package["repository"]))]
            if package["repository"]
            else [],
        )
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{target}#{digest}"), components=list(components.values())[1:])
    bom.metadata.component = next(iter(components.values()))
    bom.metadata.timestamp = datetime.fromtimestamp(int(epoch), timezone.utc)
    for crate, uses in crates.items():
        bom.register_dependency(components[crate], [components[other] for other in uses])
    pathlib.Path(sbom).write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n")

    texts, silent = {}, []
    for crate in sorted(crate for crate in crates if checksums[crate]):
        folder = pathlib.Path(known[crate]["manifest_path"]).parent
        notices = sorted(file for file in folder.iterdir() if file.is_file() and NOTICES.match(file.name))
        for file in notices:
            texts.setdefault(file.read_text(errors="replace").strip(), []).append(" ".join(crate))
        if not notices:
            silent.append(f"{' '.join(crate)}: {known[crate]['license']}, {known[crate]['repository']}")
    parts = [f"{', '.join(dict.fromkeys(users))}\n\n{text}" for text, users in texts.items()]
    parts.append("Crates without a text of their own\n\n" + "\n".join(silent))
    parts.append("The Rust standard library, and in static executables musl: MIT, or for Rust Apache-2.0")
    pathlib.Path(licences).write_text(f"\n\n{'=' * 80}\n".join(parts) + "\n")


def check(target, executable, sbom):
    text, checksums, known = pathlib.Path(sbom).read_text(), locked(), packages()
    problems = []
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        problems.append(f"{sbom} is no CycloneDX 1.6: {error}")
    bom = json.loads(text)
    content = pathlib.Path(executable).read_bytes()
    root = bom["metadata"]["component"]
    if [entry["content"] for entry in root["hashes"]] != [hashlib.sha256(content).hexdigest()]:
        problems.append(f"{sbom} is of another executable")
    named = {(component["name"], component["version"]): component for component in bom["components"]}
    # Messages of panics and line numbers name the source file.
    said = {tuple(name.decode().rsplit("-", 1)) for name in re.findall(rb"/registry/src/[^/\0]+/([a-zA-Z0-9_-]+-\d[0-9a-z.+-]*)/", content)}
    ours = said & checksums.keys()
    if len(ours) < 20:
        problems.append(f"{executable} names only {len(ours)} crates: this check looks for the wrong thing")
    problems += [f"the executable has code of {' '.join(crate)}, which is not in {sbom}" for crate in sorted(ours - named.keys())]
    libraries = pathlib.Path(executable).parent / "deps"
    for crate, component in named.items():
        if crate not in checksums:
            problems.append(f"{' '.join(crate)} is not in Cargo.lock")
            continue
        hashes = [entry["content"] for entry in component.get("hashes", [])]
        if hashes != [checksum for checksum in [checksums[crate]] if checksum]:
            problems.append(f"{' '.join(crate)} has another checksum in Cargo.lock")
        names = [part["name"].replace("-", "_") for part in known[crate]["targets"] if "lib" in part["kind"] or "rlib" in part["kind"]]
        if not any(any(libraries.glob(f"lib{name}-*.rlib")) for name in names):
            problems.append(f"{' '.join(crate)} was not built for {target}")
    for problem in problems:
        print(f"error: {problem}")
    print(f"{sbom}: {len(named)} crates; the executable names {len(ours)} of them")
    return 1 if problems else 0


if __name__ == "__main__":
    word, *words = sys.argv[1:]
    sys.exit({"write": write, "check": check}[word](*words))
