//! Says in the OLMConfig whether its setting took effect.

use std::collections::BTreeSet;

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::copied_csv::{Copying, config_status};

use super::observe::census;
use crate::clock;
use crate::stores::Stores;

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
        let effect = config_status(&config, &copying, &census(&self.stores), clock::now());
        self.interpreter.act(effect.as_slice()).await?;
        Ok(Conclusion::Done)
    }
}
