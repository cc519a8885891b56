//! Upgrade of CustomResourceDefinitions (spec catalog-operator 4.5).
//!
//! Checked here: the manifest's version, the stored versions, and which CSVs the definition was
//! installed alongside. Existing custom resources are not yet validated against the new schema.

mod alongside;
mod stored_versions;

use serde_json::Value;

/// Why a CRD is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CrdError {
    /// The manifest has another version than `apiextensions.k8s.io/v1`.
    #[error("CRD APIVersion from manifest not supported: {0}")]
    UnsupportedVersion(String),
    /// Objects may be stored in a version that the new definition does not know.
    #[error(
        "risk of data loss updating \"{name}\": new CRD removes version {version} that is listed as a stored \
         version on the existing CRD"
    )]
    StoredVersionRemoved {
        /// Name of the definition.
        name: String,
        /// The version that would be lost.
        version: String,
    },
}

/// Accepts manifests of `apiextensions.k8s.io/v1` only. Kubernetes serves no other version since
/// 1.22.
pub fn require_v1(manifest: &Value) -> Result<(), CrdError> {
    match text(manifest, "/apiVersion") {
        "apiextensions.k8s.io/v1" => Ok(()),
        other => Err(CrdError::UnsupportedVersion(other.to_owned())),
    }
}

/// The definition to be written over `live`: `desired` guarded by the resourceVersion of `live`,
/// with the annotations of both that name CSVs for which `exists(namespace, name)` holds.
pub fn upgraded(
    live: &Value,
    desired: &Value,
    exists: impl Fn(&str, &str) -> bool,
) -> Result<Value, CrdError> {
    stored_versions::check(live, desired)?;
    let mut object = desired.clone();
    alongside::merge(&mut object, live, exists);
    for field in ["resourceVersion", "uid"] {
        if let (Some(metadata), Some(value)) = (
            object.pointer_mut("/metadata").and_then(Value::as_object_mut),
            live.pointer(&format!("/metadata/{field}")),
        ) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    Ok(object)
}

/// Whether the API that the definition announces is served: Established and NamesAccepted.
pub fn is_served(live: &Value) -> bool {
    let conditions = live.pointer("/status/conditions").and_then(Value::as_array);
    let holds = |kind: &str| {
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|condition| {
            text(condition, "/type") == kind && text(condition, "/status") == "True"
        })
    };
    holds("Established") && holds("NamesAccepted")
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn live(stored: &[&str]) -> Value {
        json!({
            "metadata": {"name": "things.example.com", "resourceVersion": "7", "uid": "u", "annotations": {
                "operatorframework.io/installed-alongside-1": "ns/here", "operatorframework.io/installed-alongside-2": "ns/gone",
                "other": "dropped",
            }},
            "status": {"storedVersions": stored},
        })
    }

    fn desired(versions: &[&str]) -> Value {
        let versions: Vec<_> = versions.iter().map(|name| json!({"name": name})).collect();
        let annotations =
            json!({"operatorframework.io/installed-alongside-3": "ns/new", "kept": "1"});
        json!({"metadata": {"name": "things.example.com", "annotations": annotations}, "spec": {"versions": versions}})
    }

    #[rstest]
    #[case::removed(&["v1alpha2"], &["v1alpha3"], Some("v1alpha2"))]
    #[case::kept(&["v1alpha2", "v1alpha3"], &["v1alpha2", "v1alpha3", "v1alpha4"], None)]
    #[case::nothing_stored(&[], &["v1"], None)]
    fn stored_versions_must_stay(
        #[case] stored: &[&str],
        #[case] versions: &[&str],
        #[case] lost: Option<&str>,
    ) {
        let result = upgraded(&live(stored), &desired(versions), |_, _| true);
        let lost = lost.map(|version| CrdError::StoredVersionRemoved {
            name: "things.example.com".to_owned(),
            version: version.to_owned(),
        });
        assert_eq!(result.err(), lost);
    }

    #[test]
    fn annotations_of_csvs_that_exist_are_kept() {
        let object =
            upgraded(&live(&[]), &desired(&["v1"]), |_, name| name == "here" || name == "new")
                .unwrap();
        assert_eq!(
            object["metadata"],
            json!({"name": "things.example.com", "resourceVersion": "7", "uid": "u", "annotations": {
                "operatorframework.io/installed-alongside-1": "ns/here",
                "operatorframework.io/installed-alongside-3": "ns/new", "kept": "1",
            }})
        );
    }

    #[rstest]
    #[case("apiextensions.k8s.io/v1", true)]
    #[case("apiextensions.k8s.io/v1beta1", false)]
    #[case("", false)]
    fn only_v1_manifests(#[case] api_version: &str, #[case] accepted: bool) {
        assert_eq!(require_v1(&json!({"apiVersion": api_version})).is_ok(), accepted);
    }

    #[rstest]
    #[case(&["Established", "NamesAccepted"], true)]
    #[case(&["NamesAccepted"], false)]
    #[case(&[], false)]
    fn served_when_established_and_accepted(#[case] holding: &[&str], #[case] served: bool) {
        let conditions: Vec<_> =
            holding.iter().map(|kind| json!({"type": kind, "status": "True"})).collect();
        assert_eq!(is_served(&json!({"status": {"conditions": conditions}})), served);
    }
}
