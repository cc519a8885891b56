//! The ClusterOperator of the package server (spec olm-operator 6.8).
//!
//! v0 follows events; ours looks at what is there, so that nothing is missed over a restart: what
//! the object still shows of a CSV that is gone was uninstalled.

use std::sync::Arc;

use jiff::Timestamp;
use olm_effect::Effect;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::Value;

use super::object::{RelatedObject, Status, create, write};
use crate::csv::Chain;

/// The entry of the version of OpenShift.
const OPERATOR: &str = "operator";

/// What there is to report.
#[derive(Clone, Debug, Default)]
pub struct PackageServerReport {
    /// Name of the ClusterOperator.
    pub name: String,
    /// The object, if it exists.
    pub live: Option<Value>,
    /// The CSVs that are labelled with the name.
    pub csvs: Vec<Arc<ClusterServiceVersion>>,
    /// Version of OpenShift, as the environment says it.
    pub release: Option<String>,
}

/// Creates the object, or brings its status in step with the CSVs.
pub fn decide_package_server(report: &PackageServerReport, now: Timestamp) -> Option<Effect> {
    let Some(live) = &report.live else { return Some(create(&report.name)) };
    let mut status = Status::of(live);
    if status.conditions.is_empty() {
        begin(&report.name, &mut status, now);
    }
    let gone = forget(report, &mut status);
    match (active(report), gone) {
        (Some(csv), _) => follow(report, csv, &mut status, now),
        (None, Some(version)) => uninstalled(&version, &mut status, now),
        (None, None) => {}
    }
    write(&report.name, live, &status)
}

fn begin(name: &str, status: &mut Status, now: Timestamp) {
    status.say("Degraded", false, "", "", now);
    status.say("Available", false, "", "", now);
    status.say("Progressing", true, "", &format!("waiting for events - source={name}"), now);
}

/// The end of the chain of replacements among the labelled CSVs.
fn active(report: &PackageServerReport) -> Option<&ClusterServiceVersion> {
    let first = report.csvs.first()?;
    let chain = Chain::new(report.csvs.iter().map(AsRef::as_ref));
    Some(chain.last_replacement_of(first).unwrap_or(first))
}

/// Drops what is shown of CSVs that are gone; the version of the last of them.
fn forget(report: &PackageServerReport, status: &mut Status) -> Option<String> {
    let has = |name: &str| report.csvs.iter().any(|csv| csv.metadata.name.as_deref() == Some(name));
    let is_gone = |name: &str| name != OPERATOR && !has(name);
    let gone = status.versions.iter().rev().find(|entry| is_gone(&entry.name));
    let gone = gone.map(|entry| entry.version.clone());
    status.versions.retain(|entry| !is_gone(&entry.name));
    status
        .related_objects
        .retain(|object| object.resource != "clusterserviceversions" || has(&object.name));
    gone
}

/// Reports how far the CSV is.
fn follow(
    report: &PackageServerReport,
    csv: &ClusterServiceVersion,
    status: &mut Status,
    now: Timestamp,
) {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let name = csv.metadata.name.as_deref().unwrap_or_default();
    let version = csv.spec.version.as_deref().unwrap_or_default();
    status.relate(RelatedObject::namespace(namespace));
    status.relate(RelatedObject::csv(csv));
    status.say("Degraded", false, "", "", now);
    status.say("Upgradeable", true, "", "Safe to upgrade", now);
    let seen = csv.status.clone().unwrap_or_default();
    let observed = format!("ClusterServiceVersion {namespace}/{name} observed in phase");
    match seen.phase {
        CsvPhase::Succeeded => {
            let message = format!("{observed} Succeeded");
            status.say("Available", true, "ClusterServiceVersionSucceeded", &message, now);
            status.say("Progressing", false, "", &format!("Deployed version {version}"), now);
            status.set_version(OPERATOR, report.release.as_deref().unwrap_or_default());
            status.set_version(name, version);
        }
        CsvPhase::Failed => {
            let (reason, why) = (seen.reason.unwrap_or_default(), seen.message.unwrap_or_default());
            let message = format!("{observed} Failed with reason: {reason}, message: {why}");
            status.say("Available", false, "ClusterServiceVersionNotSucceeded", &message, now);
            status.say("Progressing", false, "", &format!("Failed to deploy {version}"), now);
        }
        CsvPhase::None
        | CsvPhase::Pending
        | CsvPhase::InstallReady
        | CsvPhase::Installing
        | CsvPhase::Replacing
        | CsvPhase::Deleting
        | CsvPhase::Unknown => {
            status.say("Progressing", true, "", &format!("Working toward {version}"), now);
        }
    }
}

fn uninstalled(version: &str, status: &mut Status, now: Timestamp) {
    let message = format!("Uninstalled version {version}");
    status.say("Progressing", false, "", &message, now);
    status.say("Available", false, "ClusterServiceVersionDeleted", &message, now);
}
