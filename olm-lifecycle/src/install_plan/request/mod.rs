//! The InstallPlan that a resolution asks for (spec catalog-operator 4.1).
//!
//! A plan is made in two writes: the object, then its status with the steps. Each of the two may
//! be the last one before a crash, so an unfinished plan is recognised and finished.

mod name;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::annotations::ASKED_BY;
use olm_types::api::{
    Approval, BundleLookup, InstallPlan, InstallPlanPhase, InstallPlanReference, InstallPlanSpec,
    InstallPlanStatus, Step, Subscription,
};
use olm_types::owner::non_blocking_owner;
use olm_types::reasons::event::RESOLUTION_FAILED;

use super::continuation::owners as subscriptions;
use super::requesters::Requesters;
use super::{approval, report};
use crate::subscription::policy;
use crate::tenancy::Attestor;
use crate::writes::status_write;
pub(crate) use name::NAME_PREFIX;

/// What shall be installed in a namespace.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The namespace.
    pub namespace: String,
    /// Number of the plan in its namespace.
    pub generation: i64,
    /// Whether a person has to approve.
    pub approval: Approval,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Bundles that have to be unpacked first.
    pub lookups: Vec<BundleLookup>,
    /// The Subscriptions that it is for; they own the plan.
    pub owners: Vec<Arc<Subscription>>,
    /// `uid`s of all Subscriptions of the namespace.
    pub present: Vec<String>,
    /// Who asks for what, where several Subscriptions do; never in v0.
    pub asked: Option<Requesters>,
}

impl PlanRequest {
    /// Whether there is nothing to install.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.lookups.is_empty()
    }

    /// The plan as it is created beside `plans`, all of its namespace; it has no status yet. Its
    /// name follows from the request: who asks for the same twice, or at the same time, is answered
    /// that it exists.
    pub fn object(&self, plans: &[Arc<InstallPlan>]) -> InstallPlan {
        let mut plan = InstallPlan { spec: self.spec(), ..InstallPlan::default() };
        plan.metadata.name = Some(name::name(self, plans));
        plan.metadata.generate_name = Some(NAME_PREFIX.to_owned());
        plan.metadata.namespace = Some(self.namespace.clone());
        let owners = self.owners.iter().map(|owner| {
            let uid = owner.metadata.uid.as_deref().unwrap_or_default();
            non_blocking_owner(
                Subscription::API_VERSION,
                Subscription::KIND,
                &owner.name_any(),
                uid,
            )
        });
        plan.metadata.owner_references = Some(owners.collect());
        let asked = self.asked.as_ref().map(|asked| (ASKED_BY.to_owned(), asked.annotation()));
        plan.metadata.annotations = asked.map(|asked| [asked].into());
        plan
    }

    /// The status that makes a created plan complete.
    pub fn status(&self) -> InstallPlanStatus {
        let sources: BTreeSet<_> =
            self.steps.iter().map(|step| step.resource.source_name.clone()).collect();
        let waits = self.approval == Approval::Manual;
        InstallPlanStatus {
            phase: match self.approval {
                Approval::Automatic => InstallPlanPhase::Installing,
                Approval::Manual => InstallPlanPhase::RequiresApproval,
            },
            catalog_sources: sources.into_iter().collect(),
            plan: self.steps.clone(),
            bundle_lookups: self.lookups.clone(),
            message: self.asked.as_ref().filter(|_| waits).map(Requesters::message),
            ..InstallPlanStatus::default()
        }
    }

    /// An existing plan that stands for this request: one of the same generation, one that never got its
    /// status and would install the same, or one that does so for the same Subscriptions and waits for approval,
    /// beside plans of others, or was approved by a pin.
    pub fn existing<'a>(&self, plans: &'a [Arc<InstallPlan>]) -> Option<&'a Arc<InstallPlan>> {
        let wanted = self.spec();
        let generation = plans.iter().find(|plan| plan.spec.generation == Some(self.generation));
        generation
            .or_else(|| plans.iter().find(|plan| self.is_unfinished(plan, &wanted)))
            .or_else(|| plans.iter().find(|plan| self.is_waiting(plan, &wanted)))
            .or_else(|| plans.iter().find(|plan| self.is_for_a_pin(plan, &wanted)))
    }

    fn spec(&self) -> InstallPlanSpec {
        let mut names: Vec<String> = Vec::new();
        let csvs = self.steps.iter().filter(|step| step.resource.kind == "ClusterServiceVersion");
        let csvs = csvs.map(|step| &step.resource.name);
        for name in csvs.chain(self.lookups.iter().map(|lookup| &lookup.identifier)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        InstallPlanSpec {
            cluster_service_version_names: names,
            approval: self.approval,
            approved: self.approval == Approval::Automatic,
            generation: Some(self.generation),
            ..InstallPlanSpec::default()
        }
    }

    fn is_waiting(&self, plan: &InstallPlan, wanted: &InstallPlanSpec) -> bool {
        self.asked.is_some() && plan.waits_for_approval() && self.is_same(plan, wanted)
    }

    /// It takes the place of one that was made without the pin, and brings the same: those who are to follow it cannot
    /// be found by that.
    fn is_for_a_pin(&self, plan: &InstallPlan, wanted: &InstallPlanSpec) -> bool {
        plan.phase() == InstallPlanPhase::Installing
            && self.owners.iter().any(|owner| policy::pinned(owner).is_some())
            && self.is_same(plan, wanted)
    }

    fn is_same(&self, plan: &InstallPlan, wanted: &InstallPlanSpec) -> bool {
        let owners: BTreeSet<&str> = subscriptions(plan).collect();
        let wanted_owners = self.owners.iter().filter_map(|owner| owner.metadata.uid.as_deref());
        plan.metadata.deletion_timestamp.is_none()
            && plan.spec.cluster_service_version_names == wanted.cluster_service_version_names
            && plan.spec.approval == wanted.approval
            && Requesters::of(plan) == self.asked
            && owners == wanted_owners.collect()
    }

    fn is_unfinished(&self, plan: &InstallPlan, wanted: &InstallPlanSpec) -> bool {
        let owned = |owner: &Arc<Subscription>| {
            let uid = owner.metadata.uid.as_deref().unwrap_or_default();
            olm_types::owner::is_owned_by_uid(&plan.metadata, uid)
        };
        let same = plan.spec.cluster_service_version_names == wanted.cluster_service_version_names
            && plan.spec.approval == wanted.approval;
        is_without_status(plan)
            && plan.spec.generation.is_some()
            && same
            && self.owners.iter().any(owned)
    }
}

/// Whether the plan never got its steps.
pub(crate) fn is_without_status(plan: &InstallPlan) -> bool {
    plan.status
        .as_ref()
        .is_none_or(|status| status.plan.is_empty() && status.bundle_lookups.is_empty())
}

/// Whether a user asks for CSVs with this plan (docs/differences.md). Plans of the operator have a
/// number, and Subscriptions as owners.
pub(crate) fn made_by_user(plan: &InstallPlan) -> bool {
    let phase = plan.phase();
    let owners = plan.metadata.owner_references.iter().flatten();
    phase == InstallPlanPhase::None
        && plan.metadata.deletion_timestamp.is_none()
        && !plan.spec.cluster_service_version_names.is_empty()
        && plan.spec.generation.unwrap_or_default() == 0
        && !owners.into_iter().any(|owner| owner.kind == Subscription::KIND)
}

/// The writes that give a user's plan its steps. What the user approved already is installed at
/// once, as is what needs no approval; what waits says so.
pub fn requested(
    plan: &InstallPlan,
    steps: Vec<Step>,
    attestor: &Attestor,
    now: Timestamp,
) -> Vec<Effect> {
    let request = PlanRequest {
        namespace: plan.namespace().unwrap_or_default(),
        generation: 0,
        approval: plan.spec.approval,
        steps,
        lookups: Vec::new(),
        owners: Vec::new(),
        present: Vec::new(),
        asked: None,
    };
    let status = attestor.sign(plan, request.status(), now);
    let finished = InstallPlan { status: Some(status), ..plan.clone() };
    let waits = approval::begins_to_wait(&finished, []);
    status_write(plan, &finished).into_iter().chain(waits).collect()
}

/// The event that says why a user's plan gets no steps. Its status is left alone: who made the
/// plan may be about to write it.
pub fn unresolved(plan: &InstallPlan, why: &str) -> Effect {
    let message = format!("the CSVs that the plan names cannot be resolved: {why}");
    report::warning(plan, RESOLUTION_FAILED, message, None)
}

/// Both forms in which a Subscription names its plan.
pub fn references(plan: &InstallPlan) -> (ObjectReference, InstallPlanReference) {
    let uid = plan.metadata.uid.clone().unwrap_or_default();
    let reference = ObjectReference {
        api_version: Some(InstallPlan::API_VERSION.to_owned()),
        kind: Some(InstallPlan::KIND.to_owned()),
        name: plan.metadata.name.clone(),
        namespace: plan.metadata.namespace.clone(),
        uid: Some(uid.clone()),
        resource_version: plan.metadata.resource_version.clone(),
        ..ObjectReference::default()
    };
    let older = InstallPlanReference {
        api_version: InstallPlan::API_VERSION.to_owned(),
        kind: InstallPlan::KIND.to_owned(),
        name: plan.name_any(),
        uuid: uid,
    };
    (reference, older)
}

#[cfg(test)]
mod tests;
