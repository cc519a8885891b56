//! Hashes of catalog pods (spec catalog-operator 9.9), from pods built as 1.4 says.

use rstest::rstest;
use serde_json::{Value, json};

use crate::hash::{deep_hash, go_json};

/// Catalog pods of spec catalog-operator 9.9, and their hashes.
#[rstest]
#[case::plain(false, None, "cBESV2Miwqi3TX1KELgXItd7j206e4q6b21BnP")]
#[case::extract_with_cache(false, Some(true), "30fzEky6rWPSaUHUtTN3mbl0SvE2PryXPIr090")]
#[case::extract_without_cache(false, Some(false), "57eMKS6v8du5evWOTeBJEFYx7r5udVxvhEQpLB")]
#[case::restricted(true, None, "bfNQa9OTbkeciTpFoCgpKhNENGjVjY61PYAoYA")]
#[case::restricted_extract_with_cache(true, Some(true), "5CPn3qG7EdDS0mOX7AazM9Tt1RBtR6bjjMmmep")]
#[case::restricted_extract_without_cache(
    true,
    Some(false),
    "adSLBZw1o1geKStnSKaiQEubBnN4eqkHabCyHs"
)]
fn catalog_pod_hashes(#[case] restricted: bool, #[case] cache: Option<bool>, #[case] hash: &str) {
    assert_eq!(pod_hash(&catalog_pod(restricted, cache)), hash);
}

#[test]
fn catalog_pod_hash_with_memory_target() {
    let mut pod = catalog_pod(false, None);
    pod["containers"][0]["env"] = json!([{"name": "GOMEMLIMIT", "value": "5MiB"}]);
    pod["containers"][0]["resources"]["requests"]["memory"] = json!("5Mi");
    assert_eq!(pod_hash(&pod), "22OBIOEoFxFjed27eJvvYzqL0TfdXsuapKoxsE");
}

fn pod_hash(pod: &Value) -> String {
    deep_hash(&go_json::encode("core/v1.PodSpec", pod).unwrap())
}

fn catalog_pod(restricted: bool, cache: Option<bool>) -> Value {
    let probe = json!({"grpc": {"port": 50051}, "timeoutSeconds": 5});
    let mut pod = json!({
        "containers": [{
            "name": "name", "image": "image", "imagePullPolicy": "Always",
            "ports": [{"name": "grpc", "containerPort": 50051}],
            "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}, "limits": {}},
            "livenessProbe": probe, "readinessProbe": probe,
            "startupProbe": {"grpc": {"port": 50051}, "timeoutSeconds": 5, "periodSeconds": 10, "failureThreshold": 15},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "securityContext": {"readOnlyRootFilesystem": false},
        }],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "serviceAccountName": "service-account",
    });
    if let Some(cache) = cache {
        extract_content(&mut pod, cache);
    }
    if restricted {
        restrict(&mut pod);
    }
    pod
}

fn extract_content(pod: &mut Value, cache: bool) {
    let utilities = json!({"name": "utilities", "mountPath": "/utilities"});
    let content = json!({"name": "catalog-content", "mountPath": "/extracted-catalog"});
    let temporary = json!({"name": "tmpdir", "mountPath": "/tmp/"});
    let volume = |name: &str| json!({"name": name, "emptyDir": {}});
    let init = |name: &str, image: &str, command: &str, args: Value, mounts: Value| {
        json!({"name": name, "image": image, "command": [command], "args": args, "volumeMounts": mounts,
               "terminationMessagePolicy": "FallbackToLogsOnError", "securityContext": {"readOnlyRootFilesystem": true}})
    };
    let mut copy = vec!["--catalog.from=/catalog", "--catalog.to=/extracted-catalog/catalog"];
    let mut serve = vec!["serve", "/extracted-catalog/catalog"];
    let (mut volumes, mut mounts) =
        (vec![volume("utilities"), volume("catalog-content")], vec![content.clone()]);
    if cache {
        copy.extend(["--cache.from=/tmp/cache", "--cache.to=/extracted-catalog/cache"]);
        serve.push("--cache-dir=/extracted-catalog/cache");
    } else {
        volumes.push(volume("tmpdir"));
        mounts.insert(0, temporary);
    }
    let tools = json!(["/bin/copy-content", "/utilities/copy-content"]);
    let mut fill = init(
        "extract-content",
        "image",
        "/utilities/copy-content",
        json!(copy),
        json!([utilities, content]),
    );
    fill["imagePullPolicy"] = json!("Always");
    pod["volumes"] = json!(volumes);
    pod["initContainers"] =
        json!([init("extract-utilities", "utilImage", "cp", tools, json!([utilities])), fill]);
    let main = &mut pod["containers"][0];
    main["image"] = json!("opmImage");
    main["command"] = json!(["/bin/opm"]);
    main["args"] = json!(serve);
    main["volumeMounts"] = json!(mounts);
    main["securityContext"]["readOnlyRootFilesystem"] = json!(true);
}

fn restrict(pod: &mut Value) {
    for list in ["initContainers", "containers"] {
        for container in pod[list].as_array_mut().into_iter().flatten() {
            container["securityContext"]["allowPrivilegeEscalation"] = json!(false);
            container["securityContext"]["capabilities"] = json!({"drop": ["ALL"]});
        }
    }
    pod["securityContext"] = json!({"runAsUser": 1001, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
}
