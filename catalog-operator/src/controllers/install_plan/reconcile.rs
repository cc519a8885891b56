//! Takes an InstallPlan one phase further.

use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use futures::future::join_all;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::tasks::in_place;
use olm_lifecycle::install_plan::continuation::CurrentObjects;
use olm_lifecycle::install_plan::execution::{Execution, Reply};
use olm_lifecycle::install_plan::phase::{self, Decision};
use olm_lifecycle::install_plan::request::{requested, unresolved};
use olm_lifecycle::unpack::UnpackedBundle;
use olm_types::api::InstallPlan;

use super::super::resolution::{Solver, Unresolved};
use super::calls::Calls;
use super::guard::{Guard, WritePermission};
use super::observe::{PlanSettings, observe};
use super::record::record;
use crate::forbidden_plans::ChangedRights;
use crate::metrics::CatalogMetrics;
use crate::stores::Stores;
use crate::tenancy::Tenancy;
use crate::{clock, unpack};

/// How long a user's plan waits before its CSVs are looked for again; a catalog that is being
/// loaded takes moments.
const RESOLVE_AGAIN: Duration = Duration::from_secs(15);
const CATALOG_POLL: Duration = Duration::from_secs(1);

/// Reconciles InstallPlans.
pub struct InstallPlanReconciler {
    pub(crate) stores: Stores,
    pub(crate) calls: Calls,
    pub(crate) solver: Solver,
    pub(crate) rights: ChangedRights,
    pub(crate) tenancy: Tenancy,
    /// Why users' plans have no steps, as it was last reported; reported once, not at every look.
    pub(crate) complaints: DashMap<ObjectKey, String>,
    pub(crate) operator_namespace: String,
    pub(crate) retry_timeout: Duration,
    pub(crate) keeps_stored_versions: bool,
    pub(crate) metrics: CatalogMetrics,
}

#[async_trait]
impl Reconciler<ObjectKey> for InstallPlanReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        self.metrics.count_plans(self.stores.plans.len());
        let changed = self.rights.take(key);
        let result = self.look(key, changed).await;
        if result.is_err() && changed {
            self.rights.mark(key.clone());
        }
        result
    }
}

impl InstallPlanReconciler {
    async fn look(&self, key: &ObjectKey, changed: bool) -> Result<Conclusion, ReconcileError> {
        let Some(plan) = self.stores.plans.get_key(key) else {
            self.complaints.remove(key);
            return Ok(Conclusion::Done);
        };
        let settings = PlanSettings {
            operator_namespace: &self.operator_namespace,
            retry_timeout: self.retry_timeout,
            keeps_stored_versions: self.keeps_stored_versions,
        };
        let trust = self.tenancy.judge(&plan).await?;
        let catalogs = &self.solver.catalogs;
        let mut observed = observe(plan, &self.stores, catalogs, settings, changed, trust);
        observed.guarded = self.tenancy.guarded(&observed).await?;
        match phase::decide(&observed, clock::now()) {
            Decision::Execute(execution) => self.execute(key, &observed, *execution).await,
            decision => self.carry_out(key, &observed.plan, decision).await,
        }
    }

    /// Does what was decided, short of an execution.
    async fn carry_out(
        &self,
        key: &ObjectKey,
        plan: &InstallPlan,
        decision: Decision,
    ) -> Result<Conclusion, ReconcileError> {
        match decision {
            Decision::Nothing => Ok(Conclusion::Done),
            // The watches are behind what was decided with; they bring the plan back, too.
            Decision::Execute(_) => Ok(Conclusion::RequeueAfter(phase::FIRST_RETRY)),
            Decision::Resolve => self.resolve(key, plan).await,
            Decision::Write { effects, problem } => {
                let refused = problem.is_some() && self.tenancy.is_strict();
                // Reported once, when it is written.
                if let Some(problem) = problem.filter(|_| !effects.is_empty()) {
                    tracing::warn!(plan = %key, problem, "plan cannot be executed");
                }
                self.calls.interpreter.act(&effects).await?;
                // No watch reports when an administrator trusts the namespace.
                Ok(if refused { Conclusion::RequeueAfter(RESOLVE_AGAIN) } else { Conclusion::Done })
            }
            Decision::Wait { effects, rest } => {
                self.calls.interpreter.act(&effects).await?;
                Ok(Conclusion::RequeueAfter(rest))
            }
        }
    }

    /// Finds the steps of a plan that a user made.
    async fn resolve(
        &self,
        key: &ObjectKey,
        plan: &InstallPlan,
    ) -> Result<Conclusion, ReconcileError> {
        match self.solver.steps_of(plan).await {
            Ok(steps) => {
                self.complaints.remove(key);
                let attestor = self.tenancy.attestor().await?;
                let writes = requested(plan, steps, &attestor, clock::now());
                self.calls.interpreter.act(&writes).await?;
                Ok(Conclusion::Done)
            }
            Err(Unresolved::Waiting) => Ok(Conclusion::RequeueAfter(CATALOG_POLL)),
            Err(Unresolved::Because(why)) => {
                if self.complaints.get(key).is_none_or(|reported| *reported != why) {
                    self.calls.interpreter.act(&[unresolved(plan, &why)]).await?;
                    self.complaints.insert(key.clone(), why);
                }
                Ok(Conclusion::RequeueAfter(RESOLVE_AGAIN))
            }
        }
    }

    async fn execute(
        &self,
        key: &ObjectKey,
        observed: &phase::Observed,
        mut execution: Execution,
    ) -> Result<Conclusion, ReconcileError> {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let reader = unpack::Reader {
            plan_namespace: namespace,
            global_namespace: self.tenancy.global_namespace(),
        };
        for reference in execution.bundles() {
            let bundle = match execution.check_limit(&reference) {
                Ok(()) => unpack::stored(&self.calls.client, &reference, &reader).await,
                Err(full) => Err(full),
            };
            let bytes = bundle.as_ref().map_or(0, UnpackedBundle::bytes);
            in_place::read(bytes, || execution.provide(&reference, bundle));
        }
        let (calls, stores) = (&self.calls, &self.stores);
        let mut guard = Guard { calls, stores, observed, given: None };
        let withdrawn = match self.go_through(&mut execution, &mut guard, namespace).await? {
            WritePermission::Given => false,
            WritePermission::Refused(now) => return self.decide_again(key, observed, *now).await,
            WritePermission::Withdrawn => true,
        };
        let conclude = if withdrawn { phase::interrupt } else { phase::conclude };
        let conclusion = conclude(observed, execution.finish(), clock::now());
        self.metrics.count_plan_warnings(conclusion.warned);
        if let Some(problem) =
            conclusion.problem.as_ref().filter(|_| !conclusion.effects.is_empty())
        {
            tracing::warn!(plan = %key, problem, "step of the plan failed");
        }
        record(&self.calls.client, &self.calls.interpreter, &conclusion.effects).await?;
        Ok(conclusion.requeue.map_or(Conclusion::Done, Conclusion::RequeueAfter))
    }

    /// Makes the calls of an execution until it is at its end, or may not go on.
    async fn go_through(
        &self,
        execution: &mut Execution,
        guard: &mut Guard<'_>,
        namespace: &str,
    ) -> Result<WritePermission, ReconcileError> {
        let bytes = execution.bytes();
        loop {
            let requests = in_place::read(bytes, || execution.next_requests());
            if requests.is_empty() {
                return Ok(WritePermission::Given);
            }
            match guard.ask(&requests).await? {
                WritePermission::Given => {}
                kept => return Ok(kept),
            }
            let calls = requests.into_iter().map(|request| self.calls.make(request, namespace));
            let replies = join_all(calls).await;
            // Objects of a page may take as long as all steps together.
            let is_large = replies.iter().any(|reply| matches!(reply, Reply::Page(..)));
            let bytes = if is_large { usize::MAX } else { bytes };
            in_place::read(bytes, || execution.accept_replies(replies));
        }
    }

    /// An execution turned out to rest on what is out of date, before anything was written.
    async fn decide_again(
        &self,
        key: &ObjectKey,
        observed: &phase::Observed,
        now: CurrentObjects,
    ) -> Result<Conclusion, ReconcileError> {
        let Some(plan) = now.plan else { return Ok(Conclusion::Done) };
        let (around, groups) = (now.around, now.groups);
        let observed = phase::Observed { plan, around, groups, ..observed.clone() };
        self.carry_out(key, &observed.plan, phase::decide(&observed, clock::now())).await
    }
}
