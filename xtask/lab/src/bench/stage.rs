//! What figures are measured on: a cluster, a catalog for all of it, and both operators.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, Bundle, CatalogDir, Crd, Package, csv};
use olm_testkit::cluster::{self, ClusterBackend, local::LocalCluster};
use olm_testkit::deploy::{self, Options, With};
use olm_testkit::operators::{Binaries, OLM_NAMESPACE};
use olm_testkit::process::Running;
use olm_testkit::registry::Registry;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription};
use serde_json::json;

/// The CatalogSource.
const CATALOG: &str = "bench";

/// A cluster in which everything runs.
pub(super) struct Stage {
    client: Client,
    registry: Registry,
    operators: Vec<Running>,
}

impl Stage {
    /// Starts everything with these packages in the catalog.
    pub(super) async fn set(
        cluster: &LocalCluster,
        binaries: &Binaries,
        packages: &[Package],
    ) -> Result<Self> {
        let kubeconfig = cluster.kubeconfig().await?;
        let client = cluster::client(&kubeconfig).await?;
        deploy::apply(&client, &Options::default(), With::Definitions).await?;
        let registry = Registry::start(binaries, CATALOG, CatalogDir::of(packages)?)?;
        let olm = binaries.olm_operator(&kubeconfig).await?;
        let operators = vec![olm, binaries.catalog_operator(&kubeconfig).await?];
        let stage = Self { client, registry, operators };
        stage.add_catalog().await?;
        Ok(stage)
    }

    /// Replaces the content of the catalog.
    pub(super) fn publish(&mut self, packages: &[Package]) -> Result<()> {
        self.registry.publish(CatalogDir::of(packages)?)
    }

    /// Makes a namespace with an OperatorGroup.
    pub(super) async fn namespace(&self, name: &str) -> Result<()> {
        let once = PostParams::default();
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        namespaces.create(&once, &builders::namespace(name)).await?;
        let groups: Api<OperatorGroup> = Api::namespaced(self.client.clone(), name);
        groups.create(&once, &builders::operator_group(name, "group", &[name])).await?;
        Ok(())
    }

    /// Subscribes to a package in the namespace of its name.
    pub(super) async fn subscribe(&self, name: &str) -> Result<()> {
        let mut subscription = builders::subscription(name, name, "stable", CATALOG);
        subscription.spec.source_namespace = OLM_NAMESPACE.to_owned();
        let subscriptions: Api<Subscription> = Api::namespaced(self.client.clone(), name);
        subscriptions.create(&PostParams::default(), &subscription).await?;
        Ok(())
    }

    /// Waits until a version of a package has succeeded.
    pub(super) async fn succeeded(&mut self, name: &str, version: &str) -> Result<()> {
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), name);
        let csv = format!("{name}.v{version}");
        let done = wait::until(&csvs, &csv, "be Succeeded", |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        });
        let done = done.await;
        // A dead operator explains a failure better than what was waited for.
        self.operators.iter_mut().try_for_each(Running::check)?;
        done.map(drop)
    }

    /// Waits until a replaced version of a package is gone.
    pub(super) async fn gone(&self, name: &str, version: &str) -> Result<()> {
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), name);
        wait::until_gone(&csvs, &format!("{name}.v{version}")).await
    }

    /// Says what the processes need, and ends them.
    pub(super) fn strike(self) {
        show("olm-registry", self.registry.resident_memory());
        for operator in self.operators {
            show(&operator.record().name, operator.resident_memory());
            operator.stop();
        }
    }

    async fn add_catalog(&self) -> Result<()> {
        let catalogs: Api<CatalogSource> = Api::namespaced(self.client.clone(), OLM_NAMESPACE);
        let source = builders::catalog_source(OLM_NAMESPACE, CATALOG, &self.registry.address());
        let made = catalogs.create(&PostParams::default(), &source).await;
        made.context("cannot add the catalog")?;
        wait::until_connected(&catalogs, CATALOG).await.map(drop)
    }
}

/// Name of a package.
pub(super) fn name(number: usize) -> String {
    format!("bench-{number}")
}

/// A version of an operator with a kind, a Deployment and rights.
pub(super) fn bundle(number: usize, version: &str) -> Bundle {
    let name = name(number);
    let crd = Crd::new(&format!("{name}.example.com"), "v1", "Thing");
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let csv = csv(&format!("{name}.v{version}"), version)
        .owns(&crd)
        .deployment(&name, &name)
        .permission(&name, rules.clone())
        .cluster_permission(&name, rules);
    Bundle::new(version, &csv).provides(&crd)
}

fn show(name: &str, memory: Option<u64>) {
    let mib = memory.unwrap_or_default() as f64 / f64::from(1 << 20);
    println!("{name:<24} {mib:.1} MiB resident");
}
