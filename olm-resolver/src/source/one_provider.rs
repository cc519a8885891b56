//! At most one provider of each API in a namespace, installed ones included.

use std::collections::HashMap;
use std::sync::Arc;

use olm_types::gvk::Gvk;

use super::one_package::several;
use crate::error::Fault;
use crate::problem::{Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// What a bundle in such a rule takes, in steps: the solver counts with three clauses.
const COUNTED: u64 = 8;

/// Lets at most one bundle per `olm.gvk` property into the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneProvider;

impl ConstraintSource for OneProvider {
    fn rules_among_all(
        &self,
        scope: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        let lists = by_list(problem);
        let mut providers: HashMap<&Gvk, Vec<VariableId>> = HashMap::new();
        for (apis, members) in &lists {
            let pairs = (apis.len() as u64).saturating_mul(members.len() as u64);
            scope.spend(pairs.saturating_mul(COUNTED)).map_err(|fault| vec![fault])?;
            for api in apis.iter() {
                providers.entry(api).or_default().extend(members);
            }
        }
        let mut rules: Vec<(&Gvk, Arc<[VariableId]>)> =
            providers.into_iter().filter_map(|(api, all)| Some((api, several(all)?))).collect();
        rules.sort_unstable_by_key(|(api, _)| *api);
        for (api, of) in rules {
            problem.state(Rule::AtMost { count: 1, of }, Reason::OneProvider(api.clone().into()));
        }
        Ok(())
    }
}

/// Bundles by their list of APIs, which those that differ in their channel only share.
fn by_list(problem: &Problem) -> Vec<(Arc<[Gvk]>, Vec<VariableId>)> {
    let mut lists: Vec<(Arc<[Gvk]>, Vec<VariableId>)> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    for (variable, bundle) in problem.bundles().filter(|(_, bundle)| !bundle.apis.is_empty()) {
        let place = *known.entry(Arc::as_ptr(&bundle.apis).addr()).or_insert(lists.len());
        match lists.get_mut(place) {
            Some((_, members)) => members.push(variable),
            None => lists.push((bundle.apis.clone(), vec![variable])),
        }
    }
    lists
}
