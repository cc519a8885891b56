//! What serves a catalog that is in a ConfigMap (spec catalog-operator 1.7).

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use kube_core::ResourceExt;
use olm_types::api::CatalogSource;
use olm_types::labels;

use super::super::spec::Backend;
use super::{
    DesiredObjects, PodError, Settings, Surroundings, account, catalog_labels, managed, metadata,
    plain_owner, pod, pod_owner, policies, service, service_name,
};

/// The API group of Roles, as references spell it.
const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// Name of the ConfigMap that a CatalogSource names; empty when it names none.
pub fn config_map_name(catalog: &CatalogSource) -> &str {
    catalog.spec.config_map.as_deref().unwrap_or_default()
}

pub(super) fn wanted(
    catalog: &CatalogSource,
    settings: &Settings,
    around: &Surroundings,
) -> Result<DesiredObjects, PodError> {
    let account = account::for_config_map(catalog);
    let account_name = account.metadata.name.clone().unwrap_or_default();
    let mut pod_labels = catalog_labels(catalog);
    let version = around.config_map_version.clone().unwrap_or_default();
    pod_labels.insert(labels::CONFIG_MAP_RESOURCE_VERSION.to_owned(), version);
    let name = service_name(catalog, &Backend::ConfigMap);
    let selector = [(labels::CATALOG_SOURCE.to_owned(), catalog.name_any())];
    let service = service::build(catalog, &name, selector.into())?;
    Ok(DesiredObjects {
        pod: server(catalog, settings, around, &pod_labels, &account_name)?,
        policies: policies::both(catalog, &pod_labels, policies::Egress::ApiServer),
        service_in_process: service::without_selector(&service)?,
        service,
        rights: Some((role(catalog), binding(catalog, &account_name))),
        account,
    })
}

fn server(
    catalog: &CatalogSource,
    settings: &Settings,
    around: &Surroundings,
    labels: &BTreeMap<String, String>,
    account: &str,
) -> Result<Pod, PodError> {
    let image = &settings.config_map_server_image;
    if image.is_empty() {
        return Err(PodError::NoImage);
    }
    let mut pod = pod::build(&pod::Inputs {
        catalog,
        settings,
        container: "configmap-registry-server",
        image,
        account: None,
        pull_secrets: &[],
        labels: labels.clone(),
        readiness_delay: 5,
        liveness_delay: 5,
        restricted: around.restricted,
    })?;
    pod.metadata.owner_references = Some(vec![pod_owner(catalog)]);
    // v0 hashes the Pod before it has these two.
    if let Some(spec) = &mut pod.spec {
        spec.service_account_name = Some(account.to_owned());
        spec.containers.iter_mut().for_each(|container| container.command = Some(command(catalog)));
    }
    Ok(pod)
}

fn command(catalog: &CatalogSource) -> Vec<String> {
    let namespace = catalog.namespace().unwrap_or_default();
    ["configmap-server", "-c", config_map_name(catalog), "-n", &namespace]
        .map(str::to_owned)
        .to_vec()
}

fn role_name(catalog: &CatalogSource) -> String {
    format!("{}-configmap-reader", catalog.name_any())
}

fn role(catalog: &CatalogSource) -> Role {
    let rule = PolicyRule {
        verbs: vec!["get".to_owned()],
        api_groups: Some(vec![String::new()]),
        resources: Some(vec!["configmaps".to_owned()]),
        resource_names: Some(vec![config_map_name(catalog).to_owned()]),
        ..PolicyRule::default()
    };
    let metadata = metadata(catalog, &role_name(catalog), managed(), plain_owner(catalog));
    Role { metadata, rules: Some(vec![rule]) }
}

fn binding(catalog: &CatalogSource, account: &str) -> RoleBinding {
    let name = format!("{}-server-configmap-reader", catalog.name_any());
    RoleBinding {
        metadata: metadata(catalog, &name, managed(), plain_owner(catalog)),
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: account.to_owned(),
            namespace: catalog.namespace(),
            ..Subject::default()
        }]),
        role_ref: RoleRef {
            api_group: Some(RBAC_GROUP.to_owned()),
            kind: "Role".to_owned(),
            name: role_name(catalog),
        },
    }
}
