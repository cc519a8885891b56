//! Nothing is written where nothing changed.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::Scene;
use crate::audit::AuditLog;
use crate::operators::Operator;
use crate::wait::PATIENCE;

const OPERATORS: [&str; 2] = [Operator::Olm.name(), Operator::Catalog.name()];

/// An idle operator answers a change within milliseconds; so long without a write is the end.
const QUIET: Duration = Duration::from_secs(2);

impl Scene {
    /// Waits for the last write of the operators in the namespace. Then every object that they
    /// reconcile is touched, so that the whole scenario is decided once more, and they must find
    /// nothing to write. Where nobody logs who wrote what, this is not known, and not waited for.
    pub async fn at_rest(&self) -> Result<()> {
        let Some(log) = &self.facts().audit_log else { return Ok(()) };
        let mut audit = AuditLog::new(log.clone()).of_namespace(&self.namespace);
        audit.until_quiet(&OPERATORS, QUIET, PATIENCE).await?;
        self.touch::<CatalogSource>().await?;
        self.touch::<OperatorGroup>().await?;
        self.touch::<Subscription>().await?;
        self.touch::<InstallPlan>().await?;
        self.touch::<ClusterServiceVersion>().await?;
        let nothing = audit.nothing_for(&OPERATORS, QUIET).await;
        nothing.context("the scenario is over and the operators go on writing")
    }

    /// Changes the objects of a kind in a way that means nothing.
    async fn touch<K>(&self) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = self.api();
        let touch = Patch::Merge(json!({"metadata": {"labels": {"touched": "once"}}}));
        let list = api.list(&ListParams::default()).await.context("cannot list what to touch")?;
        for object in list {
            let touched = api.patch(&object.name_any(), &PatchParams::default(), &touch).await;
            touched.with_context(|| format!("cannot touch {}", object.name_any()))?;
        }
        Ok(())
    }
}
