//! The pipeline: constraint sources -> problem -> solver -> resolution or explanation.

use std::collections::BTreeSet;

use olm_types::bundle::CatalogKey;

use crate::error::{Fault, ResolveError};
use crate::explain::{ClassicExplainer, Explainer, Explanation, Repair, repair};
use crate::installed::{Installed, VIRTUAL_CATALOG};
use crate::outcome::{BlockedUpgrade, Refusal, ResolutionOutcome};
use crate::pipeline::{Isolated, check_catalogs, check_names, collect, resolution};
use crate::policy::Policy;
use crate::preference::{ClassicPreference, Preference};
use crate::problem::{ClaimsCache, Problem};
use crate::request::ResolutionRequest;
use crate::resolution::Resolution;
use crate::solver::{GuessingSearch, OrderedSearch, Solution, Solver};
use crate::source::{ConstraintSource, Scope, classic_sources};

/// Most repairs that an explanation lists.
const REPAIRS: usize = 3;

/// Resolves namespaces with the given rules.
///
/// Between resolutions it keeps what does not depend on them: decoded properties and compiled rules
/// of catalogs. So one resolver for all namespaces is faster than one for each.
pub struct Resolver {
    /// Where rules come from, asked in this order.
    pub sources: Vec<Box<dyn ConstraintSource>>,
    /// What is preferred.
    pub preference: Box<dyn Preference>,
    /// What finds the most preferred answer.
    pub solver: Box<dyn Solver>,
    /// What finds the answer of [`Policy::V0`]; it has one where `solver` has one.
    pub solver_of_v0: Box<dyn Solver>,
    /// What explains that there is none.
    pub explainer: Box<dyn Explainer>,
    /// How many repairs an explanation lists at most. Each is verified by solving again; 0 looks
    /// for none.
    pub repairs: usize,
    /// What the bundles of catalogs claim to be, remembered from earlier resolutions.
    pub claims: ClaimsCache,
}

impl Default for Resolver {
    /// The rules and preferences of OLM v0.
    fn default() -> Self {
        Self {
            sources: classic_sources(),
            preference: Box::new(ClassicPreference),
            solver: Box::new(OrderedSearch::default()),
            solver_of_v0: Box::new(GuessingSearch::default()),
            explainer: Box::new(ClassicExplainer),
            repairs: REPAIRS,
            claims: ClaimsCache::default(),
        }
    }
}

impl Resolver {
    /// Adds a source of rules, for example a policy of the cluster's owner.
    pub fn with_source(mut self, source: impl ConstraintSource + 'static) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Finds the most preferred bundles to install in a namespace, all or nothing.
    ///
    /// # Errors
    /// There is no answer for the namespace as a whole; see [`ResolveError`].
    pub fn resolve(&self, request: &ResolutionRequest<'_>) -> Result<Resolution, ResolveError> {
        check_catalogs(request.universe)?;
        let (scope, problem) = self.state(request, Policy::V0)?;
        match self.solver.solve(problem.formula()) {
            Ok(Solution::Chosen(chosen)) => {
                check_names(&scope, &problem, &chosen)?;
                Ok(resolution(&scope, &problem, &chosen))
            }
            Ok(Solution::Contradiction(rules)) => {
                let explanation = self.explainer.explain(&scope, &problem, &rules);
                Err(ResolveError::NotSatisfiable(self.with_repairs(&scope, explanation)))
            }
            Err(exhausted) => Err(ResolveError::Exhausted {
                namespace: request.namespace.to_owned(),
                steps: exhausted.steps,
            }),
        }
    }

    /// Finds what a namespace gets under a policy, and who is refused.
    pub fn outcome(&self, request: &ResolutionRequest<'_>, policy: Policy) -> ResolutionOutcome {
        match self.answer_parts(request, policy) {
            Ok(answer) if policy == Policy::Isolated || answer.refusals.is_empty() => answer,
            Ok(answer) => {
                let first = answer.refusals.into_iter().next();
                let nothing = || ResolveError::NotSatisfiable(Explanation::default());
                refuse_all(request, first.map_or_else(nothing, |refusal| refusal.error))
            }
            Err(error) => refuse_all(request, error),
        }
    }

    /// Changes after which the newer bundle of a blocked upgrade is chosen, best first and at most
    /// [`Resolver::repairs`]. Each is verified by solving again with the change applied; a Subscription that
    /// was not refused before is not refused then.
    ///
    /// An outcome does not hold them: operators resolve often, and report what blocks an upgrade without them.
    pub fn unblocking(
        &self,
        request: &ResolutionRequest<'_>,
        upgrade: &BlockedUpgrade,
    ) -> Vec<Repair> {
        match self.state(request, Policy::Isolated) {
            Ok((scope, _)) => repair::unblocking(self, &scope, upgrade),
            Err(_) => Vec::new(),
        }
    }

    fn answer_parts(
        &self,
        request: &ResolutionRequest<'_>,
        policy: Policy,
    ) -> Result<ResolutionOutcome, ResolveError> {
        if policy == Policy::V0 {
            check_catalogs(request.universe)?;
        }
        let (scope, problem) = self.state(request, policy)?;
        let parts = Isolated::new(self, &scope, &problem);
        if policy == Policy::V0
            && let Ok(Solution::Chosen(chosen)) = self.solver_of_v0.solve(&problem.formula_of_v0())
        {
            // The problem is not taken apart: what v0's search takes back in one part, others may lose.
            check_names(&scope, &problem, &chosen)?;
            return Ok(parts.outcome_with(&chosen));
        }
        Ok(parts.outcome())
    }

    /// Names of the Subscriptions and CSVs that are refused under [`Policy::Isolated`]. Cheaper
    /// than an answer: nothing is explained.
    pub(crate) fn refused(&self, request: &ResolutionRequest<'_>) -> BTreeSet<String> {
        match self.state(request, Policy::Isolated) {
            Ok((scope, problem)) => Isolated::new(self, &scope, &problem).refused(),
            Err(_) => {
                let subscriptions = request.subscriptions.iter();
                subscriptions
                    .map(|subscription| format!("subscription {}", subscription.name))
                    .collect()
            }
        }
    }

    /// Whether a bundle of this name is chosen under [`Policy::Isolated`]; nothing is explained.
    pub(crate) fn installs(&self, request: &ResolutionRequest<'_>, bundle: &str) -> bool {
        match self.state(request, Policy::Isolated) {
            Ok((scope, problem)) => Isolated::new(self, &scope, &problem).installs(bundle),
            Err(_) => false,
        }
    }

    /// The explanation with what would help.
    pub(crate) fn with_repairs(&self, scope: &Scope<'_>, explanation: Explanation) -> Explanation {
        let repairs = repair::find(self, scope, &explanation);
        explanation.with_repairs(repairs)
    }

    fn state<'a>(
        &'a self,
        request: &'a ResolutionRequest<'a>,
        policy: Policy,
    ) -> Result<(Scope<'a>, Problem), ResolveError> {
        let installed = Installed::read(request);
        if let Some(source) = installed.fault().filter(|_| policy == Policy::V0) {
            let catalog = CatalogKey::new(request.namespace, VIRTUAL_CATALOG);
            let source = source.clone();
            return Err(ResolveError::Faulty(vec![Fault::Installed { catalog, source }]));
        }
        let preference = self.preference.as_ref();
        let mut scope = Scope::new(request, preference, &self.claims, installed, policy);
        let problem = collect(&self.sources, &mut scope)?;
        Ok((scope, problem))
    }
}

fn refuse_all(request: &ResolutionRequest<'_>, error: ResolveError) -> ResolutionOutcome {
    let names: BTreeSet<String> =
        request.subscriptions.iter().map(|subscription| subscription.name.clone()).collect();
    let csvs = Vec::new();
    let refusal = Refusal { subscriptions: names.into_iter().collect(), csvs, error };
    ResolutionOutcome { refusals: vec![refusal], ..ResolutionOutcome::default() }
}
