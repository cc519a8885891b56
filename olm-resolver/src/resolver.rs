//! The pipeline: constraint sources -> problem -> solver -> resolution or explanation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Universe};

use crate::error::{CatalogFault, Fault, ResolveError};
use crate::explain::{ClassicExplainer, Explainer};
use crate::installed::{Installed, VIRTUAL_CATALOG};
use crate::preference::{ClassicPreference, Preference};
use crate::problem::{Bundle, BundleRef, Problem, Reason, Rule, Subject, VariableId};
use crate::request::ResolutionRequest;
use crate::resolution::{Chosen, Resolution, WantedBy};
use crate::solver::{OrderedSearch, Solution, Solver};
use crate::source::{ConstraintSource, Scope, classic_sources};

/// Resolves namespaces with the given rules. Keeps nothing between resolutions.
pub struct Resolver {
    /// Where rules come from, asked in this order.
    pub sources: Vec<Box<dyn ConstraintSource>>,
    /// What is preferred.
    pub preference: Box<dyn Preference>,
    /// What finds the answer.
    pub solver: Box<dyn Solver>,
    /// What explains that there is none.
    pub explainer: Box<dyn Explainer>,
}

impl Default for Resolver {
    /// The rules and preferences of OLM v0.
    fn default() -> Self {
        Self {
            sources: classic_sources(),
            preference: Box::new(ClassicPreference),
            solver: Box::new(OrderedSearch::default()),
            explainer: Box::new(ClassicExplainer),
        }
    }
}

impl Resolver {
    /// Adds a source of rules, for example a policy of the cluster's owner.
    pub fn with_source(mut self, source: impl ConstraintSource + 'static) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Finds the bundles to install in a namespace.
    pub fn resolve(&self, request: &ResolutionRequest<'_>) -> Result<Resolution, ResolveError> {
        check_catalogs(request.universe)?;
        let installed = Installed::read(request).map_err(|source| {
            let catalog = CatalogKey::new(request.namespace, VIRTUAL_CATALOG);
            ResolveError::Faulty(vec![Fault::Installed { catalog, source }])
        })?;
        let mut scope = Scope::new(request, self.preference.as_ref(), installed);
        let problem = self.collect(&mut scope)?;
        match self.solver.solve(problem.formula()) {
            Ok(Solution::Chosen(chosen)) => resolution(&scope, &problem, &chosen),
            Ok(Solution::Contradiction(rules)) => {
                Err(ResolveError::NotSatisfiable(self.explainer.explain(&scope, &problem, &rules)))
            }
            Err(exhausted) => Err(ResolveError::Exhausted {
                namespace: request.namespace.to_owned(),
                steps: exhausted.steps,
            }),
        }
    }

    fn collect(&self, scope: &mut Scope<'_>) -> Result<Problem, ResolveError> {
        let mut problem = Problem::default();
        let mut faults = Vec::new();
        for source in &self.sources {
            faults.extend(source.roots(scope, &mut problem).err().unwrap_or_default());
        }
        while let Some((variable, bundle)) = problem.next_unvisited() {
            for source in &self.sources {
                let stated = source.of_bundle(variable, &bundle, scope, &mut problem);
                faults.extend(stated.err().unwrap_or_default());
            }
        }
        for source in &self.sources {
            faults.extend(source.closing(scope, &mut problem).err().unwrap_or_default());
        }
        if faults.is_empty() { Ok(problem) } else { Err(ResolveError::Faulty(faults)) }
    }
}

/// One catalog that cannot be read makes every resolution fail, even if nothing needs it.
fn check_catalogs(universe: &dyn Universe) -> Result<(), ResolveError> {
    let faults: Vec<CatalogFault> = universe
        .catalogs()
        .into_iter()
        .filter_map(|view| Some(CatalogFault { catalog: view.key, reason: view.unavailable? }))
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(ResolveError::Catalogs(faults)) }
}

fn resolution(
    scope: &Scope<'_>,
    problem: &Problem,
    chosen: &[VariableId],
) -> Result<Resolution, ResolveError> {
    let bundles: Vec<(VariableId, &Arc<Bundle>)> = chosen
        .iter()
        .filter_map(|variable| match problem.subject(*variable)? {
            Subject::Bundle(bundle) if !bundle.is_installed() => Some((*variable, bundle)),
            _ => None,
        })
        .collect();
    check_names(scope, &bundles)?;
    let mut wanted_by = wanted_by(problem, chosen);
    let mut result: Vec<Chosen> = bundles
        .into_iter()
        .map(|(variable, bundle)| Chosen {
            entry: bundle.entry.clone(),
            replaces: problem.replaced_by(variable).or(bundle.entry.replaces.as_ref()).cloned(),
            starting_csv: starting_csv(scope, bundle),
            wanted_by: wanted_by.remove(&variable).unwrap_or_default().into_iter().collect(),
        })
        .collect();
    result.sort_by_cached_key(|chosen| {
        let entry = &chosen.entry;
        (entry.package.clone(), entry.name.clone(), entry.catalog.clone(), entry.channel.clone())
    });
    Ok(Resolution { chosen: result })
}

/// A chosen bundle must be the only one of its name in channels of this name of its catalog.
fn check_names(
    scope: &Scope<'_>,
    chosen: &[(VariableId, &Arc<Bundle>)],
) -> Result<(), ResolveError> {
    let mut counts: BTreeMap<_, (usize, &Bundle)> = chosen
        .iter()
        .map(|(_, bundle)| {
            let entry = &bundle.entry;
            ((&entry.name, &entry.channel, &entry.catalog), (0, &***bundle))
        })
        .collect();
    let all = if counts.is_empty() { Vec::new() } else { scope.all() };
    for entry in &all {
        if let Some((count, _)) = counts.get_mut(&(&entry.name, &entry.channel, &entry.catalog)) {
            *count += 1;
        }
    }
    let faults: Vec<Fault> = counts
        .values()
        .filter(|(count, _)| *count != 1)
        .map(|(count, bundle)| Fault::Ambiguous {
            bundle: Box::new(BundleRef::from(&*bundle.entry)),
            count: *count,
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(ResolveError::Faulty(faults)) }
}

/// The name of the bundle if a Subscription without an installed CSV starts with it.
fn starting_csv(scope: &Scope<'_>, bundle: &Bundle) -> Option<String> {
    scope
        .subscriptions()
        .iter()
        .filter(|subscription| {
            let installed = subscription.installed_csv.as_deref();
            installed.is_none_or(|name| scope.installed().named(name).is_none())
        })
        .find_map(|subscription| {
            subscription.starting_csv.clone().filter(|name| *name.as_str() == *bundle.entry.name)
        })
}

/// For each chosen variable, who among the chosen ones wanted it.
fn wanted_by(problem: &Problem, chosen: &[VariableId]) -> BTreeMap<VariableId, BTreeSet<WantedBy>> {
    let chosen: BTreeSet<VariableId> = chosen.iter().copied().collect();
    let mut wanted: BTreeMap<VariableId, BTreeSet<WantedBy>> = BTreeMap::new();
    for (rule, reason) in problem.rules() {
        let Rule::Dependency { of, choices } = rule else { continue };
        let Some(who) = problem.subject(*of).filter(|_| chosen.contains(of)) else { continue };
        for choice in choices.iter().filter(|choice| chosen.contains(choice)) {
            wanted.entry(*choice).or_default().extend(wish(who, reason));
        }
    }
    wanted
}

fn wish(who: &Subject, reason: &Reason) -> Option<WantedBy> {
    match (who, reason) {
        (Subject::Subscription(subscription), _) => {
            Some(WantedBy::Subscription(subscription.name.clone()))
        }
        (Subject::Bundle(bundle), Reason::BundleRequires(requirement)) => Some(WantedBy::Bundle {
            name: bundle.entry.name.to_string(),
            requirement: requirement.to_string(),
        }),
        (Subject::Bundle(_), _) => None,
    }
}
