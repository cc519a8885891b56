//! What makes a resolution necessary again.

use std::sync::Arc;

use olm_catalog::snapshot::{CatalogSnapshot, SnapshotBuilder, SnapshotLimits, SnapshotSet};
use olm_lifecycle::subscription::resolution::Namespace;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

/// What a question is made of.
struct World {
    subscription: Value,
    csv: Value,
    catalog: Member,
    fail_forward: bool,
}

impl World {
    fn inputs(&self) -> Arc<Inputs> {
        let subscription: Subscription = serde_json::from_value(self.subscription.clone()).unwrap();
        let csv: ClusterServiceVersion = serde_json::from_value(self.csv.clone()).unwrap();
        let namespace = Namespace {
            name: "ns".to_owned(),
            subscriptions: vec![Arc::new(subscription)],
            ..Namespace::default()
        };
        Arc::new(Inputs::of(&ResolutionInputs {
            namespace,
            csvs: vec![Arc::new(csv)],
            universe: SnapshotSet::new([self.catalog.clone()]),
            fail_forward: self.fail_forward,
        }))
    }
}

fn world(snapshot: &Arc<CatalogSnapshot>) -> World {
    World {
        subscription: json!({
            "metadata": {"name": "s", "namespace": "ns", "uid": "1", "resourceVersion": "1"},
            "spec": {"name": "p", "source": "c", "sourceNamespace": "ns"},
            "status": {"state": "AtLatestKnown", "lastUpdated": "2026-01-01T00:00:00Z"},
        }),
        csv: json!({
            "metadata": {"name": "p.v1", "uid": "2"},
            "spec": {"version": "1.0.0"},
            "status": {"phase": "Pending"},
        }),
        catalog: Member {
            key: CatalogKey::new("ns", "c"),
            priority: 0,
            content: Ok(Arc::clone(snapshot)),
        },
        fail_forward: false,
    }
}

fn snapshot() -> Arc<CatalogSnapshot> {
    let builder = SnapshotBuilder::new(CatalogKey::new("ns", "c"), SnapshotLimits::default());
    Arc::new(builder.finish())
}

type Change = (&'static str, bool, fn(&mut World));

/// What is changed, and whether the namespace counts as unchanged.
const CHANGES: [Change; 19] = [
    ("nothing", true, |_| {}),
    ("a label", true, |w| w.subscription["metadata"]["labels"] = json!({"a": "b"})),
    ("another revision", true, |w| w.subscription["metadata"]["resourceVersion"] = json!("2")),
    ("a time", true, |w| w.subscription["status"]["lastUpdated"] = json!("2026-01-02T00:00:00Z")),
    ("an install goes on", true, |w| w.csv["status"]["phase"] = json!("Installing")),
    ("a CSV that succeeded", true, |w| w.csv["status"]["phase"] = json!("Succeeded")),
    ("another channel", false, |w| w.subscription["spec"]["channel"] = json!("fast")),
    ("made anew", false, |w| w.subscription["metadata"]["uid"] = json!("3")),
    ("a condition", false, |w| {
        w.subscription["status"]["conditions"] = json!([{"type": "A", "status": "True"}]);
    }),
    ("the state", false, |w| w.subscription["status"]["state"] = json!("UpgradePending")),
    ("annotations of the OperatorGroup", true, |w| {
        w.csv["metadata"]["annotations"] = json!({"olm.operatorGroup": "og"});
    }),
    ("another version", false, |w| w.csv["spec"]["version"] = json!("2.0.0")),
    ("another CSV", false, |w| w.csv["metadata"]["uid"] = json!("3")),
    ("properties", false, |w| {
        w.csv["metadata"]["annotations"] = json!({"operatorframework.io/properties": "{}"});
    }),
    ("a priority", false, |w| w.catalog.priority = 1),
    ("other content", false, |w| w.catalog.content = Ok(snapshot())),
    ("a catalog is away", false, |w| w.catalog.content = Err("away".to_owned())),
    ("another catalog", false, |w| w.catalog.key = CatalogKey::new("ns", "d")),
    ("fail-forward", false, |w| w.fail_forward = true),
];

#[test]
fn only_what_the_resolver_sees_counts() {
    for (what, same, change) in CHANGES {
        let snapshot = snapshot();
        let (unchanged, before) = (Unchanged::default(), world(&snapshot));
        unchanged.keep("ns", before.inputs());
        let mut after = world(&snapshot);
        change(&mut after);
        assert_eq!(unchanged.holds("ns", &after.inputs()), same, "{what}");
        assert!(!unchanged.holds("other", &after.inputs()), "{what}");
        unchanged.forget("ns");
        assert!(!unchanged.holds("ns", &before.inputs()), "{what}");
    }
}

#[test]
fn what_is_reported_on_a_subscription_asks_the_resolver_nothing() {
    let reports = ["a condition", "the state"];
    let csvs: [Change; 2] = [
        ("an installed CSV", false, |w| w.subscription["status"]["installedCSV"] = json!("p.v1")),
        ("a current CSV", false, |w| w.subscription["status"]["currentCSV"] = json!("p.v1")),
    ];
    for (what, same, change) in CHANGES.into_iter().chain(csvs) {
        let snapshot = snapshot();
        let (before, mut after) = (world(&snapshot), world(&snapshot));
        change(&mut after);
        let expected = same || reports.contains(&what);
        assert_eq!(before.inputs().ask_the_same(&after.inputs()), expected, "{what}");
    }
}

#[rstest]
#[case::failed("Failed", false)]
#[case::replacing("Replacing", false)]
#[case::going_on("Installing", true)]
fn phases_count_where_failed_csvs_are_upgraded(#[case] phase: &str, #[case] same: bool) {
    let snapshot = snapshot();
    let unchanged = Unchanged::default();
    let forward = || World { fail_forward: true, ..world(&snapshot) };
    unchanged.keep("ns", forward().inputs());
    let mut after = forward();
    after.csv["status"]["phase"] = json!(phase);
    assert_eq!(unchanged.holds("ns", &after.inputs()), same);
}

#[rstest]
#[case::unpacking("BundleUnpacking", "True", false)]
#[case::not_unpacked("BundleUnpackFailed", "True", false)]
#[case::over("BundleUnpacking", "False", true)]
#[case::refused("ResolutionFailed", "True", true)]
fn whoever_waits_for_a_bundle_is_resolved_every_time(
    #[case] kind: &str,
    #[case] status: &str,
    #[case] kept: bool,
) {
    let (unchanged, mut world) = (Unchanged::default(), world(&snapshot()));
    world.subscription["status"]["conditions"] = json!([{"type": kind, "status": status}]);
    unchanged.keep("ns", world.inputs());
    assert_eq!(unchanged.holds("ns", &world.inputs()), kept);
}

#[test]
fn a_catalog_that_is_gone_is_not_kept_alive() {
    let snapshot = snapshot();
    let unchanged = Unchanged::default();
    unchanged.keep("ns", world(&snapshot).inputs());
    assert_eq!(Arc::strong_count(&snapshot), 1);
}
