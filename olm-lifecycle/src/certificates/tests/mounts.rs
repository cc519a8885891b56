//! What pods get.

use std::collections::BTreeMap;

use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};

use super::fixtures::mk_csv;
use crate::certificates::with_mounts;

fn mounted(csv: &ClusterServiceVersion) -> Value {
    let hashes = BTreeMap::from([("dep".to_owned(), "hash".to_owned())]);
    let csv = with_mounts(csv, &hashes).unwrap();
    csv.spec.install.spec.unwrap().deployments[1].spec.at("/template").unwrap()
}

/// Changes what the served Deployment says of its pods.
fn change_pod(csv: &mut ClusterServiceVersion, change: impl FnOnce(&mut Value)) {
    let spec = &mut csv.spec.install.spec.as_mut().unwrap().deployments[1].spec;
    spec.change(|spec| change(&mut spec["template"]["spec"]));
}

#[test]
fn both_places_and_the_hash_are_added() {
    insta::assert_json_snapshot!(mounted(&mk_csv()));
}

#[test]
fn a_deployment_that_serves_nothing_stays_as_it_is() {
    let csv = mk_csv();
    let hashes = BTreeMap::from([("dep".to_owned(), "hash".to_owned())]);
    let mounted = with_mounts(&csv, &hashes).unwrap();
    let spec = |csv: &ClusterServiceVersion| {
        csv.spec.install.spec.as_ref().unwrap().deployments[0].clone()
    };
    assert_eq!(spec(&mounted), spec(&csv));
}

#[test]
fn volumes_of_the_same_name_are_replaced_and_mounts_kept() {
    let mut csv = mk_csv();
    change_pod(&mut csv, |pod| {
        pod["volumes"] = json!([{"name": "webhook-cert", "emptyDir": {}}, {"name": "own"}]);
        pod["containers"][0]["volumeMounts"] = json!([
            {"name": "webhook-cert", "mountPath": "/elsewhere"},
            {"name": "own", "mountPath": "/apiserver.local.config/certificates"},
        ]);
    });
    let mounted = mounted(&csv);
    let volumes = mounted["spec"]["volumes"].as_array().unwrap();
    let names: Vec<&str> = volumes.iter().map(|volume| volume["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["webhook-cert", "own", "apiservice-cert"]);
    assert_eq!(volumes[0]["secret"]["secretName"], "dep-service-cert");
    assert_eq!(
        mounted["spec"]["containers"][0]["volumeMounts"],
        json!([
            {"name": "webhook-cert", "mountPath": "/elsewhere"},
            {"name": "apiservice-cert", "mountPath": "/apiserver.local.config/certificates"},
        ])
    );
}

#[test]
fn pods_without_an_account_get_the_default_one_by_name() {
    let mut csv = mk_csv();
    change_pod(&mut csv, |pod| {
        pod.as_object_mut().unwrap().remove("serviceAccountName");
    });
    assert_eq!(mounted(&csv)["spec"]["serviceAccountName"], "default");
}

#[test]
fn a_spec_of_another_shape_is_named() {
    let mut csv = mk_csv();
    change_pod(&mut csv, |pod| pod["volumes"] = json!("none"));
    let hashes = BTreeMap::from([("dep".to_owned(), "hash".to_owned())]);
    let error = with_mounts(&csv, &hashes).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"spec.install.spec.deployments[dep].spec.template.spec.volumes: must be a list, not a text");
}
