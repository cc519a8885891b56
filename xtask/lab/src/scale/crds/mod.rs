//! `cargo xtask scale crds`: a new version of a CRD with very many objects.
//!
//! Every object is checked against the new schema before the CRD is changed. What is measured: how
//! much more memory catalog-operator holds meanwhile, and how long it takes.

mod load;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::builders;
use olm_testkit::operators::Operator;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde_json::json;
use tokio::time::{Instant, interval, sleep};

use super::measures::REST;
use super::namespaces::{LoadNamespace, Namespaces};
use super::published::Catalog;
use super::setup::Setup;
use super::table::Table;

/// Arguments of the subject.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How many objects of the kind there are
    #[arg(long, default_value_t = 50_000)]
    objects: usize,
}

/// Megabytes that catalog-operator may hold more than before.
const GROWTH: f64 = 30.0;

/// Between two looks at memory.
const LOOK: Duration = Duration::from_millis(50);

/// Fills the cluster and measures.
pub(super) async fn measure(arguments: &Arguments, setup: &Setup) -> Result<Table> {
    let namespaces = Namespaces::new(setup, 1);
    let name = namespaces.names().first().context("there is no namespace")?;
    let home = namespaces.home(name);
    let group = |name: &str| builders::operator_group(name, "group", &[name]);
    namespaces.fill(|home| async move { home.create(&group(&home.name)).await }).await?;
    let measured = in_namespace(arguments, setup, &home).await;
    namespaces.dissolve().await.and(measured)
}

async fn in_namespace(arguments: &Arguments, setup: &Setup, home: &LoadNamespace) -> Result<Table> {
    let (old, new) = (load::old(), load::new());
    let old = old.put(setup, &home.name, "old").await?;
    let new = new.put(setup, &home.name, "new").await?;
    home.create(&old.subscription(&home.name)).await?;
    created(home, load::CSVS[0]).await?;
    load::fill(home, arguments.objects).await?;
    sleep(REST).await;
    let mut table = Table::default();
    upgrade(arguments, setup, home, &new, &mut table).await?;
    old.withdraw().await?;
    new.withdraw().await?;
    Ok(table)
}

async fn upgrade(
    arguments: &Arguments,
    setup: &Setup,
    home: &LoadNamespace,
    new: &Catalog,
    table: &mut Table,
) -> Result<()> {
    let before = setup.memory(Operator::Catalog).await?;
    let started = Instant::now();
    follow(home, &new.subscription(&home.name)).await?;
    let most = most_memory_until(setup, changed(home)).await?;
    let took = started.elapsed().as_secs_f64();
    table.free("catalog-operator, memory before", format!("{:.1} MB", before / 1e6));
    let name = format!("growth while {} objects are checked", arguments.objects);
    table.bounded(&name, (most - before) / 1e6, GROWTH, "MB");
    table.free("from the Subscription's change to the new CRD", format!("{took:.1} s"));
    Ok(())
}

/// Lets the Subscription follow another catalog.
async fn follow(home: &LoadNamespace, wanted: &Subscription) -> Result<()> {
    let subscriptions: Api<Subscription> = Api::namespaced(home.client.clone(), &home.name);
    let name = wanted.metadata.name.as_deref().unwrap_or_default();
    let patch = Patch::Merge(json!({"spec": {"source": wanted.spec.source}}));
    let changed = subscriptions.patch(name, &PatchParams::default(), &patch).await;
    changed.map(drop).context("cannot change the Subscription")
}

/// The most that catalog-operator holds, in bytes, until `end`.
async fn most_memory_until(setup: &Setup, end: impl Future<Output = Result<()>>) -> Result<f64> {
    let (mut most, mut looks) = (0.0_f64, interval(LOOK));
    let mut end = std::pin::pin!(end);
    loop {
        tokio::select! {
            ended = &mut end => return ended.map(|()| most),
            _ = looks.tick() => most = most.max(setup.memory(Operator::Catalog).await?),
        }
    }
}

/// Waits until the CRD is that of the new version: by then every object was looked at.
async fn changed(home: &LoadNamespace) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(home.client.clone());
    wait::until(&crds, &load::kind().name(), "be the new one", |crd: &CustomResourceDefinition| {
        serde_json::to_value(&crd.spec.versions).is_ok_and(|versions| {
            versions.pointer("/0/schema/openAPIV3Schema/properties/spec").is_some()
        })
    })
    .await
    .map(drop)
}

async fn created(home: &LoadNamespace, csv: &str) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(home.client.clone(), &home.name);
    wait::until(&csvs, csv, "be created", |_: &ClusterServiceVersion| true).await.map(drop)
}
