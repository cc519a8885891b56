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

/// Whoever writes a plan's status may write the same reference in as many ways as JSON has; what the
/// bundle holds is kept once.
#[test]
fn a_reference_that_is_written_in_many_ways_is_one_bundle() {
    let text = reference().print().unwrap();
    let mut spaces = execution("a.v1", StepStatus::Unknown);
    let step = spaces.steps[0].clone();
    let written = |number: usize| Step {
        resource: StepResource {
            manifest: Some(format!("{}{text}", " ".repeat(number))),
            ..step.resource.clone()
        },
        ..step.clone()
    };
    spaces.steps = (0..500).map(written).collect();
    assert_eq!(spaces.bundles(), [reference()].into());
    let mut large = bundle();
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "large"},
        "data": {"a": "a".repeat(3 << 20)}});
    large.objects.push(object.to_string());
    spaces.provide(&reference(), Ok(large));
    assert_eq!(spaces.scope.bundles.kept(), 1);
    assert_eq!(created(spaces).unwrap()["metadata"]["name"], "a.v1");
}

/// A ConfigMap of 1 MiB may hold 32 MiB, and a plan may name many.
#[test]
fn the_bundles_of_a_plan_have_bounds_together() {
    let mut many = execution("a.v1", StepStatus::Unknown);
    let numbered = |number: u32| BundleReference { name: format!("b{number}"), ..reference() };
    let text = |number: u32| numbered(number).print().unwrap();
    let step = many.steps[0].clone();
    let of = |number: u32| Step {
        resource: StepResource { manifest: Some(text(number)), ..step.resource.clone() },
        ..step.clone()
    };
    many.steps = (100..140).map(of).collect();
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "large"},
        "data": {"a": "a".repeat(2 << 20)}});
    let large = UnpackedBundle { objects: vec![bundle().csv_json, object.to_string()], ..bundle() };
    let read: Vec<_> = many
        .bundles()
        .into_iter()
        .filter(|reference| {
            let fits = many.check_limit(reference).is_ok();
            let bundle = if fits { Ok(large.clone()) } else { Err("over the limit".to_owned()) };
            many.provide(reference, bundle);
            fits
        })
        .collect();
    // 31 of 2 MiB and a little fit into 64 MiB; the 32nd does not, and no other is read.
    assert_eq!(read.len(), 32);
    assert_eq!(many.scope.bundles.kept(), 31);
    many.steps.drain(..31);
    let error = created(many).unwrap_err();
    let expected = "the bundles of the plan have more than 67108864 bytes of manifests together, as \
                    of ConfigMap catalogs/b131: delete the plan, ";
    assert!(error.starts_with(expected), "{error}");
}
