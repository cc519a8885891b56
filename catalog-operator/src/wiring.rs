//! Puts the operator together: client, watches, queues, catalogs, controllers, endpoints.

use std::sync::Arc;

use anyhow::Context;
use dashmap::DashMap;
use olm_kit::admin::Admin;
use olm_kit::client::Connector;
use olm_kit::controller::{Controller, Reconciler};
use olm_kit::interpreter::{Interpreter, InterpreterOptions};
use olm_kit::key::QueueKey;
use olm_kit::metrics::Metrics;
use olm_kit::queue::Queue;
use olm_kit::tasks::Tasks;
use olm_kit::{logging, shutdown};
use olm_lifecycle::writes::resource_of;

use crate::args::Args;
use crate::backend;
use crate::catalogs::{CatalogChange, Catalogs};
use crate::controllers::catalog_source::CatalogSources;
use crate::controllers::install_plan::InstallPlans;
use crate::controllers::resolution::{Resolutions, Rules};
use crate::controllers::subscription::Subscriptions;
use crate::metrics::CatalogMetrics;
use crate::queues::Queues;
use crate::stores::{Stores, Watches};
use crate::triggers::Triggers;

/// Name of the operator in logs, events and metrics.
const NAME: &str = "catalog-operator";

/// Runs the operator until it is told to end.
///
/// # Errors
/// The cluster cannot be reached, an endpoint cannot be opened, or a part of the operator ended.
pub async fn run(args: Args) -> anyhow::Result<()> {
    logging::init(args.log_format, args.debug)?;
    for flag in args.without_effect() {
        tracing::warn!(flag, "has no effect in this version");
    }
    let tasks = Tasks::new(shutdown::on_signals().context("cannot listen for signals")?);
    let metrics = Metrics::new()?;
    let parts = Parts::assemble(&args, &metrics, &tasks).await?;
    let catalogs = parts.catalogs.clone();
    Admin::new(metrics)
        .state("catalogs", move || catalogs.dump())
        .serve(&args.admin_address, &tasks)
        .await?;
    parts.start();
    tasks.wait().await?;
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
    catalogs: Catalogs,
}

impl Parts {
    async fn assemble(args: &Args, kit_metrics: &Metrics, tasks: &Tasks) -> anyhow::Result<Self> {
        let connector =
            Connector::load(args.kubeconfig.as_deref()).await?.metrics(kit_metrics.requests());
        let client = connector.client()?;
        let metrics = CatalogMetrics::register(kit_metrics)?;
        let watches = Watches::new(&client, &kit_metrics.watches());
        let (stores, queues) = (watches.stores(), Queues::new());
        let triggers = Triggers::new(&stores, &queues, args.global_catalog_namespace());
        triggers.listen();
        let catalogs = catalogs(triggers, &metrics);
        let options = InterpreterOptions::new(NAME)
            .with_accounts(&connector)?
            .stop_after(args.stop_after_writes)
            .metrics(kit_metrics.interpreter());
        let interpreter = absorbing(Interpreter::new(client.clone(), options), &stores);
        watches.start(tasks);
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
            catalogs,
        })
    }

    fn start(&self) {
        self.run("catalogsource", &self.queues.catalogs, self.catalog_sources());
        self.run("subscription", &self.queues.subscriptions, self.subscriptions());
        self.run("resolution", &self.queues.namespaces, self.resolutions());
        self.run("installplan", &self.queues.plans, self.install_plans());
    }

    /// Starts a controller as soon as all stores are filled.
    fn run<Key: QueueKey, R: Reconciler<Key>>(
        &self,
        name: &str,
        queue: &Queue<Key>,
        reconciler: R,
    ) {
        let controller = Controller::new(name, queue.clone(), Arc::new(reconciler))
            .metrics(self.kit_metrics.controllers());
        let (readiness, token) = (self.tasks.readiness().clone(), self.tasks.token());
        self.tasks.spawn(&format!("controller {name}"), async move {
            tokio::select! {
                () = readiness.ready() => controller.run(token).await,
                () = token.cancelled() => {}
            }
        });
    }

    fn catalog_sources(&self) -> CatalogSources {
        CatalogSources {
            store: self.stores.catalogs.clone(),
            catalogs: self.catalogs.clone(),
            backends: backend::all(),
            interpreter: self.interpreter.clone(),
            metrics: self.metrics.clone(),
        }
    }

    fn subscriptions(&self) -> Subscriptions {
        Subscriptions {
            stores: self.stores.clone(),
            client: self.client.clone(),
            interpreter: self.interpreter.clone(),
            namespaces: self.queues.namespaces.clone(),
            global_namespace: self.args.global_catalog_namespace().to_owned(),
            metrics: self.metrics.clone(),
        }
    }

    fn resolutions(&self) -> Resolutions {
        Resolutions {
            stores: self.stores.clone(),
            catalogs: self.catalogs.clone(),
            interpreter: self.interpreter.clone(),
            global_namespace: self.args.global_catalog_namespace().to_owned(),
            metrics: self.metrics.clone(),
            rules: Rules {
                policy: self.args.resolution,
                cluster: self.args.check_cluster_version.then(|| self.client.clone()),
            },
            complaints: DashMap::new(),
        }
    }

    fn install_plans(&self) -> InstallPlans {
        InstallPlans {
            stores: self.stores.clone(),
            client: self.client.clone(),
            interpreter: self.interpreter.clone(),
            operator_namespace: self.args.namespace.clone(),
            retry_timeout: self.args.install_plan_retry_timeout,
            metrics: self.metrics.clone(),
        }
    }
}

/// Catalogs whose changes become keys.
fn catalogs(triggers: Triggers, metrics: &CatalogMetrics) -> Catalogs {
    let snapshots = metrics.snapshots.clone();
    Catalogs::new(move |key, change| {
        if change == CatalogChange::Loaded {
            snapshots.with_label_values(&[&*key.namespace, &*key.name]).inc();
        }
        triggers.connected_catalog(key, change);
    })
}

/// The operator sees its own writes at once.
fn absorbing(interpreter: Interpreter, stores: &Stores) -> Interpreter {
    use olm_types::api::{CatalogSource, ClusterServiceVersion, InstallPlan, Subscription};
    interpreter
        .with_store(resource_of::<CatalogSource>(), stores.catalogs.clone())
        .with_store(resource_of::<Subscription>(), stores.subscriptions.clone())
        .with_store(resource_of::<InstallPlan>(), stores.plans.clone())
        .with_store(resource_of::<ClusterServiceVersion>(), stores.csvs.clone())
}
