//! Rows of spec catalog-operator 9.10 about what is recorded.

use olm_types::api::BundleLookupCondition;
use olm_types::hash::unpack_name;
use serde_json::json;

use super::lookup::{LookupState, get, note_job, note_missing_catalog, note_unpacked, state};
use super::*;

const PENDING: &str = "BundleLookupPending";

/// `status reason: message`.
fn words(condition: Option<&BundleLookupCondition>) -> String {
    let condition = condition.unwrap();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    format!("{} {}: {}", condition.status, text(&condition.reason), text(&condition.message))
}

#[test]
fn no_catalog_source() {
    let mut lookup = lookup();
    note_missing_catalog(&mut lookup, now());
    assert_eq!(
        words(get(&lookup, PENDING)),
        "True CatalogSourceMissing: referenced catalogsource not found"
    );
    let since = get(&lookup, PENDING).unwrap().last_transition_time.clone();
    assert_eq!(since.unwrap().0, now());
    assert_eq!(state(&lookup), LookupState::Pending);
}

#[test]
fn a_new_bundle() {
    let mut lookup = lookup();
    assert_eq!(state(&lookup), LookupState::Pending);
    let next = note_job(&mut lookup, &live("job", 10), &[], now());
    assert_eq!(next, LookupState::Pending);
    assert_eq!(words(get(&lookup, PENDING)), "True JobIncomplete: unpack job not completed");
}

#[test]
fn a_complete_job() {
    let mut lookup = lookup();
    let job = with_condition(live("job", 10), "Complete", "", 20);
    assert_eq!(note_job(&mut lookup, &job, &[], now()), LookupState::Done);
    note_unpacked(&mut lookup);
    assert!(get(&lookup, PENDING).is_none());
    assert_eq!(state(&lookup), LookupState::Done);
}

#[test]
fn an_image_that_cannot_be_pulled() {
    let (mut lookup, name) = (lookup(), unpack_name(IMAGE));
    let waiting =
        json!({"waiting": {"reason": "ErrImagePull", "message": "pod pending for some reason"}});
    let status = json!({"phase": "Pending", "initContainerStatuses": [
        {"name": "util", "ready": true, "image": "", "imageID": "", "restartCount": 0},
        {"name": "pull", "ready": false, "image": "", "imageID": "", "restartCount": 0, "state": waiting},
    ]});
    note_job(&mut lookup, &live(&name, 10), &[pod(&name, status)], now());
    assert_eq!(
        words(get(&lookup, PENDING)),
        format!(
            "True JobIncomplete: unpack job not completed: Unpack pod(ns-a/{name}-pod) \
             container(pull) is pending. Reason: ErrImagePull, Message: pod pending for some \
             reason. Common causes: Missing ICSP (ppc64le/s390x/arm64), auth failure, invalid \
             image. Job will retry until timeout (~10 min), then auto-cleanup and retry in ~5 \
             min. Manual retry: in the CatalogSource namespace, run `kubectl get jobs -l \
             operatorframework.io/bundle-unpack-ref` and delete the specific failing job."
        )
    );
}

#[test]
fn a_failed_job() {
    let mut lookup = lookup();
    let job = with_condition(live("job", 10), "Failed", "DeadlineExceeded", 20);
    assert_eq!(note_job(&mut lookup, &job, &[], now()), LookupState::Failed);
    let failure = get(&lookup, "BundleLookupFailed");
    assert_eq!(words(failure), "True DeadlineExceeded: DeadlineExceeded message");
    assert_eq!(state(&lookup), LookupState::Failed);
}

#[test]
fn the_transition_time_stays_while_the_reason_does() {
    let mut lookup = lookup();
    let job = live("job", 10);
    note_job(&mut lookup, &job, &[], at(20));
    let status = json!({"phase": "Pending", "initContainerStatuses": [
        {"name": "util", "ready": false, "image": "", "imageID": "", "restartCount": 0},
    ]});
    note_job(&mut lookup, &job, &[pod("job", status)], at(30));
    let pending = get(&lookup, PENDING).unwrap();
    assert_eq!(pending.last_transition_time.as_ref().unwrap().0, at(20));
    let message = pending.message.as_deref().unwrap();
    assert!(message.ends_with("Unpack pod(ns-a/job-pod) container(util) is pending"), "{message}");
}
