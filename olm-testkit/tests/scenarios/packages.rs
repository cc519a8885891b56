//! The packages API, through the real API server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::e2e::Scene;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::{packages as served, wait};
use olm_types::api::PackageManifest;
use serde_json::{Value, json};

use olm_testkit::kubectl::Kubectl;

/// Where the operator keeps its certificate.
const SECRET: &str = "packageserver-service-cert";

/// What people type to look at catalogs.
pub async fn for_people(scene: Arc<Scene>) -> Result<()> {
    let old = lamp("1.0.0");
    let new = lamp("1.10.0").replaces("lamp.v1.0.0");
    let lamps = Package::new("lamp")
        .channel("stable", vec![old.clone()])
        .channel("fast", vec![old, new])
        .deprecated(json!({"schema": "olm.channel", "name": "stable"}), "use fast");
    scene.catalog("hall", &[lamps]).await?;
    let packages: Api<PackageManifest> = scene.api();
    let package = seen(&packages, "lamp").await?;
    check_package(&package, &scene.namespace)?;

    let kubectl = Kubectl::of(&scene.kubeconfig().await?)?;
    let of = ["-n", &scene.namespace];
    let run = |args: &[&str]| kubectl.run(&[args, &of].concat());
    let table = run(&["get", "packagemanifests"])?;
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    ensure!(lines.next() == Some(vec!["NAME", "CATALOG", "AGE"]), "a table: {table}");
    ensure!(lines.next().is_some_and(|row| row.first() == Some(&"lamp")), "a row: {table}");
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
    ensure!(everywhere.contains(&scene.namespace), "everywhere: {everywhere}");
    let explained = explained(&kubectl).await?;
    ensure!(explained.contains("currentCSVDesc"), "explained: {explained}");
    let refused = refusal(run(&["get", "packagemanifests", "--as", "nobody"]))?;
    ensure!(refused.contains("User \"nobody\" cannot list resource"), "{refused}");
    let watched = format!(
        "/apis/packages.operators.coreos.com/v1/namespaces/{}/packagemanifests?watch=true",
        scene.namespace
    );
    let refused = refusal(kubectl.run(&["get", "--raw", &watched]))?;
    ensure!(refused.contains("watch is not supported"), "{refused}");

    let elsewhere: Api<PackageManifest> = Api::namespaced(scene.client.clone(), "default");
    ensure!(elsewhere.get_opt("lamp").await?.is_none(), "another namespace sees the catalog");
    Ok(())
}

/// The answer is empty while every catalog is down, and namespaces can be deleted.
pub async fn nothing_is_known(scene: Arc<Scene>) -> Result<()> {
    // Nothing listens on the first port.
    scene.create(&builders::catalog_source(&scene.namespace, "down", "127.0.0.1:1")).await?;
    let packages: Api<PackageManifest> = scene.api();
    let list = packages.list(&ListParams::default()).await.context("no answer")?;
    ensure!(list.items.is_empty(), "there are {} packages", list.items.len());
    let name = format!("{}-gone", scene.namespace);
    let namespaces = Api::all(scene.client.clone());
    namespaces.create(&PostParams::default(), &builders::namespace(&name)).await?;
    namespaces.delete(&name, &DeleteParams::default()).await?;
    wait::until_gone(&namespaces, &name).await
}

/// A certificate is exchanged while somebody asks all the time: no request fails.
pub async fn rotation(scene: Arc<Scene>) -> Result<()> {
    scene.catalog("hall", &[Package::single("lamp", lamp("1.0.0"))]).await?;
    let packages: Api<PackageManifest> = scene.api();
    seen(&packages, "lamp").await?;
    let secrets: Api<Secret> = Api::namespaced(scene.client.clone(), OLM_NAMESPACE);
    let before = secrets.get(SECRET).await.context("there is no certificate")?;

    let (over, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let asking = tokio::spawn(ask(packages.clone(), Arc::clone(&over), Arc::clone(&asked)));
    secrets.delete(SECRET, &DeleteParams::default()).await?;
    let renewed = wait::until(&secrets, SECRET, "hold another certificate", |secret: &Secret| {
        secret.data.is_some() && secret.metadata.uid != before.metadata.uid
    })
    .await?;
    until_shown(&scene, newest(part(&renewed, "olmCAKey"))).await?;
    over.store(true, Ordering::Relaxed);
    asking.await.context("the asking ended")??;
    ensure!(asked.load(Ordering::Relaxed) > 10, "nobody asked");
    Ok(())
}

fn lamp(version: &str) -> Bundle {
    let csv = csv(&format!("lamp.v{version}"), version).deployment("lamp", "default");
    Bundle::new(version, &csv)
}

/// The API server collects descriptions of aggregated APIs in the background.
async fn explained(kubectl: &Kubectl) -> Result<String> {
    let deadline = tokio::time::Instant::now() + wait::PATIENCE;
    loop {
        match kubectl.run(&["explain", "packagemanifests.status.channels"]) {
            Err(error) if tokio::time::Instant::now() > deadline => return Err(error),
            Err(_) => tokio::time::sleep(std::time::Duration::from_secs(1)).await,
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

async fn seen(packages: &Api<PackageManifest>, name: &str) -> Result<PackageManifest> {
    // There is no watch, so it is asked for until it is there.
    let deadline = tokio::time::Instant::now() + wait::PATIENCE;
    loop {
        if let Some(package) = packages.get_opt(name).await? {
            return Ok(package);
        }
        ensure!(tokio::time::Instant::now() < deadline, "the package {name} is never shown");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
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

async fn ask(
    packages: Api<PackageManifest>,
    over: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
) -> Result<()> {
    while !over.load(Ordering::Relaxed) {
        packages.get("lamp").await.context("a request failed during the rotation")?;
        asked.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// The first of several certificates.
fn newest(bundle: &str) -> &str {
    let end = "-----END CERTIFICATE-----\n";
    bundle.split_inclusive(end).next().unwrap_or_default()
}

/// Waits until the server itself shows a certificate of the authority.
async fn until_shown(scene: &Scene, authority: &str) -> Result<()> {
    let address = served::address(&scene.client).await?;
    let deadline = tokio::time::Instant::now() + wait::PATIENCE;
    while !served::is_shown(address, authority).await? {
        ensure!(tokio::time::Instant::now() < deadline, "the new certificate is never shown");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    Ok(())
}

fn part<'a>(secret: &'a Secret, key: &str) -> &'a str {
    let data = secret.data.as_ref().and_then(|data| data.get(key));
    data.and_then(|bytes| std::str::from_utf8(&bytes.0).ok()).unwrap_or_default()
}
