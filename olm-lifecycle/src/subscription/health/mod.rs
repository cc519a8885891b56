//! What a Subscription says about its catalogs (spec catalog-operator 2.2, catalogHealthReconciler).

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_core::ResourceExt;
use olm_types::api::{
    CatalogSource, SubscriptionCatalogHealth, SubscriptionCondition, SubscriptionSpec,
    SubscriptionStatus,
};
use olm_types::conditions::subscription::CATALOG_SOURCES_UNHEALTHY;
use olm_types::reasons::subscription as reasons;

use super::conditions;
use crate::catalog_source;

/// Health of one catalog as it is recorded on Subscriptions.
pub fn entry(catalog: &CatalogSource, now: Timestamp) -> SubscriptionCatalogHealth {
    SubscriptionCatalogHealth {
        catalog_source_ref: ObjectReference {
            api_version: Some(CatalogSource::API_VERSION.to_owned()),
            kind: Some(CatalogSource::KIND.to_owned()),
            name: Some(catalog.name_any()),
            namespace: catalog.namespace(),
            uid: catalog.metadata.uid.clone(),
            resource_version: catalog.metadata.resource_version.clone(),
            ..ObjectReference::default()
        },
        last_updated: Some(Time(now)),
        healthy: catalog_source::is_healthy(catalog),
    }
}

/// The status with health entries and the condition CatalogSourcesUnhealthy up to date; nothing
/// when both are already. `health` is sorted by namespace and name.
///
/// The reasons CatalogSourcesAdded, -Updated and -Deleted say what changed and give way to the
/// plain state at the next look, as in v0. Unlike v0, a new Subscription says the plain state at once,
/// and a namespace without any catalog is written once, not at every look.
pub fn reconcile(
    status: &SubscriptionStatus,
    spec: &SubscriptionSpec,
    health: Vec<SubscriptionCatalogHealth>,
    now: Timestamp,
) -> Option<SubscriptionStatus> {
    let stored = conditions::get(status, CATALOG_SOURCES_UNHEALTHY);
    let change = match (stored, Change::between(&status.catalog_health, &health)) {
        // At the first look there is nothing that was added to.
        (None, Change::More) => Change::Nothing,
        (_, change) => change,
    };
    let condition = describe(change, spec, &health, stored);
    let reported = stored.is_some_and(|stored| conditions::same(stored, &condition));
    if reported && matches!(change, Change::Nothing | Change::NoneAtAll) {
        return None;
    }
    let mut wanted = status.clone();
    conditions::set(
        &mut wanted,
        SubscriptionCondition { last_transition_time: Some(Time(now)), ..condition },
    );
    wanted.catalog_health = health;
    wanted.last_updated = Some(Time(now));
    Some(wanted)
}

/// How the catalogs differ from the recorded ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    More,
    Fewer,
    NoneAtAll,
    Other,
    Nothing,
}

impl Change {
    fn between(old: &[SubscriptionCatalogHealth], new: &[SubscriptionCatalogHealth]) -> Self {
        let known = |entry: &SubscriptionCatalogHealth| new.iter().any(|other| same(entry, other));
        match (old.len(), new.len()) {
            (0, 0) => Self::NoneAtAll,
            (old, new) if new > old => Self::More,
            (old, new) if new < old => Self::Fewer,
            _ if old.iter().all(known) => Self::Nothing,
            _ => Self::Other,
        }
    }
}

/// Equal when the same catalog is as healthy.
fn same(a: &SubscriptionCatalogHealth, b: &SubscriptionCatalogHealth) -> bool {
    a.catalog_source_ref.uid == b.catalog_source_ref.uid && a.healthy == b.healthy
}

fn describe(
    change: Change,
    spec: &SubscriptionSpec,
    health: &[SubscriptionCatalogHealth],
    stored: Option<&SubscriptionCondition>,
) -> SubscriptionCondition {
    let (state, reason, message) = state_of(spec, health, stored);
    let (reason, message) = match change {
        Change::More => (reasons::CATALOG_SOURCES_ADDED, message),
        Change::Fewer => (reasons::CATALOG_SOURCES_DELETED, message),
        Change::Other => (reasons::CATALOG_SOURCES_UPDATED, message),
        Change::NoneAtAll => (
            reasons::NO_CATALOG_SOURCES_FOUND,
            Some("dependency resolution requires at least one catalogsource".to_owned()),
        ),
        Change::Nothing => (reason, message),
    };
    SubscriptionCondition {
        type_: CATALOG_SOURCES_UNHEALTHY.to_owned(),
        status: state.to_owned(),
        reason: Some(reason.to_owned()),
        message,
        ..SubscriptionCondition::default()
    }
}

/// With another catalog than the targeted one unhealthy, the message that was there stays, as in
/// v0.
fn state_of(
    spec: &SubscriptionSpec,
    health: &[SubscriptionCatalogHealth],
    stored: Option<&SubscriptionCondition>,
) -> (&'static str, &'static str, Option<String>) {
    let name = format!("{}/{}", spec.source_namespace, spec.source);
    let unhealthy = |message| ("True", reasons::UNHEALTHY_CATALOG_SOURCE_FOUND, message);
    match health.iter().find(|entry| is_target(entry, spec)) {
        None => unhealthy(Some(format!("targeted catalogsource {name} missing"))),
        Some(target) if !target.healthy => {
            unhealthy(Some(format!("targeted catalogsource {name} unhealthy")))
        }
        Some(_) if health.iter().any(|entry| !entry.healthy) => {
            unhealthy(stored.and_then(|condition| condition.message.clone()))
        }
        Some(_) => {
            let message = "all available catalogsources are healthy".to_owned();
            ("False", reasons::ALL_CATALOG_SOURCES_HEALTHY, Some(message))
        }
    }
}

fn is_target(entry: &SubscriptionCatalogHealth, spec: &SubscriptionSpec) -> bool {
    let reference = &entry.catalog_source_ref;
    reference.name.as_deref() == Some(spec.source.as_str())
        && reference.namespace.as_deref() == Some(spec.source_namespace.as_str())
}

#[cfg(test)]
mod tests;
