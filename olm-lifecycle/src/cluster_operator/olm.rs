//! The ClusterOperator of OLM itself (spec olm-operator 6.7).

use std::sync::Arc;

use jiff::Timestamp;
use olm_effect::Effect;
use olm_types::api::ClusterServiceVersion;
use serde_json::Value;

use super::compatibility::incompatible_operators;
use super::object::{RelatedObject, Status, VersionEntry, create, write};

/// Most operators that a message names: users write CSVs, and the status has to fit into a request.
const LISTED: usize = 100;

/// What there is to report.
#[derive(Clone, Debug, Default)]
pub struct OlmReport {
    /// Name of the ClusterOperator.
    pub name: String,
    /// The object, if it exists.
    pub live: Option<Value>,
    /// The CSVs of the cluster, copies left out.
    pub csvs: Vec<Arc<ClusterServiceVersion>>,
    /// Namespace of OLM.
    pub namespace: String,
    /// Whether any CSV has been looked at without an error.
    pub has_worked: bool,
    /// Version of OpenShift, as the environment says it.
    pub release: Option<String>,
    /// Version of OLM.
    pub olm_version: String,
}

/// Creates the object, or brings its status in step with the report.
pub fn decide_olm(report: &OlmReport, now: Timestamp) -> Option<Effect> {
    let Some(live) = &report.live else { return Some(create(&report.name)) };
    let mut status = Status::of(live);
    relate(report, &mut status);
    let targets = targets(report);
    if report.has_worked {
        status.versions.clone_from(&targets);
    }
    let is_ok = report.has_worked && is_same_set(&status.versions, &targets);
    say(report, &mut status, is_ok, now);
    write(&report.name, live, &status)
}

/// The CSVs of OLM's namespace; an earlier list stays while there are none.
fn relate(report: &OlmReport, status: &mut Status) {
    let here = report
        .csvs
        .iter()
        .filter(|csv| csv.metadata.namespace.as_deref() == Some(report.namespace.as_str()));
    let related: Vec<RelatedObject> = here.map(|csv| RelatedObject::csv(csv)).collect();
    if !related.is_empty() {
        status.related_objects = related;
    }
}

fn targets(report: &OlmReport) -> Vec<VersionEntry> {
    let release = report.release.clone().unwrap_or_default();
    vec![
        VersionEntry { name: "operator".to_owned(), version: release },
        VersionEntry { name: report.name.clone(), version: report.olm_version.clone() },
    ]
}

fn is_same_set(left: &[VersionEntry], right: &[VersionEntry]) -> bool {
    let sorted = |entries: &[VersionEntry]| {
        let mut entries = entries.to_vec();
        entries.sort();
        entries
    };
    sorted(left) == sorted(right)
}

fn say(report: &OlmReport, status: &mut Status, is_ok: bool, now: Timestamp) {
    let version = &report.olm_version;
    let waiting = "Waiting for updates to take effect";
    let (progress, degraded) = match is_ok {
        true => (format!("Deployed {version}"), ""),
        false => (format!("Waiting to see update {version} succeed"), waiting),
    };
    status.say("Progressing", !is_ok, "", &progress, now);
    status.say("Available", is_ok, "", "", now);
    status.say("Degraded", !is_ok, "", degraded, now);
    if is_ok {
        say_upgradeable(report, status, now);
    } else {
        status.say("Upgradeable", false, "", waiting, now);
    }
}

fn say_upgradeable(report: &OlmReport, status: &mut Status, now: Timestamp) {
    let csvs = report.csvs.iter().map(AsRef::as_ref);
    match incompatible_operators(report.release.as_deref(), csvs) {
        Err(error) => {
            let message = format!(
                "Encountered errors while checking compatibility with the next minor version of \
                 OpenShift: {error}"
            );
            let reason = "ErrorCheckingOperatorCompatibility";
            status.say("Upgradeable", false, reason, &message, now);
        }
        Ok(blocking) if !blocking.is_empty() => {
            let mut lines: String =
                blocking.iter().take(LISTED).map(|one| format!("\n- {one}")).collect();
            if blocking.len() > LISTED {
                lines.push_str(&format!("\n- and {} more", blocking.len().saturating_sub(LISTED)));
            }
            let message = format!(
                "ClusterServiceVersions blocking minor version upgrades to 4.23 or major version \
                 upgrades to 5.0:{lines}"
            );
            status.say("Upgradeable", false, "IncompatibleOperatorsInstalled", &message, now);
        }
        Ok(_) => status.say("Upgradeable", true, "", "", now),
    }
}
