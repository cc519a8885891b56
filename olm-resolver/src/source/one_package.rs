//! At most one bundle of each package in a namespace, installed ones included.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Fault;
use crate::problem::{Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// Lets at most one bundle per `olm.package` property into the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnePerPackage;

impl ConstraintSource for OnePerPackage {
    fn rules_among_all(&self, _: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        let mut members: BTreeMap<&str, Vec<VariableId>> = BTreeMap::new();
        for (variable, bundle) in problem.bundles() {
            for (package, _) in bundle.packages.iter() {
                members.entry(package).or_default().push(variable);
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

/// The variables, ascending and without repetition, if they are more than one.
pub(super) fn several(mut members: Vec<VariableId>) -> Option<Arc<[VariableId]>> {
    members.sort_unstable();
    members.dedup();
    (members.len() > 1).then(|| members.into())
}
