//! `run bundle` and `cleanup`: an operator from a bundle that is in no catalog yet, and its end.

mod bundle;
mod cleanup;
mod objects;

use std::io::Write;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, Patch, PatchParams};
use olm_client::cluster::{Cluster, one_namespace};
use olm_client::contents::Images;
use olm_client::reading::{Reading, Sources};
use olm_plan::preview::{Install, Operation, Preview, PreviewRequest};
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::act::{LOOK, MANAGER, NotInTime, agreed, create, with_findings};
use super::follow::Follow;
use super::plan::{outcome, show, verdict};
use crate::Outcome;
use crate::args::{DryRun, Operands, Run, RunArgs, WriteArgs};
use crate::output::Output;
use crate::plan::in_cluster;
use bundle::AuthorBundle;
use objects::Served;

pub use cleanup::run as clean_up;

/// The image that serves catalogs where no flag of OLM names one.
const SERVES: &str = "quay.io/operator-framework/opm:latest";

/// Runs a bundle.
pub async fn run(cluster: &Cluster, all: bool, asked: &RunArgs, output: Output) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let Run::Bundle { bundle, index_image, install_mode, pull_secret_name, acting, pulling } =
        &asked.run;
    let images = Images::new(cluster, pulling, &cluster.cache);
    let bundle = AuthorBundle::read(bundle, &images).await?;
    let settings = cluster.settings(None).await?;
    let image = index_image.clone().or_else(|| settings.registry_image.clone());
    let image = image.unwrap_or_else(|| SERVES.to_owned());
    let served = Served {
        bundle: &bundle,
        namespace: home,
        image: &image,
        pull_secret: pull_secret_name.as_deref().unwrap_or_default(),
    };
    refuse_what_is_there(cluster, &served).await?;
    let content = tempfile::tempdir().context("no folder for the catalog of the bundle")?;
    write(content.path(), &bundle)?;
    let key = CatalogKey::new(home, &served.catalog());
    let install = Install {
        package: bundle.package.clone(),
        channel: Some(bundle.channel.clone()),
        version: Some(bundle.csv.clone()),
        catalog: Some(key.clone()),
        is_manual: true,
        install_mode: install_mode.clone(),
        config: None,
    };
    let (wanted, now) = (Operation::Install(install), Timestamp::now());
    let question = PreviewRequest { namespace: home.to_owned(), settings, now, wanted };
    let catalog = vec![format!("{key}={}", content.path().display())];
    let sources = Sources { catalog, ..Sources::default() };
    let reading = Reading { sources, pulling: pulling.clone(), ..Reading::default() };
    let preview = in_cluster(cluster, &question, &reading).await?;
    show(&preview, Operands::Keep, output)?;
    output.progress(&format!(
        "Beside it CatalogSource {} with a Pod of image {image} that serves the bundle\n",
        served.catalog()
    ))?;
    verdict(&preview)?;
    if acting.dry_run == DryRun::Client || !agreed(acting, &preview)? {
        return Ok(outcome(&preview));
    }
    installed(cluster, &served, &preview, acting, output).await?;
    Ok(outcome(&preview))
}

/// Writes what was shown, in an order in which each finds what it needs.
async fn installed(
    cluster: &Cluster,
    served: &Served<'_>,
    preview: &Preview,
    acting: &WriteArgs,
    output: Output,
) -> Result<()> {
    let dry_run = acting.dry_run == DryRun::Server;
    let (subscription, before): (Vec<&Value>, Vec<&Value>) =
        preview.manifests.iter().partition(|one| one["kind"] == "Subscription");
    for manifest in before {
        create(cluster, manifest, dry_run, output).await?;
    }
    create(cluster, &served.source(), dry_run, output).await?;
    if !dry_run {
        let served_in_time = serve(cluster, served, acting, output).await;
        with_findings(cluster, served.namespace, served_in_time).await?;
    }
    for manifest in subscription {
        create(cluster, manifest, dry_run, output).await?;
    }
    let expected = served.bundle.csv.as_str();
    Follow { cluster, preview, expected, left: None }.go(acting, output).await?;
    if dry_run {
        return Ok(());
    }
    output.progress(&format!("`kubectl olm cleanup {}` removes it.\n", served.bundle.package))
}

async fn refuse_what_is_there(cluster: &Cluster, served: &Served<'_>) -> Result<()> {
    let api: Api<CatalogSource> = cluster.api(Some(served.namespace));
    let found = cluster.answer(api.get_opt(&served.catalog())).await?;
    if found.is_some() {
        let (catalog, package) = (served.catalog(), &served.bundle.package);
        bail!(
            "CatalogSource {catalog} is there already; `kubectl olm cleanup {package}` removes what an earlier \
             run has made"
        );
    }
    Ok(())
}

fn write(folder: &std::path::Path, bundle: &AuthorBundle) -> Result<()> {
    let mut file = std::fs::File::create(folder.join("catalog.json"))?;
    for document in bundle.catalog() {
        writeln!(file, "{document}")?;
    }
    Ok(())
}

/// The Pod with the catalog, and its address in the CatalogSource.
async fn serve(
    cluster: &Cluster,
    served: &Served<'_>,
    acting: &WriteArgs,
    output: Output,
) -> Result<()> {
    let sources: Api<CatalogSource> = cluster.api(Some(served.namespace));
    let source = cluster.answer(sources.get(&served.catalog())).await?;
    let owner = json!({"apiVersion": CatalogSource::API_VERSION, "kind": CatalogSource::KIND,
        "name": served.catalog(), "uid": source.metadata.uid});
    let maps = served.config_maps(&owner)?;
    for map in &maps {
        create(cluster, map, false, output).await?;
    }
    create(cluster, &served.pod_object(maps.len(), &owner), false, output).await?;
    let ip = ready(cluster, served, acting).await?;
    let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..Default::default() };
    let patch = Patch::Merge(served.address(&ip));
    let written = cluster.answer(sources.patch(&served.catalog(), &parameters, &patch)).await;
    written.map(drop).context("cannot say in the CatalogSource where its Pod is")
}

/// Waits until the Pod serves; its address.
async fn ready(cluster: &Cluster, served: &Served<'_>, acting: &WriteArgs) -> Result<String> {
    let pods: Api<Pod> = cluster.api(Some(served.namespace));
    let deadline = Instant::now() + acting.following.timeout;
    loop {
        let pod = cluster.answer(pods.get(&served.pod())).await?;
        let status = pod.status.clone().unwrap_or_default();
        let is_ready = status.conditions.iter().flatten();
        let is_ready = is_ready.into_iter().any(|one| one.type_ == "Ready" && one.status == "True");
        if let (true, Some(ip)) = (is_ready, status.pod_ip.filter(|ip| !ip.is_empty())) {
            return Ok(ip);
        }
        if Instant::now() >= deadline {
            let state = olm_plan::tree::waiting(&pod).or(status.phase).unwrap_or_default();
            let what = format!("Pod {} is not ready ({state})", served.pod());
            return Err(NotInTime::new(&what, acting.following.timeout).into());
        }
        sleep(LOOK).await;
    }
}
