//! The packages of all catalogs, ready to be given.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use olm_catalog::packages::{DEFAULT_ICON, StoredPackage};
use olm_kit::aggregated::{Item, Kind, Resource, Subresource};
use olm_types::bundle::CatalogKey;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{ICON, kind};

/// Packages by catalog. Clones share them.
#[derive(Clone)]
pub struct PackageCache {
    kind: Arc<Kind>,
    global_namespace: Arc<str>,
    catalogs: Arc<DashMap<CatalogKey, Vec<Arc<StoredPackage>>>>,
}

impl PackageCache {
    /// Nothing yet. Packages of `global_namespace` are seen from every namespace.
    pub fn new(global_namespace: &str) -> Self {
        Self {
            kind: Arc::new(kind()),
            global_namespace: global_namespace.into(),
            catalogs: Arc::default(),
        }
    }

    /// Replaces the packages of a catalog.
    pub fn put(&self, catalog: CatalogKey, packages: Vec<Arc<StoredPackage>>) {
        self.catalogs.insert(catalog, packages);
    }

    /// Forgets a catalog that does not exist any more.
    pub fn forget(&self, catalog: &CatalogKey) {
        self.catalogs.remove(catalog);
    }

    /// What the packages of a catalog take in memory, in bytes.
    pub fn bytes(&self, catalog: &CatalogKey) -> usize {
        self.catalogs.get(catalog).map_or(0, |packages| bytes(&packages))
    }

    /// What is held, for the diagnostics endpoint.
    pub fn dump(&self) -> Value {
        let catalogs = self.catalogs.iter().map(|entry| {
            let held = json!({"packages": entry.value().len(), "bytes": bytes(entry.value())});
            (entry.key().to_string(), held)
        });
        json!(catalogs.collect::<BTreeMap<_, _>>())
    }

    /// The packages that a namespace sees, by name, the namespace's own before global ones.
    fn visible(&self, namespace: Option<&str>) -> Vec<NamespacePackage> {
        let is_visible = |catalog: &CatalogKey| {
            namespace.is_none_or(|namespace| {
                *catalog.namespace == *namespace || catalog.namespace == self.global_namespace
            })
        };
        let mut seen: Vec<NamespacePackage> = Vec::new();
        for catalog in self.catalogs.iter().filter(|entry| is_visible(entry.key())) {
            seen.extend(catalog.value().iter().map(|package| NamespacePackage {
                package: Arc::clone(package),
                catalog: catalog.key().clone(),
                namespace: namespace.unwrap_or(&catalog.key().namespace).to_owned(),
            }));
        }
        seen.sort_by(|a, b| a.order().cmp(&b.order()));
        seen
    }

    fn find(&self, namespace: &str, name: &str) -> Option<NamespacePackage> {
        self.visible(Some(namespace)).into_iter().find(|seen| seen.package.name() == name)
    }
}

impl Resource for PackageCache {
    fn kind(&self) -> &Kind {
        &self.kind
    }

    fn list(&self, namespace: Option<&str>) -> Vec<Box<dyn Item>> {
        let seen = self.visible(namespace).into_iter();
        seen.map(|seen| Box::new(seen) as Box<dyn Item>).collect()
    }

    fn get(&self, namespace: &str, name: &str) -> Option<Box<dyn Item>> {
        self.find(namespace, name).map(|seen| Box::new(seen) as Box<dyn Item>)
    }

    fn subresource(&self, namespace: &str, name: &str, part: &str) -> Option<Subresource> {
        if part != ICON {
            return None;
        }
        let seen = self.find(namespace, name)?;
        Some(match seen.package.icon() {
            Some(icon) => Subresource {
                media_type: icon.media_type.clone(),
                etag: icon.etag.clone(),
                data: icon.data.to_vec(),
            },
            None => Subresource {
                media_type: "image/svg+xml".to_owned(),
                etag: String::new(),
                data: DEFAULT_ICON.as_bytes().to_vec(),
            },
        })
    }
}

/// A package as it is seen from a namespace.
struct NamespacePackage {
    package: Arc<StoredPackage>,
    catalog: CatalogKey,
    namespace: String,
}

impl NamespacePackage {
    fn order(&self) -> (&str, bool, &CatalogKey) {
        (self.package.name(), *self.catalog.namespace != *self.namespace, &self.catalog)
    }
}

impl Item for NamespacePackage {
    fn name(&self) -> &str {
        self.package.name()
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn labels(&self) -> &BTreeMap<String, String> {
        self.package.labels()
    }

    fn metadata(&self) -> Value {
        self.package.metadata(&self.namespace)
    }

    fn cells(&self) -> Vec<String> {
        vec![self.package.catalog_display_name().to_owned()]
    }

    fn object(&self) -> Result<Box<RawValue>, String> {
        self.package.object(&self.namespace).map_err(|error| error.to_string())
    }
}

fn bytes(packages: &[Arc<StoredPackage>]) -> usize {
    packages.iter().map(|package| package.bytes()).sum()
}

#[cfg(test)]
mod tests {
    use olm_types::api::{PackageManifest, PackageManifestSpec};
    use rstest::rstest;

    use super::*;

    fn package(name: &str) -> Arc<StoredPackage> {
        let package = PackageManifest::new(name, PackageManifestSpec {});
        Arc::new(StoredPackage::new(package).unwrap())
    }

    fn cache() -> PackageCache {
        let cache = PackageCache::new("olm");
        cache.put(CatalogKey::new("olm", "b"), vec![package("etcd"), package("vault")]);
        cache.put(CatalogKey::new("olm", "a"), vec![package("etcd")]);
        cache.put(CatalogKey::new("team", "own"), vec![package("etcd")]);
        cache.put(CatalogKey::new("other", "theirs"), vec![package("secret")]);
        cache
    }

    fn names(items: &[Box<dyn Item>]) -> Vec<String> {
        items.iter().map(|item| format!("{}/{}", item.namespace(), item.name())).collect()
    }

    #[rstest]
    #[case::own_and_global(Some("team"), &["team/etcd", "team/etcd", "team/etcd", "team/vault"])]
    #[case::global(Some("olm"), &["olm/etcd", "olm/etcd", "olm/vault"])]
    #[case::all(None, &["olm/etcd", "olm/etcd", "team/etcd", "other/secret", "olm/vault"])]
    fn a_namespace_sees_its_own_and_global_packages(
        #[case] namespace: Option<&str>,
        #[case] expected: &[&str],
    ) {
        assert_eq!(names(&cache().list(namespace)), expected);
    }

    #[test]
    fn of_several_its_own_comes_first_and_then_the_first_catalog() {
        let cache = cache();
        let found = |namespace| cache.find(namespace, "etcd").map(|seen| seen.catalog.to_string());
        assert_eq!(found("team").as_deref(), Some("team/own"));
        assert_eq!(found("elsewhere").as_deref(), Some("olm/a"));
        assert!(cache.get("elsewhere", "secret").is_none());
    }

    #[test]
    fn a_package_without_a_picture_shows_a_box() {
        let icon = cache().subresource("team", "vault", "icon").unwrap();
        assert_eq!((icon.media_type.as_str(), icon.etag.as_str()), ("image/svg+xml", ""));
        assert!(icon.data.starts_with(b"<svg "));
        assert!(cache().subresource("team", "nothing", "icon").is_none());
        assert!(cache().subresource("team", "vault", "status").is_none());
    }

    #[test]
    fn what_is_gone_is_not_shown() {
        let cache = cache();
        cache.forget(&CatalogKey::new("team", "own"));
        assert_eq!(names(&cache.list(Some("team"))).len(), 3);
        assert_eq!(cache.dump()["olm/b"]["packages"], 2);
    }
}
