//! What every way of unpacking asks of the cluster.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Client, ResourceExt};
use olm_effect::{Effect, Outcome};
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;
use olm_kit::live;
use olm_lifecycle::unpack::objects;
use olm_lifecycle::writes::target_of;
use olm_types::api::CatalogSource;
use olm_types::hash::unpack_name;
use serde::Deserialize;

use crate::stores::Stores;

/// The cluster, to be read and written.
pub struct Cluster {
    pub(crate) stores: Stores,
    pub(crate) client: Client,
    pub(crate) interpreter: Interpreter,
}

impl Cluster {
    /// The ConfigMap for a bundle of the catalog: the one there is, else an empty one that is made.
    pub(super) async fn config_map(
        &self,
        catalog: &CatalogSource,
        image: &str,
    ) -> Result<ConfigMap, ReconcileError> {
        let wanted = objects::config_map(catalog, &unpack_name(image));
        let (namespace, name) = (wanted.namespace(), wanted.name_any());
        if let Some(found) = live::get(&self.client, namespace.as_deref(), &name).await? {
            let claim: Vec<_> = objects::claim(&found).into_iter().collect();
            self.interpreter.act(&claim).await?;
            return Ok(found);
        }
        let manifest = serde_json::to_value(&wanted).map_err(ReconcileError::other)?;
        match self.act_one(Effect::create(target_of(&wanted), manifest)).await? {
            Some(Outcome::Created(live)) => {
                ConfigMap::deserialize(&live).map_err(ReconcileError::other)
            }
            other => Err(ReconcileError::message(format!(
                "ConfigMap {} was made by another client just now ({other:?})",
                wanted.name_any()
            ))),
        }
    }

    /// Carries out one effect, and says what came of it; a refusal is the error.
    pub(super) async fn act_one(&self, effect: Effect) -> Result<Option<Outcome>, ReconcileError> {
        match self.interpreter.execute(&[effect]).await.pop() {
            Some(Outcome::Refused(refusal)) => Err(refusal.into()),
            outcome => Ok(outcome),
        }
    }
}
