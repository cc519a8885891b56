//! What a cluster holds that a take-over must not touch.

use std::collections::BTreeSet;

use anyhow::Result;
use kube::{Client, ResourceExt};

use super::{PACKAGE_SERVER, PACKAGES, Pods};
use crate::deploy::{self, Options};
use crate::dump::{self, Difference, Dump, Key, Kinds};

/// What is around the package server, or generated for the OperatorGroup that it is a member of.
const OF_THE_PACKAGE_SERVER: [&str; 4] =
    [PACKAGE_SERVER, "packagemanifest", PACKAGES, "olm-operators"];

/// What ours brings up to date, as kind and part of a path (docs/differences.md).
const REPAIRED: [(&str, &str); 4] = [
    ("ClusterRole", "ownerReferences[0].kind"),
    ("ClusterServiceVersion", "status.requirementStatus"),
    ("Operator", "status.components"),
    ("Subscription", "status.conditions"),
];

/// Pods and objects at one time.
#[derive(Clone, Debug)]
pub struct State {
    /// What runs.
    pub pods: Pods,
    objects: Dump,
}

impl State {
    /// That of now, apart from what OLM's manifests apply and what is around the package server.
    ///
    /// # Errors
    /// The objects cannot be listed, or a file of `deploy/` is bad.
    pub async fn now(client: &Client) -> Result<Self> {
        let kinds = Kinds::discover_apart_from(client, &[PACKAGES]).await?;
        let applied = applied()?;
        let mut objects = dump::normalise(kinds.objects(client).await?);
        objects.retain(|key, _| !applied.contains(key) && !is_of_olm(key));
        Ok(Self { pods: Pods::now(client).await?, objects })
    }

    /// Where an object is not what it was before, apart from what is repaired.
    pub fn differences(&self, before: &Self) -> Vec<Difference> {
        let mut all = dump::diff(&before.objects, &self.objects);
        let is_repaired = |one: &Difference| {
            REPAIRED.iter().any(|(kind, path)| one.object.kind == *kind && one.path.contains(path))
        };
        all.retain(|one| !is_repaired(one));
        all
    }
}

/// Definitions, ReplicaSets of the operators, and what names the package server.
fn is_of_olm(key: &Key) -> bool {
    let own = key.kind == "CustomResourceDefinition" && key.name.ends_with("operators.coreos.com");
    let set = key.kind == "ReplicaSet"
        && ["olm-operator-", "catalog-operator-"].iter().any(|name| key.name.starts_with(name));
    own || set || OF_THE_PACKAGE_SERVER.iter().any(|mark| key.name.contains(mark))
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
