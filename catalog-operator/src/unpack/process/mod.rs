//! Bundles are unpacked by this process: pull -> find the bundle -> write it into its ConfigMap.
//!
//! Pulls run in the background, a few at a time, and are forgotten with the process: what counts is
//! the ConfigMap. A failure is tried again after a pause that grows, or that the OperatorGroup
//! names.

mod pulls;
mod secrets;

use std::time::Duration;

use async_trait::async_trait;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use olm_catalog::bundle::config_map::{BundleFolder, DATA_BYTES, Encoding, Options, write};
use olm_effect::{Action, Effect};
use olm_kit::controller::ReconcileError;
use olm_lifecycle::unpack::{AttemptState, Pauses, lookup};
use olm_lifecycle::writes::target_of;
use olm_types::annotations::SOURCE_IMAGE;
use olm_types::api::{BundleLookup, CatalogSource};
use olm_types::reasons::install_plan::JOB_INCOMPLETE;

use super::{BundleUnpacker, Cluster, Order, Progress, QUIET, UnpackError, config_map};
use crate::clock;
use pulls::{Failure, State};

pub use pulls::Pulls;
pub use secrets::{Account, NamespacedName, PullSecrets};

/// Unpacks bundles itself.
pub struct ProcessUnpacker {
    pub(crate) pulls: Pulls,
    pub(crate) secrets: PullSecrets,
}

#[async_trait]
impl BundleUnpacker for ProcessUnpacker {
    fn attempt(&self, _: &Cluster, catalog: &CatalogSource, image: &str) -> AttemptState {
        self.pulls.attempt(catalog, image)
    }

    async fn unpack(&self, cluster: &Cluster, order: Order) -> Result<Progress, UnpackError> {
        let image = &order.lookup.path;
        let into = cluster.config_map(&order.catalog, image).await?;
        if is_final(&into, image) {
            return read(order.lookup, &into);
        }
        let pauses = Pauses { interval: order.limits.retry_interval };
        match self.pulls.state(&order.catalog, image, pauses) {
            State::Idle if !order.may_start => Ok(Progress::Held),
            State::Idle => {
                let credentials = self.secrets.keychain(&Account::of(&order.catalog)).await;
                self.pulls.start(&order.catalog, image, credentials, order.limits.timeout);
                Ok(pulling(order.lookup))
            }
            State::Pulling => Ok(pulling(order.lookup)),
            State::Failed(failure, rest) => Ok(failed(order.lookup, &failure, rest)),
            State::Pulled(folder) => self.store(cluster, order, into, &folder, pauses).await,
        }
    }
}

impl ProcessUnpacker {
    /// Writes the bundle where a Job would have written it.
    async fn store(
        &self,
        cluster: &Cluster,
        order: Order,
        into: ConfigMap,
        folder: &BundleFolder,
        pauses: Pauses,
    ) -> Result<Progress, UnpackError> {
        let image = &order.lookup.path;
        let options = Options { encoding: Encoding::Gzip, limit: DATA_BYTES, image: image.clone() };
        let mut wanted = into.clone();
        if let Err(error) = write(&mut wanted, folder, &options) {
            let failure = Failure::bundle(error.to_string());
            let rest = self.pulls.fail(&order.catalog, image, failure.clone(), pauses);
            return Ok(failed(order.lookup, &failure, rest));
        }
        let json = |object: &ConfigMap| serde_json::to_value(object).map_err(ReconcileError::other);
        let action = Action::Replace { object: json(&wanted)?, observed: Some(json(&into)?) };
        cluster.act_one(Effect::new(target_of(&into), action)).await?;
        read(order.lookup, &wanted)
    }
}

/// Whether the ConfigMap holds the bundle, and always will: an image with a digest never changes.
fn is_final(into: &ConfigMap, image: &str) -> bool {
    let from = into.annotations().get(SOURCE_IMAGE);
    let filled = into.binary_data.as_ref().is_some_and(|data| !data.is_empty());
    filled && image.contains('@') && from.is_some_and(|from| from == image)
}

fn read(lookup: BundleLookup, from: &ConfigMap) -> Result<Progress, UnpackError> {
    let bundle = config_map::read(from).map_err(|error| UnpackError::Content(error.to_string()))?;
    Ok(Progress::Unpacked(lookup, bundle))
}

fn pulling(mut lookup: BundleLookup) -> Progress {
    lookup::note_pending(&mut lookup, JOB_INCOMPLETE, "image is being pulled", clock::now());
    Progress::awaited(lookup, None, QUIET)
}

fn failed(mut lookup: BundleLookup, failure: &Failure, rest: Duration) -> Progress {
    lookup::note_failed(&mut lookup, failure.reason, &failure.message, clock::now());
    Progress::awaited(lookup, None, rest)
}
