//! Resolves a namespace: observe -> begin -> solve -> select -> plan -> record.

use async_trait::async_trait;
use dashmap::DashMap;
use olm_effect::{Effect, Outcome};
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::install_plan::collect;
use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::install_plan::steps::BundleInput;
use olm_lifecycle::subscription::resolution::{
    self, Begin, Choice, Failure, Namespace, Selection, Terms, begin, fail, record, select, settle,
};
use olm_lifecycle::writes::target_of;
use olm_types::api::InstallPlan;

use super::super::act;
use super::observe;
use super::solve::{Question, solve};
use crate::catalogs::Catalogs;
use crate::clock;
use crate::metrics::CatalogMetrics;
use crate::stores::Stores;

/// Reconciles namespaces.
pub struct Resolutions {
    pub(crate) stores: Stores,
    pub(crate) catalogs: Catalogs,
    pub(crate) interpreter: Interpreter,
    pub(crate) global_namespace: String,
    pub(crate) metrics: CatalogMetrics,
    /// What was last said about the OperatorGroups of a namespace; said once, not at every look.
    pub(crate) complaints: DashMap<String, String>,
}

#[async_trait]
impl Reconciler<String> for Resolutions {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let namespace = observe::namespace(name, &self.stores);
        act(&self.interpreter, &collect::surplus(&namespace.plans)).await?;
        match begin(&namespace, clock::now()) {
            Begin::NothingSubscribed | Begin::AllPending => self.withdraw_complaint(name),
            Begin::WrongGroups { message, event } => self.complain(name, message, *event).await?,
            Begin::OutOfDate(effects) => act(&self.interpreter, &effects).await?,
            Begin::Resolve(terms) => {
                self.withdraw_complaint(name);
                self.resolve(&namespace, terms).await?;
            }
        }
        Ok(Conclusion::Done)
    }
}

impl Resolutions {
    async fn resolve(&self, namespace: &Namespace, terms: Terms) -> Result<(), ReconcileError> {
        let Some(choices) = self.choices(namespace, terms).await else { return Ok(()) };
        let done = match choices {
            Ok(choices) => self.install(namespace, &choices).await?,
            Err(failure) => Err(failure),
        };
        match done {
            Ok(()) => Ok(()),
            Err(failure) => self.tell(namespace, &failure).await,
        }
    }

    /// The bundles to install; nothing while a catalog is still being loaded.
    async fn choices(
        &self,
        namespace: &Namespace,
        terms: Terms,
    ) -> Option<Result<Vec<Choice>, Failure>> {
        let mut visible = vec![namespace.name.as_str()];
        if !terms.exclude_global && namespace.name != self.global_namespace {
            visible.push(&self.global_namespace);
        }
        let universe = observe::universe(&visible, &self.stores, &self.catalogs)?;
        let question = Question {
            namespace: namespace.clone(),
            csvs: self.stores.csvs.list_in(&namespace.name),
            universe,
            fail_forward: terms.fail_forward,
        };
        Some(solve(question, &self.metrics.resolutions).await)
    }

    /// Turns a solution into a plan. The outer error is a refused write, the inner one is told on
    /// the Subscriptions.
    async fn install(
        &self,
        namespace: &Namespace,
        choices: &[Choice],
    ) -> Result<Result<(), Failure>, ReconcileError> {
        let selection = select(namespace, choices);
        let bundles = match self.fetch(&selection).await {
            Ok(bundles) => bundles,
            Err(failure) => return Ok(Err(failure)),
        };
        let request = match resolution::plan(namespace, &selection, &bundles) {
            Ok(Some(request)) => request,
            Ok(None) => {
                return act(&self.interpreter, &settle(namespace, &selection, clock::now()))
                    .await
                    .map(Ok);
            }
            Err(error) => return Ok(Err(Failure::Bundle(error.to_string()))),
        };
        let plan = match self.ensure(namespace, &request).await {
            Ok(plan) => plan,
            Err(failure) => return Ok(Err(failure)),
        };
        let effects = record(namespace, &selection, &request, &plan, clock::now());
        act(&self.interpreter, &effects).await.map(Ok)
    }

    /// Manifests of the bundles that the catalogs hold.
    async fn fetch(&self, selection: &Selection) -> Result<Vec<BundleInput>, Failure> {
        let mut bundles = Vec::with_capacity(selection.inline.len());
        if selection.updates.is_empty() || !selection.images.is_empty() {
            return Ok(bundles);
        }
        for choice in &selection.inline {
            let entry = &choice.entry;
            let fetched = self
                .catalogs
                .bundle(&entry.catalog, &entry.package, &entry.channel, &entry.name)
                .await;
            let manifests = fetched.map_err(|error| {
                Failure::Prevented(format!(
                    "error using catalogsource {}: bundle {}: {error}",
                    entry.catalog, entry.name
                ))
            })?;
            bundles.push(BundleInput {
                entry: entry.clone(),
                replaces: choice.replaces.clone(),
                csv_json: manifests.csv_json,
                objects: manifests.objects,
            });
        }
        Ok(bundles)
    }

    /// The plan for the request, created if there is none yet.
    async fn ensure(
        &self,
        namespace: &Namespace,
        request: &PlanRequest,
    ) -> Result<InstallPlan, Failure> {
        if let Some(plan) = request.existing(&namespace.plans) {
            return Ok(InstallPlan::clone(plan));
        }
        let plan = request.object();
        let manifest =
            serde_json::to_value(&plan).map_err(|error| Failure::Plan(error.to_string()))?;
        let mut target = target_of(&plan);
        target.name.clear();
        let outcomes = self.interpreter.execute(&[Effect::create(target, manifest)]).await;
        match outcomes.into_iter().next() {
            Some(Outcome::Created(live)) => {
                serde_json::from_value(live).map_err(|error| Failure::Plan(error.to_string()))
            }
            Some(Outcome::Refused(refusal)) => Err(Failure::Plan(refusal.message)),
            other => Err(Failure::Plan(format!("unexpected outcome {other:?}"))),
        }
    }

    /// Tells a failure on the Subscriptions, and has the namespace tried again where that helps.
    async fn tell(&self, namespace: &Namespace, failure: &Failure) -> Result<(), ReconcileError> {
        let message = failure.message();
        tracing::warn!(namespace = namespace.name, message, "nothing is installed");
        act(&self.interpreter, &fail(namespace, failure, clock::now())).await?;
        if failure.is_retried() { Err(ReconcileError::message(message)) } else { Ok(()) }
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
        tracing::warn!(namespace = name, message, "namespace cannot be resolved");
        act(&self.interpreter, &[event]).await?;
        self.complaints.insert(name.to_owned(), message);
        Ok(())
    }

    fn withdraw_complaint(&self, name: &str) {
        self.complaints.remove(name);
    }
}
