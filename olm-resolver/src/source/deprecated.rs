//! The property `olm.deprecated`: the bundle is never in the answer.

use std::sync::Arc;

use crate::error::Fault;
use crate::problem::{Bundle, Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// Prohibits bundles with the property `olm.deprecated`. The blob `olm.deprecations` only warns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deprecated;

impl ConstraintSource for Deprecated {
    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        _: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        if bundle.entry.properties.iter().any(|property| &*property.kind == "olm.deprecated") {
            problem.state(Rule::Prohibited(variable), Reason::Deprecated);
        }
        Ok(())
    }
}
