//! From chosen variables to bundles to install, with what they replace and who wanted them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Fault, ResolveError};
use crate::problem::{Bundle, BundleRef, Problem, Reason, Rule, Subject, VariableId};
use crate::resolution::{Chosen, Resolution, WantedBy};
use crate::source::Scope;

/// The bundles that the chosen variables stand for, and who wanted them.
pub(crate) fn resolution(
    scope: &Scope<'_>,
    problem: &Problem,
    chosen: &[VariableId],
) -> Resolution {
    let bundles = offered(problem, chosen);
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
    Resolution { chosen: result }
}

/// Every chosen bundle must be the only one of its name in channels of this name of its catalog.
pub(crate) fn check_names(
    scope: &Scope<'_>,
    problem: &Problem,
    chosen: &[VariableId],
) -> Result<(), ResolveError> {
    let faults: Vec<Fault> = offered(problem, chosen)
        .into_iter()
        .filter_map(|(_, bundle)| {
            let count = scope.named(&bundle.entry).len();
            let bundle = Box::new(BundleRef::from(&*bundle.entry));
            (count != 1).then_some(Fault::Ambiguous { bundle, count })
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(ResolveError::Faulty(faults)) }
}

/// The chosen bundles that are in a catalog and not in the cluster.
fn offered<'a>(problem: &'a Problem, chosen: &[VariableId]) -> Vec<(VariableId, &'a Arc<Bundle>)> {
    let offered = chosen.iter().filter_map(|variable| match problem.subject(*variable)? {
        Subject::Bundle(bundle) if !bundle.is_installed() => Some((*variable, bundle)),
        _ => None,
    });
    offered.collect()
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
            wanted.entry(*choice).or_default().extend(wanting(who, reason));
        }
    }
    wanted
}

fn wanting(who: &Subject, reason: &Reason) -> Option<WantedBy> {
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
