//! What the shipped programs are made of, as a CycloneDX document.
//!
//! Taken from what cargo would compile for the image, so that it lists neither tests nor tools. The
//! same lock file gives the same bytes.
//!
//! Not cargo-cyclonedx: it describes each member of the workspace in a document of its own, with a random
//! serial number; an image has several of them, and needs one document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use olm_testkit::static_build::TARGET;
use serde_json::{Value, json};

use xtask::build::shipped::IMAGE;
use xtask::workspace::{cargo_output, root};

/// A crate that is compiled in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Component {
    name: String,
    version: String,
    licence: String,
}

/// Writes the document.
pub(super) fn write(path: &Path) -> Result<()> {
    let lock =
        std::fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let document = document(&compiled_in()?, &checksums(&lock));
    let text = serde_json::to_string_pretty(&document).context("cannot print the document")?;
    std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
}

fn compiled_in() -> Result<BTreeSet<Component>> {
    let mut found = BTreeSet::new();
    for binary in IMAGE {
        let features = binary.features.join(",");
        let tree = cargo_output(&[
            "tree",
            "--locked",
            "--target",
            TARGET,
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}\t{l}",
            "--package",
            binary.package,
            "--features",
            &features,
        ])?;
        found.extend(tree.lines().filter_map(component));
    }
    Ok(found)
}

/// Of a line such as `tokio v1.2.3 (proc-macro)<tab>MIT`. A line that was printed before ends with
/// an asterisk.
fn component(line: &str) -> Option<Component> {
    let (package, licence) = line.split_once('\t')?;
    let mut words = package.split_whitespace();
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    let licence = licence.trim_end_matches("(*)").trim();
    Some(Component {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: licence.to_owned(),
    })
}

/// SHA-256 sums of packages, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let packages = lock.split("[[package]]").skip(1);
    let value = |package: &str, key: &str| {
        let prefix = format!("{key} = \"");
        let line = package.lines().find_map(|line| line.strip_prefix(&prefix))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    packages
        .filter_map(|package| {
            let of = |key| value(package, key);
            Some(((of("name")?, of("version")?), of("checksum")?))
        })
        .collect()
}

fn document(
    components: &BTreeSet<Component>,
    checksums: &BTreeMap<(String, String), String>,
) -> Value {
    let entries: Vec<Value> = components.iter().map(|one| entry(one, checksums)).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "container", "name": "olm-rs", "version": super::VERSION}},
        "components": entries,
    })
}

fn entry(component: &Component, checksums: &BTreeMap<(String, String), String>) -> Value {
    let Component { name, version, licence } = component;
    let mut entry = json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
        "licenses": [{"expression": licence.replace('/', " OR ")}],
    });
    if let Some(sum) = checksums.get(&(name.clone(), version.clone())) {
        entry["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_licence_and_sum() {
        let lines = [
            "a v1.0.0\tMIT/Apache-2.0",
            "a v1.0.0\tMIT/Apache-2.0 (*)",
            "own v0.1.0 (/x)\tApache-2.0",
            "",
        ];
        let components: BTreeSet<_> = lines.iter().filter_map(|line| component(line)).collect();
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let document = document(&components, &checksums(lock));
        assert_eq!(
            document["components"],
            json!([
                {"type": "library", "name": "a", "version": "1.0.0", "purl": "pkg:cargo/a@1.0.0",
                 "licenses": [{"expression": "MIT OR Apache-2.0"}],
                 "hashes": [{"alg": "SHA-256", "content": "ab"}]},
                {"type": "library", "name": "own", "version": "0.1.0", "purl": "pkg:cargo/own@0.1.0",
                 "licenses": [{"expression": "Apache-2.0"}]},
            ])
        );
    }
}
