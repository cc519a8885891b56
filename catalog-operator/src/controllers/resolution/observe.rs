//! What is known about a namespace and the catalogs it can use.

use kube::ResourceExt;
use olm_catalog::snapshot::{Member, SnapshotSet};
use olm_lifecycle::subscription::resolution::Namespace;
use olm_types::bundle::CatalogKey;

use crate::catalogs::{Catalogs, Content};
use crate::stores::Stores;

/// Gathers a namespace.
pub(super) fn namespace(name: &str, stores: &Stores) -> Namespace {
    Namespace {
        name: name.to_owned(),
        subscriptions: stores.subscriptions.list_in(name),
        plans: stores.plans.list_in(name),
        csvs: stores.csvs.list_in(name).iter().map(|csv| csv.name_any()).collect(),
        groups: stores.groups.list_in(name),
    }
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
