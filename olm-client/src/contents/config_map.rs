//! The ConfigMap that OLM has unpacked a bundle image into.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::Api;
use olm_catalog::bundle::config_map;
use olm_lifecycle::unpack::UnpackedBundle;
use olm_plan::preview::{Key, Known};
use olm_types::bundle::Entry;
use olm_types::hash::unpack_name;

use crate::cluster::Cluster;

/// The bundle in the ConfigMap of a cluster, if there is one that may be read.
pub(super) async fn read(cluster: &Cluster, entry: &Entry, image: &str) -> Option<UnpackedBundle> {
    let api: Api<ConfigMap> = cluster.api(Some(&entry.catalog.namespace));
    let found = cluster.answer(api.get_opt(&unpack_name(image))).await.ok()??;
    bundle_in(&found)
}

/// The same of a state from files.
pub(super) fn known(known: &Known, entry: &Entry, image: &str) -> Option<UnpackedBundle> {
    let key = Key {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: entry.catalog.namespace.to_string(),
        name: unpack_name(image),
    };
    let object = known.objects.get(&key)?;
    bundle_in(&serde_json::from_value(object.clone()).ok()?)
}

/// The bundle in a ConfigMap.
pub(super) fn bundle_in(found: &ConfigMap) -> Option<UnpackedBundle> {
    let bundle = config_map::read(found).ok().filter(|bundle| !bundle.csv_json.is_empty())?;
    Some(UnpackedBundle {
        csv_name: bundle.csv_name,
        csv_json: bundle.csv_json,
        objects: bundle.objects.iter().map(|object| object.value.to_string()).collect(),
    })
}
