//! Puts the operator together: client, watches, queues, catalogs, controllers, endpoints.

mod controllers;
mod packages;

use std::sync::Arc;

use anyhow::Context;
use olm_catalog::image::Registry;
use olm_catalog::registry::client::ClientOptions;
use olm_kit::admin::Admin;
use olm_kit::client::Connector;
use olm_kit::controller::{Controller, Reconciler};
use olm_kit::flags::CommandLine;
use olm_kit::interpreter::{Interpreter, InterpreterOptions};
use olm_kit::key::QueueKey;
use olm_kit::leader::{Candidacy, Leadership};
use olm_kit::metrics::Metrics;
use olm_kit::queue::Queue;
use olm_kit::tasks::Tasks;
use olm_kit::{ObjectKey, logging, shutdown};
use olm_lifecycle::writes::resource_of;
use olm_resolver::Resolver;

use crate::args::Args;
use crate::catalogs::{CatalogChange, Catalogs};
use crate::metrics::CatalogMetrics;
use crate::packages::PackageCache;
use crate::queues::Queues;
use crate::rights::{ChangedRights, Marker, RightsWatches};
use crate::servers::ServiceResolver;
use crate::stores::{Stores, Watches};
use crate::tenancy::Tenancy;
use crate::triggers::Triggers;
use crate::unpack::Pulls;

/// Name of the operator in logs, events and metrics.
const NAME: &str = "catalog-operator";

/// Runs the operator until it is told to end.
///
/// # Errors
/// The cluster cannot be reached, an endpoint cannot be opened, or a part of the operator ended.
pub async fn run(line: CommandLine<Args>) -> anyhow::Result<()> {
    run_with(line, Resolver::default()).await
}

/// The same with a resolver whose rules are not OLM's alone.
///
/// # Errors
/// As [`run`].
pub async fn run_with(line: CommandLine<Args>, resolver: Resolver) -> anyhow::Result<()> {
    logging::init(line.flags.common.log_format, line.flags.common.debug)?;
    line.warn();
    let args = line.flags;
    if args.common.list_metrics {
        return list_metrics();
    }
    let tasks = Tasks::new(shutdown::on_signals().context("cannot listen for signals")?);
    let metrics = Metrics::new()?;
    let parts = Parts::assemble(&args, &metrics, &tasks, resolver).await?;
    parts.serve_packages().await?;
    let (catalogs, packages) = (parts.catalogs.clone(), parts.packages.clone());
    let candidacy = parts.candidacy.clone();
    metrics.leader(NAME, candidacy.leadership());
    Admin::new(metrics)
        .state("leadership", move || candidacy.state())
        .state("catalogs", move || catalogs.dump())
        .state("packages", move || packages.dump())
        .tls(args.common.tls(), args.common.tls_profile()?, &parts.client)
        .serve(args.common.admin_address(), &tasks)
        .await?;
    parts.start();
    let ended = tasks.wait().await.context("a part of the process failed");
    parts.candidacy.release().await;
    ended
}

/// Prints the rows of `docs/metrics.md`, one for each family of metrics.
fn list_metrics() -> anyhow::Result<()> {
    let metrics = Metrics::new()?;
    CatalogMetrics::register(&metrics)?;
    metrics.families().iter().for_each(|family| println!("{family}"));
    Ok(())
}

/// What the controllers are made of.
struct Parts {
    args: Args,
    tasks: Tasks,
    kit_metrics: Metrics,
    metrics: CatalogMetrics,
    client: kube::Client,
    interpreter: Interpreter,
    stores: Stores,
    queues: Queues,
    rights: ChangedRights,
    tenancy: Tenancy,
    /// Whether this replica acts.
    candidacy: Candidacy,
    catalogs: Catalogs,
    packages: PackageCache,
    registry: Registry,
    pulls: Pulls,
    /// Shared by all namespaces, as it remembers what it has read in catalogs.
    resolver: Arc<Resolver>,
}

impl Parts {
    async fn assemble(
        args: &Args,
        kit_metrics: &Metrics,
        tasks: &Tasks,
        resolver: Resolver,
    ) -> anyhow::Result<Self> {
        let connector = Connector::load(args.common.kubeconfig.as_deref())
            .await?
            .metrics(kit_metrics.requests());
        let client = connector.client()?;
        let metrics = CatalogMetrics::register(kit_metrics)?;
        let candidacy = Candidacy::new(args.common.leader_elect, &client, &args.namespace, NAME)?;
        let tenancy = Tenancy::assemble(args, &client).await?;
        let watches = Watches::new(&client, &kit_metrics.watches());
        let (stores, queues) = (watches.stores(), Queues::new());
        let triggers = Triggers::new(&stores, &queues, args.global_catalog_namespace());
        triggers.listen();
        let abnormal = metrics.abnormal.clone();
        stores.subscriptions.on_change(move |change| abnormal.follow(change));
        let registry = Registry::new(args.insecure_registries.iter().cloned())
            .context("cannot read the system's certificates of authorities")?;
        let unpack_triggers = triggers.clone();
        let pulls = Pulls::new(registry.clone(), move || unpack_triggers.bundles_moved());
        let catalogs = catalogs(args, &stores, triggers, &metrics);
        let options = interpreter_options(args, kit_metrics)
            .led_by(candidacy.leadership().clone())
            .with_accounts(&connector)?;
        let interpreter = absorbing(Interpreter::new(client.clone(), options), &stores);
        watches.start(tasks);
        candidacy.start(tasks);
        let rights = ChangedRights::default();
        let marker =
            Marker { stores: stores.clone(), queues: queues.clone(), rights: rights.clone() };
        RightsWatches::new(&client, &kit_metrics.watches()).start(&marker, tasks);
        tracing::info!(
            server = connector.url(),
            namespace = args.namespace,
            "catalog operator started"
        );
        Ok(Self {
            args: args.clone(),
            tasks: tasks.clone(),
            kit_metrics: kit_metrics.clone(),
            metrics,
            client,
            interpreter,
            stores,
            queues,
            rights,
            tenancy,
            candidacy,
            catalogs,
            packages: PackageCache::new(args.global_catalog_namespace()),
            registry,
            pulls,
            resolver: Arc::new(resolver),
        })
    }

    /// Catalogs are connected and packages served by every replica; the rest is the leader's.
    fn start(&self) {
        let (leader, everyone) = (self.candidacy.leadership(), &Leadership::alone());
        self.run("catalogsource", &self.queues.catalogs, self.catalog_sources(), everyone);
        self.run("subscription", &self.queues.subscriptions, self.subscriptions(), leader);
        self.run("resolution", &self.queues.namespaces, self.resolutions(), leader);
        self.run("installplan", &self.queues.plans, self.install_plans(), leader);
        if !self.args.packages_address.is_empty() {
            self.run("packages", &self.queues.packages, self.refresh(), everyone);
        }
        self.revisit_catalogs();
    }

    /// A new leader looks at every catalog again: a follower only connected them.
    fn revisit_catalogs(&self) {
        let leadership = self.candidacy.leadership().clone();
        if leadership.is_leader() {
            return;
        }
        let (catalogs, queue) = (self.stores.catalogs.clone(), self.queues.catalogs.clone());
        let token = self.tasks.token();
        self.tasks.spawn("catalogs of a new leader", async move {
            tokio::select! {
                () = leadership.acquired() => {
                    catalogs.list().iter().for_each(|one| queue.add(ObjectKey::of(&**one)));
                    token.cancelled().await;
                }
                () = token.cancelled() => {}
            }
        });
    }

    fn run<Key: QueueKey, R: Reconciler<Key>>(
        &self,
        name: &str,
        queue: &Queue<Key>,
        reconciler: R,
        leadership: &Leadership,
    ) {
        Controller::new(name, queue.clone(), Arc::new(reconciler))
            .metrics(self.kit_metrics.controllers())
            .start(&self.tasks, leadership);
    }
}

/// Catalogs whose changes become keys.
fn catalogs(
    args: &Args,
    stores: &Stores,
    triggers: Triggers,
    metrics: &CatalogMetrics,
) -> Catalogs {
    let snapshots = metrics.snapshots.clone();
    let resolver = Arc::new(ServiceResolver::new(stores.servers.services.clone()));
    let options = ClientOptions { resolver, ..ClientOptions::default() };
    let catalogs = Catalogs::new(options, move |key, change| {
        if matches!(change, CatalogChange::Loaded | CatalogChange::Unchanged) {
            snapshots.with_label_values(&[&*key.namespace, &*key.name]).inc();
        }
        triggers.connected_catalog(key, change);
    });
    catalogs.unhealthy(args.unhealthy_catalogs)
}

fn interpreter_options(args: &Args, metrics: &Metrics) -> InterpreterOptions {
    InterpreterOptions::new(NAME)
        .stop_after(args.common.stop_after_writes)
        .metrics(metrics.interpreter())
}

/// The operator sees its own writes at once.
fn absorbing(interpreter: Interpreter, stores: &Stores) -> Interpreter {
    use k8s_openapi::api::batch::v1::Job;
    use olm_types::api::{CatalogSource, ClusterServiceVersion, InstallPlan, Subscription};
    let interpreter = stores.servers.absorbing(interpreter);
    interpreter
        .with_store(resource_of::<CatalogSource>(), stores.catalogs.clone())
        .with_store(resource_of::<Subscription>(), stores.subscriptions.clone())
        .with_store(resource_of::<InstallPlan>(), stores.plans.clone())
        .with_store(resource_of::<ClusterServiceVersion>(), stores.csvs.clone())
        .with_store(resource_of::<Job>(), stores.unpack_jobs.clone())
}
