//! Takes an InstallPlan one phase further.

use std::time::Duration;

use async_trait::async_trait;
use kube::Client;
use olm_effect::Outcome;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::install_plan::execution::{Execution, Reply, Request};
use olm_lifecycle::install_plan::phase::{self, Decision};

use super::super::act;
use super::observe::observe;
use crate::metrics::CatalogMetrics;
use crate::stores::Stores;
use crate::{clock, live};

/// Reconciles InstallPlans.
pub struct InstallPlans {
    pub(crate) stores: Stores,
    pub(crate) client: Client,
    pub(crate) interpreter: Interpreter,
    pub(crate) operator_namespace: String,
    pub(crate) retry_timeout: Duration,
    pub(crate) metrics: CatalogMetrics,
}

#[async_trait]
impl Reconciler<ObjectKey> for InstallPlans {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        self.metrics.count_plans(self.stores.plans.len());
        let Some(plan) = self.stores.plans.get_key(key) else { return Ok(Conclusion::Done) };
        let observed = observe(plan, &self.stores, &self.operator_namespace, self.retry_timeout);
        match phase::decide(&observed, clock::now()) {
            Decision::Nothing => Ok(Conclusion::Done),
            Decision::Write { effects, problem } => {
                // Told once, when it is written.
                if let Some(problem) = problem.filter(|_| !effects.is_empty()) {
                    tracing::warn!(plan = %key, problem, "plan cannot be executed");
                }
                act(&self.interpreter, &effects).await?;
                Ok(Conclusion::Done)
            }
            Decision::Execute(execution) => self.execute(key, &observed, *execution).await,
        }
    }
}

impl InstallPlans {
    async fn execute(
        &self,
        key: &ObjectKey,
        observed: &phase::Observed,
        mut execution: Execution,
    ) -> Result<Conclusion, ReconcileError> {
        while let Some(request) = execution.next_request() {
            let reply = self.carry_out(request).await;
            execution.absorb(reply);
        }
        let (steps, failure) = execution.finish();
        let conclusion = phase::conclude(observed, steps, failure, clock::now());
        if let Some(problem) =
            conclusion.problem.as_ref().filter(|_| !conclusion.effects.is_empty())
        {
            tracing::warn!(plan = %key, problem, "step of the plan failed");
        }
        act(&self.interpreter, &conclusion.effects).await?;
        Ok(conclusion.requeue.map_or(Conclusion::Done, Conclusion::RequeueAfter))
    }

    async fn carry_out(&self, request: Request) -> Reply {
        match request {
            Request::Do(effect) => {
                let mut outcomes = self.interpreter.execute(std::slice::from_ref(&effect)).await;
                Reply::Outcome(outcomes.pop().unwrap_or(Outcome::Skipped))
            }
            Request::Read(target) => match live::read(&self.client, &target).await {
                Ok(found) => Reply::Live(found),
                Err(refusal) => Reply::Unreadable(refusal),
            },
        }
    }
}
