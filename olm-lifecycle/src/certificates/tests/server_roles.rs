//! Rights of servers by bindings whose names belong to the cluster.

use std::sync::Arc;

use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleBinding};
use olm_effect::{Action, Effect};
use olm_types::api::ClusterServiceVersion;
use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::{days, mk_csv, mk_secret, now, objects_with};
use crate::certificates::{ServingObjects, auth_readers, is_shared, left, plan_serving};
use crate::csv::Observed;

const DELEGATOR: &str = "dep-service-system:auth-delegator";
const READER: &str = "dep-service-auth-reader";

fn account(namespace: &str) -> Value {
    json!({"kind": "ServiceAccount", "name": "sa", "namespace": namespace})
}

/// The bindings as servers in these namespaces left them, owned by the CSV in `owner`.
fn objects(owner: &str, namespaces: &[&str]) -> ServingObjects {
    let subjects: Vec<Value> = namespaces.iter().map(|namespace| account(namespace)).collect();
    let role = |name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
    let delegator: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": {"name": DELEGATOR, "resourceVersion": "1", "labels": {
            "olm.owner": "csv", "olm.owner.namespace": owner,
            "olm.owner.kind": "ClusterServiceVersion", "olm.managed": "true",
        }},
        "roleRef": role("system:auth-delegator"), "subjects": subjects,
    }))
    .unwrap();
    let reader: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": READER, "namespace": "kube-system"},
        "roleRef": role("extension-apiserver-authentication-reader"), "subjects": subjects,
    }))
    .unwrap();
    let mut objects = objects_with(mk_secret(days(100)));
    objects.auth_delegators.insert(DELEGATOR.to_owned(), Arc::new(delegator));
    objects.auth_readers.insert(READER.to_owned(), Arc::new(reader));
    objects
}

/// The namespaces of the subjects that a write leaves.
fn homes(object: &Value) -> Vec<&str> {
    let subjects = object["subjects"].as_array().unwrap().iter();
    subjects.map(|subject| subject["namespace"].as_str().unwrap()).collect()
}

fn body<'a>(effects: &'a [Effect], name: &str) -> &'a Value {
    let effect = effects.iter().find(|effect| effect.target.name == name).unwrap();
    match &effect.action {
        Action::Apply { object, .. } => object,
        Action::MergePatch { patch, .. } => patch,
        other => panic!("{other:?}"),
    }
}

/// In v0 the last one takes the right from the others, and whoever goes takes it along.
#[rstest]
#[case::alone("ns", &["ns"], &["ns"], "ns")]
#[case::of_another_user("other", &["other"], &["other", "ns"], "other")]
#[case::of_both("other", &["ns", "other"], &["other", "ns"], "other")]
#[case::of_one_that_is_gone("gone", &["other"], &["other", "ns"], "ns")]
fn a_server_takes_no_right_from_another(
    #[case] owner: &str,
    #[case] before: &[&str],
    #[case] after: &[&str],
    #[case] labelled: &str,
) {
    let plan = plan_serving(&mk_csv(), &objects(owner, before), |_| Vec::new(), now()).unwrap();
    let delegator = body(&plan.surroundings, DELEGATOR);
    assert_eq!(homes(delegator), after);
    assert_eq!(delegator["metadata"]["labels"]["olm.owner.namespace"], labelled);
    assert_eq!(homes(body(&plan.surroundings, READER)), after);
}

#[rstest]
#[case::alone(&["ns"], false, None)]
#[case::beside_another(&["other", "ns"], true, Some(&["other"] as &[&str]))]
#[case::of_another_alone(&["other"], true, None)]
fn a_server_that_goes_leaves_what_others_need(
    #[case] subjects: &[&str],
    #[case] stays: bool,
    #[case] left_to: Option<&[&str]>,
) {
    let serving = objects("ns", subjects);
    assert_eq!(is_shared(&serving.auth_delegators[DELEGATOR], "ns"), stays);
    let observed = Observed { csv: Arc::new(mk_csv()), serving, ..Observed::default() };
    let effects = left(&observed);
    assert_eq!(effects.len(), if left_to.is_some() { 2 } else { 0 });
    for effect in &effects {
        assert_eq!(Some(homes(body(&effects, &effect.target.name)).as_slice()), left_to);
    }
}

/// The other version of the operator has the same server.
#[test]
fn a_version_that_goes_leaves_the_account_to_the_one_that_stays() {
    let serving = objects("ns", &["other", "ns"]);
    let siblings = vec![Arc::new(mk_other(false))];
    let csv = Arc::new(mk_csv());
    assert_eq!(left(&Observed { csv, siblings, serving, ..Observed::default() }), []);
}

/// Another version of the operator, with the same Deployment.
fn mk_other(is_going: bool) -> ClusterServiceVersion {
    let mut other = mk_csv();
    other.metadata.name = Some("other".to_owned());
    other.metadata.deletion_timestamp =
        is_going.then(|| k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(now()));
    other
}

#[rstest]
#[case::alone(&[], true)]
#[case::the_other_version_stays(&[false], false)]
#[case::both_go_at_once(&[true], true)]
#[case::one_of_three_stays(&[true, false], false)]
fn a_binding_goes_with_the_last_version(#[case] others: &[bool], #[case] goes: bool) {
    let others: Vec<ClusterServiceVersion> = others.iter().map(|going| mk_other(*going)).collect();
    let names = auth_readers(&mk_csv(), others.iter());
    let expected: &[&str] = if goes { &["dep-service-auth-reader"] } else { &[] };
    assert_eq!(names, expected);
}
