//! Bundles are unpacked by Jobs: observe -> ensure account and Job -> read what it wrote.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::ResourceExt;
use olm_effect::{Effect, Outcome};
use olm_kit::controller::ReconcileError;
use olm_kit::live;
use olm_lifecycle::unpack::job::{self, Images};
use olm_lifecycle::unpack::lookup::{self, LookupState};
use olm_lifecycle::unpack::{AttemptState, Attempts, JobDecision, objects, waiting};
use olm_types::api::{BundleLookup, CatalogSource};
use olm_types::hash::unpack_name;
use olm_types::labels::BUNDLE_UNPACK_REF;
use serde::Deserialize;

use super::{BundleUnpacker, Cluster, Order, Progress, QUIET, UnpackError, config_map};
use crate::clock;

/// How long a Job that failed is left alone: about as long as it stays.
const FAILED: Duration = Duration::from_secs(300);

/// Unpacks each bundle by a Job.
pub struct JobUnpacker {
    /// Images and user of the Jobs.
    pub(crate) images: Images,
}

#[async_trait]
impl BundleUnpacker for JobUnpacker {
    fn attempt(&self, cluster: &Cluster, catalog: &CatalogSource, image: &str) -> AttemptState {
        let namespace = catalog.namespace().unwrap_or_default();
        Attempts::new(known(cluster, &namespace, &unpack_name(image))).state()
    }

    async fn unpack(&self, cluster: &Cluster, order: Order) -> Result<Progress, UnpackError> {
        // The Jobs before the ConfigMap: what is read after a Job was seen complete is complete.
        let attempts = attempts(cluster, &order.catalog, &order.lookup).await?;
        let into = cluster.config_map(&order.catalog, &order.lookup.path).await?;
        ensure_account(cluster, &into).await?;
        let wanted = job::job(&into, &job_order(&order), &self.images);
        match attempts.next(&wanted, &order.limits, clock::now()) {
            JobDecision::Start(_) if !order.may_start => Ok(Progress::Held),
            JobDecision::Start(effect) => start(cluster, order.lookup, effect).await,
            JobDecision::Watch { job, cleanup, retry_in } => {
                cluster.interpreter.act(&cleanup).await?;
                watch(cluster, order.lookup, &into, &job, retry_in)
            }
        }
    }
}

/// The Jobs of the bundle. One that an older OLM made has no label, and is not in the store.
async fn attempts(
    cluster: &Cluster,
    catalog: &CatalogSource,
    lookup: &BundleLookup,
) -> Result<Attempts, ReconcileError> {
    let (namespace, name) = (catalog.namespace().unwrap_or_default(), unpack_name(&lookup.path));
    let mut jobs = known(cluster, &namespace, &name);
    if !jobs.iter().any(|job| job.name_any() == name) {
        let found = live::get(&cluster.client, Some(&namespace), &name).await?;
        jobs.extend(found.map(Arc::new));
    }
    Ok(Attempts::new(jobs))
}

/// The Jobs of a bundle that are in the store.
fn known(cluster: &Cluster, namespace: &str, name: &String) -> Vec<Arc<Job>> {
    let mut jobs = cluster.stores.unpack_jobs.list_in(namespace);
    jobs.retain(|job| job.labels().get(BUNDLE_UNPACK_REF) == Some(name));
    jobs
}

async fn ensure_account(cluster: &Cluster, into: &ConfigMap) -> Result<(), ReconcileError> {
    let (namespace, name) = (into.namespace().unwrap_or_default(), into.name_any());
    let (client, here) = (&cluster.client, Some(namespace.as_str()));
    let found = objects::Account {
        role: live::get(client, here, &name).await?,
        account: live::get(client, here, &name).await?,
        binding: live::get(client, here, &name).await?,
    };
    cluster.interpreter.act(&objects::ensure_account(into, &found)).await
}

fn job_order(order: &Order) -> job::Order {
    job::Order {
        image: order.lookup.path.clone(),
        secrets: order.catalog.spec.secrets.clone(),
        timeout: order.limits.timeout,
    }
}

/// Creates a Job, or deletes one that is not as it should be; that brings us back here.
async fn start(
    cluster: &Cluster,
    mut lookup: BundleLookup,
    effect: Effect,
) -> Result<Progress, UnpackError> {
    if let Some(Outcome::Created(live)) = cluster.act_one(effect).await? {
        let job = Job::deserialize(&live).map_err(ReconcileError::other)?;
        lookup::note_job(&mut lookup, &job, &[], clock::now());
    }
    Ok(Progress::awaited(lookup, None, QUIET))
}

fn watch(
    cluster: &Cluster,
    mut lookup: BundleLookup,
    into: &ConfigMap,
    job: &Job,
    retry_in: Option<Duration>,
) -> Result<Progress, UnpackError> {
    let pods: Vec<Arc<Pod>> =
        cluster.stores.unpack_pods.list_in(&job.namespace().unwrap_or_default());
    let cause = waiting::cause(job, &pods);
    match lookup::note_job(&mut lookup, job, &pods, clock::now()) {
        LookupState::Pending => Ok(Progress::awaited(lookup, cause, QUIET)),
        LookupState::Failed => {
            Ok(Progress::awaited(lookup, cause, retry_in.unwrap_or(FAILED).min(FAILED)))
        }
        LookupState::Done => {
            let bundle =
                config_map::read(into).map_err(|error| UnpackError::Content(error.to_string()))?;
            Ok(match bundle.objects.is_empty() {
                true => Progress::awaited(lookup, None, QUIET),
                false => Progress::Unpacked(lookup, bundle),
            })
        }
    }
}
