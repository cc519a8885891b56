//! Which CSVs need an object: the reverse of what they require.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_kit::ObjectKey;
use olm_rbac::Account;
use olm_types::api::ClusterServiceVersion;
use parking_lot::RwLock;

/// Something that a CSV can require.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependency {
    /// A CustomResourceDefinition, by name.
    Crd(String),
    /// An API service, by name.
    ApiService(String),
    /// A version of an API group that another server serves.
    Served {
        /// The group; empty for the core group.
        group: String,
        /// The version.
        version: String,
    },
    /// A ServiceAccount.
    Account(Account),
}

impl Dependency {
    /// A version of an API group.
    pub fn served(group: &str, version: &str) -> Self {
        Self::Served { group: group.to_owned(), version: version.to_owned() }
    }
}

/// The CSVs that require something, by what they require. Clones share the content.
#[derive(Clone, Debug, Default)]
pub struct Dependents {
    by_dependency: Arc<RwLock<BTreeMap<Dependency, BTreeSet<ObjectKey>>>>,
}

impl Dependents {
    /// A CSV is now `new` instead of `old`.
    pub fn update(&self, old: Option<&ClusterServiceVersion>, new: Option<&ClusterServiceVersion>) {
        let mut index = self.by_dependency.write();
        if let Some(csv) = old {
            let key = ObjectKey::of(csv);
            for dependency in dependencies(csv) {
                if let Some(keys) = index.get_mut(&dependency) {
                    keys.remove(&key);
                    if keys.is_empty() {
                        index.remove(&dependency);
                    }
                }
            }
        }
        if let Some(csv) = new {
            let key = ObjectKey::of(csv);
            for dependency in dependencies(csv) {
                index.entry(dependency).or_default().insert(key.clone());
            }
        }
    }

    /// The CSVs that require `dependency`.
    pub fn of(&self, dependency: &Dependency) -> Vec<ObjectKey> {
        let index = self.by_dependency.read();
        index.get(dependency).into_iter().flatten().cloned().collect()
    }
}

fn dependencies(csv: &ClusterServiceVersion) -> BTreeSet<Dependency> {
    let crds = csv.spec.customresourcedefinitions.iter();
    let crds = crds
        .flat_map(|crds| crds.owned.iter().chain(&crds.required))
        .map(|crd| Dependency::Crd(crd.name.clone()));
    let services = csv.spec.apiservicedefinitions.iter();
    let services = services
        .flat_map(|services| services.owned.iter().chain(&services.required))
        .map(|service| Dependency::ApiService(service.api_service_name()));
    let accounts = account_names(csv).into_iter().map(|name| {
        let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
        Dependency::Account(Account::new(namespace, name))
    });
    let native = csv.spec.native_apis.iter();
    let native = native.map(|api| Dependency::served(&api.group, &api.version));
    crds.chain(services).chain(native).chain(accounts).collect()
}

/// Names of the ServiceAccounts that the strategy gives rights to.
pub fn account_names(csv: &ClusterServiceVersion) -> BTreeSet<&str> {
    let strategy = csv.spec.install.spec.iter();
    strategy
        .flat_map(|strategy| strategy.permissions.iter().chain(&strategy.cluster_permissions))
        .map(|block| block.service_account_name.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mk_csv(crd: &str) -> ClusterServiceVersion {
        serde_json::from_value(json!({
            "metadata": {"name": "csv", "namespace": "ns"},
            "spec": {
                "customresourcedefinitions": {"required": [{"name": crd}]},
                "install": {"strategy": "deployment", "spec": {
                    "clusterPermissions": [{"serviceAccountName": "sa", "rules": []}],
                }},
            },
        }))
        .unwrap()
    }

    #[test]
    fn the_index_follows_the_csv() {
        let index = Dependents::default();
        let (first, second) = (mk_csv("a.g"), mk_csv("b.g"));
        let key = vec![ObjectKey::namespaced("ns", "csv")];
        index.update(None, Some(&first));
        assert_eq!(index.of(&Dependency::Crd("a.g".to_owned())), key);
        index.update(Some(&first), Some(&second));
        assert!(index.of(&Dependency::Crd("a.g".to_owned())).is_empty());
        assert_eq!(index.of(&Dependency::Account(Account::new("ns", "sa"))), key);
        index.update(Some(&second), None);
        assert!(index.by_dependency.read().is_empty());
    }
}
