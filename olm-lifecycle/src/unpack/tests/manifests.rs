//! The objects of a bundle, as v0 makes them.

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use olm_effect::{Action, Effect};
use serde::Serialize;
use serde_json::{Value, json};

use super::job::{Images, Order, job};
use super::objects::{Account, account, binding, claim, ensure_account, role};
use super::*;

fn manifest(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap()
}

fn written(effects: &[Effect]) -> Vec<String> {
    let action = |effect: &Effect| match &effect.action {
        Action::Create(_) => "create",
        Action::Delete { .. } => "delete",
        Action::MergePatch { .. } => "patch",
        _ => "other",
    };
    effects
        .iter()
        .map(|effect| format!("{} {}", action(effect), effect.target.resource.kind))
        .collect()
}

/// What is there when it was not changed.
fn found() -> Account {
    let config_map = config_map();
    Account {
        role: Some(role(&config_map)),
        account: Some(account(&config_map)),
        binding: Some(binding(&config_map)),
    }
}

#[test]
fn the_config_map_and_its_account() {
    let config_map = config_map();
    insta::assert_yaml_snapshot!("config_map", manifest(&objects::config_map(&catalog(), "hash")));
    insta::assert_yaml_snapshot!("role", manifest(&role(&config_map)));
    insta::assert_yaml_snapshot!("service_account", manifest(&account(&config_map)));
    insta::assert_yaml_snapshot!("role_binding", manifest(&binding(&config_map)));
}

/// Row 2 of spec catalog-operator 9.10: timeout of two minutes, a pull secret, user 1001.
#[test]
fn the_job() {
    insta::assert_yaml_snapshot!("job", manifest(&wanted()));
}

#[test]
fn a_job_without_limits_and_user_for_an_image_with_digest() {
    let order = Order { image: "r/b@sha256:0".to_owned(), secrets: Vec::new(), timeout: None };
    let job = manifest(&job(&config_map(), &order, &Images { user: None, ..images() }));
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(job["spec"].get("activeDeadlineSeconds"), None);
    assert_eq!(pod["securityContext"], json!({"seccompProfile": {"type": "RuntimeDefault"}}));
    assert_eq!(pod["initContainers"][1]["imagePullPolicy"], "IfNotPresent");
    assert_eq!(pod.get("imagePullSecrets"), None);
}

#[test]
fn what_is_absent_is_made_in_order() {
    let effects = ensure_account(&config_map(), &Account::default());
    assert_eq!(written(&effects), ["create Role", "create ServiceAccount", "create RoleBinding"]);
}

#[test]
fn what_is_there_is_left_alone() {
    assert_eq!(ensure_account(&config_map(), &found()), []);
    assert_eq!(claim(&config_map()), None);
}

#[test]
fn a_role_keeps_what_it_was_given_and_gets_what_is_needed() {
    let other = json!({"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]});
    let mut role: Role = found().role.unwrap();
    role.rules = Some(vec![serde_json::from_value(other.clone()).unwrap()]);
    let effects = ensure_account(&config_map(), &Account { role: Some(role), ..found() });
    let [Effect { action: Action::MergePatch { patch, .. }, .. }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(patch["rules"][0], other);
    assert_eq!(patch["rules"][1]["resourceNames"], json!([config_map().metadata.name]));
}

#[test]
fn a_binding_of_something_else_is_replaced() {
    let mut binding: RoleBinding = found().binding.unwrap();
    binding.role_ref.name = "other".to_owned();
    let effects = ensure_account(&config_map(), &Account { binding: Some(binding), ..found() });
    assert_eq!(written(&effects), ["delete RoleBinding", "create RoleBinding"]);
}

/// Without the label v0's watches do not see it.
#[test]
fn what_lost_its_label_gets_it_back() {
    let mut account: ServiceAccount = found().account.unwrap();
    account.metadata.labels = None;
    let effects = ensure_account(&config_map(), &Account { account: Some(account), ..found() });
    assert_eq!(written(&effects), ["patch ServiceAccount"]);

    let mut config_map = config_map();
    config_map.metadata.labels = Some([("mine".to_owned(), "yes".to_owned())].into());
    let Some(Effect { action: Action::MergePatch { patch, .. }, .. }) = claim(&config_map) else {
        panic!("not claimed")
    };
    assert_eq!(patch["metadata"]["labels"], json!({"mine": null, "olm.managed": "true"}));
}
