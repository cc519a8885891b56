//! The definitions in `deploy/crds` are those that this build generates.

use std::collections::BTreeSet;
use std::path::PathBuf;

use olm_types::api::crds;
use serde_json::Value;

fn folder() -> PathBuf {
    PathBuf::from("../deploy/crds")
}

#[test]
fn committed_definitions_are_current() {
    for crd in crds() {
        let name = crd.metadata.name.clone().unwrap();
        let path = folder().join(format!("{name}.yaml"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let committed: Value = yaml_serde::from_str(&text).unwrap();
        let current = serde_json::to_value(&crd).unwrap();
        assert!(committed == current, "{name} is stale: run `cargo xtask crds`");
    }
}

#[test]
fn nothing_else_is_committed() {
    let is_definition = |name: &String| name.ends_with(".operators.coreos.com.yaml");
    let files = std::fs::read_dir(folder()).unwrap();
    let committed: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(is_definition)
        .collect();
    let current = crds().into_iter().map(|crd| format!("{}.yaml", crd.metadata.name.unwrap()));
    assert_eq!(committed, current.collect::<BTreeSet<_>>());
}
