//! What a copy looks like (spec olm-operator 5.3).

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_effect::{Action, Effect, Target};
use olm_types::api::{
    ClusterServiceVersion, ClusterServiceVersionSpec, ClusterServiceVersionStatus,
};
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
        let csv = ClusterServiceVersion {
            metadata: metadata(&origin.metadata),
            spec: origin.spec.clone(),
            status: Some(status(origin)),
        };
        Self { fingerprint: Fingerprint::of(&csv), csv }
    }

    /// By which copies in step with a whole CSV are recognised, without the prototype.
    pub fn fingerprint_of(origin: &ClusterServiceVersion) -> Fingerprint {
        let (metadata, status) = (metadata(&origin.metadata), status(origin));
        Fingerprint::of_parts(&metadata, &origin.spec, Some(&status))
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
        let copy =
            self.copy(seen.namespace(), Some(seen.version()).filter(|seen| !seen.is_empty()));
        let object = serde_json::to_value(&copy).unwrap_or_default();
        Effect::new(target(&copy), Action::Replace { object, observed: None })
    }

    /// Writes the status of the copy in `namespace`, which has this resourceVersion.
    pub fn status(&self, namespace: &str, version: &str) -> Effect {
        // The spec is not sent with a status, and is as large as the original.
        let copy = self.copy_with(ClusterServiceVersionSpec::default(), namespace, Some(version));
        Effect::status(target(&copy), serde_json::to_value(&copy).unwrap_or_default(), None)
    }

    fn copy(&self, namespace: &str, version: Option<&str>) -> ClusterServiceVersion {
        self.copy_with(self.csv.spec.clone(), namespace, version)
    }

    fn copy_with(
        &self,
        spec: ClusterServiceVersionSpec,
        namespace: &str,
        version: Option<&str>,
    ) -> ClusterServiceVersion {
        let mut metadata = self.csv.metadata.clone();
        metadata.namespace = Some(namespace.to_owned());
        metadata.resource_version = version.map(str::to_owned);
        ClusterServiceVersion { metadata, spec, status: self.csv.status.clone() }
    }
}

fn status(origin: &ClusterServiceVersion) -> ClusterServiceVersionStatus {
    let namespace = origin.metadata.namespace.as_deref().unwrap_or_default();
    let message = format!("The operator is running in {namespace} but is managing this namespace");
    ClusterServiceVersionStatus {
        reason: Some(reasons::csv::COPIED.to_owned()),
        message: Some(message),
        ..origin.status.clone().unwrap_or_default()
    }
}

fn metadata(origin: &ObjectMeta) -> ObjectMeta {
    let namespace = origin.namespace.clone().unwrap_or_default();
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
