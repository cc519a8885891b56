//! What is kept of an object.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_plan::search::{self, default_channel};
use olm_plan::suggested;
use olm_types::annotations::{CA_HASH, GENERATED_BY, OPERATOR_GROUP, PROPERTIES};
use olm_types::api::{
    AnyJson, ClusterServiceVersion, ClusterServiceVersionSpec, CrdDescription, CsvDescription,
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

/// A Subscription as a list of packages looks at it: without the health of catalogs, of which each has a copy.
pub(crate) fn listed_subscription(mut one: Subscription) -> Subscription {
    one.metadata = slim_metadata(one.metadata);
    one.status.iter_mut().for_each(|status| status.catalog_health.clear());
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

/// A package as it is searched for and offered: without examples, forms, pictures and images, and with the text of the
/// default channel alone.
pub(crate) fn listed_package(mut package: PackageManifest) -> PackageManifest {
    package.metadata = slim_metadata(package.metadata);
    let Some(status) = &mut package.status else { return package };
    let default = default_channel(status).map(|channel| channel.name.clone());
    for channel in &mut status.channels {
        let is_default = Some(&channel.name) == default.as_ref();
        let head = channel.current_csv_desc.take();
        channel.current_csv_desc = head.map(|head| listed_head(head, is_default));
    }
    package
}

fn listed_head(head: CsvDescription, is_default: bool) -> CsvDescription {
    let read = [search::ANNOTATIONS.as_slice(), &[suggested::NAMESPACE, suggested::TEMPLATE]];
    let is_read = |key: &str| read.iter().any(|names| names.contains(&key));
    let annotations = head.annotations.into_iter().filter(|(key, _)| is_read(key));
    CsvDescription {
        display_name: head.display_name,
        version: head.version,
        annotations: annotations.collect(),
        keywords: head.keywords,
        description: head.description.filter(|_| is_default),
        install_modes: head.install_modes,
        customresourcedefinitions: head.customresourcedefinitions.map(crds),
        apiservicedefinitions: head.apiservicedefinitions,
        ..CsvDescription::default()
    }
}

fn channel(channel: &mut PackageChannel) {
    channel.entries = Vec::new();
    if let Some(head) = channel.current_csv_desc.take() {
        channel.current_csv_desc = Some(CsvDescription {
            version: head.version,
            install_modes: head.install_modes,
            customresourcedefinitions: head.customresourcedefinitions.map(crds),
            ..CsvDescription::default()
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

#[cfg(test)]
mod tests {
    use olm_plan::search::{Query, search};
    use serde_json::{from_value, json};

    use super::*;

    fn package() -> PackageManifest {
        let head = |version: &str| {
            json!({"displayName": "A kettle", "version": version, "keywords": ["steam"],
                "description": format!("boils {version}"), "relatedImages": ["kettle:v1"],
                "icon": [{"base64data": "eA==", "mediatype": "image/png"}],
                "annotations": {"alm-examples": "[]", "categories": "Cooking",
                    "operatorframework.io/suggested-namespace": "kitchen"},
                "customresourcedefinitions": {"owned": [{"name": "kettles.x.io", "version": "v1",
                    "kind": "Kettle", "description": "long", "specDescriptors": [{"path": "a"}]}]}})
        };
        let channel = |name: &str, version: &str| {
            json!({"name": name, "currentCSV": format!("kettle.v{version}"),
                "currentCSVDesc": head(version), "entries": [{"name": "kettle.v0"}]})
        };
        from_value(json!({"metadata": {"name": "kettle"}, "spec": {}, "status": {
            "catalogSource": "c", "catalogSourceDisplayName": "", "catalogSourcePublisher": "",
            "catalogSourceNamespace": "olm", "packageName": "kettle", "defaultChannel": "stable",
            "channels": [channel("alpha", "2.0.0"), channel("stable", "1.0.0")]}}))
        .unwrap()
    }

    #[test]
    fn a_listed_package_is_found_by_the_same_words_and_suggests_the_same_namespace() {
        let (whole, listed) = ([package()], [listed_package(package())]);
        for word in ["kettle", "STEAM", "boils 1.0.0", "boils 2.0.0", "Kettle.v1.x.io", "fridge"] {
            let query = Query { words: vec![word.to_owned()], ..Query::default() };
            assert_eq!(search(&listed, &[], &query), search(&whole, &[], &query), "{word}");
        }
        let [listed] = listed;
        let channels = listed.status.unwrap().channels;
        assert_eq!(channels.iter().map(|one| one.entries.len()).collect::<Vec<_>>(), [1, 1]);
        for head in channels.into_iter().map(|one| one.current_csv_desc.unwrap()) {
            assert!(suggested::suggestion(&head.annotations).is_some(), "{head:?}");
            assert_eq!(head.description.is_some(), head.version.as_deref() == Some("1.0.0"));
            assert!(head.icon.is_empty() && head.related_images.is_empty(), "{head:?}");
            assert!(!head.annotations.contains_key("alm-examples"), "{head:?}");
            let owned = head.customresourcedefinitions.unwrap().owned.remove(0);
            assert!(owned.description.is_none_or(|text| text.is_empty()), "a long text is kept");
        }
    }
}
