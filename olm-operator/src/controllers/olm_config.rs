//! The OLMConfig.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::copied_csv::{CopyInventory, Copying, config_status};

use crate::clock;
use crate::stores::Stores;

/// Where the copies of the operators that watch all namespaces are.
pub fn copy_inventory(stores: &Stores) -> CopyInventory {
    let namespaces = stores.namespaces.list();
    let staying = namespaces.iter().filter(|found| found.metadata.deletion_timestamp.is_none());
    CopyInventory {
        namespaces: staying.filter_map(|found| found.metadata.name.clone()).collect(),
        copies: copies(stores),
    }
}

fn copies(stores: &Stores) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut copies: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for group in stores.global_groups() {
        let home = group.metadata.namespace.clone().unwrap_or_default();
        for csv in stores.csvs.list_in(&home) {
            let name = csv.metadata.name.clone().unwrap_or_default();
            copies.insert((home.clone(), name), BTreeSet::new());
        }
    }
    for copy in stores.copies.list() {
        if let Some(found) = copies.get_mut(&(copy.origin().to_owned(), copy.name().to_owned())) {
            found.insert(copy.namespace().to_owned());
        }
    }
    copies
}

/// Reconciles the OLMConfig.
pub struct ConfigReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// Namespaces that have copies even when copying is off.
    pub protected: BTreeSet<String>,
}

#[async_trait]
impl Reconciler<String> for ConfigReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let Some(config) = self.stores.configs.get(None, name) else {
            return Ok(Conclusion::Done);
        };
        let enabled = config.copied_csvs_enabled();
        let copying = Copying { enabled, protected: self.protected.clone() };
        let effect = config_status(&config, &copying, &copy_inventory(&self.stores), clock::now());
        self.interpreter.act(effect.as_slice()).await?;
        Ok(Conclusion::Done)
    }
}
