//! Tests and lints see all code: everything is built with every feature, apart from one. And it is
//! built once: tests turn no feature on that programs lack.

use std::collections::BTreeMap;

use anyhow::Result;

use super::Workspace;
use crate::build::{FEATURES, WORKSPACE};
use crate::workspace::cargo_output;

/// The allocator of the image: its C sources take longer to compile than all the rest.
const LEFT_OUT: [&str; 1] = ["jemalloc"];

/// Features that another one of the same crate turns on.
const IMPLIED: [(&str, &str); 3] =
    [("olm-catalog", "server"), ("olm-catalog", "image"), ("olm-kit", "otlp")];

/// Features that neither stand in the list of what is built nor are left out for a reason.
pub(super) fn left_out(workspace: &Workspace) -> Result<Vec<String>> {
    let ours = workspace.packages.values().filter(|package| package.source.is_none());
    let all = ours.flat_map(|package| {
        package.features.iter().map(|feature| (package.name.as_str(), feature.as_str()))
    });
    let built = |package: &str, feature: &str| FEATURES.contains(&format!("{package}/{feature}"));
    let lacking = all.filter(|(package, feature)| {
        let known = LEFT_OUT.contains(feature) || IMPLIED.contains(&(package, feature));
        !known && !built(package, feature)
    });
    Ok(lacking.map(|(package, feature)| format!("{package}/{feature} is not built")).collect())
}

/// Packages with more features for tests than for programs: what depends on them is compiled twice.
pub(super) fn for_tests_only(_: &Workspace) -> Result<Vec<String>> {
    let (programs, tests) = (features("normal,build")?, features("normal,build,dev")?);
    let differs =
        programs.iter().filter(|(package, features)| tests.get(*package) != Some(features));
    Ok(differs.map(|(package, _)| format!("tests turn on more features of {package}")).collect())
}

/// Packages with the features in which they are built.
fn features(edges: &str) -> Result<BTreeMap<String, Vec<String>>> {
    let tree = ["tree", "--locked", WORKSPACE, FEATURES, "--prefix", "none", "--format", "{p}|{f}"];
    let tree = cargo_output(&[&tree[..], &["--edges", edges]].concat())?;
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in tree.lines() {
        let Some((package, features)) = line.trim_end_matches(" (*)").split_once('|') else {
            continue;
        };
        let all = found.entry(package.to_owned()).or_default();
        if !all.iter().any(|known| known == features) {
            all.push(features.to_owned());
            all.sort();
        }
    }
    Ok(found)
}
