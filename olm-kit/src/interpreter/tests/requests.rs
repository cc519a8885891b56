//! The request that each action becomes.

use super::*;

const MERGE: &str = "application/merge-patch+json";

fn patch(subresource: Subresource) -> Action {
    Action::MergePatch { patch: json!({"data": {"key": "y"}}), observed: None, subresource }
}

fn replace() -> Action {
    Action::Replace { object: object("5", "y"), observed: Some(object("5", "x")) }
}

fn strategic() -> Action {
    Action::StrategicPatch {
        patch: json!({"data": {"key": "y"}}),
        observed: Some(object("5", "x")),
    }
}

fn apply() -> Action {
    Action::Apply { object: object("", "y"), manager: "owner".to_owned(), force: true }
}

fn put_status() -> Action {
    Action::Status { object: object("5", "x"), observed: None }
}

#[rstest::rstest]
#[case(Action::Create(object("", "x")), "POST", "?fieldManager=olm", "application/json")]
#[case(replace(), "PUT", "/a?fieldManager=olm", "application/json")]
#[case(patch(Subresource::Main), "PATCH", "/a?fieldManager=olm", MERGE)]
#[case(patch(Subresource::Status), "PATCH", "/a/status?fieldManager=olm", MERGE)]
#[case(strategic(), "PATCH", "/a?fieldManager=olm", "application/strategic-merge-patch+json")]
#[case(apply(), "PATCH", "/a?fieldManager=owner&force=true", "application/apply-patch+yaml")]
#[case(put_status(), "PUT", "/a/status?fieldManager=olm", "application/json")]
#[tokio::test]
async fn each_action_is_one_request(
    #[case] action: Action,
    #[case] method: &str,
    #[case] rest: &str,
    #[case] content_type: &str,
) {
    let code = if method == "POST" { 201 } else { 200 };
    let request = format!("{method} /api/v1/namespaces/ns/configmaps{rest}");
    let script = Script::new().answer(&request, code, object("6", "y"));
    let outcome = outcome(&script, effect(action)).await;
    assert!(outcome.wrote(), "{outcome:?}");
    assert_eq!(script.finish()[0].content_type, content_type);
}

#[tokio::test]
async fn a_status_goes_without_the_spec() {
    let mut object = object("5", "x");
    object["spec"] = json!({"icon": "large"});
    object["status"] = json!({"phase": "Succeeded", "spec": "stays"});
    let request = "PUT /api/v1/namespaces/ns/configmaps/a/status?fieldManager=olm";
    let script = Script::new().answer(request, 200, object.clone());
    let status = Action::Status { object: object.clone(), observed: None };
    assert_eq!(outcome(&script, effect(status)).await, Outcome::Changed(object.clone()));
    object.as_object_mut().unwrap().remove("spec");
    assert_eq!(script.finish()[0].body, object);
}

#[tokio::test]
async fn deletions_carry_their_options() {
    let script = Script::new().answer(
        "DELETE /api/v1/namespaces/ns/configmaps/a",
        200,
        json!({"kind": "Status"}),
    );
    let (uid, propagation) = (Some("u".to_owned()), Propagation::Foreground);
    let delete = Action::Delete { uid, propagation, grace_seconds: Some(0) };
    assert_eq!(outcome(&script, effect(delete)).await, Outcome::Deleted);
    assert_eq!(
        script.finish()[0].body,
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
            "preconditions": {"uid": "u"}, "gracePeriodSeconds": 0})
    );
}

#[tokio::test]
async fn cluster_scoped_kinds_of_a_group_have_their_path() {
    let resource = Resource::new("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles");
    let effect = Effect::create(Target::cluster(resource, "system:a"), json!({}));
    let request = "POST /apis/rbac.authorization.k8s.io/v1/clusterroles?fieldManager=olm";
    let script = Script::new().answer(request, 201, json!({}));
    assert_eq!(outcome(&script, effect).await, Outcome::Created(json!({})));
}

#[rstest::rstest]
#[case("../secrets/b")]
#[case("a?dryRun=All")]
#[case("a b")]
#[case("")]
#[case("%2e%2e")]
#[tokio::test]
async fn a_name_cannot_lead_elsewhere(#[case] name: &str) {
    let script = Script::new();
    let delete = Effect::delete(Target::namespaced(config_maps(), "ns", name));
    let outcome = outcome(&script, delete).await;
    let refusal = outcome.refusal().unwrap();
    assert_eq!((refusal.code, refusal.is_transient()), (422, false));
    assert_eq!(refusal.message, format!("invalid name {name:?}"));
    assert!(script.requests().is_empty());
}
