//! From a solution to an InstallPlan: unpack and fetch the bundles, create the plan, record it.

use std::collections::BTreeSet;
use std::time::Duration;

use kube::ResourceExt;
use olm_effect::{Effect, Outcome, Refusal};
use olm_kit::controller::{Conclusion, ReconcileError};
use olm_kit::tasks::in_place;
use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::install_plan::steps::BundleInput;
use olm_lifecycle::subscription::resolution::{
    self, Failure, Namespace, Selection, clear_failures, record, select,
};
use olm_lifecycle::writes::target_of;
use olm_types::api::InstallPlan;
use serde::Deserialize;

use super::observe;
use super::reconcile::Resolutions;
use super::solve::Solved;
use super::unpack::Images;
use crate::clock;

impl Resolutions {
    /// Turns a solution into a plan; `asked` are the Subscriptions that were asked about. The outer error
    /// is a refused write, the inner one is reported on the Subscriptions.
    pub(super) async fn install(
        &self,
        namespace: &Namespace,
        solved: &Solved,
        asked: &BTreeSet<String>,
    ) -> Result<Result<Conclusion, Failure>, ReconcileError> {
        let selection =
            Selection { kept_back: solved.kept_back.clone(), ..select(namespace, &solved.choices) };
        let unpacked = match self.unpack(namespace, &selection).await? {
            Ok(Images::Unpacked(unpacked)) => unpacked,
            Ok(Images::Awaited(conclusion)) => return Ok(Ok(conclusion)),
            Err(failure) => return Ok(Err(failure)),
        };
        let bundles = match self.fetch(&selection).await {
            Ok(bundles) => bundles,
            Err(failure) => return Ok(Err(failure)),
        };
        let inputs = bundles.iter().chain(unpacked.iter().map(|unpacked| &unpacked.input));
        let bytes = inputs.map(BundleInput::bytes).fold(0, usize::saturating_add);
        let plan = || resolution::plan(namespace, &selection, &bundles, &unpacked);
        let request = match in_place::read(bytes, plan) {
            Ok(Some(request)) => request,
            Ok(None) => {
                return self
                    .interpreter
                    .act(&clear_failures(namespace, &selection, clock::now()))
                    .await
                    .map(|()| Ok(Conclusion::Done));
            }
            Err(error) => return Ok(Err(Failure::Bundle(error.to_string()))),
        };
        if request.existing(&namespace.plans).is_none() && self.waits(namespace, asked) {
            return Ok(Ok(Conclusion::RequeueAfter(Duration::ZERO)));
        }
        let plan = match self.ensure(namespace, &selection, &request).await? {
            Ok(plan) => plan,
            Err(failure) => return Ok(Err(failure)),
        };
        let attestor = self.tenancy.attestor().await?;
        let effects = record(namespace, &selection, &request, &plan, &attestor, clock::now());
        self.interpreter.act(&effects).await.map(|()| Ok(Conclusion::Done))
    }

    /// Manifests of the bundles that the catalogs hold.
    pub(super) async fn fetch(&self, selection: &Selection) -> Result<Vec<BundleInput>, Failure> {
        if selection.updates.is_empty() {
            return Ok(Vec::new());
        }
        let entries = selection.inline.iter().map(|choice| choice.entry.clone()).collect();
        let fetched = self.catalogs.bundles(entries).await.map_err(Failure::Prevented)?;
        let bundles = selection.inline.iter().zip(fetched);
        Ok(bundles
            .map(|(choice, manifests)| BundleInput {
                entry: choice.entry.clone(),
                replaces: choice.replaces.clone(),
                csv_json: manifests.csv_json,
                objects: manifests.objects,
            })
            .collect())
    }

    fn waits(&self, namespace: &Namespace, asked: &BTreeSet<String>) -> bool {
        let now = observe::namespace(&namespace.name, &self.stores).names();
        self.arrivals.waits(&namespace.name, asked, &now)
    }

    /// The plan for the request, created if there is none yet. A plan that the watch has not
    /// reported yet, made by another process, is a conflict: the next look sees it.
    async fn ensure(
        &self,
        namespace: &Namespace,
        selection: &Selection,
        request: &PlanRequest,
    ) -> Result<Result<InstallPlan, Failure>, ReconcileError> {
        if let Some(plan) = request.existing(&namespace.plans) {
            return Ok(Ok(InstallPlan::clone(plan)));
        }
        let mut plan = request.object(&namespace.plans);
        plan.metadata.labels = resolution::plan_labels(namespace, selection);
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
