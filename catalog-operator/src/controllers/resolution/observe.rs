//! What is known about a namespace and the catalogs it can use.

use std::sync::Arc;

use kube::ResourceExt;
use olm_catalog::snapshot::{Member, SnapshotSet};
use olm_lifecycle::subscription::is_held;
use olm_lifecycle::subscription::readiness::CsvState;
use olm_lifecycle::subscription::resolution::Namespace;
use olm_types::api::Subscription;
use olm_types::bundle::CatalogKey;

use crate::catalogs::{Catalogs, Content};
use crate::stores::Stores;

/// Gathers a namespace.
pub(super) fn namespace(name: &str, stores: &Stores) -> Namespace {
    let (held, subscriptions) = subscriptions(name, stores).partition(|one| is_held(one));
    let csvs = stores.csvs.list_in(name);
    Namespace {
        name: name.to_owned(),
        subscriptions,
        held,
        plans: stores.plans.list_in(name),
        csvs: csvs.iter().map(|csv| (csv.name_any(), CsvState::from(&**csv))).collect(),
        groups: stores.groups.list_in(name),
    }
}

/// Whoever deletes a Subscription asks for nothing any more, even while a finalizer keeps it; one that is
/// held by its annotations asks for nothing for now, and what it has installed stays as a CSV without a
/// Subscription does.
fn subscriptions(namespace: &str, stores: &Stores) -> impl Iterator<Item = Arc<Subscription>> {
    let subscriptions = stores.subscriptions.list_in(namespace).into_iter();
    subscriptions.filter(|one| one.metadata.deletion_timestamp.is_none())
}

/// The catalogs of `namespaces`; nothing while one of them is still being connected or loaded.
/// Its change will bring the namespace back here.
pub(super) fn universe(
    namespaces: &[&str],
    stores: &Stores,
    catalogs: &Catalogs,
) -> Option<SnapshotSet> {
    let sources = namespaces.iter().flat_map(|namespace| stores.catalogs.list_in(namespace));
    let members = sources.map(|source| {
        let key = CatalogKey::new(&source.namespace().unwrap_or_default(), &source.name_any());
        let content = match catalogs.content(&key) {
            Content::Waiting => return None,
            Content::Loaded(snapshot) => Ok(snapshot),
            Content::Unavailable(reason) => Err(reason),
        };
        Some(Member { key, priority: source.spec.priority.unwrap_or_default(), content })
    });
    members.collect::<Option<Vec<_>>>().map(SnapshotSet::new)
}
