//! From Subscriptions and catalogs to what an InstallPlan holds: the rows of spec catalog-operator
//! 9.2 (v0's `ResolveSteps`).
//!
//! Rows that are elsewhere: additional objects of a bundle, what a lookup records and rights of its
//! CSV are in `olm-lifecycle/src/install_plan/steps/tests.rs`, the predicate on chains that end in
//! failure in `olm-resolver/src/installed/replacement.rs`. Rows on API services are those on
//! definitions, since a resolution knows of APIs, whoever serves them: that owned and required API
//! services count is in `olm-resolver/src/request/objects.rs`. `TwoExistingOperatorsWithSameName` is
//! `no_updates`: a resolution is given the CSVs of one namespace and knows of no other; on a cluster
//! `cargo xtask scale installs` has one operator in each of many namespaces.
//!
//! Rows without a counterpart: `InitHooks` (nothing is registered at run time) and the instrumented
//! resolver (its one observation is made in `controllers/resolution/solve.rs`).

use std::sync::Arc;

use olm_lifecycle::install_plan::steps::{BundleInput, bundle_steps, subscription_name};
use olm_lifecycle::subscription::readiness::CsvState;
use olm_lifecycle::subscription::resolution::{Choice, Namespace, Selection, select};
use olm_resolver::{Resolver, SubscriptionFacts};
use olm_types::api::Subscription;
use olm_types::bundle::BundleContent;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Problem, VERSION_DEADLOCK, failure};

/// CSV steps with what they replace, Subscriptions of dependencies, then what becomes of the
/// Subscriptions.
fn steps(text: &str) -> String {
    let mut problem = Problem::read(text);
    // A name that ends in `-image` stands for a bundle that has to be unpacked.
    for entry in problem.entries.iter_mut().filter(|entry| entry.name.ends_with("-image")) {
        entry.content = BundleContent::Image("quay.io/test/bundle@sha256:abcd".into());
    }
    let resolution = problem.resolve(&Resolver::default()).unwrap();
    let choices: Vec<_> = resolution
        .chosen
        .iter()
        .map(|chosen| Choice {
            entry: Arc::clone(&chosen.entry),
            replaces: chosen.replaces.as_deref().map(str::to_owned),
            needed_by: chosen.needed_by.clone(),
            part: chosen.part,
        })
        .collect();
    let namespace = Namespace {
        name: "olm".to_owned(),
        subscriptions: problem.subscriptions.iter().map(subscription).collect(),
        csvs: problem.installed.iter().map(|csv| (csv.name.clone(), CsvState::default())).collect(),
        ..Namespace::default()
    };
    spelled(&select(&namespace, &choices))
}

fn spelled(selection: &Selection) -> String {
    let arrow = |name: &str, replaces: &str| match replaces {
        "" => name.to_owned(),
        replaces => format!("{name}->{replaces}"),
    };
    let csvs = selection.inline.iter().map(|choice| {
        let steps = bundle_steps(&bundle(choice), "olm").unwrap();
        let csv: Value =
            serde_json::from_str(steps[0].resource.manifest.as_ref().unwrap()).unwrap();
        arrow(&steps[0].resource.name, csv["spec"]["replaces"].as_str().unwrap_or_default())
    });
    let images = selection.images.iter().map(|(choice, path)| {
        assert_eq!(path, "quay.io/test/bundle@sha256:abcd");
        arrow(
            &format!("lookup:{}", choice.entry.name),
            choice.replaces.as_deref().unwrap_or_default(),
        )
    });
    let dependencies =
        selection.dependencies.iter().map(|entry| format!("sub:{}", subscription_name(entry)));
    let updates = selection.updates.iter().map(|(name, csv)| format!("{name}={csv}"));
    let words: Vec<_> = csvs.chain(images).chain(dependencies).chain(updates).collect();
    words.join(" ")
}

/// A bundle whose own `spec.replaces` is never what counts.
fn bundle(choice: &Choice) -> BundleInput {
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": &*choice.entry.name}, "spec": {"replaces": "of-the-bundle"},
    });
    BundleInput {
        entry: Arc::clone(&choice.entry),
        replaces: choice.replaces.clone(),
        csv_json: csv.to_string(),
        objects: vec![csv.to_string()],
    }
}

fn subscription(facts: &SubscriptionFacts) -> Arc<Subscription> {
    let catalog = facts.catalog.as_ref();
    let object = json!({
        "metadata": {"name": facts.name, "namespace": "olm"},
        "spec": {
            "name": facts.package, "channel": facts.channel, "startingCSV": facts.starting_csv,
            "source": catalog.map(|key| key.name.to_string()).unwrap_or_default(),
            "sourceNamespace": catalog.map(|key| key.namespace.to_string()).unwrap_or_default(),
        },
        "status": {"currentCSV": facts.current_csv, "installedCSV": facts.installed_csv, "lastUpdated": null},
    });
    Arc::new(serde_json::from_value(object).unwrap())
}

#[rstest]
#[case::subscription_omits_channel(
    "
    bundle package/channel*
    sub s package",
    "bundle s=bundle"
)]
#[case::no_dependencies(
    "
    a.v1 a/alpha
    sub a-alpha a/alpha",
    "a.v1 a-alpha=a.v1"
)]
#[case::resolve_one(
    "
    a.v1 a/alpha ?1
    b.v1 b/beta +1
    sub a-alpha a/alpha",
    "a.v1 b.v1 sub:b-beta-community-olm a-alpha=a.v1"
)]
#[case::resolve_one_bundle_path(
    "
    a.v1 a/alpha ?1
    b.v1-image b/beta +1
    sub a-alpha a/alpha",
    "a.v1 lookup:b.v1-image sub:b-beta-community-olm a-alpha=a.v1"
)]
#[case::no_updates(
    "
    a.v1 a/alpha
    csv a.v1
    sub a-alpha a/alpha is:a.v1",
    ""
)]
#[case::two_subscriptions_to_one_channel(
    "
    a.v1 a/alpha
    sub a-alpha a/alpha
    sub a-alpha-2 a/alpha",
    "a.v1 a-alpha=a.v1 a-alpha-2=a.v1"
)]
#[case::update_available(
    "
    a.v1 a/alpha
    a.v2 a/alpha ->a.v1
    csv a.v1 +1
    sub a-alpha a/alpha is:a.v1",
    "a.v2->a.v1 a-alpha=a.v2"
)]
#[case::update_from_another_package(
    "
    b.v2 b/alpha ->a.v1
    csv a.v1
    sub b-alpha b/alpha is:a.v1",
    "b.v2->a.v1 b-alpha=b.v2"
)]
#[case::update_from_a_bundle_path(
    "
    a.v2-image a/alpha ->a.v1
    csv a.v1 +1
    sub a-alpha a/alpha is:a.v1",
    "lookup:a.v2-image->a.v1 a-alpha=a.v2-image"
)]
#[case::no_running_operator(
    "
    a.v1 a/alpha
    sub a-alpha a/alpha is:a.v1",
    "a.v1"
)]
#[case::an_update_requires_another_operator(
    "
    a.v1 a/alpha
    a.v2 a/alpha ->a.v1 ?1
    b.v1 b/beta +1
    csv a.v1
    sub a-alpha a/alpha is:a.v1",
    "a.v2->a.v1 b.v1 sub:b-beta-community-olm a-alpha=a.v2"
)]
#[case::an_update_and_a_new_subscription(
    "
    a.v1 a/alpha
    a.v2 a/alpha ->a.v1 ?1
    b.v1 b/beta +1
    csv a.v1
    sub a-alpha a/alpha is:a.v1
    sub b-beta b/beta",
    "a.v2->a.v1 b.v1 a-alpha=a.v2 b-beta=b.v1"
)]
#[case::a_lost_operator_and_a_new_subscription(
    "
    a.v1 a/alpha
    b.v1 b/beta
    sub a-alpha a/alpha is:a.v1
    sub b-beta b/beta",
    "a.v1 b.v1 b-beta=b.v1"
)]
#[case::no_more_version_deadlock(VERSION_DEADLOCK, "a.v2->a.v1 b.v2->b.v1 a=a.v2 b=b.v2")]
#[case::owned_api_transfer(
    "
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1
    b.v1 b/alpha ?1
    b.v2 b/alpha ->b.v1 +1
    csv a.v1 +1
    csv b.v1 ?1
    sub a-alpha a/alpha is:a.v1
    sub b-alpha b/alpha is:b.v1",
    "a.v2->a.v1 b.v2->b.v1 a-alpha=a.v2 b-alpha=b.v2"
)]
#[case::picks_older_provider(
    "
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1
    b.v1 b/alpha ?1
    sub b-alpha b/alpha",
    "a.v1 b.v1 sub:a-alpha-community-olm b-alpha=b.v1"
)]
#[case::skip_range_of_the_head(
    "
    a.v1 a/alpha
    a.v2 a/alpha ->a.v1
    a.v3@1.0.0 a/alpha ->a.v2 range:<_1.0.0
    csv a.v1@0.0.0
    sub a-alpha a/alpha is:a.v1",
    "a.v3->a.v1 a-alpha=a.v3"
)]
#[case::old_csvs_replaced(
    "
    a.v1 a/alpha ?1
    a.v2 a/alpha ->a.v1
    b.v1 b/beta +1
    b.v2 b/beta ->b.v1
    csv a.v1 ?1
    csv b.v1 +1
    sub a-alpha a/alpha is:a.v1
    sub b-beta b/beta is:b.v1",
    "a.v2->a.v1 b.v2->b.v1 a-alpha=a.v2 b-beta=b.v2"
)]
#[case::skip_range_that_is_not_of_the_head(
    "
    a.v2@1.0.0 a/alpha range:<_1.0.0
    a.v3@1.0.0 a/alpha ->a.v2 range:<_1.0.0
    a.v4@1.0.0 a/alpha ->a.v3 range:<_1.0.0_!0.0.0
    csv a.v1@0.0.0
    sub a-alpha a/alpha is:a.v1",
    "a.v3->a.v1 a-alpha=a.v3"
)]
#[case::starting_csv(
    "
    a.v1 a/alpha
    a.v2 a/alpha ->a.v1
    a.v3@1.0.0 a/alpha ->a.v2 range:<_1.0.0
    sub a-alpha a/alpha start:a.v2",
    "a.v2->a.v1 a-alpha=a.v2"
)]
#[case::specified_skips(
    "
    a.v1 a/alpha
    a.v2@1.0.0 a/alpha ->a.v1 ~a.v1
    a.v3@1.0.0 a/alpha ->a.v2 ~a.v1
    csv a.v1@0.0.0
    sub a-alpha a/alpha is:a.v1",
    "a.v3->a.v1 a-alpha=a.v3"
)]
#[case::fail_forward_over_two(
    "
    fail-forward
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1 +1
    a.v3 a/alpha ->a.v2 +1
    csv a.v1 +1 phase:Replacing
    csv a.v2 +1 ->a.v1 phase:Failed
    sub a-alpha a/alpha is:a.v2",
    "a.v3->a.v2 a-alpha=a.v3"
)]
#[case::fail_forward_over_three(
    "
    fail-forward
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1 +1
    a.v3 a/alpha ->a.v2 +1
    a.v4 a/alpha ->a.v3 +1
    csv a.v1 +1 phase:Replacing
    csv a.v2 +1 ->a.v1 phase:Replacing
    csv a.v3 +1 ->a.v2 phase:Failed
    sub a-alpha a/alpha is:a.v3",
    "a.v4->a.v3 a-alpha=a.v4"
)]
fn rows(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(steps(text), expected);
}

#[rstest]
#[case::no_candidates("
    catalog olm/community
    sub a-alpha a/alpha", &["subscription a-alpha exists",
    "no operators found from catalog community in namespace olm referenced by subscription a-alpha"])]
#[case::no_candidates_in_package("
    b.v1 b/alpha
    sub a-alpha a/alpha", &["subscription a-alpha exists",
    "no operators found in package a in the catalog referenced by subscription a-alpha"])]
#[case::no_candidates_in_channel("
    a.v1 a/beta
    sub a-alpha a/alpha", &["subscription a-alpha exists",
    "no operators found in channel alpha of package a in the catalog referenced by subscription a-alpha"])]
#[case::no_candidates_with_the_starting_csv("
    a.v1 a/alpha
    sub a-alpha a/alpha start:notfound", &["subscription a-alpha exists",
    "no operators found with name notfound in channel alpha of package a in the catalog referenced by subscription a-alpha"])]
#[case::dependency_missing("
    a.v1 a/alpha ?1
    sub a-alpha a/alpha", &["subscription a-alpha requires community/olm/alpha/a.v1",
    "bundle a.v1 requires an operator providing an API with group: g1, version: v1, kind: k1",
    "subscription a-alpha exists"])]
#[case::second_subscription_conflicts("
    a.v1 a/alpha +1
    b.v1 b/alpha +1
    csv a.v1 +1
    sub a-alpha a/alpha is:a.v1
    sub b-alpha b/alpha is:b.v1", &["constraints not satisfiable"])]
#[case::conflicting_subscriptions_to_one_package("
    a.v1 a/alpha
    a.v2 a/beta
    sub a-alpha a/alpha
    sub a-beta a/beta", &["constraints not satisfiable"])]
#[case::a_subscription_that_says_that_nothing_is_installed("
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1 +1
    csv a.v1 +1
    sub a-alpha a/alpha", &["clusterserviceversion a.v1 exists and is not referenced by a subscription"])]
#[case::fail_forward_disabled_over_two("
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1 +1
    a.v3 a/alpha ->a.v2 +1
    csv a.v1 +1 phase:Replacing
    csv a.v2 +1 ->a.v1 phase:Failed
    sub a-alpha a/alpha is:a.v2", &["constraints not satisfiable", "provide k1 (g1/v1)",
    "clusterserviceversion a.v1 exists and is not referenced by a subscription",
    "subscription a-alpha requires at least one of community/olm/alpha/a.v3 or @existing/olm//a.v2"])]
#[case::fail_forward_disabled_over_three("
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1 +1
    a.v3 a/alpha ->a.v2 +1
    a.v4 a/alpha ->a.v3 +1
    csv a.v1 +1 phase:Replacing
    csv a.v2 +1 ->a.v1 phase:Replacing
    csv a.v3 +1 ->a.v2 phase:Failed
    sub a-alpha a/alpha is:a.v3", &["provide k1 (g1/v1)", "exists and is not referenced by a subscription"])]
#[case::fail_forward_of_a_broken_chain("
    fail-forward
    a.v1 a/alpha +1
    a.v4 a/alpha ->a.v3 +1
    csv a.v1 +1 phase:Failed
    csv a.v2 +1 ->a.v1 phase:Failed
    csv a.v3 +1 ->a.v2 phase:Failed
    sub a-alpha a/alpha is:a.v3",
    &["error using catalogsource olm/@existing: csv", "in phase Failed instead of Replacing"])]
#[case::fail_forward_with_a_conflicting_provider("
    fail-forward
    a.v1 a/alpha +1
    a.v2 a/alpha ->a.v1 +1
    csv a.v1 +1 phase:Failed
    csv b.v1 +1 phase:Replacing
    sub a-alpha a/alpha is:a.v1",
    &["clusterserviceversion b.v1 exists and is not referenced by a subscription"])]
fn refusals(#[case] text: &str, #[case] expected: &[&str]) {
    let message = failure(text);
    for part in expected {
        assert!(message.contains(part), "{message}\n  lacks {part}");
    }
}
