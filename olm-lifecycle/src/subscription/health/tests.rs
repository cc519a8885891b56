//! Health of catalogs on Subscriptions: the rows of spec catalog-operator 9.5. Those on reconcilers
//! are in `subscription/sync/tests.rs`.

use rstest::rstest;

use super::*;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn spec() -> SubscriptionSpec {
    SubscriptionSpec {
        source: "cs-0".to_owned(),
        source_namespace: "ns".to_owned(),
        ..SubscriptionSpec::default()
    }
}

fn health(entries: &[(&str, &str, bool)]) -> Vec<SubscriptionCatalogHealth> {
    let entry = |(namespace, name, healthy): &(&str, &str, bool)| SubscriptionCatalogHealth {
        catalog_source_ref: ObjectReference {
            namespace: Some((*namespace).to_owned()),
            name: Some((*name).to_owned()),
            uid: Some(format!("{namespace}/{name}")),
            ..ObjectReference::default()
        },
        healthy: *healthy,
        ..SubscriptionCatalogHealth::default()
    };
    entries.iter().map(entry).collect()
}

fn condition(status: &str, reason: &str, message: &str) -> SubscriptionCondition {
    SubscriptionCondition {
        type_: CATALOG_SOURCES_UNHEALTHY.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        ..SubscriptionCondition::default()
    }
}

const HEALTHY: (&str, &str, &str) =
    ("False", "AllCatalogSourcesHealthy", "all available catalogsources are healthy");
const UNHEALTHY: (&str, &str, &str) =
    ("True", "UnhealthyCatalogSourceFound", "targeted catalogsource ns/cs-0 unhealthy");
const NONE: (&str, &str, &str) =
    ("True", "NoCatalogSourcesFound", "dependency resolution requires at least one catalogsource");

type Reported = (&'static str, &'static str, &'static str);
type Health = &'static [(&'static str, &'static str, bool)];

const BAD: Health = &[("ns", "cs-0", false)];
const MIXED: Health = &[("ns", "cs-0", false), ("ns", "cs-1", true)];
const GOOD: Health = &[("ns", "cs-0", true), ("ns", "cs-1", true)];

#[rstest]
#[case::no_catalogs(&[], None, &[], Some(NONE))]
#[case::no_catalogs_again(&[], Some(NONE), &[], None)]
#[case::unhealthy_unreported(BAD, None, BAD, Some(UNHEALTHY))]
#[case::unhealthy_reported(MIXED, Some(UNHEALTHY), MIXED, None)]
#[case::recovered(MIXED, Some(UNHEALTHY), GOOD, Some(("False", "CatalogSourcesUpdated", HEALTHY.2)))]
#[case::replaced(
    MIXED, Some(HEALTHY), &[("ns", "cs-1", true), ("global", "cs-g", true)],
    Some(("True", "CatalogSourcesUpdated", "targeted catalogsource ns/cs-0 missing"))
)]
#[case::unchanged(GOOD, Some(HEALTHY), GOOD, None)]
#[case::reason_of_a_change_is_taken_back(GOOD, Some(("False", "CatalogSourcesAdded", HEALTHY.2)), GOOD, Some(HEALTHY))]
#[case::first_look(&[], None, GOOD, Some(HEALTHY))]
#[case::first_look_unhealthy(&[], None, BAD, Some(UNHEALTHY))]
#[case::added(&[("ns", "cs-0", true)], Some(HEALTHY), GOOD, Some(("False", "CatalogSourcesAdded", HEALTHY.2)))]
#[case::added_to_none(&[], Some(NONE), BAD, Some(("True", "CatalogSourcesAdded", UNHEALTHY.2)))]
#[case::deleted(GOOD, Some(HEALTHY), &[("ns", "cs-0", true)], Some(("False", "CatalogSourcesDeleted", HEALTHY.2)))]
#[case::last_deleted(BAD, Some(UNHEALTHY), &[], Some(("True", "CatalogSourcesDeleted", "targeted catalogsource ns/cs-0 missing")))]
#[case::another_unhealthy(
    GOOD, Some(HEALTHY), &[("ns", "cs-0", true), ("ns", "cs-1", false)],
    Some(("True", "CatalogSourcesUpdated", HEALTHY.2))
)]
fn transitions(
    #[case] old: Health,
    #[case] reported: Option<Reported>,
    #[case] new: Health,
    #[case] expected: Option<Reported>,
) {
    let build = |(status, reason, message): Reported| condition(status, reason, message);
    let before = SubscriptionStatus {
        catalog_health: health(old),
        conditions: reported.map(build).into_iter().collect(),
        ..SubscriptionStatus::default()
    };
    let after = reconcile(&before, &spec(), health(new), now());
    let found = after.as_ref().map(|status| status.conditions[0].clone());
    let timed = expected.map(build).map(|condition| SubscriptionCondition {
        last_transition_time: Some(Time(now())),
        ..condition
    });
    assert_eq!(found, timed);
    if let Some(status) = after {
        assert_eq!(status.catalog_health, health(new));
        assert_eq!(status.last_updated, Some(Time(now())));
    }
}
