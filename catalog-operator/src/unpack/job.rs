//! Bundles are unpacked by Jobs: observe -> ensure account and Job -> read what it wrote.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{Api, Client, ResourceExt};
use olm_effect::{Effect, Outcome};
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::subscription::resolution::Awaited;
use olm_lifecycle::unpack::job::{Images, Order, job};
use olm_lifecycle::unpack::lookup::{self, Standing};
use olm_lifecycle::unpack::{Attempts, Next, Terms, objects, waiting};
use olm_types::api::{BundleLookup, CatalogSource};
use olm_types::hash::unpack_name;
use olm_types::labels::BUNDLE_UNPACK_REF;

use super::{BundleUnpacker, Progress, UnpackError, config_map};
use crate::clock;
use crate::stores::Stores;

/// How long a Job is left alone when nothing is heard of it. What is watched is heard of at once.
const QUIET: Duration = Duration::from_secs(30);

/// How long a Job that failed is left alone: about as long as it stays.
const FAILED: Duration = Duration::from_secs(300);

/// Unpacks each bundle by a Job.
pub struct JobUnpacker {
    pub(crate) stores: Stores,
    pub(crate) client: Client,
    pub(crate) interpreter: Interpreter,
    /// Images and user of the Jobs.
    pub(crate) images: Images,
    /// How long a Job may take, zero for no limit (`--bundle-unpack-timeout`).
    pub(crate) timeout: Duration,
}

#[async_trait]
impl BundleUnpacker for JobUnpacker {
    async fn unpack(
        &self,
        mut lookup: BundleLookup,
        terms: &Terms,
    ) -> Result<Progress, UnpackError> {
        let Some(catalog) = self.catalog(&lookup) else {
            lookup::note_missing_catalog(&mut lookup, clock::now());
            return Ok(awaited(lookup, None, QUIET));
        };
        // The Jobs before the ConfigMap: what is read after a Job was seen complete is complete.
        let attempts = self.attempts(&catalog, &lookup).await?;
        let into =
            config_map::ensure(&self.client, &self.interpreter, &catalog, &lookup.path).await?;
        self.ensure_account(&into).await?;
        let wanted = job(&into, &self.order(&catalog, &lookup, terms), &self.images);
        match attempts.next(&wanted, terms.retry_interval, clock::now()) {
            Next::Start(effect) => self.start(lookup, effect).await,
            Next::Watch { job, cleanup, retry_in } => {
                self.act(&cleanup).await?;
                self.watch(lookup, &into, &job, retry_in)
            }
        }
    }
}

impl JobUnpacker {
    fn catalog(&self, lookup: &BundleLookup) -> Option<Arc<CatalogSource>> {
        let catalog = &lookup.catalog_source_ref;
        self.stores.catalogs.get(catalog.namespace.as_deref(), catalog.name.as_deref()?)
    }

    /// The Jobs of the bundle. One that an older OLM made has no label, and is not in the store.
    async fn attempts(
        &self,
        catalog: &CatalogSource,
        lookup: &BundleLookup,
    ) -> Result<Attempts, ReconcileError> {
        let (namespace, name) =
            (catalog.namespace().unwrap_or_default(), unpack_name(&lookup.path));
        let mut jobs = self.stores.unpack_jobs.list_in(&namespace);
        jobs.retain(|job| job.labels().get(BUNDLE_UNPACK_REF) == Some(&name));
        if !jobs.iter().any(|job| job.name_any() == name) {
            let api: Api<Job> = Api::namespaced(self.client.clone(), &namespace);
            jobs.extend(api.get_opt(&name).await?.map(Arc::new));
        }
        Ok(Attempts::new(jobs))
    }

    async fn ensure_account(&self, into: &ConfigMap) -> Result<(), ReconcileError> {
        let (namespace, name) = (into.namespace().unwrap_or_default(), into.name_any());
        let client = || self.client.clone();
        let found = objects::Account {
            role: Api::namespaced(client(), &namespace).get_opt(&name).await?,
            account: Api::namespaced(client(), &namespace).get_opt(&name).await?,
            binding: Api::namespaced(client(), &namespace).get_opt(&name).await?,
        };
        self.act(&objects::ensure_account(into, &found)).await
    }

    fn order(&self, catalog: &CatalogSource, lookup: &BundleLookup, terms: &Terms) -> Order {
        Order {
            image: lookup.path.clone(),
            secrets: catalog.spec.secrets.clone(),
            timeout: terms.timeout_or(self.timeout),
        }
    }

    /// Creates a Job, or deletes one that is not as it should be; that brings us back here.
    async fn start(
        &self,
        mut lookup: BundleLookup,
        effect: Effect,
    ) -> Result<Progress, UnpackError> {
        match self.interpreter.execute(&[effect]).await.pop() {
            Some(Outcome::Created(live)) => {
                let job: Job = serde_json::from_value(live).map_err(ReconcileError::other)?;
                lookup::note_job(&mut lookup, &job, &[], clock::now());
            }
            Some(Outcome::Refused(refusal)) => return Err(ReconcileError::from(refusal).into()),
            _ => {}
        }
        Ok(awaited(lookup, None, QUIET))
    }

    fn watch(
        &self,
        mut lookup: BundleLookup,
        into: &ConfigMap,
        job: &Job,
        retry_in: Option<Duration>,
    ) -> Result<Progress, UnpackError> {
        let pods: Vec<Arc<Pod>> =
            self.stores.unpack_pods.list_in(&job.namespace().unwrap_or_default());
        let cause = waiting::cause(job, &pods);
        match lookup::note_job(&mut lookup, job, &pods, clock::now()) {
            Standing::Pending => Ok(awaited(lookup, cause, QUIET)),
            Standing::Failed => Ok(awaited(lookup, cause, retry_in.unwrap_or(FAILED).min(FAILED))),
            Standing::Settled => {
                let bundle = config_map::read(into)
                    .map_err(|error| UnpackError::Content(error.to_string()))?;
                Ok(match bundle.objects.is_empty() {
                    true => awaited(lookup, None, QUIET),
                    false => Progress::Unpacked(lookup, bundle),
                })
            }
        }
    }

    async fn act(&self, effects: &[Effect]) -> Result<(), ReconcileError> {
        ReconcileError::from_outcomes(&self.interpreter.execute(effects).await)
    }
}

fn awaited(lookup: BundleLookup, cause: Option<String>, look_again: Duration) -> Progress {
    Progress::Awaited { awaited: Awaited { lookup, cause }, look_again: Some(look_again) }
}
