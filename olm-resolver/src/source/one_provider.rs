//! At most one provider of each API in a namespace, installed ones included.

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::gvk::Gvk;

use super::one_package::{in_order, several};
use crate::error::Fault;
use crate::problem::{Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// Lets at most one bundle per `olm.gvk` property into the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneProvider;

impl ConstraintSource for OneProvider {
    fn closing(&self, _: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        let mut providers: BTreeMap<&Gvk, Vec<VariableId>> = BTreeMap::new();
        let bundles = in_order(problem);
        for (variable, bundle) in &bundles {
            for api in bundle.apis.iter() {
                providers.entry(api).or_default().push(*variable);
            }
        }
        let rules: Vec<(Reason, Arc<[VariableId]>)> = providers
            .into_iter()
            .filter_map(|(api, providers)| {
                Some((Reason::OneProvider(Arc::new(api.clone())), several(providers)?))
            })
            .collect();
        for (reason, of) in rules {
            problem.state(Rule::AtMost { count: 1, of }, reason);
        }
        Ok(())
    }
}
