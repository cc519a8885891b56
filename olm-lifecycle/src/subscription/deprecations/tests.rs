//! What a Subscription passes on (spec catalog-operator 2.2).

use olm_types::bundle::{BundleContent, CatalogKey, Deprecations};
use rstest::rstest;
use serde_json::json;

use super::*;

fn entry(name: &str, channel: &str, deprecations: Deprecations) -> Arc<Entry> {
    Arc::new(Entry {
        name: name.into(),
        package: "etcd".into(),
        channel: channel.into(),
        catalog: CatalogKey::new("olm", "community"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: Arc::from([]),
        content: BundleContent::Inline,
        deprecations,
    })
}

fn deprecated(package: &str, channel: &str, bundle: &str) -> Deprecations {
    let text = |text: &str| (!text.is_empty()).then(|| text.into());
    Deprecations { package: text(package), channel: text(channel), bundle: text(bundle) }
}

fn spec(channel: &str) -> SubscriptionSpec {
    serde_json::from_value(json!({"name": "etcd", "channel": channel})).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Type and message of every condition.
fn reported(status: &SubscriptionStatus) -> Vec<(&str, &str)> {
    let conditions = status.conditions.iter();
    conditions
        .inspect(|condition| assert_eq!((&*condition.status, &condition.reason), ("True", &None)))
        .map(|condition| (&*condition.type_, condition.message.as_deref().unwrap_or_default()))
        .collect()
}

const PACKAGE: (&str, &str) = ("PackageDeprecated", "olm.package/etcd: p");
const CHANNEL: (&str, &str) = ("ChannelDeprecated", "olm.channel/alpha: c");
const BUNDLE: (&str, &str) = ("BundleDeprecated", "olm.bundle/etcd.v1: b");

#[rstest]
#[case::nothing("alpha", deprecated("", "", ""), vec![])]
#[case::package("alpha", deprecated("p", "", ""), vec![PACKAGE, ("Deprecated", "olm.package/etcd: p")])]
#[case::channel("alpha", deprecated("", "c", ""), vec![CHANNEL, ("Deprecated", "olm.channel/alpha: c")])]
#[case::bundle("alpha", deprecated("", "", "b"), vec![BUNDLE, ("Deprecated", "olm.bundle/etcd.v1: b")])]
#[case::all("alpha", deprecated("p", "c", "b"), vec![
    PACKAGE, CHANNEL, BUNDLE,
    ("Deprecated", "olm.package/etcd: p; olm.channel/alpha: c; olm.bundle/etcd.v1: b"),
])]
#[case::no_channel_named("", deprecated("p", "c", ""), vec![PACKAGE, ("Deprecated", "olm.package/etcd: p")])]
#[case::only_the_channel_and_none_named("", deprecated("", "c", ""), vec![])]
fn each_deprecation_has_a_condition(
    #[case] channel: &str,
    #[case] deprecations: Deprecations,
    #[case] expected: Vec<(&str, &str)>,
) {
    let entry = entry("etcd.v1", "alpha", deprecations);
    let before = SubscriptionStatus::default();
    let status = reconcile(&before, &spec(channel), Some(&entry), at(1));
    assert_eq!(reported(status.as_ref().unwrap_or(&before)), expected);
    if let Some(status) = status {
        assert_eq!(status.last_updated, Some(Time(at(1))));
        assert_eq!(reconcile(&status, &spec(channel), Some(&entry), at(2)), None, "reported once");
    }
}

#[test]
fn what_is_reported_follows_the_catalog() {
    let all = entry("etcd.v1", "alpha", deprecated("p", "c", "b"));
    let first = SubscriptionStatus::default();
    let first = reconcile(&first, &spec("alpha"), Some(&all), at(1)).unwrap();
    assert_eq!(reconcile(&first, &spec("alpha"), None, at(2)), None, "no entry: it stays");

    let fewer = entry("etcd.v1", "alpha", deprecated("p", "", "new"));
    let second = reconcile(&first, &spec("alpha"), Some(&fewer), at(3)).unwrap();
    let rollup = ("Deprecated", "olm.package/etcd: p; olm.bundle/etcd.v1: new");
    let bundle = ("BundleDeprecated", "olm.bundle/etcd.v1: new");
    assert_eq!(reported(&second), [PACKAGE, bundle, rollup]);
    assert_eq!(
        second.conditions[0].last_transition_time,
        Some(Time(at(1))),
        "an old one keeps its time"
    );
    assert_eq!(second.conditions[1].last_transition_time, Some(Time(at(3))));

    let none = entry("etcd.v1", "alpha", Deprecations::default());
    let third = reconcile(&second, &spec("alpha"), Some(&none), at(4)).unwrap();
    assert_eq!(reported(&third), []);
}

#[rstest]
#[case::named("alpha", Some("etcd.v1"), Some("alpha"))]
#[case::other_channel("beta", Some("etcd.v1"), Some("beta"))]
#[case::unknown_channel("gamma", Some("etcd.v1"), None)]
#[case::any_channel("", Some("etcd.v1"), Some("alpha"))]
#[case::nothing_installed("alpha", None, None)]
#[case::not_in_the_catalog("alpha", Some("etcd.v9"), None)]
fn the_entry_is_that_of_the_installed_bundle(
    #[case] channel: &str,
    #[case] installed: Option<&str>,
    #[case] expected: Option<&str>,
) {
    let entries: Vec<_> =
        ["alpha", "beta"].map(|channel| entry("etcd.v1", channel, Deprecations::default())).into();
    let installed_csv = installed.map(str::to_owned);
    let status = SubscriptionStatus { installed_csv, ..SubscriptionStatus::default() };
    let found = installed_entry(Some(&status), &spec(channel), &entries);
    assert_eq!(found.map(|entry| &*entry.channel), expected);
}
