//! At most one provider of each API in a namespace, installed ones included.

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::gvk::Gvk;

use super::one_package::several;
use crate::error::Fault;
use crate::problem::{BundleRef, Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// Lets at most one bundle per `olm.gvk` property into the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneProvider;

impl ConstraintSource for OneProvider {
    fn closing(&self, _: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        let mut providers: BTreeMap<Gvk, Vec<(String, VariableId)>> = BTreeMap::new();
        for (variable, bundle) in problem.bundles() {
            let identifier = BundleRef::from(&*bundle.entry).to_string();
            for api in &bundle.apis {
                providers.entry(api.clone()).or_default().push((identifier.clone(), variable));
            }
        }
        for (api, providers) in providers {
            if let Some(of) = several(providers) {
                problem.state(Rule::AtMost { count: 1, of }, Reason::OneProvider(Arc::new(api)));
            }
        }
        Ok(())
    }
}
