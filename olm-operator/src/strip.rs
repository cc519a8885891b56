//! What is kept of each object: what some decision reads, and nothing else.
//!
//! A write never goes back from a stripped object to the cluster's full one: metadata is patched,
//! and of a status write the API server takes nothing but the status.
//!
//! What is large and dropped from every object of a kind is left out while it arrives.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::core::PartialObjectMeta;
use olm_lifecycle::operator::PlanSummary;
use olm_types::annotations::{ALLOWED_TARGETS, INSTALLED_ALONGSIDE_PREFIX};
use olm_types::api::{ClusterServiceVersion, CrdDescription, OperatorGroup};
use olm_types::owner::owner_by_label;

/// What is left out of definitions: they are next to nothing beside their schemas.
pub const OF_CRDS: [&[&str]; 2] =
    [&["spec", "versions", "*", "schema"], &["spec", "versions", "*", "additionalPrinterColumns"]];

/// What is left out of Deployments: their Pods.
pub const OF_DEPLOYMENTS: [&[&str]; 1] = [&["spec", "template", "spec"]];

/// What is left out of InstallPlans: the manifests.
pub const OF_INSTALL_PLANS: [&[&str]; 2] = [&["status", "plan"], &["status", "bundleLookups"]];

/// Pictures and prose go; what an install or a requirement reads stays.
pub fn csv(csv: &mut ClusterServiceVersion) {
    let spec = &mut csv.spec;
    spec.description = None;
    spec.icon.clear();
    spec.keywords.clear();
    spec.links.clear();
    spec.maintainers.clear();
    spec.related_images.clear();
    if let Some(crds) = &mut spec.customresourcedefinitions {
        crds.owned.iter_mut().chain(&mut crds.required).for_each(crd_description);
    }
}

fn crd_description(description: &mut CrdDescription) {
    *description = CrdDescription {
        name: std::mem::take(&mut description.name),
        version: std::mem::take(&mut description.version),
        kind: std::mem::take(&mut description.kind),
        ..CrdDescription::default()
    };
}

/// Of the pod template only the annotations are compared.
pub fn deployment(deployment: &mut Deployment) {
    deployment.metadata.annotations = None;
    if let Some(spec) = &mut deployment.spec {
        spec.selector = LabelSelector::default();
        spec.strategy = None;
        spec.template.spec = None;
    }
}

/// Names, served versions, conversion and conditions.
pub fn crd(crd: &mut CustomResourceDefinition) {
    for version in &mut crd.spec.versions {
        version.schema = None;
        version.additional_printer_columns = None;
        version.selectable_fields = None;
        version.subresources = None;
    }
    if let Some(annotations) = &mut crd.metadata.annotations {
        annotations.retain(|key, _| key.starts_with(INSTALLED_ALONGSIDE_PREFIX));
    }
}

/// Who serves it, whom callers trust, and conditions.
pub fn api_service(service: &mut APIService) {
    service.metadata.annotations = None;
}

/// Owners only.
pub fn service_account(account: &mut ServiceAccount) {
    account.metadata.annotations = None;
    account.image_pull_secrets = None;
    account.secrets = None;
}

/// Rules and owners.
pub fn role(role: &mut Role) {
    owners_only(&mut role.metadata);
}

/// Subjects, role and owners.
pub fn role_binding(binding: &mut RoleBinding) {
    owners_only(&mut binding.metadata);
}

/// Rules and owners; what a role collects, if it is one of an OperatorGroup.
pub fn cluster_role(role: &mut ClusterRole) {
    owners_only(&mut role.metadata);
    let labels = role.metadata.labels.as_ref();
    let owner = labels.and_then(|labels| owner_by_label(labels, OperatorGroup::KIND));
    if owner.is_none() {
        role.aggregation_rule = None;
    }
}

/// Subjects, role and owners.
pub fn cluster_role_binding(binding: &mut ClusterRoleBinding) {
    owners_only(&mut binding.metadata);
}

/// Labels and conditions.
pub fn namespace(namespace: &mut Namespace) {
    if let Some(annotations) = &mut namespace.metadata.annotations {
        annotations.retain(|key, _| ALLOWED_TARGETS.is(key));
    }
    namespace.spec = None;
    namespace.status.take_if(|status| status.conditions.is_none());
}

/// Labels, owners and conditions.
pub fn install_plan(plan: &mut PlanSummary) {
    owners_only(&mut plan.metadata);
}

/// Labels and owners.
pub fn only_relations<K>(object: &mut PartialObjectMeta<K>) {
    owners_only(&mut object.metadata);
}

fn owners_only(metadata: &mut ObjectMeta) {
    metadata.annotations = None;
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    fn remove(object: &mut Value, path: &[&str]) {
        match path {
            [] => {}
            ["*", below @ ..] => {
                object.as_array_mut().unwrap().iter_mut().for_each(|one| remove(one, below));
            }
            [name] => drop(object.as_object_mut().unwrap().remove(*name).unwrap()),
            [name, below @ ..] => remove(&mut object[*name], below),
        }
    }

    /// Checks that what is left out is not kept anyway.
    #[track_caller]
    fn check<K>(object: Value, left_out: &[&[&str]], strip: fn(&mut K))
    where
        K: DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let kept = |object: &Value| {
            let mut object = K::deserialize(object).unwrap();
            strip(&mut object);
            object
        };
        let mut rest = object.clone();
        left_out.iter().for_each(|path| remove(&mut rest, path));
        assert_eq!(kept(&object), kept(&rest));
    }

    #[test]
    fn what_is_left_out_is_not_kept() {
        let crd = json!({
            "metadata": {"name": "as.b"},
            "spec": {"group": "b", "scope": "Cluster", "names": {"kind": "A", "plural": "as"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {},
                    "additionalPrinterColumns": []}]},
        });
        check(crd, &OF_CRDS, super::crd);
        let template = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": []}});
        let deployment = json!({"metadata": {"name": "a"},
            "spec": {"replicas": 2, "selector": {}, "template": template}});
        check(deployment, &OF_DEPLOYMENTS, super::deployment);
        let plan = json!({"metadata": {"name": "a"}, "status": {"phase": "Complete",
            "conditions": [{"type": "Installed", "status": "True"}], "plan": [{}],
            "bundleLookups": [{}]}});
        check(plan, &OF_INSTALL_PLANS, install_plan);
    }
}
