//! What tenants may have done with OLM's own rights (docs/security.md).

use std::collections::BTreeMap;

use kube::{Client, ResourceExt};
use olm_kit::shared_key::{SharedKeyError, shared_key};
use olm_lifecycle::tenancy::{ATTESTATION_KEY, Attestor, TenantPolicy, Trust};

use crate::args::Args;
use crate::stores::Stores;

/// What is needed to judge CSVs and groups.
#[derive(Clone)]
pub struct Tenancy {
    /// How far the owners of namespaces are trusted.
    pub policy: TenantPolicy,
    attestor: Attestor,
    home: String,
}

impl Tenancy {
    /// As the command line says. The key of marks is made by the operator that needs it first.
    ///
    /// # Errors
    /// The key cannot be had.
    pub async fn assemble(args: &Args, client: &Client) -> Result<Self, SharedKeyError> {
        let attestor = match args.tenant_policy {
            TenantPolicy::V0 => Attestor::default(),
            TenantPolicy::Strict => {
                Attestor::new(&shared_key(client, &args.namespace, ATTESTATION_KEY).await?)
            }
        };
        Ok(Self { policy: args.tenant_policy, attestor, home: args.namespace.clone() })
    }

    /// Whom to trust at this moment.
    pub fn trust(&self, stores: &Stores) -> Trust {
        if self.policy == TenantPolicy::V0 {
            return Trust::default();
        }
        let none = BTreeMap::new();
        let trusted = stores.namespaces.list_where(|namespace| {
            self.policy.trusts(namespace.metadata.annotations.as_ref().unwrap_or(&none))
        });
        let names = trusted.iter().map(|namespace| namespace.name_any());
        Trust {
            policy: self.policy,
            namespaces: names.chain([self.home.clone()]).collect(),
            attestor: self.attestor.clone(),
        }
    }
}
