//! The objects that serve the catalog of an author's bundle, with the names and annotations that operator-sdk
//! gives them, so that each tool goes on with what the other has made.

use anyhow::{Result, ensure};
use olm_client::catalogs::REGISTRY_POD;
use serde_json::{Value, json};

use super::bundle::AuthorBundle;

/// The image that serves the catalog.
pub(super) const INDEX_IMAGE: &str = "operators.operatorframework.io/index-image";
/// The bundles that were added to it, as JSON.
pub(super) const INJECTED: &str = "operators.operatorframework.io/injected-bundles";

/// The port of the server.
pub(super) const PORT: u16 = 50051;

/// Most bytes of one ConfigMap, with space for what Kubernetes adds.
const MAP_BYTES: usize = 1_000_000;

/// Where the Pod has the catalog.
const FOLDER: &str = "/configs";

/// The key of a part of the catalog.
const KEY: &str = "extraFBC";

/// Names of what serves a bundle.
#[derive(Clone, Debug)]
pub(super) struct Served<'a> {
    pub(super) bundle: &'a AuthorBundle,
    pub(super) namespace: &'a str,
    /// The image with `opm`.
    pub(super) image: &'a str,
    /// A Secret for pulls; empty for none.
    pub(super) pull_secret: &'a str,
}

impl Served<'_> {
    /// Name of the CatalogSource.
    pub(super) fn catalog(&self) -> String {
        format!("{}-catalog", self.bundle.package)
    }

    /// Name of the Pod.
    pub(super) fn pod(&self) -> String {
        dns_label(&self.bundle.name)
    }

    /// The CatalogSource, which gets its type and address once the Pod has one.
    pub(super) fn source(&self) -> Value {
        let secrets: Vec<&str> =
            [self.pull_secret].into_iter().filter(|name| !name.is_empty()).collect();
        let mut spec = json!({"sourceType": "", "displayName": self.bundle.package,
            "publisher": "kubectl-olm", "grpcPodConfig": {"securityContextConfig": "restricted"}});
        if !secrets.is_empty() {
            spec["secrets"] = json!(secrets);
        }
        json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource",
            "metadata": {"name": self.catalog(), "namespace": self.namespace}, "spec": spec})
    }

    /// What the CatalogSource says once the Pod has this address.
    pub(super) fn address(&self, ip: &str) -> Value {
        let host = if ip.contains(':') { format!("[{ip}]") } else { ip.to_owned() };
        let injected = json!([{"imageTag": self.bundle.name, "mode": "replaces"}]);
        let (index, pod) = (self.image, self.pod());
        json!({"metadata": {"annotations": {INDEX_IMAGE: index, REGISTRY_POD: pod,
            INJECTED: injected.to_string()}}, "spec": {"sourceType": "grpc", "address": format!("{host}:{PORT}")}})
    }

    /// The ConfigMaps with the parts of the catalog.
    ///
    /// # Errors
    /// A bundle that is in no image is larger than one ConfigMap.
    pub(super) fn config_maps(&self, owner: &Value) -> Result<Vec<Value>> {
        let mut parts: Vec<String> = Vec::new();
        for document in self.bundle.catalog() {
            let text = document.to_string() + "\n";
            ensure!(
                text.len() <= MAP_BYTES,
                "the bundle has {} bytes, more than fit into a ConfigMap; in an image it may be larger",
                text.len()
            );
            match parts.last_mut() {
                Some(last) if last.len() + text.len() <= MAP_BYTES => last.push_str(&text),
                _ => parts.push(text),
            }
        }
        let map = |(place, part): (usize, String)| {
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": self.map_name(place), "namespace": self.namespace,
                    "ownerReferences": [owner]}, "data": {KEY: part}})
        };
        Ok(parts.into_iter().enumerate().map(map).collect())
    }

    fn map_name(&self, place: usize) -> String {
        format!("{}-configmap-partition-{}", self.catalog(), place + 1)
    }

    /// The Pod that serves the catalog in these ConfigMaps; it may run where Pods are restricted.
    pub(super) fn pod_object(&self, maps: usize, owner: &Value) -> Value {
        let names: Vec<String> = (0..maps).map(|place| self.map_name(place)).collect();
        let volumes = names.iter().map(|name| {
            let path = format!("{name}.json");
            json!({"name": name, "configMap": {"name": name, "items": [{"key": KEY, "path": path}]}})
        });
        let mounts = names.iter().map(|name| {
            let file = format!("{name}.json");
            json!({"name": name, "mountPath": format!("{FOLDER}/{file}"), "subPath": file})
        });
        let temporary = json!({"name": "tmp", "emptyDir": {}});
        let volumes: Vec<Value> = volumes.chain([temporary]).collect();
        let mounts: Vec<Value> =
            mounts.chain([json!({"name": "tmp", "mountPath": "/tmp"})]).collect();
        let mut spec = json!({
            "restartPolicy": "Always",
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1001,
                "seccompProfile": {"type": "RuntimeDefault"}},
            "volumes": volumes,
            "containers": [{
                "name": "registry-grpc",
                "image": self.image,
                "command": ["/bin/opm"],
                "args": ["serve", FOLDER, "--port", PORT.to_string()],
                "ports": [{"name": "grpc", "containerPort": PORT}],
                "readinessProbe": {"grpc": {"port": PORT}, "periodSeconds": 1},
                "securityContext": {"allowPrivilegeEscalation": false,
                    "capabilities": {"drop": ["ALL"]}},
                "volumeMounts": mounts,
            }],
        });
        if !self.pull_secret.is_empty() {
            spec["imagePullSecrets"] = json!([{"name": self.pull_secret}]);
        }
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": self.pod(),
            "namespace": self.namespace, "ownerReferences": [owner]}, "spec": spec})
    }
}

/// A name of the bundle that a Pod may have: runs of other characters become a hyphen, and at most 63
/// characters stay.
fn dns_label(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let label = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    let label: String = label.chars().rev().take(63).collect();
    let label: String = label.chars().rev().collect();
    label.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("quay.io/a/Kettle-bundle:v1.0.0", "quay-io-a-kettle-bundle-v1-0-0")]
    #[case("./bundle", "bundle")]
    fn a_pod_is_named_after_the_bundle(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(dns_label(name), expected);
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        let label = dns_label(&format!("{}-end", "a.".repeat(60)));
        assert!(label.len() <= 63 && label.ends_with("-end") && !label.starts_with('-'), "{label}");
    }
}
