//! Which CatalogSources a change concerns: the one that owns the object or that its label names,
//! and those whose ConfigMap or namespace it is.

use kube::{Resource, ResourceExt};
use olm_kit::ObjectKey;
use olm_kit::queue::Queue;
use olm_kit::watch::{Change, Store};
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, CATALOG_SOURCE_UPDATE, POD_SECURITY_ENFORCE};

use super::ServerStores;

/// Adds the CatalogSources that a change concerns to `queue`, from now on.
pub fn listen(stores: &ServerStores, catalogs: &Store<CatalogSource>, queue: &Queue<ObjectKey>) {
    owners(&stores.accounts, queue);
    owners(&stores.services, queue);
    owners(&stores.policies, queue);
    owners(&stores.roles, queue);
    owners(&stores.bindings, queue);
    owners(&stores.pods, queue);
    owners(&stores.config_maps, queue);
    let pods = queue.clone();
    stores.pods.on_change(move |change| {
        change.versions().for_each(|pod| labelled(&**pod).for_each(|key| pods.add(key)));
    });
    let (all, maps) = (catalogs.clone(), queue.clone());
    stores.config_maps.on_change(move |change| {
        let Some(map) = change.latest() else { return };
        let (namespace, name) = (map.namespace().unwrap_or_default(), map.name_any());
        let reads = |catalog: &&_| reads(catalog, &name);
        add(&maps, all.list_in(&namespace).iter().map(|catalog| &**catalog).filter(reads));
    });
    let (all, namespaces) = (catalogs.clone(), queue.clone());
    stores.namespaces.on_change(move |change| {
        let Some(namespace) = change.latest().filter(|_| changes_level(change)) else { return };
        add(&namespaces, all.list_in(&namespace.name_any()).iter().map(|catalog| &**catalog));
    });
}

fn owners<K>(store: &Store<K>, queue: &Queue<ObjectKey>)
where
    K: Resource,
{
    let queue = queue.clone();
    store.on_change(move |change| {
        change.versions().for_each(|object| owned(object.meta()).for_each(|key| queue.add(key)));
    });
}

/// The CatalogSources that own an object.
fn owned(metadata: &kube::core::ObjectMeta) -> impl Iterator<Item = ObjectKey> {
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let owners = metadata.owner_references.iter().flatten();
    owners
        .filter(|owner| owner.kind == CatalogSource::KIND)
        .map(move |owner| ObjectKey::namespaced(namespace, &owner.name))
}

/// The CatalogSources that the labels of a Pod name.
fn labelled<K: ResourceExt>(pod: &K) -> impl Iterator<Item = ObjectKey> {
    let namespace = pod.namespace().unwrap_or_default();
    let names = [CATALOG_SOURCE, CATALOG_SOURCE_UPDATE].into_iter();
    names
        .filter_map(|key| pod.labels().get(key))
        .filter(|name| !name.is_empty())
        .map(move |name| ObjectKey::namespaced(&namespace, name))
}

fn reads(catalog: &CatalogSource, config_map: &str) -> bool {
    catalog.spec.config_map.as_deref() == Some(config_map)
}

fn changes_level<K: ResourceExt>(change: &Change<K>) -> bool {
    let level = |object: Option<&std::sync::Arc<K>>| {
        object.and_then(|object| object.labels().get(POD_SECURITY_ENFORCE).cloned())
    };
    level(change.old.as_ref()) != level(change.new.as_ref())
}

fn add<'a>(queue: &Queue<ObjectKey>, catalogs: impl Iterator<Item = &'a CatalogSource>) {
    catalogs.for_each(|catalog| queue.add(ObjectKey::of(catalog)));
}
