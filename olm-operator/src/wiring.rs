//! Puts the process together: which kinds are watched, which controllers run, what they share.
//!
//! The stages of a CSV are named in `olm_lifecycle::csv::stages::STAGES`.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Context;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kube::Client;
use olm_kit::admin::Admin;
use olm_kit::client::Connector;
use olm_kit::controller::{Controller, Reconciler};
use olm_kit::discovery::ApiKinds;
use olm_kit::interpreter::{Interpreter, InterpreterOptions};
use olm_kit::key::QueueKey;
use olm_kit::metrics::Metrics;
use olm_kit::queue::Queue;
use olm_kit::tasks::Tasks;
use olm_kit::{logging, shutdown};
use olm_lifecycle::writes::resource_of;

use crate::args::Args;
use crate::changes::Changes;
use crate::controllers::copied_csv::CopyReconciler;
use crate::controllers::csv::CsvReconciler;
use crate::controllers::namespace::NamespaceReconciler;
use crate::controllers::olm_config::ConfigReconciler;
use crate::controllers::operator_group::GroupReconciler;
use crate::dependents::Dependents;
use crate::metrics::CsvMetrics;
use crate::originals::Originals;
use crate::queues::Queues;
use crate::server_version::ServerVersion;
use crate::stores::{Stores, Watches};
use crate::triggers::Triggers;

/// Source of events, as v0 names it.
const EVENT_SOURCE: &str = "operator-lifecycle-manager";

/// Field manager of all writes.
const FIELD_MANAGER: &str = "olm-operator";

/// CSVs that are worked on at the same time.
const CSV_WORKERS: usize = 4;

/// Sets of copies that are worked on at the same time; each writes to several namespaces at once.
const COPY_WORKERS: usize = 4;

/// Groups, and namespaces, that are worked on at the same time; v0's number.
const WORKERS: usize = 2;

/// Runs until a signal ends the process.
///
/// # Errors
/// When the process cannot start, or a task that it needs ended.
pub async fn run(args: Args) -> anyhow::Result<()> {
    logging::init(args.log_format, args.debug)?;
    for flag in args.without_effect() {
        tracing::warn!(flag, "has no effect in this version");
    }
    let tasks = Tasks::new(shutdown::on_signals()?);
    let metrics = Metrics::new()?;
    let csv_metrics = CsvMetrics::register(&metrics)?;
    let connector = Connector::load(args.kubeconfig.as_deref()).await?;
    let client = connector.metrics(metrics.requests()).client()?;
    let originals = Originals::default();
    let watches = Watches::new(&client, &metrics.watches(), originals.clone());
    let parts = Parts {
        interpreter: interpreter(&args, &client, &watches.stores(), &metrics),
        triggers: Triggers {
            stores: watches.stores(),
            queues: Queues::new(args.watched()),
            dependents: Dependents::default(),
            changes: Changes::default(),
            metrics: csv_metrics,
            originals,
        },
        client,
        metrics,
        tasks,
        protected: args.protected(),
    };
    parts.triggers.listen();
    watches.start(&parts.tasks);
    serve(&args, &parts).await?;
    parts.start_controllers();
    parts.tasks.wait().await.context("a part of the process failed")
}

/// What the controllers share.
struct Parts {
    client: Client,
    interpreter: Interpreter,
    triggers: Triggers,
    metrics: Metrics,
    tasks: Tasks,
    /// Namespaces that have copies even when copying is off.
    protected: BTreeSet<String>,
}

impl Parts {
    fn start_controllers(&self) {
        let Triggers { stores, queues, changes, metrics, originals, .. } = &self.triggers;
        let csvs = CsvReconciler {
            stores: stores.clone(),
            interpreter: self.interpreter.clone(),
            changes: changes.clone(),
            kinds: ApiKinds::new(self.client.clone()),
            server_version: ServerVersion::new(self.client.clone()),
            metrics: metrics.clone(),
        };
        let groups =
            GroupReconciler { stores: stores.clone(), interpreter: self.interpreter.clone() };
        let namespaces =
            NamespaceReconciler { stores: stores.clone(), interpreter: self.interpreter.clone() };
        let copies = CopyReconciler {
            stores: stores.clone(),
            interpreter: self.interpreter.clone(),
            client: self.client.clone(),
            originals: originals.clone(),
            protected: self.protected.clone(),
            announced: Arc::default(),
        };
        let configs = ConfigReconciler {
            stores: stores.clone(),
            interpreter: self.interpreter.clone(),
            protected: self.protected.clone(),
        };
        self.start("copiedcsv", &queues.copies, copies, COPY_WORKERS);
        self.start("olmconfig", &queues.configs, configs, 1);
        self.start("csv", &queues.csvs, csvs, CSV_WORKERS);
        self.start("operatorgroup", &queues.groups, groups, WORKERS);
        self.start("namespace", &queues.namespaces, namespaces, WORKERS);
    }

    /// Starts a controller once all stores are filled, so that nothing is decided on a part.
    fn start<Key: QueueKey, R: Reconciler<Key>>(
        &self,
        name: &str,
        queue: &Queue<Key>,
        reconciler: R,
        workers: usize,
    ) {
        let controller = Controller::new(name, queue.clone(), Arc::new(reconciler))
            .workers(workers)
            .metrics(self.metrics.controllers());
        let (readiness, token) = (self.tasks.readiness().clone(), self.tasks.token());
        self.tasks.spawn(&format!("controller {name}"), async move {
            tokio::select! {
                () = readiness.ready() => controller.run(token).await,
                () = token.cancelled() => {}
            }
        });
    }
}

/// The interpreter hands what it wrote to the stores that decisions read.
fn interpreter(args: &Args, client: &Client, stores: &Stores, metrics: &Metrics) -> Interpreter {
    let mut options = InterpreterOptions::new(EVENT_SOURCE)
        .stop_after(args.stop_after_writes)
        .metrics(metrics.interpreter());
    options.field_manager = FIELD_MANAGER.to_owned();
    Interpreter::new(client.clone(), options)
        .with_store(resource_of::<olm_types::api::ClusterServiceVersion>(), stores.csvs.clone())
        .with_store(resource_of::<olm_types::api::ClusterServiceVersion>(), stores.copies.clone())
        .with_store(resource_of::<olm_types::api::OLMConfig>(), stores.configs.clone())
        .with_store(resource_of::<olm_types::api::OperatorGroup>(), stores.groups.clone())
        .with_store(
            resource_of::<k8s_openapi::api::apps::v1::Deployment>(),
            stores.deployments.clone(),
        )
        .with_store(
            resource_of::<k8s_openapi::api::core::v1::Namespace>(),
            stores.namespaces.clone(),
        )
        .with_store(resource_of::<Role>(), stores.roles.clone())
        .with_store(resource_of::<RoleBinding>(), stores.role_bindings.clone())
        .with_store(resource_of::<ClusterRole>(), stores.cluster_roles.clone())
        .with_store(resource_of::<ClusterRoleBinding>(), stores.cluster_role_bindings.clone())
}

async fn serve(args: &Args, parts: &Parts) -> anyhow::Result<()> {
    let queues = parts.triggers.queues.clone();
    let admin = Admin::new(parts.metrics.clone()).state("queues", move || {
        serde_json::json!({
            "csv": queues.csvs.len(),
            "operatorgroup": queues.groups.len(),
            "namespace": queues.namespaces.len(),
            "copiedcsv": queues.copies.len(),
            "olmconfig": queues.configs.len(),
        })
    });
    admin.serve(&args.admin_address, &parts.tasks).await?;
    Ok(())
}
