//! While bundles of a solution are unpacked, and after that failed.

use olm_types::bundle::BundleContent;
use olm_types::conditions::readiness;
use serde_json::json;

use super::*;
use crate::install_plan::steps;
use crate::unpack::lookup::{note_failed, note_pending};
use crate::unpack::{Unpacked, UnpackedBundle};

fn image_entry(package: &str, name: &str) -> Arc<olm_types::bundle::Entry> {
    let mut entry = Arc::unwrap_or_clone(entry(package, "alpha", name));
    entry.content = BundleContent::Image(format!("quay.io/{name}").into());
    Arc::new(entry)
}

fn lookup() -> BundleLookup {
    steps::bundle_lookup(&image_entry("a", "a.v1"), "quay.io/a.v1", None).unwrap()
}

fn pending(message: &str, cause: Option<&str>) -> Vec<Awaited> {
    let mut lookup = lookup();
    note_pending(&mut lookup, "JobIncomplete", message, now());
    vec![Awaited { lookup, cause: cause.map(str::to_owned) }]
}

fn failed(reason: &str, message: &str, cause: Option<&str>) -> Vec<Awaited> {
    let mut lookup = lookup();
    note_failed(&mut lookup, reason, message, now());
    vec![Awaited { lookup, cause: cause.map(str::to_owned) }]
}

/// The namespace after the effects were carried out.
fn after(namespace: &Namespace, effects: &[Effect]) -> Namespace {
    let written = written(effects);
    let mut namespace = namespace.clone();
    for subscription in &mut namespace.subscriptions {
        let subscription = Arc::make_mut(subscription);
        if let Some(status) = written.get(subscription.metadata.name.as_ref().unwrap()) {
            subscription.status = Some(status.clone());
        }
    }
    namespace
}

/// `type/reason: message` of the conditions about unpacking.
fn reported(namespace: &Namespace) -> Vec<String> {
    let status = namespace.subscriptions[0].status.as_ref().unwrap();
    let conditions =
        status.conditions.iter().filter(|condition| condition.type_.contains("Unpack"));
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    conditions.map(|c| format!("{}/{}: {}", c.type_, text(&c.reason), text(&c.message))).collect()
}

fn subscribed() -> Namespace {
    namespace(vec![subscription("a", "alpha", ""), subscription("b", "alpha", "")])
}

#[test]
fn every_subscription_of_the_namespace_says_it_once() {
    let namespace = subscribed();
    let effects = unpacking(
        &namespace,
        &pending("unpack job not completed", None),
        &KeptBack::default(),
        now(),
    );
    assert_eq!(written(&effects).len(), 2);
    let namespace = after(&namespace, &effects);
    assert_eq!(reported(&namespace), ["BundleUnpacking/UnpackingInProgress: "]);
    assert_eq!(
        unpacking(
            &namespace,
            &pending("unpack job not completed", None),
            &KeptBack::default(),
            now()
        ),
        []
    );
}

/// What is unpacked, or was tried, was resolved: that it could not be is no longer true.
#[test]
fn what_is_unpacked_was_resolved() {
    let mut namespace = subscribed();
    let refused = json!({"conditions": [{"type": "ResolutionFailed", "status": "True"}]});
    Arc::make_mut(&mut namespace.subscriptions[0]).status =
        serde_json::from_value(refused).unwrap();
    let said = |effects: Vec<Effect>| {
        let after = after(&namespace, &effects);
        let status = after.subscriptions[0].status.clone().unwrap();
        let types = status.conditions.into_iter().map(|condition| condition.type_);
        types.filter(|kind| !readiness::ALL.contains(&kind.as_str())).collect::<Vec<_>>()
    };
    let (awaited, kept_back) = (pending("unpack job not completed", None), KeptBack::default());
    assert_eq!(said(unpacking(&namespace, &awaited, &kept_back, now())), ["BundleUnpacking"]);
    let failed = failed("BackoffLimitExceeded", "", None);
    assert_eq!(said(unpack_failed(&namespace, &failed, &kept_back, now())), ["BundleUnpackFailed"]);
}

#[test]
fn an_image_that_cannot_be_pulled_is_reported_with_advice_and_cause() {
    let awaited = pending("x: Reason: ErrImagePull, Message: y", Some("the image z: not found"));
    let namespace = subscribed();
    let namespace =
        after(&namespace, &unpacking(&namespace, &awaited, &KeptBack::default(), now()));
    let [reported] = reported(&namespace).try_into().unwrap();
    let v0 = "BundleUnpacking/UnpackingInProgress: Bundle image pull failed. Common causes: \
              Missing ICSP (ppc64le/s390x/arm64), auth failure, invalid image. Job will retry \
              until timeout (~10 min), then auto-cleanup and retry in ~5 min. Manual retry: in the \
              CatalogSource namespace, run `kubectl get jobs -l \
              operatorframework.io/bundle-unpack-ref` and delete the specific failing job.";
    assert_eq!(reported, format!("{v0} Cause: the image z: not found"));
}

#[test]
fn a_failure_is_reported_as_v0_does_and_with_an_event() {
    let message = "Job was active longer than specified deadline";
    let namespace = subscribed();
    let effects = unpack_failed(
        &namespace,
        &failed("DeadlineExceeded", message, None),
        &KeptBack::default(),
        now(),
    );
    let v0 = "Bundle unpacking failed - DeadlineExceeded: Job was active longer than specified \
              deadline. Auto-retry in ~5 min after job cleanup (TTL). Common causes: Missing ICSP \
              (ppc64le/s390x/arm64), auth failure, invalid image. Manual retry: in the \
              CatalogSource namespace, run `kubectl get jobs -l \
              operatorframework.io/bundle-unpack-ref` and delete the specific failing job.";
    assert_eq!(
        events(&effects),
        ["a-alpha", "b-alpha"]
            .map(|name| format!("Subscription ns/{name} BundleUnpackFailed: {v0}"))
    );
    let namespace = after(&namespace, &effects);
    assert_eq!(reported(&namespace), [format!("BundleUnpackFailed/BundleUnpackFailed: {v0}")]);
    assert_eq!(
        unpack_failed(
            &namespace,
            &failed("DeadlineExceeded", message, None),
            &KeptBack::default(),
            now()
        ),
        []
    );
}

#[test]
fn advice_is_not_given_twice() {
    let awaited = failed("X", "no. Common causes: many", None);
    let namespace =
        after(&subscribed(), &unpack_failed(&subscribed(), &awaited, &KeptBack::default(), now()));
    let failed = "BundleUnpackFailed/BundleUnpackFailed: Bundle unpacking failed - X: no. Common \
                  causes: many";
    assert_eq!(reported(&namespace), [failed]);
}

/// A Job that runs out of time takes its Pods along, and with them what they said.
#[test]
fn the_cause_outlives_the_pods() {
    let waiting = pending("ErrImagePull", Some("the image z: not found"));
    let gone = failed("DeadlineExceeded", "too long", None);
    let namespace =
        after(&subscribed(), &unpacking(&subscribed(), &waiting, &KeptBack::default(), now()));
    let namespace =
        after(&namespace, &unpack_failed(&namespace, &gone, &KeptBack::default(), now()));
    let [reported_then] = reported(&namespace).try_into().unwrap();
    assert!(
        reported_then.ends_with("failing job. Cause: the image z: not found"),
        "{reported_then}"
    );
    assert_eq!(unpack_failed(&namespace, &gone, &KeptBack::default(), now()), []);
    // The next try begins without it.
    let retried =
        after(&namespace, &unpacking(&namespace, &pending("", None), &KeptBack::default(), now()));
    assert_eq!(reported(&retried).len(), 2);
    let again = after(&retried, &unpack_failed(&retried, &gone, &KeptBack::default(), now()));
    assert!(!reported(&again)[0].contains("Cause: "), "{:?}", reported(&again));
}

#[test]
fn a_plan_of_unpacked_bundles_refers_to_them_and_says_so() {
    let namespace = subscribed();
    let choices =
        [choice(image_entry("a", "a.v1"), "a.v0"), choice(entry("b", "alpha", "b.v1"), "")];
    let selection = select(&namespace, &choices);
    let (chosen, image) = &selection.images[0];
    let lookup = steps::bundle_lookup(&chosen.entry, image, chosen.replaces.as_deref()).unwrap();
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": "a.v1"},
    })
    .to_string();
    let bundle =
        UnpackedBundle { csv_name: "a.v1".to_owned(), csv_json: csv.clone(), objects: vec![csv] };
    let unpacked = Unpacked::new(lookup, chosen.entry.clone(), bundle).unwrap();
    let request = plan(&namespace, &selection, &fetch(&selection), &[unpacked]).unwrap().unwrap();
    let names: Vec<_> = request.steps.iter().map(|step| step.resource.name.as_str()).collect();
    assert_eq!(names, ["b.v1", "a.v1"]);
    assert_eq!(request.object(&[]).spec.cluster_service_version_names, ["b.v1", "a.v1"]);
    let [lookup] = request.status().bundle_lookups.try_into().unwrap();
    assert_eq!((lookup.identifier.as_str(), lookup.conditions.len()), ("a.v1", 0));
    assert!(
        request.steps[1].resource.manifest.as_deref().unwrap().contains("\"kind\":\"ConfigMap\"")
    );
}

/// A Subscription that is at the bundle already while its CSV is away.
#[test]
fn what_no_subscription_would_follow_is_not_unpacked() {
    let choices = [choice(image_entry("a", "a.v1"), "")];
    let fresh = namespace(vec![subscription("a", "alpha", "")]);
    assert!(select(&fresh, &choices).needs_images());
    let followed = namespace(vec![subscription("a", "alpha", "a.v1")]);
    let selection = select(&followed, &choices);
    assert_eq!((selection.images.len(), selection.needs_images()), (1, false));
}
