//! What was written, reduced to what readiness is judged by: so that equal states are one.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use olm_types::conditions::readiness::{READY, RECONCILING, STALLED};
use olm_types::conditions::subscription as conditions;
use serde_json::{Value, json};

/// Conditions that say something about readiness, here or to Argo CD.
const KEPT: [&str; 8] = [
    READY,
    RECONCILING,
    STALLED,
    conditions::CATALOG_SOURCES_UNHEALTHY,
    conditions::RESOLUTION_FAILED,
    conditions::INSTALL_PLAN_PENDING,
    conditions::INSTALL_PLAN_FAILED,
    conditions::INSTALL_PLAN_MISSING,
];

/// A state as the text of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State(String);

impl State {
    /// The object as JSON.
    pub(super) fn text(&self) -> String {
        self.0.clone()
    }

    /// The object.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Its kind.
    pub(super) fn kind(&self) -> String {
        self.value()["kind"].as_str().unwrap_or_default().to_owned()
    }

    /// The reason of its condition Ready.
    pub(super) fn reason(&self) -> String {
        let value = self.value();
        let all = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let ready = all.into_iter().find(|one| one["type"] == READY).unwrap_or_default();
        ready["reason"].as_str().unwrap_or_default().to_owned()
    }

    /// Whether its status names an installed CSV.
    pub(super) fn is_installed(&self) -> bool {
        self.value()["status"]["installedCSV"].is_string()
    }

    /// Whether it says that its InstallPlan has failed.
    pub(super) fn has_failed_plan(&self) -> bool {
        let value = self.value();
        let all = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.iter()
            .any(|one| one["type"] == conditions::INSTALL_PLAN_FAILED && one["status"] == "True")
    }

    /// Whether its spec is newer than what was taken into account.
    pub(super) fn is_behind(&self) -> bool {
        let value = self.value();
        let observed = &value["status"]["observedGeneration"];
        !observed.is_null() && *observed != value["metadata"]["generation"]
    }

    /// Of an object; none where nothing says how ready it is.
    fn of(object: &Value) -> Option<Self> {
        let status = &object["status"];
        let all = status["conditions"].as_array()?;
        all.iter().find(|one| one["type"] == READY)?;
        let kept = |one: &&Value| one["type"].as_str().is_some_and(|kind| KEPT.contains(&kind));
        let reduced = |one: &Value| json!({"type": one["type"], "status": one["status"], "reason": one["reason"]});
        let conditions: Vec<Value> = all.iter().filter(kept).map(reduced).collect();
        let (generation, observed) =
            (&object["metadata"]["generation"], &status["observedGeneration"]);
        let mut reduced = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {"name": "x", "namespace": "y", "generation": 1},
            "spec": {"installPlanApproval": object["spec"]["installPlanApproval"]},
            "status": {"conditions": conditions, "state": status["state"],
                "installedCSV": status["installedCSV"].as_str().map(|_| "x.v1")},
        });
        if !observed.is_null() {
            reduced["status"]["observedGeneration"] = json!(i64::from(observed == generation));
        }
        Some(Self(reduced.to_string()))
    }
}

/// The states that were written to a cluster with this audit log.
pub(super) fn written(audit_log: &Path) -> Result<Vec<State>> {
    let file = File::open(audit_log).context("cannot open the audit log")?;
    let mut states = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.context("cannot read the audit log")?;
        // The rest, by far the most, is not parsed.
        if !line.contains("\"requestObject\"") {
            continue;
        }
        // The last line of a cluster that was ended may be half of one.
        let Ok(entry) = serde_json::from_str::<Value>(&line) else { continue };
        let stored = entry["responseStatus"]["code"] == 200;
        states.extend(stored.then(|| State::of(&entry["requestObject"])).flatten());
    }
    Ok(states)
}
