//! At most one bundle of each package in a namespace, installed ones included.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Fault;
use crate::problem::{BundleRef, Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// Lets at most one bundle per `olm.package` property into the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnePerPackage;

impl ConstraintSource for OnePerPackage {
    fn closing(&self, _: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        let mut members: BTreeMap<Arc<str>, Vec<(String, VariableId)>> = BTreeMap::new();
        for (variable, bundle) in problem.bundles() {
            let identifier = BundleRef::from(&*bundle.entry).to_string();
            for (package, _) in &bundle.packages {
                members
                    .entry(package.as_str().into())
                    .or_default()
                    .push((identifier.clone(), variable));
            }
        }
        for (package, members) in members {
            if let Some(of) = several(members) {
                problem.state(Rule::AtMost { count: 1, of }, Reason::OnePerPackage(package));
            }
        }
        Ok(())
    }
}

/// The variables, sorted by identifier and without repetition, if they are more than one.
pub(super) fn several(mut members: Vec<(String, VariableId)>) -> Option<Arc<[VariableId]>> {
    members.sort();
    members.dedup();
    (members.len() > 1).then(|| members.into_iter().map(|(_, variable)| variable).collect())
}
