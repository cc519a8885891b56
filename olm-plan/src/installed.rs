//! The table of what is installed: a row for each Subscription.

use olm_lifecycle::subscription::{holding, pinned};
use olm_types::annotations::{GENERATED_BY, PAUSE, VERSION_RANGE};
use olm_types::api::{
    Approval, PackageChannel, Subscription, SubscriptionState, SubscriptionStatus,
};
use olm_types::conditions::readiness::{READY, STALLED};
use serde::Serialize;

use crate::health::{self, Health};
use crate::needs::needs;
use crate::observed::{Observed, created, name, namespace};

/// One Subscription and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    /// Namespace of the Subscription.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The package that it asks for.
    pub package: String,
    /// The installed CSV.
    pub csv: Option<String>,
    /// Version of the installed CSV.
    pub version: Option<String>,
    /// Newest version that upgrades lead to: the channel head where the installed CSV is in the channel, otherwise
    /// the newest that OLM has found a way to.
    pub newest: Option<String>,
    /// The version that OLM upgrades to next.
    pub next: Option<String>,
    /// Version of the channel head, by the packages API.
    pub channel_head: Option<String>,
    /// The channel that is followed.
    pub channel: Option<String>,
    /// NAMESPACE/NAME of the catalog.
    pub catalog: String,
    /// `Automatic` or `Manual`.
    pub approval: &'static str,
    /// The CSV that it is pinned to.
    pub pinned_to: Option<String>,
    /// The versions that it accepts, as it declares them.
    pub version_range: Option<String>,
    /// Whether nothing new is resolved or applied for it, as it declares.
    pub paused: bool,
    /// In one word.
    pub health: Health,
    /// Why, as a status says it.
    pub reason: String,
    /// Whether it is what it asks for; OLM v0 does not say so.
    pub ready: Option<Readiness>,
    /// CSVs that need it, where OLM made the Subscription for a dependency.
    pub dependency_of: Vec<String>,
    /// When the Subscription was created, RFC 3339.
    pub created: Option<String>,
}

/// What the conditions of a Subscription say about its readiness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// Why, in one word.
    pub reason: String,
    /// Whether it does not become ready by itself.
    pub stalled: bool,
}

impl Installed {
    /// What the Subscription declares about the versions that it takes, a few words for each annotation.
    #[must_use]
    pub fn declared(&self) -> Vec<String> {
        let pin = self.pinned_to.iter().cloned();
        let paused = self.paused.then(|| "paused".to_owned());
        pin.chain(self.version_range.clone()).chain(paused).collect()
    }
}

/// The rows in the order of namespace and name.
#[must_use]
pub fn installed(observed: &Observed) -> Vec<Installed> {
    let mut rows: Vec<Installed> =
        observed.subscriptions.iter().map(|one| row(observed, one)).collect();
    rows.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    rows
}

fn row(observed: &Observed, subscription: &Subscription) -> Installed {
    let (metadata, spec) = (&subscription.metadata, &subscription.spec);
    let status = subscription.status.clone().unwrap_or_default();
    let version = |csv: &Option<String>| {
        csv.as_deref().and_then(|csv| observed.version_of(namespace(metadata), csv))
    };
    let channel = channel(observed, subscription);
    let (health, reason) = health::of_subscription(observed, subscription);
    Installed {
        namespace: namespace(metadata).to_owned(),
        name: name(metadata).to_owned(),
        package: spec.name.clone(),
        version: version(&status.installed_csv),
        newest: channel.and_then(|channel| reachable_head(channel, &status)).or_else(|| {
            match status.state {
                // Another one where the upgrade is held back.
                SubscriptionState::AtLatestKnown => {
                    version(&status.current_csv).or_else(|| version(&status.installed_csv))
                }
                _ => version(&status.current_csv),
            }
        }),
        next: version(&status.current_csv).filter(|_| status.current_csv != status.installed_csv),
        channel_head: channel.and_then(head_version),
        channel: spec.channel.clone().or_else(|| channel.map(|channel| channel.name.clone())),
        catalog: format!("{}/{}", spec.source_namespace, spec.source),
        approval: spec.install_plan_approval.unwrap_or(Approval::Automatic).as_str(),
        pinned_to: pinned(subscription).map(str::to_owned),
        version_range: version_range(subscription),
        paused: holding(subscription) == Some(PAUSE),
        ready: readiness(&status),
        dependency_of: dependency_of(observed, subscription),
        csv: status.installed_csv,
        health,
        reason,
        created: created(metadata),
    }
}

fn version_range(subscription: &Subscription) -> Option<String> {
    subscription.metadata.annotations.as_ref()?.get(VERSION_RANGE).cloned()
}

fn readiness(status: &SubscriptionStatus) -> Option<Readiness> {
    let found = |type_: &str| status.conditions.iter().find(|one| one.type_ == type_);
    let ready = found(READY)?;
    Some(Readiness {
        status: ready.status.clone(),
        reason: ready.reason.clone().unwrap_or_default(),
        stalled: found(STALLED).is_some_and(|one| one.status == "True"),
    })
}

fn dependency_of(observed: &Observed, subscription: &Subscription) -> Vec<String> {
    let home = namespace(&subscription.metadata);
    let annotations = subscription.metadata.annotations.as_ref();
    let is_generated = annotations.is_some_and(|all| all.contains_key(GENERATED_BY));
    let installed = subscription.status.as_ref().and_then(|one| one.installed_csv.as_deref());
    let csv = installed.filter(|_| is_generated).and_then(|csv| observed.csv(home, csv));
    let Some(csv) = csv else { return Vec::new() };
    let here = observed.own_csvs().filter(|other| namespace(&other.metadata) == home);
    let needing = here.filter(|other| needs(other, csv, &subscription.spec.name));
    needing.map(|other| name(&other.metadata).to_owned()).collect()
}

/// The channel that a Subscription follows: the one that it names, or the default of its package.
#[must_use]
pub fn channel<'a>(
    observed: &'a Observed,
    subscription: &Subscription,
) -> Option<&'a PackageChannel> {
    let status = observed.package_of(subscription)?.status.as_ref()?;
    let named = subscription.spec.channel.as_deref().filter(|channel| !channel.is_empty());
    let name = named.unwrap_or(&status.default_channel);
    status.channels.iter().find(|channel| channel.name == name)
}

/// The version of the channel head, where the installed CSV is in the channel or nothing is installed: the packages API
/// lists the bundles of a channel without the upgrades between them, and those of one channel lead to its head.
fn reachable_head(channel: &PackageChannel, status: &SubscriptionStatus) -> Option<String> {
    let installed = status.installed_csv.as_deref();
    let is_in = |csv: &str| channel.entries.iter().any(|entry| entry.name == csv);
    head_version(channel).filter(|_| installed.is_none_or(is_in))
}

fn head_version(channel: &PackageChannel) -> Option<String> {
    let described = channel.current_csv_desc.as_ref().and_then(|csv| csv.version.clone());
    let listed = || {
        let entry = channel.entries.iter().find(|entry| entry.name == channel.current_csv);
        entry.and_then(|entry| entry.version.clone())
    };
    described.or_else(listed)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn observed(status: Value, csvs: &[Value], plans: &[Value]) -> Observed {
        let spec = json!({"name": "kettle", "source": "kitchen", "sourceNamespace": "ns"});
        let metadata = json!({"name": "s", "namespace": "ns"});
        let subscription = json!({"metadata": metadata, "spec": spec, "status": status});
        let package = json!({"metadata": {"name": "kettle"}, "status": {
            "packageName": "kettle", "catalogSource": "kitchen", "catalogSourceNamespace": "ns",
            "defaultChannel": "stable", "channels": [{"name": "stable", "currentCSV": "kettle.v3",
                "entries": [{"name": "kettle.v3", "version": "3.0.0"},
                    {"name": "kettle.v2", "version": "2.0.0"},
                    {"name": "kettle.v1", "version": "1.0.0"}]}]}});
        let all = |objects: &[Value]| objects.to_vec();
        Observed {
            subscriptions: vec![from_value(subscription).unwrap()],
            csvs: all(csvs).into_iter().map(|csv| from_value(csv).unwrap()).collect(),
            install_plans: all(plans).into_iter().map(|plan| from_value(plan).unwrap()).collect(),
            packages: vec![from_value(package).unwrap()],
            ..Observed::default()
        }
    }

    fn csv(phase: &str) -> Value {
        json!({"metadata": {"name": "kettle.v1", "namespace": "ns"}, "spec": {"version": "1.0.0"},
            "status": {"phase": phase, "reason": "Because"}})
    }

    fn plan(approved: bool) -> Value {
        json!({"metadata": {"name": "p", "namespace": "ns"},
            "spec": {"approval": "Manual", "approved": approved,
                "clusterServiceVersionNames": ["kettle.v2"]},
            "status": {"phase": "RequiresApproval"}})
    }

    #[rstest]
    #[case::new(json!(null), &[], &[], "Progressing NotInstalled - 3.0.0 - 3.0.0")]
    #[case::at_latest(
        json!({"state": "AtLatestKnown", "installedCSV": "kettle.v1", "currentCSV": "kettle.v1"}),
        &[csv("Succeeded")], &[], "Healthy Because 1.0.0 3.0.0 - 3.0.0")]
    #[case::held(
        json!({"state": "AtLatestKnown", "installedCSV": "kettle.v1", "currentCSV": "kettle.v2"}),
        &[csv("Succeeded")], &[], "Healthy Because 1.0.0 3.0.0 2.0.0 3.0.0")]
    #[case::failed(
        json!({"state": "AtLatestKnown", "installedCSV": "kettle.v1"}),
        &[csv("Failed")], &[], "Unhealthy Because 1.0.0 3.0.0 - 3.0.0")]
    #[case::waits(
        json!({"state": "UpgradePending", "installedCSV": "kettle.v1", "currentCSV": "kettle.v2",
            "installPlanRef": {"name": "p"}}),
        &[csv("Succeeded")], &[plan(false)], "NeedsApproval RequiresApproval 1.0.0 3.0.0 2.0.0 3.0.0")]
    #[case::approved(
        json!({"state": "UpgradePending", "installedCSV": "kettle.v1", "currentCSV": "kettle.v2",
            "installPlanRef": {"name": "p"}}),
        &[csv("Succeeded")], &[plan(true)], "Healthy Because 1.0.0 3.0.0 2.0.0 3.0.0")]
    #[case::unresolved(
        json!({"conditions": [{"type": "ResolutionFailed", "status": "True", "reason": "No"}]}),
        &[], &[], "Unhealthy No - 3.0.0 - 3.0.0")]
    #[case::gone(
        json!({"installedCSV": "kettle.v0"}), &[], &[], "Unknown CSVNotFound - - - 3.0.0")]
    fn a_row_says_how_a_subscription_is(
        #[case] status: Value,
        #[case] csvs: &[Value],
        #[case] plans: &[Value],
        #[case] expected: &str,
    ) {
        let rows = installed(&observed(status, csvs, plans));
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let found = format!(
            "{} {} {} {} {} {}",
            row.health.as_str(),
            row.reason,
            text(&row.version),
            text(&row.newest),
            text(&row.next),
            text(&row.channel_head)
        );
        assert_eq!(found, expected);
        assert_eq!((row.channel.as_deref(), row.approval), (Some("stable"), "Automatic"));
    }

    #[rstest]
    #[case::nothing(json!({}), None, "")]
    #[case::pinned(json!({"olm-rs.dev/pin": "true"}), Some("kettle.v1"), "kettle.v1")]
    #[case::pinned_to_nothing(json!({"olm-rs.dev/pin": "true"}), None, "")]
    #[case::starts_there(json!({"olm-rs.dev/pin": "false"}), Some("kettle.v1"), "")]
    #[case::all(
        json!({"olm-rs.dev/pin": "true", "olm-rs.dev/version-range": "<2", "olm-rs.dev/pause": "true"}),
        Some("kettle.v1"), "kettle.v1, <2, paused")]
    #[case::goes_on(json!({"olm-rs.dev/pause": "false"}), None, "")]
    fn what_is_declared_about_versions_is_a_part_of_the_row(
        #[case] annotations: Value,
        #[case] starting_csv: Option<&str>,
        #[case] expected: &str,
    ) {
        let mut observed = observed(json!({}), &[], &[]);
        observed.subscriptions[0].metadata.annotations = from_value(annotations).unwrap();
        observed.subscriptions[0].spec.starting_csv = starting_csv.map(str::to_owned);
        assert_eq!(installed(&observed)[0].declared().join(", "), expected);
    }

    #[rstest]
    #[case::v0(json!([{"type": "CatalogSourcesUnhealthy", "status": "False"}]), None)]
    #[case::ready(json!([{"type": "Ready", "status": "True", "reason": "Succeeded"}]),
        Some("True Succeeded false"))]
    #[case::stalled(
        json!([{"type": "Stalled", "status": "True"},
            {"type": "Ready", "status": "False", "reason": "MalformedValue"}]),
        Some("False MalformedValue true"))]
    #[case::unknown(json!([{"type": "Ready", "status": "Unknown"}]), Some("Unknown  false"))]
    fn readiness_is_what_conditions_say(#[case] conditions: Value, #[case] expected: Option<&str>) {
        let rows = installed(&observed(json!({"conditions": conditions}), &[], &[]));
        let found = rows[0].ready.as_ref();
        let found = found.map(|one| format!("{} {} {}", one.status, one.reason, one.stalled));
        assert_eq!(found.as_deref(), expected);
    }

    /// An operator of another namespace has one here.
    #[test]
    fn a_copy_is_not_installed() {
        let mut copy = csv("Succeeded");
        copy["metadata"]["labels"] = json!({"olm.copiedFrom": "elsewhere"});
        let status = json!({"installedCSV": "kettle.v1", "currentCSV": "kettle.v1"});
        let row = &installed(&observed(status, &[copy], &[]))[0];
        assert_eq!((row.health.as_str(), row.reason.as_str()), ("Unknown", "CSVNotFound"));
    }

    #[test]
    fn what_was_installed_for_another_says_for_which() {
        let crds = |list: &str| json!({list: [{"name": "as.x.io", "version": "v1", "kind": "A"}]});
        let needing = json!({"metadata": {"name": "tea.v1", "namespace": "ns"},
            "spec": {"customresourcedefinitions": crds("required")}});
        let mut owner = csv("Succeeded");
        owner["spec"]["customresourcedefinitions"] = crds("owned");
        let status = json!({"installedCSV": "kettle.v1"});
        let mut observed = observed(status, &[owner, needing], &[]);
        assert_eq!(installed(&observed)[0].dependency_of, [""; 0]);
        let made = [(GENERATED_BY.to_owned(), "install-1".to_owned())].into();
        observed.subscriptions[0].metadata.annotations = Some(made);
        assert_eq!(installed(&observed)[0].dependency_of, ["tea.v1"]);
    }
}
