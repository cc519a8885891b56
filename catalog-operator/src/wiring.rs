//! Puts the operator together: client, watches, queues, catalogs, controllers, endpoints.

use std::sync::Arc;

use anyhow::Context;
use dashmap::DashMap;
use olm_catalog::image::Registry;
use olm_catalog::registry::client::ClientOptions;
use olm_kit::admin::Admin;
use olm_kit::aggregated::AggregatedApi;
use olm_kit::client::Connector;
use olm_kit::controller::{Controller, Reconciler};
use olm_kit::discovery::ApiKinds;
use olm_kit::interpreter::{Interpreter, InterpreterOptions};
use olm_kit::key::QueueKey;
use olm_kit::metrics::Metrics;
use olm_kit::queue::Queue;
use olm_kit::tasks::Tasks;
use olm_kit::{logging, shutdown};
use olm_lifecycle::catalog_source::registry::Settings;
use olm_lifecycle::unpack::job::Images;
use olm_lifecycle::writes::resource_of;

use crate::args::Args;
use crate::catalogs::{CatalogChange, Catalogs};
use crate::controllers::catalog_source::{CatalogSources, ServerVersion};
use crate::controllers::install_plan::{Calls, InstallPlans};
use crate::controllers::resolution::{Resolutions, Rules};
use crate::controllers::subscription::Subscriptions;
use crate::digest::{CatalogPolling, DigestSource};
use crate::metrics::CatalogMetrics;
use crate::packages::{PackageCache, Refresh, Upkeep};
use crate::queues::Queues;
use crate::rights::{ChangedRights, Marker, RightsWatches};
use crate::servers::ServiceResolver;
use crate::stores::{Stores, Watches};
use crate::triggers::Triggers;
use crate::unpack::{
    BundleUnpacker, JobUnpacker, ProcessUnpacker, Pulls, RegistryDigests, Unpacker,
};

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
    parts.serve_packages().await?;
    let (catalogs, packages) = (parts.catalogs.clone(), parts.packages.clone());
    Admin::new(metrics)
        .state("catalogs", move || catalogs.dump())
        .state("packages", move || packages.dump())
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
    rights: ChangedRights,
    catalogs: Catalogs,
    packages: PackageCache,
    registry: Registry,
    pulls: Pulls,
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
        let registry = Registry::new(args.insecure_registries.iter().cloned())
            .context("cannot read the system's certificates of authorities")?;
        let unpack_triggers = triggers.clone();
        let pulls = Pulls::new(registry.clone(), move || unpack_triggers.bundles_moved());
        let catalogs = catalogs(args, &stores, triggers, &metrics);
        let options = InterpreterOptions::new(NAME)
            .with_accounts(&connector)?
            .stop_after(args.stop_after_writes)
            .metrics(kit_metrics.interpreter());
        let interpreter = absorbing(Interpreter::new(client.clone(), options), &stores);
        watches.start(tasks);
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
            catalogs,
            packages: PackageCache::new(args.global_catalog_namespace()),
            registry,
            pulls,
        })
    }

    fn start(&self) {
        self.run("catalogsource", &self.queues.catalogs, self.catalog_sources());
        if !self.args.packages_address.is_empty() {
            self.run("packages", &self.queues.packages, self.refresh());
        }
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

    /// Serves the packages API, if it has an address.
    async fn serve_packages(&self) -> anyhow::Result<()> {
        if self.args.packages_address.is_empty() {
            return Ok(());
        }
        let api = AggregatedApi::new(Arc::new(self.packages.clone()), self.client.clone());
        let (client, interpreter) = (self.client.clone(), self.interpreter.clone());
        let upkeep = Upkeep::new(client, interpreter, &self.args.namespace, &api);
        api.serve(&self.args.packages_address, &self.tasks).await?;
        let token = self.tasks.token();
        self.tasks.spawn("packages API upkeep", async move {
            tokio::select! {
                () = upkeep.run() => {}
                () = token.cancelled() => {}
            }
        });
        Ok(())
    }

    fn refresh(&self) -> Refresh {
        Refresh {
            store: self.stores.catalogs.clone(),
            catalogs: self.catalogs.clone(),
            packages: self.packages.clone(),
            made_of: DashMap::new(),
        }
    }

    fn catalog_sources(&self) -> CatalogSources {
        CatalogSources {
            store: self.stores.catalogs.clone(),
            servers: self.stores.servers.clone(),
            catalogs: self.catalogs.clone(),
            settings: Settings {
                opm_image: self.args.opm_image.clone(),
                util_image: self.args.util_image.clone(),
                config_map_server_image: self.args.configmap_server_image.clone(),
                user: self.args.workload_user(),
            },
            digests: self.digests(),
            version: ServerVersion::new(self.client.clone()),
            client: self.client.clone(),
            interpreter: self.interpreter.clone(),
            metrics: self.metrics.clone(),
        }
    }

    /// Who is asked for the digests of catalog images, if anybody is.
    fn digests(&self) -> Option<Arc<dyn DigestSource>> {
        (self.args.catalog_polling == CatalogPolling::Digest).then(|| {
            let registry = self.registry.clone();
            Arc::new(RegistryDigests { client: self.client.clone(), registry }) as Arc<_>
        })
    }

    fn subscriptions(&self) -> Subscriptions {
        Subscriptions {
            stores: self.stores.clone(),
            catalogs: self.catalogs.clone(),
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
            unpacker: self.unpacker(),
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

    fn unpacker(&self) -> Arc<dyn BundleUnpacker> {
        match self.args.bundle_unpack {
            Unpacker::Process => Arc::new(ProcessUnpacker {
                stores: self.stores.clone(),
                client: self.client.clone(),
                interpreter: self.interpreter.clone(),
                pulls: self.pulls.clone(),
                timeout: self.args.bundle_unpack_timeout,
            }),
            Unpacker::Job => Arc::new(JobUnpacker {
                stores: self.stores.clone(),
                client: self.client.clone(),
                interpreter: self.interpreter.clone(),
                images: Images {
                    opm: self.args.opm_image.clone(),
                    util: self.args.util_image.clone(),
                    user: self.args.workload_user(),
                },
                timeout: self.args.bundle_unpack_timeout,
            }),
        }
    }

    fn install_plans(&self) -> InstallPlans {
        InstallPlans {
            stores: self.stores.clone(),
            calls: Calls {
                client: self.client.clone(),
                interpreter: self.interpreter.clone(),
                kinds: ApiKinds::new(self.client.clone()),
            },
            resolutions: self.resolutions(),
            rights: self.rights.clone(),
            complaints: DashMap::new(),
            operator_namespace: self.args.namespace.clone(),
            retry_timeout: self.args.install_plan_retry_timeout,
            metrics: self.metrics.clone(),
        }
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
