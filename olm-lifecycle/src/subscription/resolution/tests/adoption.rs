//! Subscriptions that take over what is installed.

use std::collections::BTreeMap;

use olm_types::bundle::{CatalogKey, CatalogView, Entry, Universe};
use olm_types::gvk::Gvk;
use rstest::rstest;
use serde_json::json;

use super::*;

/// A catalog with these entries.
struct Entries(Vec<Arc<Entry>>);

impl Universe for Entries {
    fn catalogs(&self) -> Vec<CatalogView> {
        Vec::new()
    }

    fn by_package(&self, package: &str) -> Vec<Arc<Entry>> {
        self.0.iter().filter(|entry| *entry.package == *package).cloned().collect()
    }

    fn by_gvk(&self, _: &Gvk) -> Vec<Arc<Entry>> {
        Vec::new()
    }

    fn by_label(&self, _: &str) -> Vec<Arc<Entry>> {
        Vec::new()
    }

    fn channel(&self, _: &CatalogKey, _: &str, _: &str) -> Vec<Arc<Entry>> {
        Vec::new()
    }

    fn all(&self) -> Vec<Arc<Entry>> {
        self.0.clone()
    }
}

fn csv(name: &str, version: &str, package: &str, phase: &str) -> Arc<ClusterServiceVersion> {
    let properties = json!({"properties": [
        {"type": "olm.package", "value": {"packageName": package, "version": version}},
    ]});
    let annotations = match package {
        "" => json!({}),
        _ => json!({"operatorframework.io/properties": properties.to_string()}),
    };
    let csv = json!({
        "metadata": {"name": name, "namespace": "ns", "annotations": annotations},
        "spec": {"version": version}, "status": {"phase": phase},
    });
    Arc::new(serde_json::from_value(csv).unwrap())
}

/// What Subscriptions have installed after the writes.
fn adopted(namespace: &Namespace, csvs: &[Arc<ClusterServiceVersion>]) -> BTreeMap<String, String> {
    let catalog = Entries(vec![
        entry("a", "alpha", "a.v1"),
        entry("a", "alpha", "a.v2"),
        entry("a", "beta", "a.v3"),
        entry("b", "alpha", "b.v1"),
    ]);
    let writes = adopt(namespace, csvs, &catalog, now());
    let statuses = written(&writes).into_iter().map(|(name, status)| {
        assert_eq!(status.state, SubscriptionState::AtLatestKnown);
        assert_eq!(status.installed_csv, status.current_csv);
        assert_eq!(others(&status).len(), 1, "what is known stays");
        (name, status.installed_csv.unwrap())
    });
    statuses.collect()
}

#[rstest]
#[case::of_its_package(csv("a.v1", "1.0.0", "a", "Succeeded"), true)]
#[case::a_failed_one(csv("a.v1", "1.0.0", "a", "Failed"), true)]
#[case::of_another_package(csv("a.v1", "1.0.0", "b", "Succeeded"), false)]
#[case::of_no_package(csv("a.v1", "1.0.0", "", "Succeeded"), false)]
#[case::of_another_channel(csv("a.v3", "3.0.0", "a", "Succeeded"), false)]
#[case::not_in_the_catalog(csv("a.v9", "9.0.0", "a", "Succeeded"), false)]
#[case::on_its_way_out(csv("a.v1", "1.0.0", "a", "Replacing"), false)]
fn a_csv_is_taken_over_only_with_proof(
    #[case] csv: Arc<ClusterServiceVersion>,
    #[case] taken: bool,
) {
    let namespace = namespace(vec![subscription("a", "alpha", "")]);
    let expected = taken.then(|| ("a-alpha".to_owned(), csv.name_any()));
    assert_eq!(adopted(&namespace, &[csv]), expected.into_iter().collect());
}

#[test]
fn an_adoption_is_reported() {
    let namespace = namespace(vec![subscription("a", "alpha", "")]);
    let catalog = Entries(vec![entry("a", "alpha", "a.v1")]);
    let effects = adopt(&namespace, &[csv("a.v1", "1.0.0", "a", "Succeeded")], &catalog, now());
    let [status, event] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(matches!(status.action, Action::Status { .. }), "{status:?}");
    let Action::Event(note) = &event.action else { panic!("{event:?}") };
    assert_eq!((&*event.target.name, &*note.reason), ("a-alpha", "CSVAdopted"));
    assert_eq!(
        note.message,
        "ClusterServiceVersion a.v1 of package a was installed already; this Subscription takes it over and upgrades \
         it from now on"
    );
}

#[test]
fn the_newest_version_counts() {
    let csvs = [csv("a.v2", "2.0.0", "a", "Succeeded"), csv("a.v1", "1.0.0", "a", "Succeeded")];
    let namespace = namespace(vec![subscription("a", "alpha", "")]);
    assert_eq!(adopted(&namespace, &csvs)["a-alpha"], "a.v2");
}

#[test]
fn what_another_subscription_has_is_not_taken() {
    let csvs = [csv("a.v1", "1.0.0", "a", "Succeeded")];
    let other = subscription("a", "beta", "a.v1");
    assert!(adopted(&namespace(vec![other, subscription("a", "alpha", "")]), &csvs).is_empty());
    let twice = vec![subscription("a", "", ""), subscription("a", "alpha", "")];
    assert_eq!(adopted(&namespace(twice), &csvs).len(), 1, "one of the two gets it");
}

#[test]
fn who_is_under_way_takes_nothing() {
    let csvs = [csv("a.v1", "1.0.0", "a", "Succeeded")];
    let moving = with_status(subscription("a", "alpha", ""), |status| {
        status.current_csv = Some("a.v2".to_owned());
    });
    let planned = with_status(subscription("a", "alpha", ""), |status| {
        status.install_plan_ref = Some(Default::default());
    });
    for subscription in [moving, planned, subscription("a", "alpha", "a.v2")] {
        assert!(adopted(&namespace(vec![subscription]), &csvs).is_empty());
    }
}
