//! Puts the process together: which kinds are watched, which controllers run, what they share.
//!
//! The stages of a CSV are named in `olm_lifecycle::csv::stages::STAGES`; a binary of one's own adds
//! to them and calls [`run_with`].

mod related;

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Context;
use kube::Client;
use olm_kit::ObjectKey;
use olm_kit::admin::Admin;
use olm_kit::client::Connector;
use olm_kit::controller::{Controller, Reconciler};
use olm_kit::discovery::{ApiKinds, ServerVersion};
use olm_kit::flags::CommandLine;
use olm_kit::interpreter::{Interpreter, InterpreterOptions};
use olm_kit::key::QueueKey;
use olm_kit::leader::Participant;
use olm_kit::metrics::Metrics;
use olm_kit::queue::Queue;
use olm_kit::tasks::Tasks;
use olm_kit::tls;
use olm_kit::watch::WatchSet;
use olm_kit::{logging, shutdown};
use olm_lifecycle::csv::stages::Stages;

use crate::args::Args;
use crate::changes::Changes;
use crate::components::ComponentIndex;
use crate::controllers::cluster_operator::{Report, ReportingReconciler};
use crate::controllers::csv::CsvReconciler;
use crate::controllers::namespace::NamespaceReconciler;
use crate::controllers::operator_group::GroupReconciler;
use crate::dependents::Dependents;
use crate::metrics::CsvMetrics;
use crate::originals::Originals;
use crate::proxy;
use crate::queues::Queues;
use crate::status_delay::StatusDelay;
use crate::stores::Stores;
use crate::tenancy::Tenancy;
use crate::triggers::Triggers;

/// Source of events, as v0 names it.
const EVENT_SOURCE: &str = "operator-lifecycle-manager";

/// Name of the operator: the field manager of all writes, and the Lease of its replicas.
const NAME: &str = "olm-operator";

/// CSVs that are worked on at the same time.
const CSV_WORKERS: usize = 4;

/// Groups, and namespaces, that are worked on at the same time; v0's number.
const WORKERS: usize = 2;

/// Runs until a signal ends the process.
///
/// # Errors
/// When the process cannot start, or a task that it needs ended.
pub async fn run(line: CommandLine<Args>) -> anyhow::Result<()> {
    run_with(line, Stages::default()).await
}

/// The same, with stages of CSVs that are not OLM's alone.
///
/// # Errors
/// As [`run`].
pub async fn run_with(line: CommandLine<Args>, stages: Stages) -> anyhow::Result<()> {
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
    let tasks = Tasks::new(shutdown::on_signals()?);
    let parts = Parts::assemble(&args, tasks, stages).await?;
    serve(&args, &parts).await?;
    parts.start_controllers();
    parts.start_copies();
    parts.start_related();
    parts.start_reports();
    let ended = parts.tasks.wait().await.context("a part of the process failed");
    parts.participant.release().await;
    ended
}

/// What the controllers share.
struct Parts {
    client: Client,
    interpreter: Interpreter,
    triggers: Triggers,
    metrics: Metrics,
    tasks: Tasks,
    report: Report,
    /// Namespaces that have copies even when copying is off.
    protected: BTreeSet<String>,
    /// The rules of a CSV's life.
    stages: Stages,
    /// Statuses of CSVs that only refresh what is there, and wait to be written.
    refreshes: StatusDelay<ObjectKey>,
    /// How far the owners of namespaces are trusted.
    tenancy: Tenancy,
    /// Whether this replica acts.
    participant: Participant,
}

impl Parts {
    /// Everything that is needed to act; the stores begin to fill.
    async fn assemble(args: &Args, tasks: Tasks, stages: Stages) -> anyhow::Result<Self> {
        let metrics = Metrics::new()?;
        let connector = Connector::load(args.common.kubeconfig()).await?;
        let connector = connector.metrics(metrics.requests());
        let elect = args.common.leader_elect;
        let participant = Participant::new(elect, &connector, &args.namespace, NAME)?;
        let connector = connector.led_by(participant.leadership());
        let client = connector.client()?;
        let tenancy = Tenancy::assemble(args, &client, participant.leadership()).await?;
        let originals = Originals::default();
        let proxies = proxy::is_known(&ApiKinds::new(client.clone())).await?;
        let mut watches = WatchSet::new(&client, &metrics.watches());
        let stores = Stores::watched(&mut watches, originals.clone(), tenancy.policy, proxies);
        let report = related::report(args);
        let triggers = Triggers {
            stores,
            queues: Queues::new(args.watched()).reporting(report.names.given()),
            dependents: Dependents::default(),
            changes: Changes::default(),
            metrics: CsvMetrics::register(&metrics)?,
            originals,
            components: ComponentIndex::default(),
        };
        let options =
            interpreter_options(args, &metrics, &participant).with_accounts(&connector)?;
        let interpreter = watches.follow(Interpreter::new(client.clone(), options));
        triggers.listen();
        watches.start(&tasks);
        participant.start(&tasks);
        Ok(Self {
            client,
            interpreter,
            triggers,
            metrics,
            tasks,
            report,
            protected: args.protected(),
            stages,
            refreshes: StatusDelay::default(),
            tenancy,
            participant,
        })
    }

    fn start_controllers(&self) {
        let Triggers { stores, queues, changes, metrics, .. } = &self.triggers;
        let csvs = CsvReconciler {
            stores: stores.clone(),
            interpreter: self.interpreter.clone(),
            changes: changes.clone(),
            client: self.client.clone(),
            kinds: ApiKinds::new(self.client.clone()),
            server_version: ServerVersion::new(self.client.clone()),
            stages: self.stages.clone(),
            tenancy: self.tenancy.clone(),
            metrics: metrics.clone(),
            status_delay: self.refreshes.clone(),
        };
        let groups = GroupReconciler {
            stores: stores.clone(),
            interpreter: self.interpreter.clone(),
            status_delay: StatusDelay::default(),
        };
        let namespaces = NamespaceReconciler {
            stores: stores.clone(),
            queues: queues.clone(),
            interpreter: self.interpreter.clone(),
        };
        self.start("csv", &queues.csvs, self.reported(csvs), CSV_WORKERS);
        self.start("operatorgroup", &queues.groups, self.reported(groups), WORKERS);
        self.start("namespace", &queues.namespaces, namespaces, WORKERS);
    }

    fn reported<R>(&self, inner: R) -> ReportingReconciler<R> {
        ReportingReconciler {
            inner,
            report: self.report.clone(),
            queues: self.triggers.queues.clone(),
        }
    }

    /// Starts a controller once all stores are filled and this replica leads.
    fn start<Key: QueueKey, R: Reconciler<Key>>(
        &self,
        name: &str,
        queue: &Queue<Key>,
        reconciler: R,
        workers: usize,
    ) {
        Controller::new(name, queue.clone(), Arc::new(reconciler))
            .workers(workers)
            .metrics(self.metrics.controllers())
            .start(&self.tasks, self.participant.leadership());
    }
}

fn interpreter_options(
    args: &Args,
    metrics: &Metrics,
    participant: &Participant,
) -> InterpreterOptions {
    let mut options = InterpreterOptions::new(EVENT_SOURCE)
        .stop_after(args.common.stop_after_writes)
        .metrics(metrics.interpreter())
        .led_by(participant.leadership().clone());
    options.field_manager = NAME.to_owned();
    options
}

/// Prints the rows of `docs/metrics.md`, one for each family of metrics.
fn list_metrics() -> anyhow::Result<()> {
    let metrics = Metrics::new()?;
    CsvMetrics::register(&metrics)?;
    metrics.families().iter().for_each(|family| println!("{family}"));
    Ok(())
}

async fn serve(args: &Args, parts: &Parts) -> anyhow::Result<()> {
    let participant = parts.participant.clone();
    parts.metrics.leader(NAME, participant.leadership());
    let profile = tls::follow(args.common.tls_flags()?, &parts.client, &parts.tasks).await?;
    Admin::new(parts.metrics.clone())
        .state("leadership", move || participant.state())
        .tls(args.common.tls(), profile, &parts.client)
        .serve(args.common.admin_address(), &parts.tasks)
        .await?;
    Ok(())
}
