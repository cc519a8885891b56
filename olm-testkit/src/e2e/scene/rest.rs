//! Nothing is written where nothing changed.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription,
};
use olm_types::labels::COPIED_FROM;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::Scene;
use crate::audit::AuditLog;
use crate::operators::{OLM_NAMESPACE, Operator};
use crate::wait::PATIENCE;

const OPERATORS: [&str; 2] = [Operator::Olm.name(), Operator::Catalog.name()];

/// An idle operator answers a change within milliseconds; so long without a write is the end.
const QUIET: Duration = Duration::from_secs(2);

/// How often others may disturb a scenario before that is a failure.
const DISTURBED: usize = 5;

impl Scene {
    /// Waits for the last write of the operators in the namespace. Then every object that they
    /// reconcile is touched, so that the whole scenario is decided once more, and they must find
    /// nothing to write. Where nobody logs who wrote what, this is not known, and not waited for.
    ///
    /// A global catalog that comes, goes or changes meanwhile concerns every Subscription: then all
    /// is done again.
    pub async fn at_rest(&self) -> Result<()> {
        let Some(log) = &self.facts().audit_log else { return Ok(()) };
        for _ in 0..DISTURBED {
            let before = self.global_catalogs().await?;
            let rest = self.rest(log).await;
            if rest.is_ok() || self.global_catalogs().await? == before {
                return rest;
            }
        }
        bail!("global catalogs changed {DISTURBED} times while the scenario came to rest")
    }

    /// What identifies the state of all global catalogs.
    async fn global_catalogs(&self) -> Result<BTreeMap<String, Option<String>>> {
        let all: Api<CatalogSource> = Api::namespaced(self.client.clone(), OLM_NAMESPACE);
        let list = all.list(&ListParams::default()).await.context("cannot list global catalogs")?;
        let state = |one: &CatalogSource| (one.name_any(), one.resource_version());
        Ok(list.iter().map(state).collect())
    }

    async fn rest(&self, log: &Path) -> Result<()> {
        let mut audit = AuditLog::new(log.to_owned()).of_namespace(&self.namespace);
        audit.until_quiet(&OPERATORS, QUIET, PATIENCE).await?;
        self.touch::<CatalogSource>().await?;
        self.touch::<OperatorGroup>().await?;
        self.touch::<Subscription>().await?;
        self.touch::<InstallPlan>().await?;
        self.touch::<ClusterServiceVersion>().await?;
        let nothing = audit.nothing_for(&OPERATORS, QUIET).await;
        nothing.context("the scenario is over and the operators go on writing")
    }

    /// Changes the objects of a kind in a way that means nothing; to a copy of a CSV it would mean
    /// that it is out of step.
    async fn touch<K>(&self) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = self.api();
        let again = Timestamp::now().as_nanosecond().to_string();
        let touch = Patch::Merge(json!({"metadata": {"labels": {"touched": again}}}));
        let originals = ListParams::default().labels(&format!("!{COPIED_FROM}"));
        let list = api.list(&originals).await.context("cannot list what to touch")?;
        for object in list {
            let touched = api.patch(&object.name_any(), &PatchParams::default(), &touch).await;
            touched.with_context(|| format!("cannot touch {}", object.name_any()))?;
        }
        Ok(())
    }
}
