//! What a scenario that has passed leaves behind in a cluster that ends with its run.
//!
//! Its namespaces stay, and what it installed does: to delete a namespace, a request is needed for each kind
//! that there is. What others pay for goes. The operators dial catalogs whose servers have ended again and
//! again. And kube-controller-manager aggregates the roles of all OperatorGroups once more whenever any
//! ClusterRole changes, which after 200 scenarios takes a quarter of the machine's processor time.

use anyhow::{Context, Result};
use kube::Resource;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams};
use olm_types::api::{CatalogSource, OperatorGroup, Subscription};

use super::TestContext;

impl TestContext {
    /// Deletes it, in all namespaces of the scenario.
    ///
    /// # Errors
    ///
    /// The API server refuses that.
    pub async fn leave(&self) -> Result<()> {
        self.conclude_all_plans().await?;
        // First, or the operators would write into each that its catalog is missing.
        self.delete_everywhere::<Subscription>().await?;
        self.delete_everywhere::<CatalogSource>().await?;
        self.delete_everywhere::<OperatorGroup>().await
    }

    /// Their content does not matter, and some scenarios make objects that cannot be parsed.
    async fn delete_everywhere<K>(&self) -> Result<()>
    where
        K: Resource<DynamicType = ()>,
    {
        let resource = ApiResource::erase::<K>(&());
        let (how, every) = (DeleteParams::default(), ListParams::default());
        for namespace in self.namespaces.lock().await.iter() {
            let all: Api<DynamicObject> =
                Api::namespaced_with(self.client.clone(), namespace, &resource);
            let deleted = all.delete_collection(&how, &every).await.map(drop);
            let kind = &resource.kind;
            deleted.with_context(|| format!("cannot delete every {kind} of {namespace}"))?;
        }
        Ok(())
    }
}
