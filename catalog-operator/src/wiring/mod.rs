//! Puts the operator together: client, watches, queues, catalogs, controllers, endpoints.

mod content;
mod controllers;
mod hosting;
mod packages;
mod registries;

use std::sync::Arc;

use anyhow::Context;
use olm_catalog::image::Registry;
use olm_kit::admin::Admin;
use olm_kit::client::Connector;
use olm_kit::controller::{Controller, ParallelReconciles, Reconciler};
use olm_kit::flags::CommandLine;
use olm_kit::interpreter::{Interpreter, InterpreterOptions};
use olm_kit::key::QueueKey;
use olm_kit::leader::{Leadership, Participant};
use olm_kit::metrics::Metrics;
use olm_kit::queue::Queue;
use olm_kit::tasks::Tasks;
use olm_kit::tls;
use olm_kit::watch::WatchSet;
use olm_kit::{ObjectKey, logging, shutdown};
use olm_resolver::Resolver;

use crate::args::Args;
use crate::forbidden_plans::{ChangedRights, Marker, RightsStores};
use crate::metrics::CatalogMetrics;
use crate::queues::Queues;
use crate::stores::Stores;
use crate::tenancy::Tenancy;
use crate::triggers::Triggers;
use content::Content;
use hosting::Hosting;

/// Name of the operator in logs, events and metrics.
const NAME: &str = "catalog-operator";

/// Runs the operator until it is asked to end.
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
    if let Some(version) = line.version() {
        print!("{version}");
        return Ok(());
    }
    logging::init(line.flags.common.log_format, line.flags.common.debug)?;
    line.warn();
    let args = line.flags;
    if args.common.list_metrics {
        return list_metrics();
    }
    let tasks = Tasks::new(shutdown::on_signals().context("cannot listen for signals")?);
    let metrics = Metrics::new()?;
    let parts = Parts::assemble(&args, &metrics, &tasks, resolver).await?;
    let profile = tls::follow(args.common.tls_flags()?, &parts.client, &tasks).await?;
    parts.serve_packages(profile.clone()).await?;
    let Content { catalogs, packages, .. } = parts.content.clone();
    let (participant, hosting) = (parts.participant.clone(), parts.hosting.clone());
    metrics.leader(NAME, participant.leadership());
    Admin::new(metrics)
        .state("leadership", move || participant.state())
        .state("catalogs", move || catalogs.dump())
        .state("packages", move || packages.dump())
        .state("hosting", move || hosting.as_ref().map(|hosting| hosting.host.dump()).into())
        .tls(args.common.tls(), profile, &parts.client)
        .serve(args.common.admin_address(), &tasks)
        .await?;
    parts.start();
    let ended = tasks.wait().await.context("a part of the process failed");
    parts.participant.release().await;
    if let Some(hosting) = &parts.hosting {
        hosting.end().await;
    }
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
    participant: Participant,
    content: Content,
    registry: Registry,
    /// What this process serves itself; none with `--catalogs=pod`.
    hosting: Option<Hosting>,
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
        let connector = connector(args, kit_metrics).await?;
        let elect = args.common.leader_elect;
        let participant = Participant::new(elect, &connector, &args.namespace, NAME)?;
        let connector = connector.led_by(participant.leadership());
        let client = connector.client()?;
        let metrics = CatalogMetrics::register(kit_metrics)?;
        let tenancy = Tenancy::assemble(args, &client, participant.leadership()).await?;
        let mut watches = WatchSet::new(&client, &kit_metrics.watches());
        let (stores, queues) = (Stores::watched(&mut watches), Queues::new());
        let triggers = Triggers::new(&stores, &queues, args.global_catalog_namespace());
        triggers.listen();
        metrics.follow(&stores.subscriptions, &stores.plans);
        let registry = registries::registry(args)?;
        registries::follow(args, &registry, &client, tasks).await;
        let content = Content::assemble(args, &registry, &stores, triggers, &metrics);
        let (asked, around) = ((&client, &mut watches), (&stores, &queues));
        let hosting = Hosting::assemble(args, asked, &registry, around, &metrics)?;
        let options = interpreter_options(args, kit_metrics)
            .led_by(participant.leadership().clone())
            .with_accounts(&connector)?;
        let interpreter = watches.follow(Interpreter::new(client.clone(), options));
        let rights = ChangedRights::default();
        let marker =
            Marker { stores: stores.clone(), queues: queues.clone(), rights: rights.clone() };
        RightsStores::watched(&mut watches).listen(&marker);
        watches.start(tasks);
        participant.start(tasks);
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
            participant,
            content,
            registry,
            hosting,
            resolver: Arc::new(resolver),
        })
    }

    /// Catalogs are connected and packages served by every replica; the rest is the leader's.
    fn start(&self) {
        let (leader, every_replica) = (self.participant.leadership(), &Leadership::alone());
        self.run("catalogsource", &self.queues.catalogs, self.catalog_sources(), every_replica);
        self.run("subscription", &self.queues.subscriptions, self.subscriptions(), leader);
        self.run("resolution", &self.queues.namespaces, self.resolutions(), leader);
        self.run("installplan", &self.queues.plans, self.install_plans(), leader);
        if !self.args.packages_address.is_empty() {
            self.run("packages", &self.queues.packages, self.refresh(), every_replica);
        }
        if let Some(hosting) = &self.hosting {
            hosting.keep(&self.stores.catalogs, &self.tasks);
        }
        self.revisit_catalogs();
        self.report(leader);
    }

    /// Reports to OpenShift, where a flag asks for it.
    fn report(&self, leader: &Leadership) {
        let name = &self.args.write_status_name;
        if !name.is_empty() {
            let queue = Queue::new();
            queue.add(name.clone());
            self.run("clusteroperator", &queue, self.cluster_operators(), leader);
        }
    }

    /// A new leader looks at every catalog again: a follower only connected them.
    fn revisit_catalogs(&self) {
        let leadership = self.participant.leadership().clone();
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

    /// Global catalogs, and what lies beside them, have places of their own.
    fn run<Key: QueueKey, R: Reconciler<Key>>(
        &self,
        name: &str,
        queue: &Queue<Key>,
        reconciler: R,
        leadership: &Leadership,
    ) {
        let first = Some(self.args.global_catalog_namespace().to_owned());
        Controller::new(name, queue.clone(), Arc::new(reconciler))
            .beside(ParallelReconciles { first, ..ParallelReconciles::default() })
            .metrics(self.kit_metrics.controllers())
            .start(&self.tasks, leadership);
    }
}

/// What reaches the cluster, and says which one it is.
async fn connector(args: &Args, metrics: &Metrics) -> anyhow::Result<Connector> {
    let connector = Connector::load(args.common.kubeconfig()).await?;
    let (server, namespace) = (connector.url(), &args.namespace);
    tracing::info!(server, namespace, "catalog operator started");
    Ok(connector.metrics(metrics.requests()))
}

fn interpreter_options(args: &Args, metrics: &Metrics) -> InterpreterOptions {
    InterpreterOptions::new(NAME)
        .stop_after(args.common.stop_after_writes)
        .metrics(metrics.interpreter())
}
