//! Solves the parts of a problem one by one, so that none stops another.

use std::collections::BTreeSet;

use super::{check_names, resolution};
use crate::components::{self, Component};
use crate::error::ResolveError;
use crate::outcome::{BlockedUpgrade, Refusal, ResolutionOutcome};
use crate::problem::{BundleRef, Problem, Reason, Rule, RuleId, Subject, VariableId};
use crate::resolver::Resolver;
use crate::solver::Solution;
use crate::source::{Scope, held};

/// A problem with its parts.
pub(crate) struct Isolated<'a> {
    resolver: &'a Resolver,
    scope: &'a Scope<'a>,
    problem: &'a Problem,
    components: Vec<Component>,
}

impl<'a> Isolated<'a> {
    /// The parts of a problem.
    pub(crate) fn new(resolver: &'a Resolver, scope: &'a Scope<'a>, problem: &'a Problem) -> Self {
        let formula = problem.formula();
        let mut present = vec![false; formula.variables as usize];
        for (variable, _) in problem.bundles().filter(|(_, bundle)| bundle.is_installed()) {
            if let Some(flag) = present.get_mut(variable.index()) {
                *flag = true;
            }
        }
        Self { resolver, scope, problem, components: components::split(formula, &present) }
    }

    /// The answers of all parts.
    pub(crate) fn outcome(&self) -> ResolutionOutcome {
        let mut answer = ResolutionOutcome {
            refusals: self.scope.set_aside().to_vec(),
            ..ResolutionOutcome::default()
        };
        let mut chosen = Vec::new();
        for component in &self.components {
            match self.solve(component) {
                Ok(own) => {
                    answer.blocked.extend(self.blocked(component, &own));
                    chosen.extend(own);
                }
                Err(failure) => {
                    let error = match failure {
                        Failure::Contradiction => self.contradiction(component),
                        Failure::Other(error) => error,
                    };
                    answer.refusals.push(self.refusal(component, error));
                }
            }
        }
        chosen.sort();
        answer.resolution = resolution(self.scope, self.problem, &chosen);
        answer.blocked.sort_by(|a, b| a.subscription.cmp(&b.subscription));
        answer.held = held(self.scope);
        answer.left_out = self.scope.left_out();
        answer
    }

    /// The answer when the variables that are chosen are known.
    pub(crate) fn outcome_with(&self, chosen: &[VariableId]) -> ResolutionOutcome {
        let blocked = self.components.iter().flat_map(|part| self.blocked(part, chosen));
        let mut blocked: Vec<BlockedUpgrade> = blocked.collect();
        blocked.sort_by(|a, b| a.subscription.cmp(&b.subscription));
        ResolutionOutcome {
            resolution: resolution(self.scope, self.problem, chosen),
            blocked,
            held: held(self.scope),
            left_out: self.scope.left_out(),
            ..ResolutionOutcome::default()
        }
    }

    /// Names of the Subscriptions and CSVs that are refused, without asking why.
    pub(crate) fn refused(&self) -> BTreeSet<String> {
        let mut refused = BTreeSet::new();
        let mut add = |refusal: &Refusal| {
            refused.extend(refusal.subscriptions.iter().map(|name| format!("subscription {name}")));
            refused.extend(refusal.csvs.iter().map(|name| format!("csv {name}")));
        };
        self.scope.set_aside().iter().for_each(&mut add);
        for component in &self.components {
            if self.solve(component).is_err() {
                add(&self.refusal(component, ResolveError::Faulty(Vec::new())));
            }
        }
        refused
    }

    /// Whether a bundle of this name is to be installed, without asking why others are refused.
    pub(crate) fn installs(&self, bundle: &str) -> bool {
        let solved = self.components.iter().filter_map(|part| self.solve(part).ok());
        let mut chosen: Vec<VariableId> = solved.flatten().collect();
        chosen.sort();
        let found = resolution(self.scope, self.problem, &chosen);
        found.chosen.iter().any(|one| *one.entry.name == *bundle)
    }

    fn solve(&self, component: &Component) -> Result<Vec<VariableId>, Failure> {
        if component.is_hopeless {
            return Err(Failure::Contradiction);
        }
        let solution = self.resolver.solver.solve(&component.formula);
        match solution.map_err(|exhausted| self.exhausted(exhausted.steps))? {
            Solution::Contradiction(_) => Err(Failure::Contradiction),
            Solution::Chosen(local) => {
                let whole = local.iter().filter_map(|id| component.variables.get(id.index()));
                let chosen: Vec<VariableId> = whole.copied().collect();
                check_names(self.scope, self.problem, &chosen).map_err(Failure::Other)?;
                Ok(chosen)
            }
        }
    }

    fn exhausted(&self, steps: u64) -> Failure {
        let namespace = self.scope.namespace().to_owned();
        Failure::Other(ResolveError::Exhausted { namespace, steps })
    }

    fn contradiction(&self, component: &Component) -> ResolveError {
        match self.reasons(&component.variables, None) {
            Ok(Some(rules)) => {
                let explanation = self.resolver.explainer.explain(self.scope, self.problem, &rules);
                ResolveError::NotSatisfiable(self.resolver.with_repairs(self.scope, explanation))
            }
            Ok(None) => ResolveError::NotSatisfiable(Default::default()),
            Err(Failure::Other(error)) => error,
            Err(Failure::Contradiction) => ResolveError::NotSatisfiable(Default::default()),
        }
    }

    /// Rules that cannot hold together, if the variables of a part (and another one) cannot.
    fn reasons(
        &self,
        part: &[VariableId],
        also: Option<VariableId>,
    ) -> Result<Option<Vec<RuleId>>, Failure> {
        let (formula, ids) = components::with_reasons(self.problem.formula(), part, also);
        let solution = self.resolver.solver.solve(&formula);
        Ok(match solution.map_err(|exhausted| self.exhausted(exhausted.steps))? {
            Solution::Chosen(_) => None,
            Solution::Contradiction(rules) => {
                Some(rules.iter().filter_map(|rule| ids.get(rule.index()).copied()).collect())
            }
        })
    }

    fn refusal(&self, component: &Component, error: ResolveError) -> Refusal {
        let (mut subscriptions, mut csvs) = (BTreeSet::new(), BTreeSet::new());
        for variable in &component.variables {
            match self.problem.subject(*variable) {
                Some(Subject::Subscription(subscription)) => {
                    subscriptions.insert(subscription.name.clone());
                }
                Some(Subject::Bundle(bundle))
                    if bundle.is_installed() && self.scope.is_orphan(&bundle.entry.name) =>
                {
                    csvs.insert(bundle.entry.name.to_string());
                }
                _ => {}
            }
        }
        Refusal {
            subscriptions: subscriptions.into_iter().collect(),
            csvs: csvs.into_iter().collect(),
            error,
        }
    }

    /// Subscriptions of a part that keep their CSV although there is something newer.
    fn blocked(&self, component: &Component, chosen: &[VariableId]) -> Vec<BlockedUpgrade> {
        let rules = self.problem.rules().filter_map(|(rule, reason)| match (rule, reason) {
            (Rule::Dependency { of, choices }, Reason::SubscriptionRequires)
                if component.variables.binary_search(of).is_ok() =>
            {
                Some((*of, choices))
            }
            _ => None,
        });
        let is_kept = |choices: &[VariableId]| {
            let own: Vec<_> = choices.iter().filter(|id| chosen.contains(id)).collect();
            matches!(own.as_slice(), [only] if Some(*only) == choices.last())
        };
        rules
            .filter(|(_, choices)| choices.len() > 1 && is_kept(choices))
            .filter_map(|(of, choices)| self.why_blocked(component, of, choices))
            .collect()
    }

    fn why_blocked(
        &self,
        component: &Component,
        of: VariableId,
        choices: &[VariableId],
    ) -> Option<BlockedUpgrade> {
        let (newest, kept) = (*choices.first()?, *choices.last()?);
        let (
            Subject::Subscription(subscription),
            Subject::Bundle(bundle),
            Subject::Bundle(installed),
        ) = (self.problem.subject(of)?, self.problem.subject(newest)?, self.problem.subject(kept)?)
        else {
            return None;
        };
        let rules = self.reasons(&component.variables, Some(newest)).ok()??;
        Some(BlockedUpgrade {
            subscription: subscription.name.clone(),
            installed: installed.entry.name.to_string(),
            bundle: BundleRef::from(&*bundle.entry),
            explanation: self.resolver.explainer.explain(self.scope, self.problem, &rules),
        })
    }
}

/// Why a part has no answer.
enum Failure {
    /// Its rules contradict each other.
    Contradiction,
    /// It could not be solved, or what was chosen cannot be named.
    Other(ResolveError),
}
