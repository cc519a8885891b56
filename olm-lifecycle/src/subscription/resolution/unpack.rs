//! What Subscriptions say while bundles are unpacked (spec catalog-operator 2.3, step 7).
//!
//! Texts are v0's, and after them comes the cause, where it is known: v0 knows it only as long as
//! a Pod waits, and a Job that ran out of time takes its Pods with it. So the cause is kept in the
//! condition, from one to the next.

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_effect::{Effect, EventNote, EventType};
use olm_types::api::{
    BundleLookup, BundleLookupCondition, Subscription, SubscriptionCondition, SubscriptionStatus,
};
use olm_types::conditions::bundle_lookup::{FAILED, PENDING};
use olm_types::conditions::subscription::{
    BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, RESOLUTION_FAILED,
};
use olm_types::reasons::install_plan::JOB_INCOMPLETE;
use olm_types::reasons::{event, subscription as reasons};

use super::super::conditions;
use super::{KeptBack, Namespace, Spec, kept_back, write};
use crate::unpack::{lookup, waiting::PULL_ADVICE};
use crate::writes::target_of;

/// Between v0's text and the cause.
const CAUSE: &str = "Cause: ";

/// What v0 advises after a failure.
const ADVICE: &str = "Auto-retry in ~5 min after job cleanup (TTL). Common causes: Missing ICSP \
    (ppc64le/s390x/arm64), auth failure, invalid image. Manual retry: in the CatalogSource \
    namespace, run `kubectl get jobs -l operatorframework.io/bundle-unpack-ref` and delete the \
    specific failing job.";

/// A bundle that is not unpacked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Awaited {
    /// What is recorded about it.
    pub lookup: BundleLookup,
    /// What stands in the way, if that is known.
    pub cause: Option<String>,
}

/// Reports that bundles are being unpacked, and whose upgrades are blocked. What is unpacked was resolved, which v0 says
/// only afterwards.
pub fn unpacking(
    namespace: &Namespace,
    awaited: &[Awaited],
    kept_back: &KeptBack,
    now: Timestamp,
) -> Vec<Effect> {
    let advice = awaited.iter().any(|awaited| cannot_be_pulled(&awaited.lookup));
    let advice = advice.then(|| format!("Bundle image pull failed. {PULL_ADVICE}"));
    let message = with_cause(advice, cause(awaited));
    let condition = conditions::holding(BUNDLE_UNPACKING, reasons::UNPACKING_IN_PROGRESS, message);
    let writes = namespace.subscriptions.iter().filter_map(|subscription| {
        let mut status = subscription.status.clone().unwrap_or_default();
        report(&mut status, condition.clone());
        conditions::remove(&mut status, &[RESOLUTION_FAILED]);
        kept_back::report(&mut status, subscription, kept_back);
        write(namespace, subscription, status, None, Spec::Resolved, now)
    });
    writes.collect()
}

/// Reports that a bundle could not be unpacked, and, where that is news, has an event say so, too;
/// and whose upgrades are blocked.
pub fn unpack_failed(
    namespace: &Namespace,
    awaited: &[Awaited],
    kept_back: &KeptBack,
    now: Timestamp,
) -> Vec<Effect> {
    let failed = awaited.iter().find_map(|awaited| {
        let failure = lookup::get(&awaited.lookup, FAILED).filter(|failure| holds(failure))?;
        Some((failure, awaited.cause.clone()))
    });
    let Some((failure, cause)) = failed else { return Vec::new() };
    let (mut writes, mut events) = (Vec::new(), Vec::new());
    for subscription in &namespace.subscriptions {
        let mut status = subscription.status.clone().unwrap_or_default();
        let reported = reported(&status, failure, cause.clone());
        let condition = conditions::holding(
            BUNDLE_UNPACK_FAILED,
            reasons::BUNDLE_UNPACK_FAILED,
            Some(reported),
        );
        let news = report(&mut status, condition);
        conditions::remove(&mut status, &[BUNDLE_UNPACKING, RESOLUTION_FAILED]);
        kept_back::report(&mut status, subscription, kept_back);
        writes.extend(write(namespace, subscription, status, None, Spec::Resolved, now));
        if news {
            events.push(note(subscription, failure));
        }
    }
    writes.into_iter().chain(events).collect()
}

/// v0's text about a failure, and its cause: the one that is known now, or was known a moment ago.
fn reported(
    status: &SubscriptionStatus,
    failure: &BundleLookupCondition,
    cause: Option<String>,
) -> String {
    let text = failure_text(failure);
    let advised = ["Auto-retry", "Common causes"].iter().any(|word| text.contains(word));
    let text = if advised { text } else { format!("{text}. {ADVICE}") };
    let unpacking = conditions::get(status, BUNDLE_UNPACKING);
    let earlier = match unpacking {
        Some(unpacking) => cause_in(unpacking),
        None => conditions::get(status, BUNDLE_UNPACK_FAILED)
            .filter(|failed| message(failed).starts_with(&text))
            .and_then(cause_in),
    };
    with_cause(Some(text), cause.or(earlier)).unwrap_or_default()
}

fn failure_text(failure: &BundleLookupCondition) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    format!("Bundle unpacking failed - {}: {}", text(&failure.reason), text(&failure.message))
}

fn note(subscription: &Subscription, failure: &BundleLookupCondition) -> Effect {
    let note = EventNote {
        event_type: EventType::Warning,
        reason: event::BUNDLE_UNPACK_FAILED.to_owned(),
        message: format!("{}. {ADVICE}", failure_text(failure)),
        uid: subscription.uid(),
        field_path: None,
    };
    Effect::event(target_of(subscription), note)
}

fn cannot_be_pulled(lookup: &BundleLookup) -> bool {
    let pending = lookup::get(lookup, PENDING)
        .filter(|pending| holds(pending) && pending.reason.as_deref() == Some(JOB_INCOMPLETE));
    let message = pending.and_then(|pending| pending.message.as_deref()).unwrap_or_default();
    message.contains("ImagePullBackOff") || message.contains("ErrImagePull")
}

fn cause(awaited: &[Awaited]) -> Option<String> {
    awaited.iter().find_map(|awaited| awaited.cause.clone())
}

fn with_cause(text: Option<String>, cause: Option<String>) -> Option<String> {
    let cause = cause.map(|cause| format!("{CAUSE}{cause}"));
    match (text, cause) {
        (Some(text), Some(cause)) => Some(format!("{text} {cause}")),
        (text, cause) => text.or(cause),
    }
}

fn cause_in(condition: &SubscriptionCondition) -> Option<String> {
    message(condition).split_once(CAUSE).map(|(_, cause)| cause.to_owned())
}

fn message(condition: &SubscriptionCondition) -> &str {
    condition.message.as_deref().unwrap_or_default()
}

fn holds(condition: &BundleLookupCondition) -> bool {
    condition.status == "True"
}

/// Sets the condition; says whether that changed anything.
fn report(status: &mut SubscriptionStatus, condition: SubscriptionCondition) -> bool {
    let known = conditions::get(status, &condition.type_);
    let news = known.is_none_or(|known| !conditions::same(known, &condition));
    if news {
        conditions::set(status, condition);
    }
    news
}
