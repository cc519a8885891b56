//! What an install writes.

use k8s_openapi::api::core::v1::Secret;
use olm_effect::{Action, Effect};
use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::{days, issue, mk_csv, mk_secret, now, objects_with};
use crate::certificates::{
    ServingObjects, ServingPlan, ServingSecret, authority_hash, plan_serving,
};

/// The plan; certificates are issued where it asks for them.
fn plan(objects: &ServingObjects, trusted: &[u8]) -> ServingPlan {
    let csv = mk_csv();
    match plan_serving(&csv, objects, |_| trusted.to_vec(), now()) {
        Ok(plan) => plan,
        Err(order) => {
            let objects = ServingObjects { issued: Some(issue(&order)), ..objects.clone() };
            plan_serving(&csv, &objects, |_| trusted.to_vec(), now()).unwrap()
        }
    }
}

fn body(effect: &Effect) -> &Value {
    match &effect.action {
        Action::Create(object) | Action::Apply { object, .. } => object,
        Action::MergePatch { patch, .. } => patch,
        other => panic!("not expected: {other:?}"),
    }
}

fn secret_after(effect: &Effect) -> Secret {
    serde_json::from_value(body(effect).clone()).unwrap()
}

#[test]
fn services_and_rights_are_those_of_v0() {
    let plan = plan(&ServingObjects::default(), b"");
    let effects: Vec<Value> = plan
        .surroundings
        .iter()
        .map(|effect| json!({"target": effect.target.to_string(), "object": body(effect)}))
        .collect();
    insta::assert_json_snapshot!(effects);
}

#[test]
fn a_missing_secret_is_applied_with_everything_in_it() {
    let plan = plan(&ServingObjects::default(), b"");
    let [write] = plan.secrets.as_slice() else { panic!("{:?}", plan.secrets) };
    assert!(matches!(&write.action, Action::Apply { force: true, .. }));
    let mut object = body(write).clone();
    let secret = secret_after(write);
    let active = ServingSecret::new(&secret).active();
    assert_eq!(object["metadata"]["annotations"]["olmcahash"], authority_hash(active.authority));
    assert_eq!(plan.hashes["dep"], authority_hash(active.authority));
    assert_eq!(plan.trusted["dep"], active.authority);
    assert_eq!(plan.renewed_until, Some(now() + days(729)));
    object["metadata"]["annotations"]["olmcahash"] = json!("hash");
    object["data"].as_object_mut().unwrap().values_mut().for_each(|value| *value = json!("data"));
    insta::assert_json_snapshot!(object);
}

#[rstest]
#[case::whole(days(100))]
#[case::barely(days(2))]
fn a_good_certificate_stays(#[case] left: jiff::SignedDuration) {
    let secret = mk_secret(left);
    let plan = plan(&objects_with(secret.clone()), b"");
    assert_eq!(plan.renewed_until, None);
    let active = ServingSecret::new(&secret).active();
    assert_eq!(plan.trusted["dep"], active.authority);
    assert_eq!(body(&plan.secrets[0])["data"], json!({}));
}

#[test]
fn a_certificate_that_cannot_be_used_is_replaced_and_its_callers_keep_their_trust() {
    let mut secret = mk_secret(days(100));
    let authority = ServingSecret::new(&secret).active().authority.to_vec();
    secret.data.as_mut().unwrap().remove("tls.crt");
    let plan = plan(&objects_with(secret), &authority);
    let after = secret_after(&plan.secrets[0]);
    let after = ServingSecret::new(&after);
    assert_ne!(after.active().authority, authority);
    assert_eq!(after.previous(), authority);
    assert_eq!(plan.trusted["dep"], after.trusted());
}

#[test]
fn callers_do_not_gather_authorities_without_end() {
    let mut trusted = Vec::new();
    for _ in 0..5 {
        trusted = plan(&ServingObjects::default(), &trusted).trusted["dep"].clone();
    }
    let count = String::from_utf8(trusted).unwrap().matches("BEGIN CERTIFICATE").count();
    assert_eq!(count, 3, "the active one and two before it");
}

#[test]
fn a_secret_of_another_owner_is_filled_and_stays_theirs() {
    let mut secret = mk_secret(days(-1));
    secret.metadata.owner_references = None;
    let plan = plan(&objects_with(secret), b"");
    assert_eq!(body(&plan.secrets[0])["metadata"]["ownerReferences"], json!([]));
}

#[test]
fn the_secret_of_the_replaced_version_is_taken_over() {
    let mut secret = mk_secret(days(100));
    secret.metadata.owner_references.as_mut().unwrap()[0].uid = "old".to_owned();
    let plan = plan(&objects_with(secret), b"");
    let owners = body(&plan.secrets[0])["metadata"]["ownerReferences"].as_array().unwrap();
    let uids: Vec<&Value> = owners.iter().map(|owner| &owner["uid"]).collect();
    assert_eq!(uids, ["old", "u"]);
}

#[test]
fn rights_that_are_there_are_merged_and_stay_whose_they_are() {
    let role = json!({"metadata": {"name": "dep-service-cert", "namespace": "ns"}});
    let mut objects = ServingObjects::default();
    let name = "dep-service-cert".to_owned();
    objects.roles.insert(
        name.clone(),
        serde_json::from_value::<k8s_openapi::api::rbac::v1::Role>(role.clone()).unwrap().into(),
    );
    let plan = plan(&objects, b"");
    let role = plan.surroundings.iter().find(|effect| effect.target.resource.kind == "Role");
    let role = role.unwrap();
    assert!(matches!(role.action, Action::MergePatch { .. }));
    assert_eq!(body(role)["metadata"]["ownerReferences"], json!([]));
    assert_eq!(body(role)["rules"][0]["resourceNames"], json!([name]));
}
