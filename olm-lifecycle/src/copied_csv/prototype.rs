//! What a copy looks like (spec olm-operator 5.3).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_effect::{Action, Effect, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::tracking::is_tracking;
use olm_types::{annotations, labels, reasons};

use super::{CopiedCsv, Fingerprint};
use crate::writes::resource_of;

/// A copy that has no namespace yet.
#[derive(Clone, Debug)]
pub struct Prototype {
    csv: ClusterServiceVersion,
    fingerprint: Fingerprint,
}

impl Prototype {
    /// The projection of a whole CSV, of which nothing was stripped.
    pub fn of(origin: &ClusterServiceVersion) -> Self {
        let namespace = origin.metadata.namespace.clone().unwrap_or_default();
        let mut status = origin.status.clone().unwrap_or_default();
        status.reason = Some(reasons::csv::COPIED.to_owned());
        status.message =
            Some(format!("The operator is running in {namespace} but is managing this namespace"));
        let csv = ClusterServiceVersion {
            metadata: metadata(&origin.metadata, namespace),
            spec: origin.spec.clone(),
            status: Some(status),
        };
        Self { fingerprint: Fingerprint::of(&csv), csv }
    }

    /// By which copies in step are recognised.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Creates the copy in `namespace`; its status is written afterwards.
    pub fn create(&self, namespace: &str) -> Effect {
        let copy = self.copy(namespace, None);
        Effect::create(target(&copy), serde_json::to_value(&copy).unwrap_or_default())
    }

    /// Overwrites the copy as it was seen.
    pub fn replace(&self, seen: &CopiedCsv) -> Effect {
        let copy = self.copy(&seen.namespace, Some(&*seen.version).filter(|seen| !seen.is_empty()));
        let object = serde_json::to_value(&copy).unwrap_or_default();
        Effect::new(target(&copy), Action::Replace { object, observed: None })
    }

    /// Writes the status of the copy in `namespace`, which has this resourceVersion.
    pub fn status(&self, namespace: &str, version: &str) -> Effect {
        let copy = self.copy(namespace, Some(version));
        Effect::status(target(&copy), serde_json::to_value(&copy).unwrap_or_default(), None)
    }

    fn copy(&self, namespace: &str, version: Option<&str>) -> ClusterServiceVersion {
        let mut copy = self.csv.clone();
        copy.metadata.namespace = Some(namespace.to_owned());
        copy.metadata.resource_version = version.map(str::to_owned);
        copy
    }
}

fn metadata(origin: &ObjectMeta, namespace: String) -> ObjectMeta {
    let mut kept_labels = origin.labels.clone().unwrap_or_default();
    kept_labels.retain(|key, _| !key.starts_with(labels::COMPONENT_PREFIX) && !is_tracking(key));
    kept_labels.insert(labels::COPIED_FROM.to_owned(), namespace);
    let mut kept_annotations = origin.annotations.clone().unwrap_or_default();
    kept_annotations.remove(annotations::TARGET_NAMESPACES);
    kept_annotations.remove(annotations::LAST_APPLIED_CONFIGURATION);
    kept_annotations.retain(|key, _| !is_tracking(key));
    ObjectMeta {
        name: origin.name.clone(),
        labels: Some(kept_labels),
        annotations: Some(kept_annotations),
        ..ObjectMeta::default()
    }
}

fn target(copy: &ClusterServiceVersion) -> Target {
    let namespace = copy.metadata.namespace.as_deref().unwrap_or_default();
    let name = copy.metadata.name.as_deref().unwrap_or_default();
    Target::namespaced(resource_of::<ClusterServiceVersion>(), namespace, name)
}
