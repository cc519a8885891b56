//! What is to be done, as keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use olm_kit::ObjectKey;
use olm_kit::queue::Queue;

use crate::controllers::copied_csv::CopyKey;

/// One queue per controller. Clones share them.
#[derive(Clone, Default)]
pub struct Queues {
    /// ClusterServiceVersions.
    pub csvs: Queue<ObjectKey>,
    /// OperatorGroups.
    pub groups: Queue<ObjectKey>,
    /// Namespaces, for their labels.
    pub namespaces: Queue<String>,
    /// Copies of CSVs.
    pub copies: Queue<CopyKey>,
    /// OLMConfigs, for their status.
    pub configs: Queue<String>,
    watched: Arc<Option<BTreeSet<String>>>,
}

impl Queues {
    /// Empty queues that take keys of these namespaces only; of all when `None`.
    pub fn new(watched: Option<BTreeSet<String>>) -> Self {
        Self { watched: Arc::new(watched), ..Self::default() }
    }

    /// Asks for a pass of a CSV.
    pub fn add_csv(&self, key: ObjectKey) {
        if self.looks_after(&key) {
            self.csvs.add(key);
        }
    }

    /// Asks for a look at an OperatorGroup.
    pub fn add_group(&self, key: ObjectKey) {
        if self.looks_after(&key) {
            self.groups.add(key);
        }
    }

    /// Asks for a look at the labels of a namespace.
    pub fn add_namespace(&self, name: &str) {
        if !name.is_empty() {
            self.namespaces.add(name.to_owned());
        }
    }

    /// Asks for a look at copies.
    pub fn add_copy(&self, key: CopyKey) {
        if self.looks_after(&key.origin) {
            self.copies.add(key);
        }
    }

    /// Asks for a look at the status of an OLMConfig.
    pub fn add_config(&self, name: &str) {
        self.configs.add(name.to_owned());
    }

    fn looks_after(&self, key: &ObjectKey) -> bool {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        self.watched.as_ref().as_ref().is_none_or(|watched| watched.contains(namespace))
    }
}
