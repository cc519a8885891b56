//! What is kept of an object.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::annotations::{CA_HASH, GENERATED_BY, OPERATOR_GROUP, PROPERTIES};
use olm_types::api::{
    AnyJson, ClusterServiceVersion, ClusterServiceVersionSpec, CrdDescription,
    CustomResourceDefinitions, PackageChannel, PackageManifest, Subscription,
};

use crate::cluster::slim_metadata;

/// Annotations that checks look at.
const ANNOTATIONS: [&str; 4] = [CA_HASH, GENERATED_BY, OPERATOR_GROUP, PROPERTIES];

/// A Subscription without the health of catalogs, of which each has a copy.
pub(super) fn subscription(mut one: Subscription) -> Subscription {
    one.metadata = metadata(one.metadata);
    one.spec.config = None;
    if let Some(status) = &mut one.status {
        status.catalog_health = Vec::new();
    }
    one
}

/// A CSV without texts, pictures, templates of Deployments and its history.
pub(crate) fn csv(csv: ClusterServiceVersion) -> ClusterServiceVersion {
    let spec = csv.spec;
    let mut install = spec.install;
    if let Some(strategy) = &mut install.spec {
        strategy.permissions = Vec::new();
        strategy.cluster_permissions = Vec::new();
        strategy.deployments.iter_mut().for_each(|one| one.spec = AnyJson::default());
    }
    let status = csv.status.map(|mut status| {
        status.conditions = Vec::new();
        status.requirement_status.retain(|one| !["Present", "Satisfied"].contains(&&*one.status));
        status
    });
    ClusterServiceVersion {
        metadata: metadata(csv.metadata),
        spec: ClusterServiceVersionSpec {
            version: spec.version,
            replaces: spec.replaces,
            install_modes: spec.install_modes,
            customresourcedefinitions: spec.customresourcedefinitions.map(crds),
            apiservicedefinitions: spec.apiservicedefinitions,
            install,
            ..ClusterServiceVersionSpec::default()
        },
        status,
    }
}

/// A Pod without its spec.
pub(crate) fn pod(pod: Pod) -> Pod {
    let status = pod.status.map(|status| PodStatus {
        phase: status.phase,
        conditions: status.conditions,
        init_container_statuses: status.init_container_statuses,
        container_statuses: status.container_statuses,
        ..PodStatus::default()
    });
    Pod { metadata: metadata(pod.metadata), spec: None, status }
}

/// A Deployment with its selector alone.
pub(crate) fn deployment(deployment: Deployment) -> Deployment {
    let spec = deployment.spec.map(|mut spec| {
        spec.template = Default::default();
        spec
    });
    Deployment { metadata: slim_metadata(deployment.metadata), spec, status: deployment.status }
}

/// A package without texts, and with the entries of no channel.
pub(super) fn package(mut package: PackageManifest) -> PackageManifest {
    package.metadata = metadata(package.metadata);
    if let Some(status) = &mut package.status {
        status.channels.iter_mut().for_each(channel);
    }
    package
}

fn channel(channel: &mut PackageChannel) {
    channel.entries = Vec::new();
    if let Some(head) = channel.current_csv_desc.take() {
        channel.current_csv_desc = Some(olm_types::api::CsvDescription {
            version: head.version,
            install_modes: head.install_modes,
            customresourcedefinitions: head.customresourcedefinitions.map(crds),
            ..olm_types::api::CsvDescription::default()
        });
    }
}

/// Names, versions and kinds.
fn crds(crds: CustomResourceDefinitions) -> CustomResourceDefinitions {
    let slim = |all: Vec<CrdDescription>| {
        let slim = all.into_iter().map(|crd| CrdDescription {
            name: crd.name,
            version: crd.version,
            kind: crd.kind,
            ..CrdDescription::default()
        });
        slim.collect()
    };
    CustomResourceDefinitions { owned: slim(crds.owned), required: slim(crds.required) }
}

fn metadata(metadata: ObjectMeta) -> ObjectMeta {
    let mut metadata = slim_metadata(metadata);
    if let Some(annotations) = &mut metadata.annotations {
        annotations.retain(|key, _| ANNOTATIONS.contains(&key.as_str()));
    }
    metadata
}
