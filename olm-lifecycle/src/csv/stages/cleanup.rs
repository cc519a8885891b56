//! What no garbage collector removes goes before the CSV does (spec olm-operator 1.9).

use olm_effect::{Action, Effect, Propagation};
use olm_types::api::ClusterServiceVersion;
use olm_types::finalizers::CSV_CLEANUP;
use serde_json::json;

use super::operator_group::lacking;
use super::{ApiNames, ForbiddenInstall, PackageServer, Stage, Verdict};
use crate::certificates;
use crate::csv::decision::Decision;
use crate::csv::observed::ClusterOwned;
use crate::csv::pass::Pass;
use crate::webhook::released;
use crate::writes::patch_metadata;

/// Stages between this one and the annotations of the OperatorGroup.
const BETWEEN: [&dyn Stage; 3] = [&PackageServer, &ForbiddenInstall, &ApiNames];

/// Puts the finalizer on a live CSV, together with the annotations that it gets next; on one that is being
/// deleted, removes the cluster-scoped objects with its labels and then the finalizer.
pub struct Cleanup;

impl Stage for Cleanup {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let is_going = observed.csv.metadata.deletion_timestamp.is_some();
        match (is_going, has_finalizer(&observed.csv)) {
            (false, true) => Verdict::Continue,
            (false, false) => Verdict::Stop(Decision::act(vec![add_finalizer(pass)])),
            (true, true) => Verdict::Stop(clean_up(pass)),
            (true, false) => Verdict::Stop(Decision::nothing()),
        }
    }
}

/// Deletes what is left. The finalizer goes only in a later pass that finds nothing left.
///
/// Definitions stay, and stop calling conversion webhooks that go, unless a replacement is there.
fn clean_up(pass: &Pass<'_>) -> Decision {
    let observed = pass.observed;
    let released = match pass.successor() {
        None => released(&observed.serving_csv(), true),
        Some(_) => Vec::new(),
    };
    let shared = certificates::left(observed);
    if observed.cluster_owned.is_empty() && released.is_empty() && shared.is_empty() {
        return Decision::act(vec![remove_finalizer(&observed.csv)]);
    }
    let left = observed.cluster_owned.iter().filter(|owned| !owned.is_going);
    let waiting = observed.cluster_owned.iter().map(|owned| owned.target.to_string());
    let waiting = format!("waiting to be deleted: {}", waiting.collect::<Vec<_>>().join(", "));
    Decision::act(left.map(delete).chain(released).chain(shared).collect()).note(waiting)
}

fn delete(owned: &ClusterOwned) -> Effect {
    let action = Action::Delete {
        uid: owned.uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Effect::new(owned.target.clone(), action)
}

fn has_finalizer(csv: &ClusterServiceVersion) -> bool {
    finalizers(csv).any(|name| name == CSV_CLEANUP)
}

fn finalizers(csv: &ClusterServiceVersion) -> impl Iterator<Item = &str> {
    csv.metadata.finalizers.iter().flatten().map(String::as_str)
}

fn add_finalizer(pass: &Pass<'_>) -> Effect {
    let csv = &pass.observed.csv;
    let all: Vec<&str> = finalizers(csv).chain([CSV_CLEANUP]).collect();
    let joins = BETWEEN.iter().all(|stage| stage.judge(pass) == Verdict::Continue);
    let annotations = lacking(pass.observed).filter(|lacking| joins && !lacking.is_empty());
    let metadata = match annotations {
        Some(annotations) => json!({"finalizers": all, "annotations": annotations}),
        None => json!({"finalizers": all}),
    };
    patch_metadata(csv, metadata)
}

fn remove_finalizer(csv: &ClusterServiceVersion) -> Effect {
    let rest: Vec<&str> = finalizers(csv).filter(|name| *name != CSV_CLEANUP).collect();
    patch_metadata(csv, json!({"finalizers": rest}))
}
