//! Resolves a namespace: observe -> decide -> part -> solve -> install (select -> plan -> record).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use olm_effect::{Effect, Outcome};
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::install_plan::collect;
use olm_lifecycle::subscription::resolution::{
    Failure, KeptBack, Namespace, Orphans, Part, ResolutionDecision, ResolutionSettings, Unusable,
    adopt, decide_resolution, fail, parts, report_orphans, unfinished, upgrade_under_way,
};
use olm_resolver::Policy;
use olm_types::api::ClusterServiceVersion;

use super::deferred_plans::DeferredPlans;
use super::observe;
use super::outcome::Outcomes;
use super::refusals::Refusals;
use super::solve::{Refused, ResolutionInputs, Rules, Solved};
use super::solver::Solver;
use super::unchanged::{Inputs, Unchanged};
use super::unpack::UnpackSlots;
use crate::clock;
use crate::stores::Stores;
use crate::tenancy::Tenancy;
use crate::unpack::Bundles;

/// How long to wait before a resolution that something stood in the way of is tried again. What is
/// watched (Subscriptions, catalogs, CSVs, OperatorGroups) brings a namespace back at once.
const RETRY: Duration = Duration::from_secs(15);

/// Reconciles namespaces.
pub struct ResolutionReconciler {
    pub(crate) stores: Stores,
    pub(crate) solver: Solver,
    pub(crate) bundles: Bundles,
    pub(crate) interpreter: Interpreter,
    /// Marks plans whose steps were found here.
    pub(crate) tenancy: Tenancy,
    /// What was last said about the OperatorGroups of a namespace; said once, not at every look.
    pub(crate) complaints: DashMap<String, String>,
    /// What was last chosen in each namespace.
    pub(crate) outcomes: Outcomes,
    /// Namespaces in which there is nothing left to be done.
    pub(crate) unchanged: Unchanged,
    /// Why nothing is installed in a namespace, until the resolver is asked something else.
    pub(crate) refusals: Refusals,
    /// What was last said about the CSVs of a namespace that no Subscription refers to.
    pub(crate) orphans: DashMap<String, Orphans>,
    /// Namespaces that are resolved once more before a plan is made.
    pub(crate) deferred: DeferredPlans,
    /// How long an InstallPlan is tried, and with it how long the next version waits for what it brings.
    pub(crate) retry_timeout: Duration,
}

#[async_trait]
impl Reconciler<String> for ResolutionReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let namespace = observe::namespace(name, &self.stores);
        self.interpreter.act(&self.surplus(&namespace)).await?;
        match decide_resolution(&namespace, clock::now()) {
            ResolutionDecision::NothingSubscribed => {
                self.withdraw_complaint(name);
                self.orphans.remove(name);
                self.unchanged.forget(name);
                self.refusals.forget(name);
                self.outcomes.forget(name);
                self.show_held(name, &KeptBack::default());
            }
            ResolutionDecision::AllPending => self.withdraw_complaint(name),
            ResolutionDecision::NotSynced => {}
            ResolutionDecision::WrongGroups { message, event } => {
                self.complain(name, message, *event).await?
            }
            ResolutionDecision::OutOfDate(effects) => self.interpreter.act(&effects).await?,
            ResolutionDecision::Resolve(settings) => {
                self.withdraw_complaint(name);
                return self.resolve(&namespace, settings).await;
            }
        }
        Ok(Conclusion::Done)
    }
}

impl ResolutionReconciler {
    /// Deletions of plans that are too many.
    fn surplus(&self, namespace: &Namespace) -> Vec<Effect> {
        match self.solver.rules.policy {
            Policy::V0 => collect::surplus(&namespace.plans),
            Policy::Isolated => {
                let subscriptions = self.stores.subscriptions.list_in(&namespace.name);
                collect::surplus_of_each(&namespace.plans, &subscriptions)
            }
        }
    }

    /// Resolves what can be resolved now, and reports to those who are refused why.
    async fn resolve(
        &self,
        namespace: &Namespace,
        settings: ResolutionSettings,
    ) -> Result<Conclusion, ReconcileError> {
        // A catalog that is still being loaded brings the namespace back here.
        let Some(universe) = self.solver.universe(namespace) else { return Ok(Conclusion::Done) };
        let csvs = self.stores.csvs.list_in(&namespace.name);
        let adopted = adopt(namespace, &csvs, &universe, clock::now());
        if !adopted.is_empty() {
            self.interpreter.act(&adopted).await?;
            return Ok(Conclusion::Done);
        }
        let question = ResolutionInputs {
            namespace: namespace.clone(),
            csvs,
            universe,
            fail_forward: settings.fail_forward,
        };
        let inputs = Arc::new(Inputs::of(&question));
        if self.unchanged.holds(&namespace.name, &inputs) {
            return Ok(Conclusion::Done);
        }
        let conclusion = self.answer(namespace, question, &inputs).await?;
        // The version of the cluster is no input: with it, every namespace is resolved every time.
        if conclusion == Conclusion::Done && self.solver.rules.cluster.is_none() {
            self.unchanged.keep(&namespace.name, inputs);
        }
        Ok(conclusion)
    }

    /// Asks the resolver, and does what it says.
    async fn answer(
        &self,
        namespace: &Namespace,
        question: ResolutionInputs,
        inputs: &Arc<Inputs>,
    ) -> Result<Conclusion, ReconcileError> {
        let unusable = question.universe.unusable();
        let rules = self.solver.rules.given(self.solver.catalogs.block(), &unusable);
        // An answer is about the CSVs that were asked about, and not about those that are there when
        // it comes: the old version may be gone by then, and the answer not be true any more.
        let csvs = question.csvs.clone();
        let solved = self.solved(question, &rules, inputs).await;
        self.outcomes.report(&namespace.name, &solved.outcome);
        self.show_held(&namespace.name, &solved.kept_back);
        let mut conclusion = self.report_orphans(&namespace.name, &csvs, &solved.orphans).await?;
        for refused in &solved.refused {
            let reported = self.refuse(namespace, &csvs, refused, &unusable).await?;
            conclusion = sooner(conclusion, reported);
        }
        let refused = solved.refused.iter().flat_map(|refused| &refused.subscriptions);
        let able = namespace.without(&refused.cloned().collect());
        if able.subscriptions.is_empty() {
            return Ok(conclusion);
        }
        let parts = match rules.policy {
            Policy::V0 => vec![Part::whole(&able, &solved.choices)],
            Policy::Isolated => parts(namespace, &able, &solved.choices),
        };
        let is_new = |part: &Part| !part.selection.updates.is_empty();
        if parts.iter().any(is_new) && self.waits(namespace) {
            return Ok(Conclusion::RequeueAfter(Duration::ZERO));
        }
        let (mut namespace, mut slots) = (namespace.clone(), self.unpack_slots(&parts));
        for mut part in parts {
            let (limit, now) = (self.retry_timeout, clock::now());
            if let Some(plan) = unfinished(&part.namespace, &part.selection, limit, now) {
                conclusion = sooner(conclusion, Conclusion::RequeueAfter(plan.rest));
                continue;
            }
            part.selection.kept_back = solved.kept_back.clone();
            let installed = self.install_or_report(&mut namespace, &part, &mut slots).await?;
            conclusion = sooner(conclusion, installed);
        }
        Ok(conclusion)
    }

    /// What the resolver says, or said when it was asked the same and refused it. The version of the cluster is asked
    /// for every time.
    async fn solved(
        &self,
        question: ResolutionInputs,
        rules: &Rules,
        inputs: &Arc<Inputs>,
    ) -> Arc<Solved> {
        let namespace = question.namespace.name.clone();
        let is_asked_for = rules.cluster.is_some();
        if let Some(known) = self.refusals.answer(&namespace, inputs).filter(|_| !is_asked_for) {
            return known;
        }
        let solved = Arc::new(self.solver.solve(question, rules).await);
        self.refusals.keep(&namespace, inputs, &solved);
        solved
    }

    /// Has the metrics say which versions are held back.
    fn show_held(&self, namespace: &str, found: &KeptBack) {
        let upgrades = &self.solver.metrics.upgrades;
        upgrades.follow_resolution(namespace, found, &self.stores.subscriptions);
    }

    /// Whether Subscriptions came since the namespace was gathered, for which its plans wait.
    fn waits(&self, namespace: &Namespace) -> bool {
        let now = observe::namespace(&namespace.name, &self.stores).names();
        self.deferred.waits(&namespace.name, &namespace.names(), &now)
    }

    /// A plan that is made is one of `namespace` from then on: the next one gets another number.
    async fn install_or_report(
        &self,
        namespace: &mut Namespace,
        part: &Part,
        slots: &mut UnpackSlots,
    ) -> Result<Conclusion, ReconcileError> {
        match self.install(namespace, part, slots).await? {
            Ok(conclusion) => Ok(conclusion),
            Err(failure) => self.report(&part.namespace, &failure, &part.selection.kept_back).await,
        }
    }

    /// Reports to those who are refused, except that there is no solution in the middle of an
    /// upgrade: that is no failure.
    async fn refuse(
        &self,
        namespace: &Namespace,
        csvs: &[Arc<ClusterServiceVersion>],
        refused: &Refused,
        unusable: &Unusable,
    ) -> Result<Conclusion, ReconcileError> {
        let concerned = namespace.only(&refused.subscriptions);
        let upgrade = upgrade_under_way(csvs.iter().map(AsRef::as_ref), clock::now());
        match (&refused.failure, upgrade) {
            (Failure::NotSatisfiable(_), Some(rest)) => Ok(Conclusion::RequeueAfter(rest)),
            (failure @ Failure::NotSatisfiable(_), None) => {
                self.report(&concerned, &failure.clone().without(unusable), &KeptBack::default())
                    .await
            }
            (failure, _) => self.report(&concerned, failure, &KeptBack::default()).await,
        }
    }

    /// Reports a failure on the Subscriptions, and has the namespace tried again where that helps.
    async fn report(
        &self,
        namespace: &Namespace,
        failure: &Failure,
        kept_back: &KeptBack,
    ) -> Result<Conclusion, ReconcileError> {
        let effects = fail(namespace, failure, kept_back, clock::now());
        if !effects.is_empty() {
            let (namespace, why) = (&namespace.name, failure.message());
            tracing::warn!(namespace, why, "nothing is installed");
        }
        self.interpreter.act(&effects).await?;
        let retried = failure.is_retried();
        Ok(if retried { Conclusion::RequeueAfter(RETRY) } else { Conclusion::Done })
    }

    /// Reports what CSVs without a Subscription lack, on these, unless it was said before. An old
    /// version that is about to go lacks nothing.
    async fn report_orphans(
        &self,
        namespace: &str,
        csvs: &[Arc<ClusterServiceVersion>],
        found: &Orphans,
    ) -> Result<Conclusion, ReconcileError> {
        if found.is_empty() {
            self.orphans.remove(namespace);
            return Ok(Conclusion::Done);
        }
        if let Some(rest) = upgrade_under_way(csvs.iter().map(AsRef::as_ref), clock::now()) {
            return Ok(Conclusion::RequeueAfter(rest));
        }
        let reported =
            self.orphans.get(namespace).map(|reported| reported.clone()).unwrap_or_default();
        let effects = report_orphans(csvs, found, &reported);
        if !effects.is_empty() {
            tracing::warn!(namespace, ?found, "CSVs without a Subscription lack something");
        }
        let outcomes = self.interpreter.execute(&effects).await;
        ReconcileError::from_outcomes(&outcomes)?;
        if outcomes.iter().any(|outcome| !matches!(outcome, Outcome::Created(_))) {
            // An event that a busy API server did not take is written later: nothing else says this.
            return Ok(Conclusion::RequeueAfter(RETRY));
        }
        self.orphans.insert(namespace.to_owned(), found.clone());
        Ok(Conclusion::Done)
    }

    async fn complain(
        &self,
        name: &str,
        message: String,
        event: Effect,
    ) -> Result<(), ReconcileError> {
        if self.complaints.get(name).is_some_and(|last| *last == message) {
            return Ok(());
        }
        tracing::warn!(namespace = name, why = message, "namespace cannot be resolved");
        self.interpreter.act(&[event]).await?;
        self.complaints.insert(name.to_owned(), message);
        Ok(())
    }

    fn withdraw_complaint(&self, name: &str) {
        self.complaints.remove(name);
    }
}

/// The one that brings the namespace back earlier.
fn sooner(one: Conclusion, other: Conclusion) -> Conclusion {
    match (&one, &other) {
        (Conclusion::RequeueAfter(first), Conclusion::RequeueAfter(second)) if second < first => {
            other
        }
        (Conclusion::RequeueAfter(_), _) => one,
        _ => other,
    }
}
