//! Bundles are unpacked by this process: pull -> find the bundle -> write it into its ConfigMap.
//!
//! Pulls run in the background, a few at a time, and are forgotten with the process: what counts is
//! the ConfigMap. A failure is tried again after a pause that grows, or that the OperatorGroup
//! names.

mod pulls;
mod secrets;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, ResourceExt};
use olm_catalog::bundle::config_map::{BundleFolder, DATA_BYTES, Encoding, Options, write};
use olm_effect::{Action, Effect, Outcome};
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::subscription::resolution::Awaited;
use olm_lifecycle::unpack::{Pauses, Terms, lookup};
use olm_lifecycle::writes::target_of;
use olm_types::annotations::SOURCE_IMAGE;
use olm_types::api::{BundleLookup, CatalogSource};
use olm_types::reasons::install_plan::JOB_INCOMPLETE;

use super::{BundleUnpacker, Progress, UnpackError, config_map};
use crate::clock;
use crate::stores::Stores;
use pulls::{Failure, State};

pub use pulls::Pulls;
pub use secrets::{Account, keychain};

/// How long a pull is left alone when nothing is heard of it.
const QUIET: Duration = Duration::from_secs(30);

/// Unpacks bundles itself.
pub struct ProcessUnpacker {
    pub(crate) stores: Stores,
    pub(crate) client: Client,
    pub(crate) interpreter: Interpreter,
    pub(crate) pulls: Pulls,
    /// How long a pull may take, zero for no limit (`--bundle-unpack-timeout`).
    pub(crate) timeout: Duration,
}

#[async_trait]
impl BundleUnpacker for ProcessUnpacker {
    async fn unpack(
        &self,
        mut lookup: BundleLookup,
        terms: &Terms,
    ) -> Result<Progress, UnpackError> {
        let Some(catalog) = self.catalog(&lookup) else {
            lookup::note_missing_catalog(&mut lookup, clock::now());
            return Ok(awaited(lookup, QUIET));
        };
        let into =
            config_map::ensure(&self.client, &self.interpreter, &catalog, &lookup.path).await?;
        if is_final(&into, &lookup.path) {
            return read(lookup, &into);
        }
        let pauses = Pauses { interval: terms.retry_interval };
        match self.pulls.state(&catalog, &lookup.path, pauses) {
            State::Idle => {
                let credentials = keychain(&self.client, &Account::of(&catalog)).await;
                let timeout = terms.timeout_or(self.timeout);
                self.pulls.start(&catalog, &lookup.path, credentials, timeout);
                Ok(pulling(lookup))
            }
            State::Pulling => Ok(pulling(lookup)),
            State::Failed(failure, rest) => Ok(failed(lookup, &failure, rest)),
            State::Pulled(folder) => {
                self.store(&catalog, into, &lookup.path, &folder, pauses, lookup.clone()).await
            }
        }
    }
}

impl ProcessUnpacker {
    fn catalog(&self, lookup: &BundleLookup) -> Option<Arc<CatalogSource>> {
        let catalog = &lookup.catalog_source_ref;
        self.stores.catalogs.get(catalog.namespace.as_deref(), catalog.name.as_deref()?)
    }

    /// Writes the bundle where a Job would have written it.
    async fn store(
        &self,
        catalog: &CatalogSource,
        into: ConfigMap,
        image: &str,
        folder: &BundleFolder,
        pauses: Pauses,
        lookup: BundleLookup,
    ) -> Result<Progress, UnpackError> {
        let options =
            Options { encoding: Encoding::Gzip, limit: DATA_BYTES, image: image.to_owned() };
        let mut wanted = into.clone();
        if let Err(error) = write(&mut wanted, folder, &options) {
            let failure = Failure::bundle(error.to_string());
            let rest = self.pulls.fail(catalog, image, failure.clone(), pauses);
            return Ok(failed(lookup, &failure, rest));
        }
        let json = |object: &ConfigMap| serde_json::to_value(object).map_err(ReconcileError::other);
        let action = Action::Replace { object: json(&wanted)?, observed: Some(json(&into)?) };
        let effect = Effect::new(target_of(&into), action);
        match self.interpreter.execute(&[effect]).await.pop() {
            Some(Outcome::Refused(refusal)) => Err(ReconcileError::from(refusal).into()),
            _ => read(lookup, &wanted),
        }
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
    awaited(lookup, QUIET)
}

fn failed(mut lookup: BundleLookup, failure: &Failure, rest: Duration) -> Progress {
    lookup::note_failed(&mut lookup, failure.reason, &failure.message, clock::now());
    awaited(lookup, rest)
}

fn awaited(lookup: BundleLookup, look_again: Duration) -> Progress {
    Progress::Awaited { awaited: Awaited { lookup, cause: None }, look_again: Some(look_again) }
}
