//! Which differences between two states of an object matter to the resolution of its namespace.

use olm_lifecycle::subscription::declarations;
use olm_types::annotations::PROPERTIES;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, CsvPhase, Subscription, SubscriptionStatus,
};
use olm_types::conditions::readiness;
use olm_types::conditions::subscription::{BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING};

/// Whether two states of a CSV are the same to a resolution under fail-forward, and to what follows one.
pub(crate) fn same_csv(old: &ClusterServiceVersion, new: &ClusterServiceVersion) -> bool {
    let phase = |csv: &ClusterServiceVersion| csv.status.as_ref().map(|status| status.phase);
    decisive(phase(old)) == decisive(phase(new)) && same_content(old, new)
}

/// Whether two states of a CSV are the same to a resolution: its phase, and annotations besides its
/// properties, say nothing to it.
pub(crate) fn same_content(old: &ClusterServiceVersion, new: &ClusterServiceVersion) -> bool {
    let properties =
        |csv: &ClusterServiceVersion| csv.metadata.annotations.as_ref()?.get(PROPERTIES).cloned();
    old.metadata.uid == new.metadata.uid
        && old.spec == new.spec
        && properties(old) == properties(new)
}

/// Whether two states of a CatalogSource differ in nothing but when it was connected, which only
/// people want to know.
pub(crate) fn same_catalog(old: &CatalogSource, new: &CatalogSource) -> bool {
    let essence = |catalog: &CatalogSource| {
        let mut catalog = catalog.clone();
        catalog.metadata.resource_version = None;
        catalog.metadata.managed_fields = None;
        let connection =
            catalog.status.as_mut().and_then(|status| status.connection_state.as_mut());
        if let Some(connection) = connection {
            connection.last_connect = None;
        }
        catalog
    };
    essence(old) == essence(new)
}

/// Whether two states of a Subscription are the same to a resolution, and to what is reported of one: metadata
/// besides identity and what it declares, the health of catalogs, readiness and times say nothing to it.
pub(crate) fn same_subscription(old: &Subscription, new: &Subscription) -> bool {
    same_request(old, new) && relevant(old) == relevant(new)
}

/// Whether two states of a Subscription ask the resolver for the same: of the status it reads the names of CSVs only.
pub(crate) fn same_request(old: &Subscription, new: &Subscription) -> bool {
    let csvs = |subscription: &Subscription| {
        let status = subscription.status.as_ref();
        status.map(|status| (status.installed_csv.clone(), status.current_csv.clone()))
    };
    old.metadata.name == new.metadata.name
        && old.metadata.uid == new.metadata.uid
        && declarations(old) == declarations(new)
        && old.spec == new.spec
        && csvs(old).unwrap_or_default() == csvs(new).unwrap_or_default()
}

fn relevant(subscription: &Subscription) -> Option<SubscriptionStatus> {
    let status = subscription.status.clone();
    let relevant = |mut status: SubscriptionStatus| {
        status.conditions.retain(|condition| !readiness::ALL.contains(&condition.type_.as_str()));
        SubscriptionStatus {
            catalog_health: Vec::new(),
            last_updated: None,
            observed_generation: None,
            ..status
        }
    };
    status.map(relevant)
}

/// Whether a Subscription waits for a bundle: how that is going is not in its own state.
pub(crate) fn awaits_bundle(subscription: &Subscription) -> bool {
    let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
    conditions
        .filter(|condition| condition.status == "True")
        .any(|condition| [BUNDLE_UNPACKING, BUNDLE_UNPACK_FAILED].contains(&&*condition.type_))
}

/// Resolution looks only at whether a CSV failed or is being replaced.
fn decisive(phase: Option<CsvPhase>) -> Option<CsvPhase> {
    phase.filter(|phase| {
        matches!(phase, CsvPhase::Failed | CsvPhase::Replacing | CsvPhase::Succeeded)
    })
}
