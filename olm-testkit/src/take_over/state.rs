//! What a cluster holds that a take-over must not touch.

use anyhow::Result;
use kube::Client;

use super::{PACKAGE_SERVER, Pods};
use crate::dump::{self, Difference, Dump, Kinds};

/// What differs on purpose: OLM's own objects, and what is around the package server.
const OWN: [&str; 8] = [
    "aggregate-olm",
    "catalog-operator",
    "olm-operator",
    "olm-operators",
    "operators.coreos.com",
    PACKAGE_SERVER,
    "packagemanifest",
    "system:controller:operator-lifecycle-manager",
];

/// Kinds whose objects the API server is told by others, and that it does not store.
const NOT_STORED: &str = "PackageManifest";

/// Pods and objects at one time.
#[derive(Clone, Debug)]
pub struct State {
    /// What runs.
    pub pods: Pods,
    objects: Dump,
}

impl State {
    /// That of now.
    ///
    /// # Errors
    /// The objects cannot be listed.
    pub async fn now(client: &Client) -> Result<Self> {
        let mut kinds = Kinds::discover(client).await?;
        kinds.forget(NOT_STORED);
        let mut objects = dump::normalise(kinds.objects(client).await?);
        objects.retain(|key, _| !OWN.iter().any(|own| key.name.contains(own)));
        Ok(Self { pods: Pods::now(client).await?, objects })
    }

    /// Where an object is not what it was before.
    pub fn differences(&self, before: &Self) -> Vec<Difference> {
        dump::diff(&before.objects, &self.objects)
    }
}
