//! What a Subscription says about deprecations in its catalog (spec catalog-operator 2.2,
//! Deprecations).

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::api::{SubscriptionCondition, SubscriptionSpec, SubscriptionStatus};
use olm_types::bundle::Entry;
use olm_types::conditions::subscription::{
    BUNDLE_DEPRECATED, CHANNEL_DEPRECATED, DEPRECATED, PACKAGE_DEPRECATED,
};

use super::conditions;

/// The entry of the installed bundle, among the entries of the Subscription's package in its
/// catalog: of the subscribed channel, or of the first channel that has it when none is named.
pub fn installed_entry<'a>(
    status: Option<&SubscriptionStatus>,
    spec: &SubscriptionSpec,
    package: &'a [Arc<Entry>],
) -> Option<&'a Arc<Entry>> {
    let installed = status?.installed_csv.as_deref()?;
    let channel = spec.channel.as_deref().unwrap_or_default();
    package.iter().find(|entry| {
        &*entry.name == installed && (channel.is_empty() || &*entry.channel == channel)
    })
}

/// The status with its deprecation conditions up to date; nothing when they are already. Without
/// the entry of the installed bundle what was said stays, as in v0.
pub fn reconcile(
    status: &SubscriptionStatus,
    spec: &SubscriptionSpec,
    entry: Option<&Entry>,
    now: Timestamp,
) -> Option<SubscriptionStatus> {
    let mut wanted = status.clone();
    let messages = messages(spec, entry?);
    for (kind, message) in &messages {
        report(&mut wanted, kind, message.as_deref(), now);
    }
    let all: Vec<_> = messages.into_iter().filter_map(|(_, message)| message).collect();
    report(&mut wanted, DEPRECATED, (!all.is_empty()).then(|| all.join("; ")).as_deref(), now);
    (wanted != *status).then_some(SubscriptionStatus { last_updated: Some(Time(now)), ..wanted })
}

/// By condition, in v0's order. A Subscription that names no channel gets nothing about one.
fn messages(spec: &SubscriptionSpec, entry: &Entry) -> [(&'static str, Option<String>); 3] {
    let deprecations = &entry.deprecations;
    let named = spec.channel.as_deref().is_some_and(|channel| !channel.is_empty());
    let text = |schema: &str, name: &str, message: Option<&Arc<str>>| {
        message.map(|message| format!("{schema}/{name}: {message}"))
    };
    let channel = deprecations.channel.as_ref().filter(|_| named);
    [
        (PACKAGE_DEPRECATED, text("olm.package", &entry.package, deprecations.package.as_ref())),
        (CHANNEL_DEPRECATED, text("olm.channel", &entry.channel, channel)),
        (BUNDLE_DEPRECATED, text("olm.bundle", &entry.name, deprecations.bundle.as_ref())),
    ]
}

/// A condition that says the same already keeps its time.
fn report(status: &mut SubscriptionStatus, kind: &str, message: Option<&str>, now: Timestamp) {
    let known = conditions::get(status, kind);
    let Some(message) = message else {
        if known.is_some_and(|condition| condition.status == "True") {
            conditions::remove(status, &[kind]);
        }
        return;
    };
    let reported = known.is_some_and(|condition| {
        condition.status == "True" && condition.message.as_deref() == Some(message)
    });
    if !reported {
        let condition = SubscriptionCondition {
            type_: kind.to_owned(),
            status: "True".to_owned(),
            message: Some(message.to_owned()),
            last_transition_time: Some(Time(now)),
            ..SubscriptionCondition::default()
        };
        conditions::set(status, condition);
    }
}

#[cfg(test)]
mod tests;
