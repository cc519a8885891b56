//! Objects of manifests are created, or tried.

use anyhow::{Context, Result};
use kube::api::DynamicObject;
use olm_effect::Resource;
use olm_types::gvk::Gvk;
use serde_json::Value;

use super::Writing;
use crate::cluster::{Cluster, cause};

/// What became of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    /// It is there.
    Done,
    /// It would be there.
    Tried,
    /// It could not be tried, as its namespace or its kind is still to come.
    NotChecked(String),
}

impl Created {
    /// What became of it, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Done => "created".to_owned(),
            Self::Tried => "created (server dry run)".to_owned(),
            Self::NotChecked(why) => format!("not checked by the API server ({why})"),
        }
    }
}

/// Creates an object that a manifest of a plan describes: a Namespace, or an object of OLM. One that cannot be tried
/// yet is no error of a dry run.
///
/// # Errors
/// The API server refuses it.
pub async fn create(cluster: &Cluster, manifest: &Value, how: Writing<'_>) -> Result<Created> {
    let text = |path: &str| manifest.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    let resource = resource(text("/apiVersion"), kind);
    let api = cluster.objects(&resource, Some(text("/metadata/namespace")));
    let object: DynamicObject = serde_json::from_value(manifest.clone())?;
    match cluster.answer(api.create(&how.post(), &object)).await {
        Ok(_) if how.dry_run => Ok(Created::Tried),
        Ok(_) => Ok(Created::Done),
        Err(error) => match missing(&error).filter(|_| how.dry_run) {
            Some(why) => Ok(Created::NotChecked(why)),
            None => Err(error).with_context(|| format!("cannot create {kind} {name}")),
        },
    }
}

/// The kinds that are created have regular plurals.
fn resource(api_version: &str, kind: &str) -> Resource {
    let gvk = Gvk::from_api_version(api_version, kind);
    Resource::new(&gvk.group, &gvk.version, kind, &(kind.to_lowercase() + "s"))
}

/// Which of namespace and kind is not there.
fn missing(error: &anyhow::Error) -> Option<String> {
    let Some(kube::Error::Api(status)) = error.downcast_ref() else { return None };
    let kind = status.details.as_ref().map(|details| details.kind.as_str());
    match (status.code, kind) {
        (404, Some("namespaces")) => Some(status.message.clone()),
        (404, _) => Some(cause(error)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::*;

    #[rstest]
    #[case::namespace(json!({"code": 404, "message": "namespaces \"tea\" not found",
        "details": {"name": "tea", "kind": "namespaces"}}), Some("namespaces \"tea\" not found"))]
    #[case::kind(json!({"code": 404, "message": "404 page not found"}), Some("the cluster has no such kind"))]
    #[case::refused(json!({"code": 403, "message": "no", "details": {"kind": "namespaces"}}), None)]
    #[case::there(json!({"code": 409, "message": "it exists"}), None)]
    fn what_is_still_to_come_is_missing(#[case] status: Value, #[case] expected: Option<&str>) {
        let status: Status = from_value(status).unwrap();
        let error = kube::Error::Api(status.boxed());
        assert_eq!(missing(&error.into()).as_deref(), expected);
    }
}
