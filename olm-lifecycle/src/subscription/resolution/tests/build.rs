//! Builders of what a namespace holds.

use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use serde_json::json;

use super::*;
use crate::install_plan::steps::BundleInput;

/// A namespace `ns` with one OperatorGroup.
pub(super) fn namespace(subscriptions: Vec<Subscription>) -> Namespace {
    let mut group = OperatorGroup::new("og", OperatorGroupSpec::default());
    group.metadata.namespace = Some("ns".to_owned());
    Namespace {
        name: "ns".to_owned(),
        subscriptions: subscriptions.into_iter().map(Arc::new).collect(),
        groups: vec![Arc::new(group)],
        ..Namespace::default()
    }
}

/// A Subscription `<package>-<channel>` to catalog `catsrc`.
pub(super) fn subscription(package: &str, channel: &str, current: &str) -> Subscription {
    let spec = SubscriptionSpec {
        source: "catsrc".to_owned(),
        source_namespace: "catsrc-namespace".to_owned(),
        name: package.to_owned(),
        channel: Some(channel.to_owned()).filter(|channel| !channel.is_empty()),
        ..SubscriptionSpec::default()
    };
    let name = format!("{package}-{channel}");
    let mut subscription = Subscription::new(&name, spec);
    subscription.metadata.namespace = Some("ns".to_owned());
    subscription.metadata.uid = Some(format!("uid-{name}"));
    subscription.status =
        Some(SubscriptionStatus { conditions: vec![healthy()], ..Default::default() });
    if !current.is_empty() {
        let current = Some(current.to_owned());
        subscription.status = Some(SubscriptionStatus {
            current_csv: current.clone(),
            installed_csv: current,
            conditions: vec![healthy()],
            ..Default::default()
        });
    }
    subscription
}

/// What the sync of a Subscription by itself says first.
pub(super) fn healthy() -> SubscriptionCondition {
    SubscriptionCondition {
        type_: "CatalogSourcesUnhealthy".to_owned(),
        status: "False".to_owned(),
        ..SubscriptionCondition::default()
    }
}

pub(super) fn with_status(
    mut subscription: Subscription,
    change: impl FnOnce(&mut SubscriptionStatus),
) -> Subscription {
    change(subscription.status.get_or_insert_default());
    subscription
}

/// An entry of package and channel in catalog `catsrc`.
pub(super) fn entry(package: &str, channel: &str, name: &str) -> Arc<Entry> {
    let value = json!({"packageName": package, "version": "1.0.0"}).to_string();
    Arc::new(Entry {
        name: name.into(),
        package: package.into(),
        channel: channel.into(),
        catalog: CatalogKey::new("catsrc-namespace", "catsrc"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: [Property { kind: "olm.package".into(), value: value.into() }].into(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    })
}

pub(super) fn choice(entry: Arc<Entry>, replaces: &str) -> Choice {
    let replaces = Some(replaces.to_owned()).filter(|name| !name.is_empty());
    Choice { entry, replaces, needed_by: Vec::new(), part: 0 }
}

/// What a catalog gives for the chosen bundles: a CSV each.
pub(super) fn fetch(selection: &Selection) -> Vec<BundleInput> {
    let input = |choice: &Choice| {
        let csv = json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": {"name": &*choice.entry.name},
        });
        BundleInput {
            entry: Arc::clone(&choice.entry),
            replaces: choice.replaces.clone(),
            csv_json: csv.to_string(),
            objects: Vec::new(),
        }
    };
    selection.inline.iter().map(input).collect()
}

/// A plan that exists in the namespace.
pub(super) fn stored(mut plan: InstallPlan, name: &str) -> InstallPlan {
    plan.metadata.name = Some(name.to_owned());
    plan.metadata.namespace = Some("ns".to_owned());
    plan.metadata.uid = Some(format!("uid-{name}"));
    plan
}
