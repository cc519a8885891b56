//! At most one bundle of each package in a namespace, installed ones included.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Fault;
use crate::problem::{Bundle, BundleRef, Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// Lets at most one bundle per `olm.package` property into the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnePerPackage;

impl ConstraintSource for OnePerPackage {
    fn closing(&self, _: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        let mut members: BTreeMap<&str, Vec<(&BundleRef, VariableId)>> = BTreeMap::new();
        let bundles = references(problem);
        for (variable, bundle, reference) in &bundles {
            for (package, _) in &bundle.packages {
                members.entry(package).or_default().push((reference, *variable));
            }
        }
        let rules: Vec<(Reason, Arc<[VariableId]>)> = members
            .into_iter()
            .filter_map(|(package, members)| {
                Some((Reason::OnePerPackage(package.into()), several(members)?))
            })
            .collect();
        for (reason, of) in rules {
            problem.state(Rule::AtMost { count: 1, of }, reason);
        }
        Ok(())
    }
}

/// Every bundle with its variable and its names.
pub(super) fn references(problem: &Problem) -> Vec<(VariableId, Arc<Bundle>, BundleRef)> {
    let bundles = problem.bundles();
    bundles
        .map(|(variable, bundle)| (variable, bundle.clone(), BundleRef::from(&*bundle.entry)))
        .collect()
}

/// The variables, sorted by identifier and without repetition, if they are more than one.
pub(super) fn several(mut members: Vec<(&BundleRef, VariableId)>) -> Option<Arc<[VariableId]>> {
    members.dedup_by_key(|(_, variable)| *variable);
    if members.len() < 2 {
        return None;
    }
    members.sort_by_cached_key(|(reference, variable)| (reference.to_string(), *variable));
    members.dedup_by_key(|(_, variable)| *variable);
    Some(members.into_iter().map(|(_, variable)| variable).collect())
}
