//! The objects that serve a catalog.
//!
//! Each file of the catalog is a key of a ConfigMap, and is mounted by itself at its place: the
//! links that a mounted ConfigMap has beside its files are none of the catalog.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::builders::readiness_probe;

/// Where registries of OLM listen.
pub(super) const PORT: u16 = 50051;

/// What fits into a ConfigMap, in bytes, with space for what Kubernetes adds.
const LIMIT: usize = 1_000_000;

/// The files of a catalog at some time.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// Counts what the catalog has served.
    pub revision: u32,
    name: String,
    /// Content by path.
    files: BTreeMap<String, String>,
}

impl Content {
    /// Reads a directory.
    pub(super) fn read(catalog: &str, revision: u32, root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let mut pending = vec![root.to_owned()];
        while let Some(dir) = pending.pop() {
            let list = fs::read_dir(&dir).context("cannot read a catalog")?;
            for entry in list {
                let path = entry.context("cannot read a catalog")?.path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    let text = fs::read_to_string(&path).context("cannot read a catalog")?;
                    let place = path.strip_prefix(root).unwrap_or(&path);
                    files.insert(place.to_string_lossy().into_owned(), text);
                }
            }
        }
        let size: usize = files.values().map(String::len).sum();
        ensure!(size < LIMIT, "the catalog has {size} bytes, a ConfigMap takes {LIMIT}");
        Ok(Self { revision, name: format!("{catalog}-{revision}"), files })
    }

    /// The object that holds the files.
    pub(super) fn config_map(&self) -> Value {
        let texts = self.files.values().enumerate();
        let data: BTreeMap<String, &String> =
            texts.map(|(number, text)| (key(number), text)).collect();
        json!({"metadata": {"name": self.name}, "data": data})
    }

    fn mounts(&self) -> Vec<Value> {
        let places = self.files.keys().enumerate();
        let mount = |(number, place): (usize, &String)| {
            let path = format!("/configs/{place}");
            json!({"name": "content", "mountPath": path, "subPath": key(number), "readOnly": true})
        };
        places.map(mount).chain([json!({"name": "cache", "mountPath": "/tmp"})]).collect()
    }
}

/// Keys cannot hold the slashes of paths.
fn key(number: usize) -> String {
    format!("file-{number}")
}

/// A name for the Pod.
pub(super) fn service(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"name": "grpc", "port": PORT}]},
    })
}

/// One Pod at most: two of them could serve different content.
pub(super) fn deployment(name: &str, image: &str, content: &Content, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "strategy": {"type": "Recreate"},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": pod(image, content),
            },
        },
    })
}

fn pod(image: &str, content: &Content) -> Value {
    json!({
        "automountServiceAccountToken": false,
        "terminationGracePeriodSeconds": 0,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": 1001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{
            "name": "registry",
            "image": image,
            "command": ["/bin/opm"],
            "args": ["serve", "/configs"],
            "ports": [{"name": "grpc", "containerPort": PORT}],
            "readinessProbe": readiness_probe(json!({"grpc": {"port": PORT}})),
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": content.mounts(),
        }],
        "volumes": [
            {"name": "content", "configMap": {"name": content.name}},
            {"name": "cache", "emptyDir": {}},
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builders::CatalogDir;

    #[test]
    fn each_file_is_stored_once_and_mounted_at_its_place() {
        let catalog = CatalogDir::of(&[]).unwrap();
        catalog.add_file("a/catalog.json", "first").unwrap();
        catalog.add_file("b/c/catalog.yaml", "second").unwrap();
        let content = Content::read("kitchen", 3, catalog.path()).unwrap();
        let stored = content.config_map();
        assert_eq!(stored["metadata"]["name"], "kitchen-3");
        assert_eq!(stored["data"], json!({"file-0": "first", "file-1": "second"}));
        let deployment = deployment("kitchen", "image:1", &content, 1);
        let pod = &deployment["spec"]["template"]["spec"];
        let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
        let places: Vec<_> =
            mounts.iter().map(|mount| (&mount["mountPath"], &mount["subPath"])).collect();
        assert_eq!(places[0], (&json!("/configs/a/catalog.json"), &json!("file-0")));
        assert_eq!(places[1], (&json!("/configs/b/c/catalog.yaml"), &json!("file-1")));
        assert_eq!(pod["volumes"][0]["configMap"]["name"], "kitchen-3");
    }

    #[test]
    fn what_no_config_map_takes_is_refused() {
        let catalog = CatalogDir::of(&[]).unwrap();
        catalog.add_file("catalog.json", &"x".repeat(LIMIT)).unwrap();
        let error = Content::read("kitchen", 1, catalog.path()).unwrap_err();
        assert!(error.to_string().contains("a ConfigMap takes"), "{error}");
    }
}
