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
        let mut members: BTreeMap<&str, Vec<VariableId>> = BTreeMap::new();
        let bundles = in_order(problem);
        for (variable, bundle) in &bundles {
            for (package, _) in bundle.packages.iter() {
                members.entry(package).or_default().push(*variable);
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

/// Every bundle with its variable, sorted by identifier.
pub(super) fn in_order(problem: &Problem) -> Vec<(VariableId, Arc<Bundle>)> {
    let bundles = problem.bundles();
    let mut bundles: Vec<_> =
        bundles.map(|(variable, bundle)| (variable, bundle.clone())).collect();
    bundles.sort_by_cached_key(|(variable, bundle)| {
        (BundleRef::from(&*bundle.entry).to_string(), *variable)
    });
    bundles
}

/// The variables without repetition, if they are more than one.
pub(super) fn several(mut members: Vec<VariableId>) -> Option<Arc<[VariableId]>> {
    members.dedup();
    (members.len() > 1).then(|| members.into())
}
