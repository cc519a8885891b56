//! Whether docs/operations.md explains every condition, reason and alert.
//!
//! What can be read in a cluster is spelled once, in `olm-types`, so that is where it is looked for.

use std::fs;
use std::path::Path;

use xtask::workspace;

/// Where each condition type and reason is spelled.
const SPELLED: [&str; 2] = ["olm-types/src/conditions.rs", "olm-types/src/reasons.rs"];

/// Types of Kubernetes' own conditions are read, not set.
const NOT_OURS: &str = "pub mod kubernetes";

/// The values of the constants in a source.
fn values(source: &str) -> Vec<String> {
    let source = source.split(NOT_OURS).next().unwrap_or_default();
    // A long constant has its value in the next line.
    let source = source.replace("=\n", "= ");
    let constants = source.lines().filter(|line| line.trim_start().starts_with("pub const "));
    let value = |line: &str| line.split('"').nth(1).map(str::to_owned);
    constants.filter_map(value).collect()
}

fn sources(path: &Path) -> Vec<String> {
    match path.is_dir() {
        false => vec![fs::read_to_string(path).unwrap()],
        true => {
            let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            entries.map(|path| fs::read_to_string(path).unwrap()).collect()
        }
    }
}

/// What the page mentions as code.
fn explained(page: &str) -> Vec<&str> {
    page.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_condition_and_reason_is_explained() {
    let root = workspace::root();
    let page = fs::read_to_string(root.join("docs/operations.md")).unwrap();
    let explained = explained(&page);
    let sources: Vec<String> = SPELLED.iter().flat_map(|path| sources(&root.join(path))).collect();
    let all: Vec<String> = sources.iter().flat_map(|source| values(source)).collect();
    assert!(all.len() > 80, "constants are spelled in another way now");
    let missing: Vec<_> = all.iter().filter(|one| !explained.contains(&one.as_str())).collect();
    assert!(missing.is_empty(), "docs/operations.md does not explain {missing:?}");
}

#[test]
fn the_alerts_of_v0_are_explained() {
    let page = fs::read_to_string(workspace::root().join("docs/operations.md")).unwrap();
    let explained = explained(&page);
    for alert in
        ["CsvAbnormalFailedOver2Min", "CsvAbnormalOver30Min", "InstallPlanStepAppliedWithWarnings"]
    {
        assert!(explained.contains(&alert), "{alert}");
    }
}
