//! What a cluster holds at one time.

use std::collections::BTreeSet;

use anyhow::Result;
use kube::{Client, ResourceExt};

use super::{Changes, PACKAGES, Pods};
use crate::deploy::{self, Options};
use crate::dump::{self, Dump, Key, Kinds};

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
        let kinds = Kinds::discover_apart_from(client, &[PACKAGES]).await?;
        let objects = dump::normalise(kinds.objects(client).await?);
        Ok(Self { pods: Pods::now(client).await?, objects })
    }

    /// Where an object is not what it was before, with the reasons.
    ///
    /// # Errors
    /// A file of `deploy/` is bad.
    pub fn changes(&self, before: &Self) -> Result<Changes> {
        Ok(Changes::explain(dump::diff(&before.objects, &self.objects), &applied()?))
    }
}

/// What our manifests apply, and v0's with them.
fn applied() -> Result<BTreeSet<Key>> {
    let key = |object: &kube::api::DynamicObject| Key {
        kind: deploy::kind(object).to_owned(),
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    };
    Ok(deploy::objects(&Options::default())?.iter().map(key).collect())
}
