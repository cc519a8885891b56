//! No version in which objects may be stored disappears.
//!
//! A version may leave `status.storedVersions` when it is neither served nor written any more and
//! every object was written anew since: then none is stored in it.

use olm_effect::{Effect, Resource, Target};
use serde_json::{Value, json};

use super::{CrdError, GROUP, list, text, versions};

/// The versions that are listed as stored and that the new definition does not have.
///
/// # Errors
/// Objects would be lost: one of them is served, or objects are still written in it. Or all are to be
/// kept, as v0 does it.
pub(super) fn to_retire(
    live: &Value,
    desired: &Value,
    keep: bool,
) -> Result<Vec<String>, CrdError> {
    let kept = versions::all(desired);
    let served = versions::served(live);
    let stored = list(live, "/status/storedVersions").filter_map(Value::as_str);
    let mut retired = Vec::new();
    for version in stored.filter(|version| !kept.contains(version)) {
        let in_use = served.contains(version) || versions::storage(live) == version;
        if keep || in_use || served.is_empty() {
            return Err(lost(live, version));
        }
        retired.push(version.to_owned());
    }
    Ok(retired)
}

/// The status of the definition without those versions.
pub(super) fn retire(live: &Value, retired: &[String]) -> Effect {
    let kept: Vec<_> = list(live, "/status/storedVersions")
        .filter(|version| !retired.iter().any(|retired| version.as_str() == Some(retired)))
        .collect();
    let mut object = live.clone();
    if let Some(status) = object.pointer_mut("/status").and_then(Value::as_object_mut) {
        status.insert("storedVersions".to_owned(), json!(kept));
    }
    let definitions =
        Resource::new(GROUP, "v1", "CustomResourceDefinition", "customresourcedefinitions");
    let target = Target::cluster(definitions, text(live, "/metadata/name"));
    Effect::status(target, object, Some(live.clone()))
}

/// Writes an object as it is, so that it is stored in the version in which objects are written now.
pub(super) fn rewrite(resource: &Resource, object: &Value) -> Effect {
    let namespace = Some(text(object, "/metadata/namespace")).filter(|name| !name.is_empty());
    let target = Target {
        resource: resource.clone(),
        namespace: namespace.map(str::to_owned),
        name: text(object, "/metadata/name").to_owned(),
    };
    // Without an observed object the interpreter sends the patch although it changes nothing.
    Effect::merge(target, json!({}), None)
}

fn lost(live: &Value, version: &str) -> CrdError {
    CrdError::StoredVersionRemoved {
        name: text(live, "/metadata/name").to_owned(),
        version: version.to_owned(),
    }
}
