//! ClusterOperators: how OpenShift shows the state of OLM (spec olm-operator 6.7, 6.8; catalog-operator 8).
//!
//! The kind exists on OpenShift only, so it has no type of its own here: [`Status`] reads what is
//! needed of an object and puts it back beside whatever else is there. Nothing is written unless
//! a flag names the object.

mod compatibility;
mod object;
mod olm;
mod package_server;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use kube_core::ResourceExt;
use object::{create, write};
use olm_effect::Effect;
use olm_types::api::{InstallPlan, Subscription};
use serde_json::Value;

pub use compatibility::{Incompatible, ReleaseError};
pub use object::{API, Condition, RelatedObject, Status, VersionEntry};
pub use olm::{OlmReport, decide_olm};
pub use package_server::{PackageServerReport, decide_package_server};

#[cfg(test)]
pub(crate) use compatibility::incompatible_operators;

/// Under which name the version of OLM is reported, whatever the name of the ClusterOperator.
const OLM: &str = "operator-lifecycle-manager";

/// The version of the cluster that OLM belongs to.
const OPERATOR: &str = "operator";

/// What there is to report of a catalog-operator that does its work.
#[derive(Clone, Debug, Default)]
pub struct CatalogReport {
    /// Name of the ClusterOperator.
    pub name: String,
    /// The object, if it exists.
    pub live: Option<Value>,
    /// Subscriptions of OLM's namespace.
    pub subscriptions: Vec<Arc<Subscription>>,
    /// InstallPlans of OLM's namespace.
    pub plans: Vec<Arc<InstallPlan>>,
    /// Namespace of OLM.
    pub namespace: String,
    /// Version of OpenShift, as the environment says it.
    pub release: Option<String>,
    /// Version of OLM.
    pub olm_version: String,
}

/// Creates the object, or brings its status in step with the report.
pub fn decide_catalog(report: &CatalogReport, now: Timestamp) -> Option<Effect> {
    let Some(live) = &report.live else { return Some(create(&report.name)) };
    let mut status = Status::of(live);
    let release = report.release.as_deref().filter(|release| !release.is_empty());
    let is_new = release.is_some_and(|release| !says(&status, release));
    let deployed = format!("Deployed {}", report.olm_version);
    status.set_lasting("Degraded", false, "", now);
    status.set_lasting("Progressing", is_new, &deployed, now);
    status.set_lasting("Available", true, "", now);
    status.set_lasting("Upgradeable", true, "", now);
    status.versions = release.map(|release| versions(report, release)).unwrap_or_default();
    status.related_objects = related(report);
    write(&report.name, live, &status)
}

/// Whether the status reports this version of the cluster already.
fn says(status: &Status, release: &str) -> bool {
    status.versions.iter().any(|entry| entry.name == OPERATOR && entry.version == release)
}

fn versions(report: &CatalogReport, release: &str) -> Vec<VersionEntry> {
    let entry = |name: &str, version: &str| VersionEntry {
        name: name.to_owned(),
        version: version.to_owned(),
    };
    vec![entry(OPERATOR, release), entry(OLM, &report.olm_version)]
}

/// What installs operators in OLM's namespace, and that namespace.
fn related(report: &CatalogReport) -> Vec<RelatedObject> {
    let object = |resource: &str, name: String| RelatedObject {
        group: "operators.coreos.com".to_owned(),
        resource: resource.to_owned(),
        namespace: report.namespace.clone(),
        name,
    };
    let subscriptions =
        report.subscriptions.iter().map(|one| object("subscriptions", one.name_any()));
    let plans = report.plans.iter().map(|one| object("installplans", one.name_any()));
    let namespace = RelatedObject::namespace(&report.namespace);
    subscriptions.chain(plans).chain([namespace]).collect()
}
