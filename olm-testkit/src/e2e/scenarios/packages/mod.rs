//! The packages API: what people type to look at catalogs, while there are some and while there are
//! none.

mod rotation;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_types::api::PackageManifest;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::kubectl::Kubectl;
use crate::{packages as served, wait};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "packages::for_people",
            "kubectl gets, describes, explains and selects packages; who has no rights is refused",
            for_people,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "packages::nothing_is_known",
            "while every catalog is down the answer is empty, and a namespace can be deleted",
            nothing_is_known,
        )
        .exclusive(),
        scenario(
            "packages::rotation",
            "a certificate is exchanged while people ask, and no request fails",
            rotation::no_request_fails,
        )
        .exclusive(),
    ]
}

/// What people type to look at catalogs.
async fn for_people(ctx: Arc<TestContext>) -> Result<()> {
    served::until_available(&ctx.client).await?;
    let old = lamp("1.0.0");
    let new = lamp("1.10.0").replaces("lamp.v1.0.0");
    let lamps = Package::new("lamp")
        .channel("stable", vec![old.clone()])
        .channel("fast", vec![old, new])
        .deprecated(json!({"schema": "olm.channel", "name": "stable"}), "use fast");
    ctx.catalog("hall", &[lamps]).await?;
    let packages: Api<PackageManifest> = ctx.api();
    let package = seen(&packages, "lamp").await?;
    check_package(&package, &ctx.namespace)?;

    let kubectl = Kubectl::of(&ctx.kubeconfig().await?)?;
    check_answers(&kubectl, &ctx.namespace).await?;
    check_refusals(&kubectl, &ctx.namespace)?;

    let elsewhere: Api<PackageManifest> = Api::namespaced(ctx.client.clone(), "default");
    ensure!(elsewhere.get_opt("lamp").await?.is_none(), "another namespace sees the catalog");
    Ok(())
}

/// What kubectl prints of the package in the ways that people ask for it.
async fn check_answers(kubectl: &Kubectl, namespace: &str) -> Result<()> {
    let of = ["-n", namespace];
    let run = |args: &[&str]| kubectl.run(&[args, &of].concat());
    let table = run(&["get", "packagemanifests"])?;
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    ensure!(lines.next() == Some(vec!["NAME", "CATALOG", "AGE"]), "a table: {table}");
    // Packages of global catalogs are there, too, while there are some.
    ensure!(lines.any(|row| row.first() == Some(&"lamp")), "a row: {table}");
    let wide = run(&["get", "packagemanifest", "lamp", "-o", "wide"])?;
    ensure!(wide.contains("lamp"), "wide: {wide}");
    let json = run(&["get", "packagemanifest", "lamp", "-o", "json"])?;
    ensure!(json.contains("\"currentCSV\": \"lamp.v1.10.0\""), "as JSON: {json}");
    ensure!(run(&["describe", "packagemanifest", "lamp"])?.contains("Default Channel:"));
    let selected = run(&["get", "packagemanifests", "-l", "catalog=hall", "-o", "name"])?;
    ensure!(
        selected.trim() == "packagemanifest.packages.operators.coreos.com/lamp",
        "selected: {selected}"
    );
    ensure!(run(&["get", "packagemanifests", "-l", "catalog=kitchen", "-o", "name"])?.is_empty());
    let everywhere = kubectl.run(&["get", "packagemanifests", "-A"])?;
    ensure!(everywhere.contains(namespace), "everywhere: {everywhere}");
    let explained = explained(kubectl).await?;
    ensure!(explained.contains("currentCSVDesc"), "explained: {explained}");
    Ok(())
}

/// Packages are not shown without permission, and they cannot be watched.
fn check_refusals(kubectl: &Kubectl, namespace: &str) -> Result<()> {
    let refused =
        refusal(kubectl.run(&["get", "packagemanifests", "--as", "stranger", "-n", namespace]))?;
    ensure!(refused.contains("User \"stranger\" cannot list resource"), "{refused}");
    let watched = format!(
        "/apis/packages.operators.coreos.com/v1/namespaces/{namespace}/packagemanifests?watch=true"
    );
    let refused = refusal(kubectl.run(&["get", "--raw", &watched]))?;
    ensure!(refused.contains("watch is not supported"), "{refused}");
    Ok(())
}

/// The answer is empty while every catalog is down, and namespaces can be deleted.
async fn nothing_is_known(ctx: Arc<TestContext>) -> Result<()> {
    served::until_available(&ctx.client).await?;
    // Nothing listens on the first port.
    ctx.create(&builders::catalog_source(&ctx.namespace, "down", "127.0.0.1:1")).await?;
    let packages: Api<PackageManifest> = ctx.api();
    let list = packages.list(&ListParams::default()).await.context("no answer")?;
    ensure!(list.items.is_empty(), "there are {} packages", list.items.len());
    let name = format!("{}-gone", ctx.namespace);
    let namespaces = Api::all(ctx.client.clone());
    namespaces.create(&PostParams::default(), &builders::namespace(&name)).await?;
    namespaces.delete(&name, &DeleteParams::default()).await?;
    wait::until_gone(&namespaces, &name).await
}

/// One package.
async fn catalog(ctx: &TestContext) -> Result<()> {
    ctx.catalog("hall", &[Package::single("lamp", lamp("1.0.0"))]).await.map(drop)
}

fn lamp(version: &str) -> Bundle {
    let csv = csv(&format!("lamp.v{version}"), version).deployment("lamp", "default");
    Bundle::new(version, &csv)
}

/// The API server collects descriptions of aggregated APIs in the background.
async fn explained(kubectl: &Kubectl) -> Result<String> {
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        match kubectl.run(&["explain", "packagemanifests.status.channels"]) {
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => sleep(Duration::from_secs(1)).await,
            explained => return explained,
        }
    }
}

/// What a command complains of that must not succeed.
fn refusal(answer: Result<String>) -> Result<String> {
    match answer {
        Ok(text) => bail!("it was allowed: {text}"),
        Err(error) => Ok(format!("{error:#}")),
    }
}

/// Waits until the packages API shows a package.
pub async fn seen(packages: &Api<PackageManifest>, name: &str) -> Result<PackageManifest> {
    // There is no watch, so it is asked for until it is there.
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        if let Some(package) = packages.get_opt(name).await? {
            return Ok(package);
        }
        ensure!(Instant::now() < deadline, "the package {name} is never shown");
        sleep(Duration::from_millis(100)).await;
    }
}

fn check_package(package: &PackageManifest, namespace: &str) -> Result<()> {
    let status = package.status.as_ref().context("a package without a status")?;
    ensure!(status.catalog_source == "hall" && status.catalog_source_namespace == namespace);
    ensure!(status.default_channel == "stable", "{}", status.default_channel);
    let channels: Value = status
        .channels
        .iter()
        .map(|channel| {
            let entries: Vec<_> = channel.entries.iter().map(|entry| entry.name.as_str()).collect();
            let deprecation = channel.deprecation.as_ref().map(|one| one.message.as_str());
            json!([channel.name, channel.current_csv, entries, deprecation])
        })
        .collect();
    let expected = json!([
        ["fast", "lamp.v1.10.0", ["lamp.v1.10.0", "lamp.v1.0.0"], null],
        ["stable", "lamp.v1.0.0", ["lamp.v1.0.0"], "use fast"],
    ]);
    ensure!(channels == expected, "{channels}");
    Ok(())
}
