//! What tenants may have done with OLM's own rights (docs/security.md).

use std::collections::BTreeMap;

use kube::{Client, ResourceExt};
use olm_kit::controller::ReconcileError;
use olm_kit::leader::Leadership;
use olm_kit::shared_key::{SharedKey, SharedKeyError};
use olm_lifecycle::tenancy::{ATTESTATION_KEY, Attestor, TenantPolicy, Trust};

use crate::args::Args;
use crate::stores::Stores;

/// What is needed to judge CSVs and groups.
#[derive(Clone)]
pub struct Tenancy {
    /// How far the owners of namespaces are trusted.
    pub policy: TenantPolicy,
    /// That of marks; none under v0's policy.
    key: Option<SharedKey>,
    home: String,
}

impl Tenancy {
    /// As the command line says. The key of marks is made by the operator that needs it first, and
    /// acts.
    ///
    /// # Errors
    /// The Secret of the key is unreadable, or holds none.
    pub async fn assemble(
        args: &Args,
        client: &Client,
        leadership: &Leadership,
    ) -> Result<Self, SharedKeyError> {
        let secret = (args.namespace.as_str(), ATTESTATION_KEY);
        let is_needed = args.tenant_policy.is_strict();
        let key = SharedKey::if_needed(is_needed, client, secret, leadership).await?;
        Ok(Self { policy: args.tenant_policy, key, home: args.namespace.clone() })
    }

    /// Whom to trust at this moment.
    ///
    /// # Errors
    /// There is no key of marks, and none can be made.
    pub async fn trust(&self, stores: &Stores) -> Result<Trust, ReconcileError> {
        let Some(key) = &self.key else { return Ok(Trust::default()) };
        let attestor = Attestor::new(key.get().await.map_err(ReconcileError::other)?);
        let none = BTreeMap::new();
        let trusted = stores.namespaces.list_where(|namespace| {
            self.policy.trusts(namespace.metadata.annotations.as_ref().unwrap_or(&none))
        });
        let names = trusted.iter().map(|namespace| namespace.name_any());
        Ok(Trust {
            policy: self.policy,
            namespaces: names.chain([self.home.clone()]).collect(),
            attestor,
        })
    }
}
