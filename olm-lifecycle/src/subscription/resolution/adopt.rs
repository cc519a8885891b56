//! A Subscription to a package whose operator is installed already.
//!
//! A user deleted the Subscription and made it anew, or applied the CSV by hand. To v0 such a CSV
//! stands in the way of its own package for ever. Here the Subscription takes it over when there
//! is proof that they belong together: the CSV's `olm.package` property names the package, and
//! the subscribed channel has an entry of the CSV's name.

use std::sync::Arc;

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_effect::{Effect, EventNote, EventType};
use olm_types::annotations::PROPERTIES;
use olm_types::api::{ClusterServiceVersion, CsvPhase, Subscription, SubscriptionState};
use olm_types::bundle::{Entry, Universe};
use olm_types::properties::{annotation, value};
use olm_types::reasons::event::CSV_ADOPTED;
use olm_types::version::Version;

use super::{Namespace, Spec, write};
use crate::writes::target_of;

/// The writes with which Subscriptions take over CSVs, and the events about them; none when there is nothing to take
/// over. `csvs` are those of the namespace that are not copies. Their change starts over.
pub fn adopt(
    namespace: &Namespace,
    csvs: &[Arc<ClusterServiceVersion>],
    universe: &dyn Universe,
    now: Timestamp,
) -> Vec<Effect> {
    let mut free: Vec<_> = csvs.iter().filter(|csv| is_free(namespace, csv)).collect();
    let mut writes = Vec::new();
    let fresh = namespace.subscriptions.iter().filter(|subscription| has_nothing(subscription));
    for subscription in fresh {
        let belongs = free.iter().filter(|csv| belongs(csv, subscription, universe));
        // An unreadable version is below every other.
        let newest = belongs.max_by_key(|csv| (version(csv), csv.name_any())).copied();
        if let Some(csv) = newest {
            free.retain(|other| other.name_any() != csv.name_any());
            writes.extend(take_over(namespace, subscription, &csv.name_any(), now));
        }
    }
    writes
}

/// Nothing was ever installed for the Subscription, and nothing is under way.
fn has_nothing(subscription: &Subscription) -> bool {
    let is_empty = |name: &Option<String>| name.as_deref().unwrap_or_default().is_empty();
    subscription.status.as_ref().is_none_or(|status| {
        is_empty(&status.installed_csv)
            && is_empty(&status.current_csv)
            && status.install_plan_ref.is_none()
    })
}

/// The CSV stays, and no Subscription has it or moves to it.
fn is_free(namespace: &Namespace, csv: &ClusterServiceVersion) -> bool {
    let phase = csv.phase();
    let stays = csv.metadata.deletion_timestamp.is_none()
        && !matches!(phase, CsvPhase::Replacing | CsvPhase::Deleting);
    let name = csv.metadata.name.as_deref();
    let statuses = namespace.subscriptions.iter().filter_map(|other| other.status.as_ref());
    let mut taken = statuses.flat_map(|status| [&status.installed_csv, &status.current_csv]);
    stays && !taken.any(|taken| taken.as_deref() == name)
}

fn belongs(
    csv: &ClusterServiceVersion,
    subscription: &Subscription,
    universe: &dyn Universe,
) -> bool {
    let package = &subscription.spec.name;
    is_of_package(csv, package)
        && universe
            .by_package(package)
            .iter()
            .any(|entry| *entry.name == csv.name_any() && is_subscribed(entry, subscription))
}

fn is_of_package(csv: &ClusterServiceVersion, package: &str) -> bool {
    let annotations = csv.metadata.annotations.as_ref();
    let text = annotations.and_then(|annotations| annotations.get(PROPERTIES));
    let properties = text.and_then(|text| annotation::parse(text).ok()).unwrap_or_default();
    properties.iter().filter_map(value::package).any(|property| property.package_name == package)
}

/// Whether the entry is in the subscribed channel: the default one when none is named.
fn is_subscribed(entry: &Entry, subscription: &Subscription) -> bool {
    let spec = &subscription.spec;
    let fits = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
    let in_channel = match spec.channel.as_deref().filter(|channel| !channel.is_empty()) {
        Some(channel) => *entry.channel == *channel,
        None => entry.in_default_channel,
    };
    in_channel
        && fits(&spec.source, &entry.catalog.name)
        && fits(&spec.source_namespace, &entry.catalog.namespace)
}

fn version(csv: &ClusterServiceVersion) -> Option<Version> {
    Version::parse(csv.spec.version.as_deref()?).ok()
}

/// The status, then the event about it.
fn take_over(
    namespace: &Namespace,
    subscription: &Subscription,
    csv: &str,
    now: Timestamp,
) -> Vec<Effect> {
    let mut status = subscription.status.clone().unwrap_or_default();
    status.installed_csv = Some(csv.to_owned());
    status.current_csv = Some(csv.to_owned());
    status.state = SubscriptionState::AtLatestKnown;
    let write = write(namespace, subscription, status, None, Spec::Unresolved, now);
    let reported = write.is_some().then(|| reported(subscription, csv));
    write.into_iter().chain(reported).collect()
}

fn reported(subscription: &Subscription, csv: &str) -> Effect {
    let package = &subscription.spec.name;
    let note = EventNote {
        event_type: EventType::Normal,
        reason: CSV_ADOPTED.to_owned(),
        message: format!(
            "ClusterServiceVersion {csv} of package {package} was installed already; this Subscription takes it over \
             and upgrades it from now on"
        ),
        uid: subscription.metadata.uid.clone(),
        field_path: None,
    };
    Effect::event(target_of(subscription), note)
}
