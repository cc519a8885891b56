//! Catalogs that OLM serves itself, in Pods that run: how soon they are, and what a broken one says. What
//! users do with them is played by `smoke::a_global_…`, in OLM's own namespace.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use olm_types::api::CatalogSource;
use olm_types::conditions::catalog_source::CONTENT_CURRENT;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::builders::{Bundle, Package, csv};
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::oci;
use crate::wait;

const NAME: &str = "shelf";
const OLD: &str = "kettle.v1.0.0";

/// How often it is measured how long an image takes.
const ROUNDS: usize = 5;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    let (pods, images) = ([Need::Containers, Need::OlmPods], [Need::Workload, Need::Registry]);
    let everything = [pods, images].concat();
    vec![
        scenario(
            "catalog_images::time_until_ready",
            "a catalog image is served soon after its CatalogSource was created",
            time_until_ready,
        )
        .needs(&everything),
        scenario(
            "catalog_images::garbage_in_a_config_map",
            "a catalog that cannot be served says why",
            garbage_in_a_config_map,
        )
        .needs(&pods),
    ]
}

/// One after the other, so that none waits for another; says what each took, and the median.
/// Pods are admitted as in OLM's namespace.
async fn time_until_ready(ctx: Arc<TestContext>) -> Result<()> {
    ctx.restrict().await?;
    let image = push(&ctx, &["1.0.0"]).await?;
    let mut times = Vec::new();
    for round in 1..=ROUNDS {
        let name = format!("{NAME}-{round}");
        let begun = Instant::now();
        serve(&ctx, &name, &image).await?;
        times.push(begun.elapsed());
    }
    times.sort();
    let shown: Vec<String> = times.iter().map(seconds).collect();
    let median = times.get(ROUNDS / 2).map(seconds).unwrap_or_default();
    println!("a catalog image is READY after {} s, median {median} s", shown.join(", "));
    Ok(())
}

fn seconds(time: &Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

/// The catalog says what is wrong; an operator comes from its sound neighbour all the same.
async fn garbage_in_a_config_map(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&holding([("packages", "{[".to_owned())])).await?;
    create(&ctx, NAME, json!({"sourceType": "configmap", "configMap": NAME})).await?;
    let says_why = |catalog: &CatalogSource| {
        let conditions = catalog.status.iter().flat_map(|status| &status.conditions);
        let mut current = conditions.filter(|condition| condition.type_ == CONTENT_CURRENT);
        current.any(|condition| condition.message.contains("packages"))
    };
    let said = "say what is wrong with its ConfigMap";
    wait::until(&ctx.api(), NAME, said, says_why).await?;
    let bundle = csv(OLD, "1.0.0").deployment("kettle", "default");
    ctx.catalog("sound", &[Package::single("kettle", Bundle::new("1.0.0", &bundle))]).await?;
    ctx.subscribe("kettle", "sound").await?;
    ctx.succeeded(OLD).await.map(drop)
}

/// Makes a catalog of what an image holds, and waits until it is served.
pub(super) async fn serve(ctx: &TestContext, name: &str, image: &str) -> Result<()> {
    let spec = json!({
        "sourceType": "grpc",
        "image": image,
        "grpcPodConfig": {"extractContent": {"catalogDir": "/configs"}},
    });
    create(ctx, name, spec).await?;
    wait::until_connected(&ctx.api(), name).await.map(drop)
}

async fn create(ctx: &TestContext, name: &str, spec: Value) -> Result<()> {
    let source = json!({"metadata": {"name": name, "namespace": ctx.namespace}, "spec": spec});
    ctx.create(&serde_json::from_value::<CatalogSource>(source)?).await.map(drop)
}

/// Pushes a catalog with these versions of one operator, under the name that the first push gave.
pub(super) async fn push(ctx: &TestContext, versions: &[&str]) -> Result<String> {
    let bundles = versions.iter().scan(None::<String>, |before, version| {
        let name = format!("kettle.v{version}");
        let csv = csv(&name, version).deployment("kettle", "default");
        let bundle = Bundle::new(version, &csv);
        Some(match before.replace(name) {
            Some(old) => bundle.replaces(&old),
            None => bundle,
        })
    });
    push_packages(ctx, &[Package::new("kettle").channel("stable", bundles.collect())]).await
}

/// Pushes a catalog with these packages, under the name that the first push gave.
pub(super) async fn push_packages(ctx: &TestContext, packages: &[Package]) -> Result<String> {
    let image = oci::catalog(ctx.content(packages)?.path())?.build()?;
    ensure!(!image.layers().is_empty(), "the catalog is empty");
    let registry = ctx.facts().registry.as_deref().context("no registry takes images")?;
    let repository = format!("catalogs/{}", ctx.namespace);
    oci::push(&image, registry, &repository, "latest").await?;
    Ok(format!("example.com/{repository}:latest"))
}

fn holding<const N: usize>(data: [(&str, String); N]) -> ConfigMap {
    let data: BTreeMap<String, String> =
        data.into_iter().map(|(key, text)| (key.to_owned(), text)).collect();
    let metadata = ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some(data), ..ConfigMap::default() }
}
