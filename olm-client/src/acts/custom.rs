//! Custom resources of an operator, from its own examples.

use anyhow::{Context, Result, bail, ensure};
use kube::api::{Api, ApiResource, DynamicObject};
use olm_types::api::{ClusterServiceVersion, CrdDescription};
use olm_types::document::{self, Budget, Meter};
use olm_types::gvk::Gvk;
use serde_json::Value;

use super::Writing;
use crate::cluster::Cluster;

/// The annotation of a CSV with examples, as a JSON list.
const EXAMPLES: &str = "alm-examples";

/// Most examples of a CSV.
const MOST: usize = 50;

/// The longest part of an address of the API server.
const LONGEST: usize = 253;

/// The examples of a CSV, of the kinds that it owns.
#[must_use]
pub fn examples(csv: &ClusterServiceVersion) -> Vec<Value> {
    let annotations = csv.metadata.annotations.as_ref();
    let Some(text) = annotations.and_then(|all| all.get(EXAMPLES)) else { return Vec::new() };
    let read = document::json(text.as_bytes(), &mut Meter::in_all(Budget::OBJECT));
    let Ok(Value::Array(found)) = read else { return Vec::new() };
    found.into_iter().filter(|one| owned(csv, one).is_ok()).take(MOST).collect()
}

/// The CRDs that a CSV owns.
#[must_use]
pub fn example_kinds(csv: &ClusterServiceVersion) -> &[CrdDescription] {
    let all = csv.spec.customresourcedefinitions.as_ref();
    all.map(|all| all.owned.as_slice()).unwrap_or_default()
}

/// The CRD of an object, of those that a CSV owns.
#[must_use]
pub fn crd_of<'a>(csv: &'a ClusterServiceVersion, object: &Value) -> Option<&'a CrdDescription> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let kind = Gvk::from_api_version(text("apiVersion"), text("kind"));
    example_kinds(csv).iter().find(|one| {
        let group = one.name.split_once('.').map(|(_, group)| group);
        one.kind == kind.kind && group == Some(kind.group.as_str())
    })
}

/// An object that a user has written, as YAML or JSON.
///
/// # Errors
/// It is neither, or no object.
pub fn read_object(text: &str) -> Result<Value> {
    let read = document::yaml(text, &mut Meter::in_all(Budget::OBJECT));
    let value = read.context("it is no YAML")?;
    ensure!(value.is_object(), "it is no object: that has apiVersion, kind and metadata");
    Ok(value)
}

/// Makes a custom resource of an operator, or tries to. Its name.
///
/// # Errors
/// It is of no kind that the operator owns, names another namespace, or the API server refuses it.
pub async fn make(
    cluster: &Cluster,
    csv: &ClusterServiceVersion,
    object: &Value,
    how: Writing<'_>,
) -> Result<String> {
    let kind = owned(csv, object)?;
    let home = cluster.namespace.as_str();
    let version = kind.api_version();
    let listed = cluster.answer(cluster.client.list_api_group_resources(&version)).await;
    let listed = listed.with_context(|| format!("cannot read what {version} has"))?;
    let found =
        listed.resources.into_iter().find(|one| one.kind == kind.kind && !one.name.contains('/'));
    let found = found.with_context(|| format!("the cluster has no {} of {version}", kind.kind))?;
    let resource = ApiResource {
        group: kind.group.clone(),
        version: kind.version.clone(),
        api_version: version,
        kind: kind.kind.clone(),
        plural: found.name,
    };
    let client = cluster.client.clone();
    let api: Api<DynamicObject> = match found.namespaced {
        true => Api::namespaced_with(client, place(home, object)?, &resource),
        false => Api::all_with(client, &resource),
    };
    let object: DynamicObject =
        serde_json::from_value(object.clone()).context("it is no object of Kubernetes")?;
    let made = cluster.answer(api.create(&how.post(), &object)).await;
    let made = made.with_context(|| format!("cannot create {}", kind.kind))?;
    Ok(made.metadata.name.unwrap_or_default())
}

/// The kind of an object, which has to be one that a CSV owns.
fn owned(csv: &ClusterServiceVersion, object: &Value) -> Result<Gvk> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let kind = Gvk::from_api_version(text("apiVersion"), text("kind"));
    if crd_of(csv, object).is_none() {
        let all = example_kinds(csv);
        let names: Vec<String> =
            all.iter().map(|one| format!("{} ({})", one.kind, one.name)).collect();
        bail!(
            "kind {:?} of apiVersion {:?} is none of the operator's: {}",
            kind.kind,
            text("apiVersion"),
            names.join(", ")
        );
    }
    ensure!(
        [&kind.group, &kind.version].iter().all(|part| is_plain(part)),
        "apiVersion {:?} is none",
        text("apiVersion")
    );
    Ok(kind)
}

/// The namespace of an object is the one that is looked at.
fn place<'a>(home: &'a str, object: &Value) -> Result<&'a str> {
    match object.pointer("/metadata/namespace").and_then(Value::as_str) {
        Some(other) if other != home => {
            bail!("metadata.namespace is {other:?}, and this page is about namespace {home}")
        }
        _ => Ok(home),
    }
}

/// Whether a text stays one part of an address.
pub(crate) fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
    !text.is_empty()
        && text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::*;

    fn csv(examples: &str) -> ClusterServiceVersion {
        from_value(json!({"metadata": {"name": "kettle.v1", "annotations": {EXAMPLES: examples}},
            "spec": {"customresourcedefinitions": {"owned": [
                {"name": "kettles.x.io", "kind": "Kettle", "version": "v1"},
                {"name": "up.s/../x", "kind": "Path", "version": "v1"}]}}}))
        .unwrap()
    }

    #[rstest]
    #[case::own(json!({"apiVersion": "x.io/v1", "kind": "Kettle"}), "")]
    #[case::other_version(json!({"apiVersion": "x.io/v2", "kind": "Kettle"}), "")]
    #[case::other_kind(json!({"apiVersion": "v1", "kind": "Secret"}), "none of the operator's: Kettle")]
    #[case::other_group(json!({"apiVersion": "y.io/v1", "kind": "Kettle"}), "none of the operator's")]
    #[case::path(json!({"apiVersion": "x.io/../v1", "kind": "Kettle"}), "is none")]
    #[case::hostile_crd(json!({"apiVersion": "s/../x", "kind": "Path"}), "none")]
    #[case::nothing(json!({}), "none of the operator's")]
    fn only_kinds_of_the_operator_are_made(#[case] object: Value, #[case] expected: &str) {
        match owned(&csv("[]"), &object) {
            Ok(kind) => assert!(expected.is_empty(), "{kind:?}"),
            Err(error) => {
                let error = error.to_string();
                assert!(!expected.is_empty() && error.contains(expected), "{error}");
            }
        }
    }

    #[test]
    fn examples_are_those_of_its_own_kinds() {
        let all = r#"[{"apiVersion": "x.io/v1", "kind": "Kettle", "metadata": {"name": "a"}},
            {"apiVersion": "v1", "kind": "Secret"}, "text"]"#;
        let found = examples(&csv(all));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["metadata"]["name"], "a");
        assert!(examples(&csv("no JSON")).is_empty());
        assert!(examples(&csv("{}")).is_empty());
    }

    #[test]
    fn what_is_typed_is_yaml_or_json_of_one_object() {
        assert_eq!(read_object("kind: Kettle\n").unwrap()["kind"], "Kettle");
        assert_eq!(read_object(r#"{"kind": "Kettle"}"#).unwrap()["kind"], "Kettle");
        for text in ["", "- a\n", "text", "a: [", "a: 1\n---\nb: 2\n"] {
            assert!(read_object(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_object_stays_in_the_namespace_of_the_page() {
        assert_eq!(place("ns", &json!({"metadata": {"namespace": "ns"}})).unwrap(), "ns");
        assert_eq!(place("ns", &json!({})).unwrap(), "ns");
        assert!(place("ns", &json!({"metadata": {"namespace": "kube-system"}})).is_err());
    }
}
