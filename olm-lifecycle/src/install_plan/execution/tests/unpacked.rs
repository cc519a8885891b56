//! Steps whose manifests are in the ConfigMap of a bundle.

use olm_effect::{Action, Effect};
use olm_types::api::{Step, StepResource, StepStatus};
use serde_json::{Value, json};

use super::super::{Execution, Request, Scope};
use crate::unpack::{BundleReference, UnpackedBundle};

fn reference() -> BundleReference {
    BundleReference {
        kind: "ConfigMap".to_owned(),
        name: "hash".to_owned(),
        namespace: "catalogs".to_owned(),
        catalog_source_name: "kitchen".to_owned(),
        catalog_source_namespace: "catalogs".to_owned(),
        replaces: "a.v0".to_owned(),
        properties: String::new(),
    }
}

fn bundle() -> UnpackedBundle {
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": "a.v1"},
    })
    .to_string();
    UnpackedBundle { csv_name: "a.v1".to_owned(), csv_json: csv.clone(), objects: vec![csv] }
}

fn execution(name: &str, status: StepStatus) -> Execution {
    let resource = StepResource {
        group: "operators.coreos.com".to_owned(),
        version: "v1alpha1".to_owned(),
        kind: "ClusterServiceVersion".to_owned(),
        name: name.to_owned(),
        manifest: Some(reference().print().unwrap()),
        ..StepResource::default()
    };
    let step = Step { resolving: "a.v1".to_owned(), resource, status, ..Step::default() };
    Execution::new(Scope { namespace: "ns".to_owned(), ..Scope::default() }, vec![step])
}

/// The first object that is created, or the error that comes instead.
fn created(mut execution: Execution) -> Result<Value, String> {
    match execution.next_request() {
        Some(Request::Do(Effect { action: Action::Create(object), .. })) => Ok(object),
        Some(other) => panic!("{other:?}"),
        None => Err(execution.finish().failure.unwrap().to_string()),
    }
}

#[test]
fn the_manifest_comes_from_the_bundle() {
    let mut execution = execution("a.v1", StepStatus::Unknown);
    assert_eq!(execution.bundles(), [reference()].into());
    execution.provide(&reference(), Ok(bundle()));
    let csv = created(execution).unwrap();
    assert_eq!(csv["metadata"]["namespace"], "ns");
    assert_eq!(csv["spec"]["replaces"], "a.v0");
}

#[test]
fn finished_steps_need_no_bundle() {
    assert_eq!(execution("a.v1", StepStatus::Present).bundles(), [].into());
}

#[test]
fn what_the_bundle_does_not_have_is_reported() {
    let mut other = execution("b.v1", StepStatus::Unknown);
    other.provide(&reference(), Ok(bundle()));
    let lost = "couldn't find unpacked step for ClusterServiceVersion b.v1 of a.v1";
    assert_eq!(created(other), Err(lost.to_owned()));
    let mut gone = execution("a.v1", StepStatus::Unknown);
    gone.provide(&reference(), Err("error finding unpacked bundle configmap".to_owned()));
    assert_eq!(created(gone), Err("error finding unpacked bundle configmap".to_owned()));
}

#[test]
fn a_bundle_without_csv_is_reported() {
    let mut execution = execution("a.v1", StepStatus::Unknown);
    execution.provide(&reference(), Ok(UnpackedBundle::default()));
    let error = created(execution).unwrap_err();
    assert!(
        error.starts_with("error calculating steps for ref {ConfigMap hash catalogs"),
        "{error}"
    );
}
