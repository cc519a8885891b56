//! Which InstallPlans OLM's own rights may serve (docs/security.md).

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, ResourceExt};
use olm_kit::controller::ReconcileError;
use olm_kit::shared_key::{SharedKeyError, shared_key};
use olm_lifecycle::tenancy::{ATTESTATION_KEY, Attestor, StepTrust, TenantPolicy};
use olm_types::api::InstallPlan;

use crate::args::Args;

/// What is needed to judge plans.
#[derive(Clone)]
pub(crate) struct Tenancy {
    client: Client,
    policy: TenantPolicy,
    /// Makes the marks of plans; has no key under v0's policy, and makes none then.
    pub(crate) attestor: Attestor,
    /// Namespaces of the installation itself: the operator's, and that of global catalogs.
    own: [String; 2],
}

impl Tenancy {
    /// As the command line says. The key of marks is made by the operator that needs it first.
    pub(crate) async fn assemble(args: &Args, client: &Client) -> Result<Self, SharedKeyError> {
        let attestor = match args.tenant_policy {
            TenantPolicy::V0 => Attestor::default(),
            TenantPolicy::Strict => {
                Attestor::new(&shared_key(client, &args.namespace, ATTESTATION_KEY).await?)
            }
        };
        Ok(Self {
            client: client.clone(),
            policy: args.tenant_policy,
            attestor,
            own: [args.namespace.clone(), args.global_catalog_namespace().to_owned()],
        })
    }

    /// Whether tenants are trusted less than in v0.
    pub(crate) fn is_strict(&self) -> bool {
        self.policy == TenantPolicy::Strict
    }

    /// Where global catalogs are.
    pub(crate) fn global_namespace(&self) -> &str {
        let [_, global] = &self.own;
        global
    }

    /// What is trusted in a plan. What an administrator says on a Namespace is read when it counts.
    ///
    /// # Errors
    /// The Namespace cannot be read.
    pub(crate) async fn judge(&self, plan: &InstallPlan) -> Result<StepTrust, ReconcileError> {
        let namespace = plan.namespace().unwrap_or_default();
        let trusted = match self.policy {
            TenantPolicy::V0 => true,
            TenantPolicy::Strict => {
                self.own.contains(&namespace) || self.is_trusted(&namespace).await?
            }
        };
        let global = self.global_namespace();
        Ok(StepTrust::judge(self.policy, trusted, plan, &self.attestor, global))
    }

    async fn is_trusted(&self, namespace: &str) -> Result<bool, ReconcileError> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let found = namespaces.get_opt(namespace).await.map_err(ReconcileError::other)?;
        let annotations: Option<BTreeMap<String, String>> =
            found.and_then(|namespace| namespace.metadata.annotations);
        Ok(annotations.is_some_and(|annotations| self.policy.trusts(&annotations)))
    }
}
