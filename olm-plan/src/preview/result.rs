//! What a preview comes to, as a value that prints and serializes.

use std::collections::BTreeMap;

use olm_types::api::{Approval, Step};
use olm_types::hash::sha256_hex;
use serde::Serialize;
use serde_json::Value;

use super::change::{Action, Change, Written};
use super::comparable::comparable;
use super::permissions::Rights;

/// A bundle that would be installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bundle {
    /// Name of its CSV.
    pub csv: String,
    /// Its package.
    pub package: String,
    /// Its version, where it has one.
    pub version: Option<String>,
    /// The channel.
    pub channel: String,
    /// NAMESPACE/NAME of the catalog.
    pub catalog: String,
    /// The CSV that it replaces.
    pub replaces: Option<String>,
    /// Who asks for it, in the resolver's words.
    pub because: Vec<String>,
    /// Whether no Subscription asks for it.
    pub is_dependency: bool,
    /// What its catalog says about its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deprecated: Vec<String>,
}

/// One InstallPlan that would be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hop {
    /// The approval that it needs: `Manual` or `Automatic`.
    pub approval: &'static str,
    /// Whether annotations of its Subscriptions approve it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_approved: bool,
    /// What it installs. One approval approves all of it.
    pub bundles: Vec<Bundle>,
    /// Its steps as KIND/NAME, in order.
    pub steps: Vec<String>,
    /// What the steps write: manifests, or references to ConfigMaps that hold them.
    #[serde(skip)]
    pub manifests: Vec<String>,
}

impl Hop {
    /// Whether it waits for a user.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.approval == Approval::Manual.as_str() && !self.is_approved
    }

    /// Adds steps to those that are listed.
    pub(super) fn list(&mut self, steps: &[Step]) {
        let named = |step: &Step| format!("{}/{}", step.resource.kind, step.resource.name);
        self.steps.extend(steps.iter().map(named));
        let manifest = |step: &Step| step.resource.manifest.clone().unwrap_or_default();
        self.manifests.extend(steps.iter().map(manifest));
    }

    /// What counts of each manifest: the hash is the same before and after the InstallPlan is made.
    fn comparable(&self) -> Vec<Value> {
        let text = |manifest: &String| Value::String(manifest.clone());
        self.manifests.iter().map(|one| comparable(one).unwrap_or_else(|| text(one))).collect()
    }
}

/// What becomes of a CRD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrdVerdict {
    /// Its name.
    pub name: String,
    /// `new`, `unchanged`, `compatible`, `warning`, `refused`, or `stays`.
    pub verdict: &'static str,
    /// Why, with the field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Its custom resources; none when they could not be counted.
    pub custom_resources: Option<usize>,
}

impl CrdVerdict {
    /// The verdict in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let count = match self.custom_resources {
            None => "custom resources not counted".to_owned(),
            Some(count) => format!("{count} custom resources"),
        };
        let detail = if self.detail.is_empty() { "" } else { ": " };
        format!("{} {} ({count}){detail}{}", self.name, self.verdict, self.detail)
    }
}

/// Images before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Images {
    /// Those that are new.
    pub gained: Vec<String>,
    /// Those that go.
    pub lost: Vec<String>,
}

/// Copies of a CSV in other namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Copies {
    /// `Create` or `Delete`.
    pub action: Action,
    /// Name of the CSV.
    pub csv: String,
    /// In how many namespaces.
    pub namespaces: usize,
}

/// What would happen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// `install`, `upgrade` or `uninstall`.
    pub action: &'static str,
    /// The namespace.
    pub namespace: String,
    /// The package that was asked for.
    pub package: String,
    /// Name of its Subscription.
    pub subscription: String,
    /// InstallPlans, in the order in which they would be executed.
    pub hops: Vec<Hop>,
    /// CSVs that the same approvals approve and that are not of the package.
    pub also_approved: Vec<String>,
    /// Objects that change.
    pub changes: Vec<Change>,
    /// The same objects, whole.
    #[serde(skip)]
    pub written: Vec<Written>,
    /// Copies of CSVs in the namespaces that their OperatorGroup targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Copies>,
    /// CRDs that are concerned.
    pub crds: Vec<CrdVerdict>,
    /// Rights that change.
    pub rights: Rights,
    /// Images that change.
    pub images: Images,
    /// Why the package, or another Subscription, gets nothing: names and the resolver's explanation.
    pub refused: BTreeMap<String, String>,
    /// Upgrades that exist and are held back, by Subscription.
    pub blocked: BTreeMap<String, String>,
    /// What would fail.
    pub problems: Vec<String>,
    /// What is worth knowing, in the words of OLM's events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was not read: nothing is said about it.
    pub unknown: Vec<String>,
    /// Subscriptions that only the removed operator needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<String>,
    /// Custom resources of a removed operator, as KIND NAMESPACE/NAME.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<String>,
    /// What is written to begin an installation: Namespace, OperatorGroup and Subscription where they are
    /// missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub manifests: Vec<Value>,
    /// Hash of all of the above, and of what counts of the manifests of steps.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub plan_hash: String,
}

impl Preview {
    /// The same with its hash.
    #[must_use]
    pub fn hashed(mut self) -> Self {
        self.plan_hash.clear();
        let manifests: Vec<Vec<Value>> = self.hops.iter().map(Hop::comparable).collect();
        self.plan_hash = sha256_hex(serde_json::json!([self, manifests]).to_string());
        self
    }

    /// Whether anything would be written.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty() || !self.hops.is_empty()
    }
}
