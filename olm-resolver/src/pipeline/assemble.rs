//! From chosen variables to bundles to install, with what they replace and who wanted them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::needs::Needs;
use super::separate::{Step, separate};
use crate::error::{Fault, ResolveError};
use crate::policy::Policy;
use crate::problem::{Bundle, BundleRef, Problem, Subject, VariableId};
use crate::resolution::{Chosen, Resolution};
use crate::source::Scope;

/// The bundles that the chosen variables stand for, and who wanted them.
pub(crate) fn resolution(
    scope: &Scope<'_>,
    problem: &Problem,
    chosen: &[VariableId],
) -> Resolution {
    let bundles = offered(problem, chosen);
    let chosen: BTreeSet<VariableId> = chosen.iter().copied().collect();
    let needs = Needs::of(problem, &chosen);
    let mut wanted_by = needs.wanted_by(problem);
    let mut needed_by = needs.needed_by(scope, problem);
    let parts = parts(scope, problem, &chosen);
    let mut result: Vec<Chosen> = bundles
        .into_iter()
        .map(|(variable, bundle)| Chosen {
            entry: bundle.entry.clone(),
            replaces: problem.replaced_by(variable).or(bundle.entry.replaces.as_ref()).cloned(),
            starting_csv: starting_csv(scope, bundle),
            wanted_by: wanted_by.remove(&variable).unwrap_or_default().into_iter().collect(),
            needed_by: needed_by.remove(&variable).unwrap_or_default().into_iter().collect(),
            part: parts.get(&variable).copied().unwrap_or_default(),
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

/// The part that each chosen variable belongs to, under [`Policy::Isolated`]; numbered in the order of the
/// variables. As in v0 there is one part otherwise.
fn parts(
    scope: &Scope<'_>,
    problem: &Problem,
    chosen: &BTreeSet<VariableId>,
) -> BTreeMap<VariableId, usize> {
    if scope.policy() == Policy::V0 {
        return BTreeMap::new();
    }
    let is_there = |subject: &Subject| match subject {
        Subject::Bundle(bundle) => bundle.is_installed(),
        Subject::Subscription(_) => true,
    };
    let there = problem.subjects().filter(|(_, subject)| is_there(subject));
    let before: BTreeSet<VariableId> = there.map(|(variable, _)| variable).collect();
    let mut groups = separate(problem.formula(), &Step { before: &before, after: chosen });
    let mut numbers = BTreeMap::new();
    let new = chosen.iter().filter(|variable| !before.contains(variable));
    let numbered = new.map(|variable| {
        let next = numbers.len();
        (*variable, *numbers.entry(groups.name(*variable)).or_insert(next))
    });
    numbered.collect()
}
