//! What is recorded about a bundle image: the conditions of a bundle lookup.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::api::{BundleLookup, BundleLookupCondition};
use olm_types::conditions::bundle_lookup::{FAILED, NOT_PERSISTED, PENDING};
use olm_types::reasons::install_plan::{CATALOG_SOURCE_MISSING, JOB_INCOMPLETE};

use super::{attempts, waiting};

/// Where a bundle stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupState {
    /// Nothing is there yet.
    Pending,
    /// It is unavailable for now.
    Failed,
    /// It is not waited for any more.
    Done,
}

/// Where the bundle of a lookup stands.
pub fn state(lookup: &BundleLookup) -> LookupState {
    let holds = |kind| get(lookup, kind).is_some_and(|condition| condition.status == "True");
    match (holds(FAILED), holds(PENDING)) {
        (true, _) => LookupState::Failed,
        (false, true) => LookupState::Pending,
        (false, false) => LookupState::Done,
    }
}

/// The condition of that type.
pub fn get<'a>(lookup: &'a BundleLookup, kind: &str) -> Option<&'a BundleLookupCondition> {
    lookup.conditions.iter().find(|condition| condition.type_ == kind)
}

/// The CatalogSource of the bundle does not exist.
pub fn note_missing_catalog(lookup: &mut BundleLookup, now: Timestamp) {
    note_pending(lookup, CATALOG_SOURCE_MISSING, "referenced catalogsource not found", now);
}

/// Takes in how far the Job is; says where the bundle stands then. A Job that is done leaves the
/// lookup as it is: its ConfigMap has to be read first.
pub fn note_job(
    lookup: &mut BundleLookup,
    job: &Job,
    pods: &[Arc<Pod>],
    now: Timestamp,
) -> LookupState {
    if let Some(failure) = attempts::failure(job) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        note_failed(lookup, &text(&failure.reason), &text(&failure.message), now);
        return LookupState::Failed;
    }
    if attempts::is_complete(job) {
        return LookupState::Done;
    }
    let pods = waiting::waiting(job, pods);
    let message = match pods.as_str() {
        "" => "unpack job not completed".to_owned(),
        pods => waiting::advised(&format!("unpack job not completed: {pods}")),
    };
    note_pending(lookup, JOB_INCOMPLETE, &message, now);
    LookupState::Pending
}

/// The bundle is waited for, and why.
pub fn note_pending(lookup: &mut BundleLookup, reason: &str, message: &str, now: Timestamp) {
    set(lookup, PENDING, reason, message, now);
}

/// The bundle is unavailable for now, and why.
pub fn note_failed(lookup: &mut BundleLookup, reason: &str, message: &str, now: Timestamp) {
    set(lookup, FAILED, reason, message, now);
}

/// The bundle is there.
pub(crate) fn note_unpacked(lookup: &mut BundleLookup) {
    lookup.conditions.retain(|condition| condition.type_ != PENDING);
}

/// The bundle became steps.
pub(crate) fn note_persisted(lookup: &mut BundleLookup) {
    lookup.conditions.retain(|condition| condition.type_ != NOT_PERSISTED);
}

/// The transition time stays while status and reason do.
fn set(lookup: &mut BundleLookup, kind: &str, reason: &str, message: &str, now: Timestamp) {
    let known = get(lookup, kind)
        .filter(|known| known.status == "True" && known.reason.as_deref() == Some(reason));
    let since = known.map_or(Some(Time(now)), |known| known.last_transition_time.clone());
    let condition = BundleLookupCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_transition_time: since,
        ..BundleLookupCondition::default()
    };
    match lookup.conditions.iter_mut().find(|known| known.type_ == kind) {
        Some(known) => *known = condition,
        None => lookup.conditions.push(condition),
    }
}
