//! A real API server accepts our definitions, and with them every CSV that v0's accept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::pinned_kind;
use olm_testkit::builders::{Crd, csv};
use olm_testkit::e2e::TestContext;
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde::Deserialize;
use serde_json::{Value, json};

/// Requests to the API server under way at once.
const AT_ONCE: usize = 8;

/// Each kind of ours is served in each of its versions.
pub async fn every_version_is_served(ctx: Arc<TestContext>) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let all = crds.list(&ListParams::default()).await.context("cannot list CRDs")?;
    let ours = all.items.iter().filter(|crd| crd.spec.group == "operators.coreos.com");
    let mut count = 0;
    for crd in ours {
        for version in crd.spec.versions.iter().filter(|version| version.served) {
            let gvk = GroupVersionKind::gvk(&crd.spec.group, &version.name, &crd.spec.names.kind);
            pinned_kind(&ctx.client, &gvk).await.with_context(|| format!("{gvk:?}"))?;
            count += 1;
        }
        let conditions = crd.status.as_ref().and_then(|status| status.conditions.as_ref());
        let bad = conditions.into_iter().flatten().find(|c| c.type_ == "NonStructuralSchema");
        ensure!(bad.is_none(), "{:?}", bad);
    }
    ensure!(count == 10, "{count} versions of our kinds are served, not 10");
    Ok(())
}

/// Small CSVs of every shape that the builders make.
pub async fn made_csvs_are_accepted(ctx: Arc<TestContext>) -> Result<()> {
    let crd = Crd::new("api.example.com", "v1", "Thing");
    let rules = json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]);
    let made = [
        csv("empty.v1.0.0", "1.0.0"),
        csv("deployment.v1.0.0", "1.0.0").deployment("manager", "default"),
        csv("rights.v1.0.0", "1.0.0").permission("a", rules.clone()).cluster_permission("a", rules),
        csv("kinds.v1.0.0", "1.0.0").owns(&crd).requires(&crd).replaces("kinds.v0.9.0"),
    ];
    for csv in made {
        dry_run(&ctx, csv.manifest()).await?;
    }
    Ok(())
}

/// Where v0's definitions say so, the entries of two managers stand side by side in a list, each key
/// stands once, and other lists belong to one manager as a whole.
pub async fn lists_are_merged_by_their_keys(ctx: Arc<TestContext>) -> Result<()> {
    let claims = |name: &str| json!({"resources": {"claims": [{"name": name}]}});
    let spec = json!({"name": "p", "source": "none", "sourceNamespace": ctx.namespace});
    let mut first = spec.clone();
    first["config"] = claims("one");
    apply(&ctx, "one", first).await.context("the first manager")?;
    let merged = apply(&ctx, "two", json!({"config": claims("two")})).await;
    let merged = merged.context("the second manager")?;
    let found = &merged["spec"]["config"]["resources"]["claims"];
    ensure!(*found == json!([{"name": "one"}, {"name": "two"}]), "claims are {found}");
    let tolerations = json!({"config": {"tolerations": [{"key": "one"}]}});
    apply(&ctx, "one", merge(spec, &tolerations)).await?;
    let theirs = json!({"config": {"tolerations": [{"key": "two"}]}});
    let conflict = apply(&ctx, "two", theirs).await.err().map(|error| format!("{error:#}"));
    ensure!(conflict.is_some_and(|text| text.contains("conflict")), "a list of one manager");
    let variable = json!({"name": "A", "value": "1"});
    let mut twice = csv("twice.v1.0.0", "1.0.0").deployment("manager", "default").manifest();
    let containers = "/spec/install/spec/deployments/0/spec/template/spec/containers/0";
    let container = twice.pointer_mut(containers).context("the CSV has no container")?;
    container["env"] = json!([variable, variable]);
    let refused = dry_run(&ctx, twice).await.err().map(|error| format!("{error:#}"));
    ensure!(refused.as_ref().is_some_and(|text| text.contains("Duplicate value")), "{refused:?}");
    Ok(())
}

/// Applies the spec of Subscription `s` as a manager of fields; the object that comes of it.
async fn apply(ctx: &TestContext, manager: &str, spec: Value) -> Result<Value> {
    let object = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
        "metadata": {"name": "s"}, "spec": spec,
    });
    let api: Api<Subscription> = ctx.api();
    let applied = api.patch("s", &PatchParams::apply(manager), &Patch::Apply(&object)).await?;
    Ok(serde_json::to_value(applied)?)
}

/// An object with the fields of another one.
fn merge(mut object: Value, more: &Value) -> Value {
    if let (Some(object), Some(more)) = (object.as_object_mut(), more.as_object()) {
        object.extend(more.clone());
    }
    object
}

/// CSVs that people have published.
pub async fn corpus(ctx: Arc<TestContext>) -> Result<()> {
    let root = PathBuf::from(std::env::var_os("OLM_CORPUS").context("OLM_CORPUS is not set")?);
    let mut found = Vec::new();
    for file in files(&root)? {
        let text = std::fs::read_to_string(&file);
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        found.extend(csvs(&text).with_context(|| format!("cannot read {}", file.display()))?);
    }
    ensure!(!found.is_empty(), "there is no CSV in {}", root.display());
    let count = found.len();
    let ctx = &ctx;
    let requests = stream::iter(found).map(|csv| dry_run(ctx, csv));
    requests.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    eprintln!("  {count} CSVs of the corpus are accepted");
    Ok(())
}

/// Asks the API server what it would do with a CSV as our types write it. That is how OLM sends
/// one: published CSVs leave out fields that v0's definition requires and its types fill in.
async fn dry_run(ctx: &TestContext, csv: Value) -> Result<()> {
    let name = csv.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut csv: ClusterServiceVersion =
        serde_json::from_value(csv).with_context(|| format!("our types refuse {name}"))?;
    csv.metadata.namespace = Some(ctx.namespace.clone());
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let api: Api<ClusterServiceVersion> = ctx.api();
    api.create(&dry, &csv).await.with_context(|| format!("the API server refuses {name}"))?;
    Ok(())
}

/// Catalog files below a folder.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(dir) = pending.pop() {
        let list =
            std::fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))?;
        for entry in list {
            let path = entry?.path();
            let known = path.extension().is_some_and(|e| e == "json" || e == "yaml");
            match path.is_dir() {
                true => pending.push(path),
                false if known => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The CSVs that lie in bundles of a catalog file.
fn csvs(text: &str) -> Result<Vec<Value>> {
    let blobs: Vec<Value> = match text.trim_start().starts_with('{') {
        true => serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>()?,
        false => yaml_serde::Deserializer::from_str(text)
            .map(Value::deserialize)
            .collect::<Result<_, _>>()?,
    };
    let properties = blobs.iter().filter_map(|blob| blob.get("properties")?.as_array()).flatten();
    let objects = properties.filter(|property| property["type"] == "olm.bundle.object");
    let decoded = objects.map(|object| decode(&object["value"]["data"]));
    let all: Vec<Value> = decoded.collect::<Result<_>>()?;
    Ok(all.into_iter().filter(|object| object["kind"] == "ClusterServiceVersion").collect())
}

fn decode(data: &Value) -> Result<Value> {
    let Some(text) = data.as_str() else { bail!("data is no text") };
    let bytes = STANDARD.decode(text).context("data is no base64")?;
    serde_json::from_slice(&bytes).context("data is no JSON")
}
