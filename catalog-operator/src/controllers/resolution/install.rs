//! From a solution to an InstallPlan: unpack and fetch the bundles, create the plan, record it.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::ResourceExt;
use olm_effect::{Effect, Outcome, Refusal};
use olm_kit::controller::{Conclusion, ReconcileError};
use olm_kit::tasks::in_place;
use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::install_plan::steps::BundleInput;
use olm_lifecycle::subscription::resolution::{
    self, Failure, Namespace, Part, clear_failures, record,
};
use olm_lifecycle::writes::target_of;
use olm_types::api::InstallPlan;
use serde::Deserialize;

use super::reconcile::ResolutionReconciler;
use super::unpack::{Images, UnpackSlots};
use crate::clock;

impl ResolutionReconciler {
    /// Turns a part of a solution into a plan, which is one of `namespace` from then on. The outer error is a
    /// refused write, the inner one is reported on the Subscriptions.
    pub(super) async fn install(
        &self,
        namespace: &mut Namespace,
        part: &Part,
        slots: &mut UnpackSlots,
    ) -> Result<Result<Conclusion, Failure>, ReconcileError> {
        let Part { namespace: own, selection } = part;
        let unpacked = match self.unpack(own, selection, slots).await? {
            Ok(Images::Unpacked(unpacked)) => unpacked,
            Ok(Images::Awaited(conclusion)) => return Ok(Ok(conclusion)),
            Err(failure) => return Ok(Err(failure)),
        };
        let bundles = match self.solver.fetch(selection).await {
            Ok(bundles) => bundles,
            Err(failure) => return Ok(Err(failure)),
        };
        let inputs = bundles.iter().chain(unpacked.iter().map(|unpacked| &unpacked.input));
        let bytes = inputs.map(BundleInput::bytes).fold(0, usize::saturating_add);
        let plan = || resolution::plan(namespace, selection, &bundles, &unpacked);
        let request = match in_place::read(bytes, plan) {
            Ok(Some(request)) => request,
            Ok(None) => {
                let cleared = clear_failures(own, selection, clock::now());
                return self.interpreter.act(&cleared).await.map(|()| Ok(Conclusion::Done));
            }
            Err(error) => return Ok(Err(Failure::Bundle(error.to_string()))),
        };
        let labels = resolution::plan_labels(own, selection);
        let plan = match self.ensure(&namespace.plans, labels, &request).await? {
            Ok(plan) => Arc::new(plan),
            Err(failure) => return Ok(Err(failure)),
        };
        namespace.plans.push(Arc::clone(&plan));
        let attestor = self.tenancy.attestor().await?;
        let effects = record(own, selection, &request, &plan, &attestor, clock::now());
        self.interpreter.act(&effects).await.map(|()| Ok(Conclusion::Done))
    }

    /// The plan for the request, created if there is none yet. A plan that the watch has not
    /// reported yet, made by another process, is a conflict: the next look sees it.
    async fn ensure(
        &self,
        plans: &[Arc<InstallPlan>],
        labels: Option<BTreeMap<String, String>>,
        request: &PlanRequest,
    ) -> Result<Result<InstallPlan, Failure>, ReconcileError> {
        if let Some(plan) = request.existing(plans) {
            return Ok(Ok(InstallPlan::clone(plan)));
        }
        let mut plan = request.object(plans);
        plan.metadata.labels = labels;
        let manifest = match serde_json::to_value(&plan) {
            Ok(manifest) => manifest,
            Err(error) => return Ok(Err(Failure::Plan(error.to_string()))),
        };
        let target = target_of(&plan);
        let outcomes = self.interpreter.execute(&[Effect::create(target, manifest)]).await;
        Ok(match outcomes.into_iter().next() {
            Some(Outcome::Created(live)) => {
                InstallPlan::deserialize(&live).map_err(|error| Failure::Plan(error.to_string()))
            }
            Some(Outcome::AlreadyExists) => return Err(made_already(&plan).into()),
            Some(Outcome::Refused(refusal)) => Err(Failure::Plan(refusal.message)),
            other => Err(Failure::Plan(format!("unexpected outcome {other:?}"))),
        })
    }
}

fn made_already(plan: &InstallPlan) -> Refusal {
    let message = format!("InstallPlan {} was made at the same time", plan.name_any());
    Refusal { code: 409, reason: "Conflict".to_owned(), message }
}
