//! One complete InstallPlan, as a reader of `kubectl get installplan -o yaml` sees it.

use serde_json::{Value, json};

use super::*;
use crate::install_plan::steps::BundleInput;

fn csv() -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "cache.v1.0.0", "annotations": {"capabilities": "Basic Install"}},
        "spec": {
            "version": "1.0.0",
            "customresourcedefinitions": {"owned": [{"name": "caches.demo.io", "version": "v1", "kind": "Cache"}]},
            "install": {"strategy": "deployment", "spec": {
                "deployments": [{"name": "cache", "spec": {"replicas": 1}}],
                "permissions": [{"serviceAccountName": "cache", "rules": [
                    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
                ]}],
                "clusterPermissions": [{"serviceAccountName": "cache", "rules": [
                    {"apiGroups": ["demo.io"], "resources": ["caches"], "verbs": ["*"]},
                ]}],
            }},
        },
    })
}

fn bundle(choice: &Choice) -> BundleInput {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "caches.demo.io"}, "spec": {"group": "demo.io"},
    });
    let service =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cache-metrics"}});
    BundleInput {
        entry: Arc::clone(&choice.entry),
        replaces: choice.replaces.clone(),
        csv_json: csv().to_string(),
        objects: [service, csv(), crd].map(|object| object.to_string()).into(),
    }
}

#[test]
fn the_plan_for_one_bundle() {
    let namespace = namespace(vec![subscription("cache", "stable", "")]);
    let selection = select(&namespace, &[choice(entry("cache", "stable", "cache.v1.0.0"), "")]);
    let bundles: Vec<_> = selection.inline.iter().map(bundle).collect();
    let request = plan(&namespace, &selection, &bundles, &[]).unwrap().unwrap();
    let plan = InstallPlan { status: Some(request.status()), ..request.object(&[]) };
    insta::assert_json_snapshot!("install_plan", plan);
}
