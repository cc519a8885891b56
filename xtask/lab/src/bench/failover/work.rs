//! Something that only a leader does: a CSV for olm-operator, a Subscription for catalog-operator,
//! each in a namespace of its own.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, Bundle, CatalogDir, CsvBuilder, Package, csv};
use olm_testkit::operators::{Binaries, OLM_NAMESPACE, Operator};
use olm_testkit::registry::Registry;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription};

const CATALOG: &str = "failover";
const PACKAGE: &str = "lamp";
const CSV: &str = "lamp.v1.0.0";

/// Work for replicas of an operator.
pub(super) struct Work {
    client: Client,
    /// The catalog of subscriptions.
    catalog: Option<Registry>,
    /// Begins the names of namespaces.
    prefix: &'static str,
    created: usize,
}

impl Work {
    /// For replicas of this operator.
    pub(super) fn of(operator: Operator, client: Client, binaries: &Binaries) -> Result<Self> {
        let catalog = match operator {
            Operator::Olm => None,
            Operator::Catalog => {
                let package = Package::single(PACKAGE, Bundle::new("1.0.0", &lamp()));
                Some(Registry::start(binaries, CATALOG, CatalogDir::of(&[package])?)?)
            }
        };
        Ok(Self { client, catalog, prefix: operator.name(), created: 0 })
    }

    /// Adds the catalog, once a replica is there to connect it.
    pub(super) async fn prepare(&self) -> Result<()> {
        let Some(registry) = &self.catalog else { return Ok(()) };
        let catalogs: Api<CatalogSource> = Api::namespaced(self.client.clone(), OLM_NAMESPACE);
        let source = builders::catalog_source(OLM_NAMESPACE, CATALOG, &registry.address());
        let made = catalogs.create(&PostParams::default(), &source).await;
        made.context("cannot add the catalog")?;
        wait::until_connected(&catalogs, CATALOG).await.map(drop)
    }

    /// Makes a namespace with something to do, and returns its name.
    pub(super) async fn create(&mut self) -> Result<String> {
        self.created += 1;
        let (name, once) = (format!("{}-{}", self.prefix, self.created), PostParams::default());
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        namespaces.create(&once, &builders::namespace(&name)).await?;
        let groups: Api<OperatorGroup> = Api::namespaced(self.client.clone(), &name);
        groups.create(&once, &builders::operator_group(&name, "group", &[&name])).await?;
        if self.catalog.is_some() {
            let mut subscription = builders::subscription(&name, PACKAGE, "stable", CATALOG);
            subscription.spec.source_namespace = OLM_NAMESPACE.to_owned();
            let subscriptions: Api<Subscription> = Api::namespaced(self.client.clone(), &name);
            subscriptions
                .create(&once, &subscription)
                .await
                .context("the API server refuses a Subscription")?;
        } else {
            let made = self.csvs(&name).create(&once, &lamp().build()).await;
            made.context("the API server refuses a CSV")?;
        }
        Ok(name)
    }

    /// Waits until it is done: a CSV has succeeded, or was created.
    pub(super) async fn done(&self, name: &str) -> Result<()> {
        let is_made_only = self.catalog.is_some();
        let done = |csv: &ClusterServiceVersion| {
            let status = csv.status.as_ref();
            is_made_only || status.is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        wait::until(&self.csvs(name), CSV, "be installed", done).await.map(drop)
    }

    fn csvs(&self, namespace: &str) -> Api<ClusterServiceVersion> {
        Api::namespaced(self.client.clone(), namespace)
    }
}

fn lamp() -> CsvBuilder {
    csv(CSV, "1.0.0").deployment(PACKAGE, "default")
}
