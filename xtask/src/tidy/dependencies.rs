//! Rules about what a crate reaches, directly or not.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::Workspace;
use crate::examples_lock;
use crate::workspace::cargo_output;

/// Everything that any target of the workspace is built from.
const WHOLE: [&str; 6] =
    ["--workspace", "--all-features", "--target", "all", "-e", "normal,build,dev"];

/// Crates that decide: functions from values to values.
pub(super) const PURE: [&str; 7] = [
    "olm-types",
    "olm-effect",
    "olm-resolver",
    "olm-opgroup",
    "olm-rbac",
    "olm-lifecycle",
    "olm-plan",
];

/// What asks a cluster.
const CLIENTS: [&str; 3] = ["kube", "kube-client", "kube-runtime"];

/// What would let a pure crate act.
const ACTING: [&str; 6] = ["kube", "kube-client", "kube-runtime", "tokio", "tonic", "hyper"];

/// What only the catalog operator needs.
const RESOLVING: [&str; 3] = ["batsat", "cel", "olm-resolver"];

/// TLS implementations beside the one in use, aws-lc-rs.
const OTHER_TLS: [&str; 4] = ["ring", "openssl", "openssl-sys", "native-tls"];

/// Pure crates with a client or a runtime somewhere below them.
pub(super) fn impure(_: &Workspace) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in PURE {
        found.extend(reached(name, &ACTING)?);
    }
    Ok(found)
}

/// What would make the smaller operator as big as the other.
pub(super) fn heavy_operator(_: &Workspace) -> Result<Vec<String>> {
    reached("olm-operator", &RESOLVING)
}

/// A second TLS implementation would make the process-wide default ambiguous. The lock file may
/// name one that no feature turns on; only the tree of what is built counts.
pub(super) fn second_tls_provider(_: &Workspace) -> Result<Vec<String>> {
    let names = tree(&WHOLE, package_name)?;
    let others = OTHER_TLS.iter().filter(|name| names.contains(**name));
    Ok(others.map(|name| format!("{name} is built")).collect())
}

/// Packages from elsewhere: they could vanish, or never have been reviewed.
pub(super) fn foreign_sources(workspace: &Workspace) -> Result<Vec<String>> {
    const PUBLIC_INDEX: &str = "registry+https://github.com/rust-lang/";
    let is_foreign = |source: &String| !source.starts_with(PUBLIC_INDEX);
    let packages = workspace.packages.values();
    let foreign = packages.filter(|package| package.source.as_ref().is_some_and(is_foreign));
    Ok(foreign.map(|package| package.name.clone()).collect())
}

/// Packages that are built in several versions, apart from those that deny.toml lists.
pub(super) fn duplicates(workspace: &Workspace) -> Result<Vec<String>> {
    let deny = workspace.files.iter().find(|file| file.path == "deny.toml");
    let listed = |name: &str, version: &str| {
        let entry = format!("crate = \"{name}@{version}\"");
        deny.is_some_and(|deny| deny.text.contains(&entry))
    };
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in tree(&WHOLE, |line| Some(line.to_owned()))? {
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            let version = version.trim_start_matches('v');
            if !listed(name, version) {
                versions.entry(name.to_owned()).or_default().insert(version.to_owned());
            }
        }
    }
    let several = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    Ok(several.map(|(name, versions)| format!("{name}: {versions:?}")).collect())
}

/// The example that resolves without a cluster needs no client. The crate of catalogs, which it reads
/// folders with, brings the runtime of its servers.
pub(super) fn impure_example(_: &Workspace) -> Result<Vec<String>> {
    reached_in(&["--manifest-path", examples_lock::MANIFEST], "what-if", &CLIENTS)
}

/// Examples with other versions are built from what was not tried here.
pub(super) fn example_versions(_: &Workspace) -> Result<Vec<String>> {
    examples_lock::others()
}

fn reached(package: &str, unwanted: &[&str]) -> Result<Vec<String>> {
    reached_in(&[], package, unwanted)
}

fn reached_in(workspace: &[&str], package: &str, unwanted: &[&str]) -> Result<Vec<String>> {
    let selection = [workspace, &["-p", package, "-e", "normal"]].concat();
    let names = tree(&selection, package_name)?;
    let hits = unwanted.iter().filter(|name| names.contains(**name));
    Ok(hits.map(|name| format!("{package} reaches {name}")).collect())
}

/// What a dependency tree holds, line by line.
fn tree(selection: &[&str], read: fn(&str) -> Option<String>) -> Result<BTreeSet<String>> {
    let args = ["tree", "--locked", "--prefix", "none", "--format", "{p}"];
    let tree = cargo_output(&[&args[..], selection].concat())?;
    Ok(tree.lines().filter_map(read).collect())
}

fn package_name(line: &str) -> Option<String> {
    line.split(' ').next().map(str::to_owned)
}
