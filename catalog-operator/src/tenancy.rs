//! Which InstallPlans OLM's own rights may serve (docs/security.md).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Namespace;
use kube::{Client, ResourceExt};
use olm_kit::controller::ReconcileError;
use olm_kit::leader::Leadership;
use olm_kit::live;
use olm_kit::shared_key::{SharedKey, SharedKeyError};
use olm_lifecycle::install_plan::phase::Observed;
use olm_lifecycle::tenancy::{ATTESTATION_KEY, Attestor, StepTrust, TenantPolicy};
use olm_types::api::{InstallPlan, InstallPlanPhase};

use crate::args::Args;

/// Kind of the steps that write definitions.
const CRD: &str = "CustomResourceDefinition";

/// What is needed to judge plans.
#[derive(Clone)]
pub(crate) struct Tenancy {
    client: Client,
    policy: TenantPolicy,
    /// That of marks; none under v0's policy.
    key: Option<SharedKey>,
    /// Namespaces of the installation itself: the operator's, and that of global catalogs.
    own: [String; 2],
}

impl Tenancy {
    /// As the command line says. The key of marks is made by the operator that needs it first, and
    /// acts.
    pub(crate) async fn assemble(
        args: &Args,
        client: &Client,
        leadership: &Leadership,
    ) -> Result<Self, SharedKeyError> {
        let secret = (args.namespace.as_str(), ATTESTATION_KEY);
        let is_needed = args.tenant_policy.is_strict();
        let key = SharedKey::if_needed(is_needed, client, secret, leadership).await?;
        Ok(Self {
            client: client.clone(),
            policy: args.tenant_policy,
            key,
            own: [args.namespace.clone(), args.global_catalog_namespace().to_owned()],
        })
    }

    /// Makes and checks marks; has no key under v0's policy. The replica that acts makes the key if it
    /// is not there.
    ///
    /// # Errors
    /// There is no key, and none can be made.
    pub(crate) async fn attestor(&self) -> Result<Attestor, ReconcileError> {
        match &self.key {
            Some(key) => Ok(Attestor::new(key.get().await.map_err(ReconcileError::other)?)),
            None => Ok(Attestor::default()),
        }
    }

    /// Whether tenants are trusted less than in v0.
    pub(crate) fn is_strict(&self) -> bool {
        self.policy.is_strict()
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
            TenantPolicy::Strict => self.trusts(&namespace).await?,
        };
        let global = self.global_namespace();
        let attestor = self.attestor().await?;
        Ok(StepTrust::judge(self.policy, trusted, plan, &attestor, global))
    }

    /// The definitions that a plan of a namespace which is not trusted must not change: an operator of a
    /// trusted namespace owns them. A catalog offers older versions of an operator, too, whose definitions lack
    /// what newer objects have.
    ///
    /// # Errors
    /// A Namespace cannot be read.
    pub(crate) async fn guarded(
        &self,
        observed: &Observed,
    ) -> Result<BTreeSet<String>, ReconcileError> {
        let plan = &observed.plan;
        let mut guarded = BTreeSet::new();
        let is_executed =
            matches!(plan.phase(), InstallPlanPhase::Installing | InstallPlanPhase::Failed);
        if matches!(observed.trust, StepTrust::All) || !is_executed {
            return Ok(guarded);
        }
        let home = plan.namespace().unwrap_or_default();
        let mut known: BTreeMap<&str, bool> = BTreeMap::new();
        let steps = plan.status.iter().flat_map(|status| &status.plan);
        let names = steps.filter(|step| step.resource.kind == CRD).map(|step| &step.resource.name);
        for name in names {
            let owners = observed.crd_owners.get(name).into_iter().flatten();
            for owner in owners.filter(|owner| owner.namespace != home) {
                let trusted = match known.get(owner.namespace.as_str()) {
                    Some(trusted) => *trusted,
                    None => self.trusts(&owner.namespace).await?,
                };
                known.insert(&owner.namespace, trusted);
                if trusted {
                    guarded.insert(name.clone());
                    break;
                }
            }
        }
        Ok(guarded)
    }

    async fn trusts(&self, namespace: &str) -> Result<bool, ReconcileError> {
        Ok(self.own.iter().any(|own| own == namespace) || self.is_trusted(namespace).await?)
    }

    async fn is_trusted(&self, namespace: &str) -> Result<bool, ReconcileError> {
        let found = live::get::<Namespace>(&self.client, None, namespace).await;
        let found = found.map_err(ReconcileError::other)?;
        let annotations: Option<BTreeMap<String, String>> =
            found.and_then(|namespace| namespace.metadata.annotations);
        Ok(annotations.is_some_and(|annotations| self.policy.trusts(&annotations)))
    }
}
