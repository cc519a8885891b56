//! `cargo xtask bench`: figures of the project, each with the command that gives it.

use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, Bundle, CatalogDir, Crd, Package, csv};
use olm_testkit::cluster::{self, ClusterBackend, local::LocalCluster};
use olm_testkit::crds;
use olm_testkit::operators::Binaries;
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription};
use serde_json::json;
use tokio::time::Instant;

use crate::demo;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    figure: Figure,
    /// Measures what would be shipped
    #[arg(long, global = true)]
    release: bool,
}

#[derive(Debug, Subcommand)]
enum Figure {
    /// From a new Subscription to a Succeeded CSV, each time with a package and a kind of its own
    Install {
        /// How many packages are installed, one after the other
        #[arg(long, default_value_t = 10)]
        count: usize,
    },
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let dir = demo::build(arguments.release)?;
    let Figure::Install { count } = arguments.figure;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        let cluster = LocalCluster::for_this_command("bench", Progress::to_stderr())?;
        cluster.up().await?;
        let times = install(&cluster, &Binaries::in_dir(&dir, &cluster.scratch()), count).await;
        cluster.down().await?;
        print(&mut times?);
        Ok(())
    })
}

async fn install(
    cluster: &LocalCluster,
    binaries: &Binaries,
    count: usize,
) -> Result<Vec<Duration>> {
    let kubeconfig = cluster.kubeconfig().await?;
    let client = cluster::client(&kubeconfig).await?;
    crds::apply_crds(&client).await?;
    crds::apply_base(&client).await?;
    let packages: Vec<Package> = (0..count).map(package).collect();
    let catalog = CatalogDir::of(&packages)?;
    let (registry, address) = binaries.registry("bench", catalog.path())?;
    let mut running = vec![
        registry,
        binaries.olm_operator(&kubeconfig)?,
        binaries.catalog_operator(&kubeconfig)?,
    ];
    add_catalog(&client, &address).await?;
    let mut times = Vec::new();
    for number in 0..count {
        times.push(install_one(&client, number).await?);
        running.iter_mut().try_for_each(Running::check)?;
    }
    for process in running {
        let mib = process.resident_memory().unwrap_or_default() as f64 / f64::from(1 << 20);
        println!("{:<24} {mib:.1} MiB resident", process.record().name);
        process.stop();
    }
    Ok(times)
}

fn name(number: usize) -> String {
    format!("bench-{number}")
}

/// An operator with a kind, a Deployment and rights.
fn package(number: usize) -> Package {
    let name = name(number);
    let crd = Crd::new(&format!("{name}.example.com"), "v1", "Thing");
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let csv = csv(&format!("{name}.v1.0.0"), "1.0.0")
        .owns(&crd)
        .deployment(&name, &name)
        .permission(&name, rules.clone())
        .cluster_permission(&name, rules);
    Package::single(&name, Bundle::new("1.0.0", &csv).provides(&crd))
}

async fn add_catalog(client: &Client, address: &str) -> Result<()> {
    let home = olm_testkit::operators::OLM_NAMESPACE;
    let catalogs: Api<CatalogSource> = Api::namespaced(client.clone(), home);
    catalogs
        .create(&PostParams::default(), &builders::catalog_source(home, "bench", address))
        .await
        .context("cannot add the catalog")?;
    wait::until(&catalogs, "bench", "be READY", |catalog: &CatalogSource| {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        state.is_some_and(|state| state.last_observed_state == "READY")
    })
    .await
    .map(drop)
}

async fn install_one(client: &Client, number: usize) -> Result<Duration> {
    let (name, once) = (name(number), PostParams::default());
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&once, &builders::namespace(&name)).await?;
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), &name);
    groups.create(&once, &builders::operator_group(&name, "group", &[&name])).await?;
    let mut wish = builders::subscription(&name, &name, "stable", "bench");
    wish.spec.source_namespace = olm_testkit::operators::OLM_NAMESPACE.to_owned();
    let started = Instant::now();
    let wishes: Api<Subscription> = Api::namespaced(client.clone(), &name);
    wishes.create(&once, &wish).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), &name);
    wait::until(&csvs, &format!("{name}.v1.0.0"), "be Succeeded", |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    })
    .await?;
    Ok(started.elapsed())
}

fn print(times: &mut [Duration]) {
    times.iter().zip(1..).for_each(|(time, number)| {
        println!("install {number:<3} {:.2} s", time.as_secs_f32());
    });
    times.sort();
    if let Some(median) = times.get(times.len() / 2) {
        println!("median of {}: {:.2} s", times.len(), median.as_secs_f32());
    }
}
