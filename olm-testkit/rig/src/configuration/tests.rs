//! The files as a person would read them, for the cluster with number 96.

use serde_json::Value;

use super::*;

fn home() -> ClusterDir {
    ClusterDir::at("/cache/clusters/real".into())
}

fn slot() -> Slot {
    serde_json::from_value(96.into()).unwrap()
}

#[test]
fn containerd_uses_nothing_outside_the_cluster() {
    let text = containerd(&home(), 20_963);
    insta::assert_snapshot!(text);
    for line in text.lines().filter(|line| line.starts_with("root") || line.starts_with("state")) {
        assert!(line.contains("/cache/clusters/real/"), "{line}");
    }
}

#[test]
fn every_image_name_leads_to_the_registry_of_the_cluster() {
    insta::assert_snapshot!(registry_hosts(20_963), @r#"
    server = "http://127.0.0.1:20963"

    [host."http://127.0.0.1:20963"]
    capabilities = ["pull", "resolve"]
    "#);
}

#[test]
fn the_kubelet_fits_the_node() {
    insta::assert_json_snapshot!(kubelet(&home(), slot()));
}

#[test]
fn pods_are_connected_by_a_bridge() {
    insta::assert_json_snapshot!(cni(&home(), Addresses::of(slot())));
}

#[test]
fn services_are_played_by_iptables_and_leave_the_machine_alone() {
    insta::assert_json_snapshot!(kube_proxy(&home(), Addresses::of(slot())));
}

#[test]
fn a_path_with_quotes_stays_one_string() {
    assert_eq!(quoted(r#"/a "b"\c"#), r#""/a \"b\"\\c""#);
    let value: Value = image_registry(&home(), 5);
    assert_eq!(value["http"]["addr"], ":5");
}
