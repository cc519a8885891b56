//! `deploy/` against what the code says of it. That a server takes it and that kustomize agrees is
//! for the scenarios.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::operators::Operator;

fn deployment<'a>(objects: &'a [kube::api::DynamicObject], name: &str) -> &'a Value {
    let found = objects.iter().find(|o| kind(o) == "Deployment" && o.name_any() == name);
    &found.unwrap().data
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn the_default_image_is_that_of_this_version() {
    let objects = objects(&Options::default()).unwrap();
    for operator in Operator::ALL {
        let deployment = deployment(&objects, operator.name());
        let image = text(deployment, "/spec/template/spec/containers/0/image");
        assert_eq!(image, DEFAULT_IMAGE, "set it in deploy/base/{operator}.yaml");
    }
}

#[test]
fn the_options_are_set() {
    let image = "registry.example.com:5000/team/olm-rs:v1";
    let extra_args = [(Operator::Catalog, vec!["--debug".to_owned()])].into();
    let options =
        Options { image: image.to_owned(), replicas: 0, extra_args, ..Options::default() };
    let objects = objects(&options).unwrap();
    let rendered = render("", &objects).unwrap();
    assert!(!rendered.contains(DEFAULT_IMAGE), "the default image is left somewhere");
    // Both containers, and what catalog-operator starts.
    assert_eq!(rendered.matches(image).count(), 3);
    for operator in Operator::ALL {
        let deployment = deployment(&objects, operator.name());
        assert_eq!(deployment.pointer("/spec/replicas"), Some(&0.into()));
        let args = deployment.pointer("/spec/template/spec/containers/0/args").unwrap();
        let last = args.as_array().unwrap().last().and_then(Value::as_str);
        assert_eq!(last == Some("--debug"), operator == Operator::Catalog);
    }
}

#[test]
fn several_pods_elect_one() {
    let objects = objects(&Options { replicas: 3, ..Options::default() }).unwrap();
    for deployment in objects.iter().filter(|object| kind(object) == "Deployment") {
        let data = &deployment.data;
        let args = data.pointer("/spec/template/spec/containers/0/args").unwrap();
        assert!(args.as_array().unwrap().contains(&LEADER_ELECT.into()), "{args}");
        assert_eq!(data.pointer("/spec/strategy/type"), Some(&"RollingUpdate".into()));
    }
}

#[test]
fn replicas_are_not_negative() {
    let error = objects(&Options { replicas: -1, ..Options::default() }).unwrap_err();
    assert_eq!(error.to_string(), "-1 replicas: give 0 or more");
}

#[test]
fn rendering_is_deterministic_and_can_be_read_again() {
    let objects = objects(&Options::default()).unwrap();
    let text = render("one\ntwo", &objects).unwrap();
    assert_eq!(text, render("one\ntwo", &super::objects(&Options::default()).unwrap()).unwrap());
    assert!(text.starts_with("# one\n# two\n---\napiVersion: v1\nkind: Namespace\n"));
    let read = yaml_serde::Deserializer::from_str(&text).map(|document| {
        <kube::api::DynamicObject as serde::Deserialize>::deserialize(document).unwrap()
    });
    assert_eq!(read.collect::<Vec<_>>(), objects);
}

#[test]
fn every_definition_is_listed() {
    let listed: BTreeSet<String> =
        definitions().unwrap().iter().map(ResourceExt::name_any).collect();
    let files = std::fs::read_dir(folder().join("crds")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let names = files.filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned));
    let names: BTreeSet<String> = names.filter(|name| name != "kustomization").collect();
    assert_eq!(listed, names, "list them in deploy/crds/kustomization.yaml");
}

#[test]
fn the_names_that_others_rely_on() {
    let objects = objects(&Options::default()).unwrap();
    let names: Vec<String> =
        objects.iter().map(|object| format!("{} {}", kind(object), object.name_any())).collect();
    let expected = [
        "Namespace operator-lifecycle-manager",
        "Namespace operators",
        "ServiceAccount catalog-operator-serviceaccount",
        "ServiceAccount olm-operator-serviceaccount",
        "Role catalog-operator",
        "Role olm-operator",
        "ClusterRole aggregate-olm-edit",
        "ClusterRole aggregate-olm-view",
        "ClusterRole system:controller:catalog-operator",
        "ClusterRole system:controller:operator-lifecycle-manager",
        "RoleBinding catalog-operator",
        "RoleBinding olm-operator",
        "ClusterRoleBinding catalog-operator-binding-operator-lifecycle-manager",
        "ClusterRoleBinding olm-operator-binding-operator-lifecycle-manager",
        "Service catalog-operator-metrics",
        "Service olm-operator-metrics",
        "Service packageserver-service",
        "Deployment catalog-operator",
        "Deployment olm-operator",
        "APIService v1.packages.operators.coreos.com",
        "NetworkPolicy catalog-operator",
        "NetworkPolicy default-deny-all-traffic",
        "NetworkPolicy olm-operator",
        "NetworkPolicy default-allow-all",
        "OLMConfig cluster",
        "OperatorGroup olm-operators",
        "OperatorGroup global-operators",
    ];
    assert_eq!(names, expected);
    for operator in Operator::ALL {
        let deployment = deployment(&objects, operator.name());
        let container = deployment.pointer("/spec/template/spec/containers/0").unwrap();
        assert_eq!(text(container, "/name"), operator.name());
        assert_eq!(text(container, "/ports/0/name"), "metrics");
        assert_eq!(text(deployment, "/spec/template/metadata/labels/app"), operator.name());
    }
}

#[test]
fn the_console_has_no_right_and_no_token() {
    let objects = console().unwrap();
    let names: Vec<String> =
        objects.iter().map(|object| format!("{} {}", kind(object), object.name_any())).collect();
    let console = ["ServiceAccount", "Service", "Deployment", "NetworkPolicy"];
    assert_eq!(names, console.map(|kind| format!("{kind} olm-console")));
    let rights = super::objects(&Options::default()).unwrap();
    assert!(!render("", &rights).unwrap().contains("olm-console"), "base gives it no right");
    let mounts = |pointer: &str, object: usize| objects[object].data.pointer(pointer).cloned();
    assert_eq!(mounts("/automountServiceAccountToken", 0), Some(false.into()));
    let pod = |pointer: &str| mounts(&format!("/spec/template/spec{pointer}"), 2);
    assert_eq!(pod("/automountServiceAccountToken"), Some(false.into()));
    let rendered = render("", &objects).unwrap();
    assert!(!rendered.contains("serviceAccountToken:"), "a projected volume has a token");
}

#[test]
fn the_console_is_restricted() {
    let objects = console().unwrap();
    let deployment = deployment(&objects, "olm-console");
    let pod = deployment.pointer("/spec/template/spec").unwrap();
    assert_eq!(pod.pointer("/securityContext/runAsNonRoot"), Some(&true.into()));
    assert_eq!(text(pod, "/securityContext/seccompProfile/type"), "RuntimeDefault");
    let container = pod.pointer("/containers/0").unwrap();
    assert_eq!(text(container, "/image"), DEFAULT_IMAGE, "set it in deploy/console/console.yaml");
    assert_eq!(text(container, "/command/0"), "/bin/olm-console");
    assert_eq!(text(container, "/resources/limits/memory"), "128Mi");
    for (pointer, expected) in
        [("readOnlyRootFilesystem", true), ("allowPrivilegeEscalation", false)]
    {
        let found = container.pointer(&format!("/securityContext/{pointer}"));
        assert_eq!(found, Some(&expected.into()), "{pointer}");
    }
    assert_eq!(text(container, "/securityContext/capabilities/drop/0"), "ALL");
    for probe in ["livenessProbe", "readinessProbe"] {
        assert_eq!(text(container, &format!("/{probe}/httpGet/path")), "/healthz");
        assert_eq!(text(container, &format!("/{probe}/httpGet/scheme")), "HTTPS");
    }
}
