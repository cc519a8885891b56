//! The ConfigMap that a bundle is unpacked into, and the account that may fill it.
//!
//! Each is made when it is absent, and mended when something that is needed was taken out of it.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::api::CatalogSource;
use olm_types::labels::{MANAGED, MANAGED_VALUE};
use olm_types::owner::non_blocking_owner;
use serde_json::{Value, json};

use super::derives;
use crate::writes::target_of;

/// What there is of the account's objects.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// What it may do.
    pub role: Option<Role>,
    /// The account itself.
    pub account: Option<ServiceAccount>,
    /// That it may.
    pub binding: Option<RoleBinding>,
}

/// The empty ConfigMap of a bundle; its CatalogSource owns it.
pub fn config_map(catalog: &CatalogSource, name: &str) -> ConfigMap {
    let uid = catalog.metadata.uid.as_deref().unwrap_or_default();
    let owner = non_blocking_owner(
        CatalogSource::API_VERSION,
        CatalogSource::KIND,
        &catalog.name_any(),
        uid,
    );
    let namespace = catalog.namespace().unwrap_or_default();
    ConfigMap { metadata: metadata(&namespace, name, owner), ..ConfigMap::default() }
}

/// Makes a ConfigMap that another client labelled ours alone; nothing when it is that.
pub fn claim(config_map: &ConfigMap) -> Option<Effect> {
    let labels = config_map.labels();
    if labels.get(MANAGED).is_some_and(|value| value == MANAGED_VALUE) {
        return None;
    }
    let mut wanted: BTreeMap<_, Value> =
        labels.keys().map(|label| (label.clone(), Value::Null)).collect();
    wanted.insert(MANAGED.to_owned(), MANAGED_VALUE.into());
    let patch = json!({"metadata": {"labels": wanted}});
    Some(Effect::merge(target_of(config_map), patch, None))
}

/// The writes that give the ConfigMap an account that may fill it, in the order of v0.
pub fn ensure_account(config_map: &ConfigMap, found: &Account) -> Vec<Effect> {
    let wanted_role = role(config_map);
    let role = match &found.role {
        None => create(&wanted_role, target_of(&wanted_role)),
        Some(role) => mend_role(role, &wanted_role),
    };
    let wanted_account = account(config_map);
    let account = match &found.account {
        None => create(&wanted_account, target_of(&wanted_account)),
        Some(account) => label(account.labels(), target_of(&wanted_account)),
    };
    let mut effects: Vec<_> = role.into_iter().chain(account).collect();
    effects.extend(ensure_binding(found.binding.as_ref(), &binding(config_map)));
    effects
}

/// May create, read and update this one ConfigMap.
pub fn role(config_map: &ConfigMap) -> Role {
    let rule = PolicyRule {
        api_groups: Some(vec![String::new()]),
        verbs: ["create", "get", "update"].map(str::to_owned).into(),
        resources: Some(vec!["configmaps".to_owned()]),
        resource_names: Some(vec![config_map.name_any()]),
        ..PolicyRule::default()
    };
    Role { metadata: owned(config_map), rules: Some(vec![rule]) }
}

/// The account of the unpack Pod.
pub fn account(config_map: &ConfigMap) -> ServiceAccount {
    ServiceAccount { metadata: owned(config_map), ..ServiceAccount::default() }
}

/// Gives the account the role.
pub fn binding(config_map: &ConfigMap) -> RoleBinding {
    let metadata = owned(config_map);
    let subject = Subject {
        kind: "ServiceAccount".to_owned(),
        name: config_map.name_any(),
        namespace: config_map.namespace(),
        ..Subject::default()
    };
    RoleBinding {
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "Role".to_owned(),
            name: config_map.name_any(),
        },
        subjects: Some(vec![subject]),
        metadata,
    }
}

/// Metadata of an object that belongs to the ConfigMap and has its name.
pub(super) fn owned(config_map: &ConfigMap) -> ObjectMeta {
    let uid = config_map.metadata.uid.as_deref().unwrap_or_default();
    let owner = non_blocking_owner("v1", "ConfigMap", &config_map.name_any(), uid);
    metadata(&config_map.namespace().unwrap_or_default(), &config_map.name_any(), owner)
}

fn metadata(namespace: &str, name: &str, owner: OwnerReference) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        labels: Some([(MANAGED.to_owned(), MANAGED_VALUE.to_owned())].into()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    }
}

/// The role may have been given more; what the Pod needs is added to it.
fn mend_role(found: &Role, wanted: &Role) -> Option<Effect> {
    let needed = wanted.rules.iter().flatten();
    let rules: Vec<_> = found.rules.iter().flatten().collect();
    let missing: Vec<_> =
        needed.filter(|rule| !rules.iter().any(|held| derives(*rule, *held))).collect();
    if missing.is_empty() {
        return label(found.labels(), target_of(found));
    }
    let rules: Vec<_> = rules.into_iter().chain(missing).collect();
    let patch = json!({"metadata": {"labels": {MANAGED: MANAGED_VALUE}}, "rules": rules});
    Some(Effect::merge(target_of(found), patch, None))
}

/// What a binding binds cannot be changed: another one takes its place.
fn ensure_binding(found: Option<&RoleBinding>, wanted: &RoleBinding) -> Vec<Effect> {
    let target = target_of(wanted);
    let Some(found) = found else { return create(wanted, target).into_iter().collect() };
    let fits =
        derives(&wanted.subjects, &found.subjects) && derives(&wanted.role_ref, &found.role_ref);
    if fits {
        return label(found.labels(), target).into_iter().collect();
    }
    std::iter::once(Effect::delete(target.clone())).chain(create(wanted, target)).collect()
}

fn label(labels: &BTreeMap<String, String>, target: olm_effect::Target) -> Option<Effect> {
    let managed = labels.get(MANAGED).is_some_and(|value| value == MANAGED_VALUE);
    let patch = json!({"metadata": {"labels": {MANAGED: MANAGED_VALUE}}});
    (!managed).then(|| Effect::merge(target, patch, None))
}

fn create(object: &impl serde::Serialize, target: olm_effect::Target) -> Option<Effect> {
    serde_json::to_value(object).ok().map(|manifest| Effect::create(target, manifest))
}
