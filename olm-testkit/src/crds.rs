//! Applying manifests of `deploy/` to a cluster, as `kubectl apply --server-side` does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};
use kube::{Client, ResourceExt};
use tokio::time::{Instant, sleep};

use crate::wait;

/// Who the API server says has applied these objects.
const MANAGER: &str = "olm-rs-xtask";

/// The folder `deploy/` of this checkout.
pub fn deploy_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

/// Applies `deploy/crds` and waits until every kind is served.
pub async fn apply_crds(client: &Client) -> Result<Vec<String>> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut names = Vec::new();
    for document in documents(&deploy_dir().join("crds"))? {
        names.push(apply(client, &document).await?.name_any());
    }
    if names.is_empty() {
        bail!("there are no manifests in deploy/crds: `cargo xtask crds` writes them");
    }
    for name in &names {
        wait::until(&crds, name, "be established", is_established).await?;
    }
    Ok(names)
}

/// Applies `deploy/base`: namespaces, rights, OperatorGroups and the OLMConfig.
pub async fn apply_base(client: &Client) -> Result<()> {
    // Namespaces first; the order of kustomize is by kind, too.
    let (first, rest): (Vec<_>, Vec<_>) = documents(&deploy_dir().join("base"))?
        .into_iter()
        .filter(|document| kind(document) != "Kustomization")
        .partition(|document| kind(document) == "Namespace");
    for document in first.iter().chain(&rest) {
        apply(client, document).await?;
    }
    Ok(())
}

/// Applies one object server-side.
pub async fn apply(client: &Client, object: &DynamicObject) -> Result<DynamicObject> {
    let kind = object.types.as_ref().context("an object without apiVersion and kind")?;
    let gvk = GroupVersionKind::try_from(kind).context("a malformed apiVersion")?;
    let (resource, capabilities) = discover(client, &gvk).await?;
    let api: Api<DynamicObject> = match (capabilities.scope, object.namespace()) {
        (Scope::Namespaced, Some(namespace)) => {
            Api::namespaced_with(client.clone(), &namespace, &resource)
        }
        (Scope::Namespaced, None) => Api::default_namespaced_with(client.clone(), &resource),
        (Scope::Cluster, _) => Api::all_with(client.clone(), &resource),
    };
    let params = PatchParams::apply(MANAGER).force();
    api.patch(&object.name_any(), &params, &Patch::Apply(object))
        .await
        .with_context(|| format!("the API server refuses {} {}", gvk.kind, object.name_any()))
}

/// Every object in the YAML files of a folder, by file name.
pub fn documents(dir: &Path) -> Result<Vec<DynamicObject>> {
    let list = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut files: Vec<_> = list.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    let mut all = Vec::new();
    for file in files.iter().filter(|path| yaml(path)) {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        for document in yaml_serde::Deserializer::from_str(&text) {
            let value = serde::Deserialize::deserialize(document);
            all.push(value.with_context(|| format!("{} is no object", file.display()))?);
        }
    }
    Ok(all)
}

/// Discovery lags a moment behind a new kind.
async fn discover(
    client: &Client,
    gvk: &GroupVersionKind,
) -> Result<(kube::discovery::ApiResource, kube::discovery::ApiCapabilities)> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match pinned_kind(client, gvk).await {
            Ok(found) => return Ok(found),
            Err(error) if Instant::now() > deadline => {
                return Err(error).with_context(|| format!("kind {} is not served", gvk.kind));
            }
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

fn kind(object: &DynamicObject) -> &str {
    object.types.as_ref().map_or("", |types| types.kind.as_str())
}

fn is_established(crd: &CustomResourceDefinition) -> bool {
    let conditions = crd.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|c| c.type_ == "Established" && c.status == "True")
}
