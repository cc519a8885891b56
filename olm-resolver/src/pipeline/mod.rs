//! The steps of a resolution behind [`Resolver`](crate::Resolver): collect rules, solve, assemble.

mod assemble;
mod isolated;
mod needs;
mod separate;

use std::sync::Arc;

use olm_types::bundle::Universe;

use crate::error::{CatalogFault, Fault, ResolveError};
use crate::policy::Policy;
use crate::problem::{Bundle, Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

pub(crate) use assemble::{check_names, resolution};
pub(crate) use isolated::Isolated;

/// The problem that the sources state. Under [`Policy::Isolated`] a bundle with a fault is
/// prohibited; a fault that belongs to no bundle is an error under both policies.
pub(crate) fn collect(
    sources: &[Box<dyn ConstraintSource>],
    scope: &mut Scope<'_>,
) -> Result<Problem, ResolveError> {
    let mut problem = Problem::default();
    let mut faults = Vec::new();
    for source in sources {
        faults.extend(source.roots(scope, &mut problem).err().unwrap_or_default());
    }
    while let Some((variable, bundle)) = problem.next_unvisited() {
        let found = visit(sources, variable, &bundle, scope, &mut problem);
        match scope.policy() {
            Policy::V0 => faults.extend(found),
            Policy::Isolated => leave_out(variable, found, scope, &mut problem),
        }
    }
    for source in sources {
        faults.extend(source.rules_among_all(scope, &mut problem).err().unwrap_or_default());
    }
    if faults.is_empty() { Ok(problem) } else { Err(ResolveError::Faulty(faults)) }
}

fn visit(
    sources: &[Box<dyn ConstraintSource>],
    variable: VariableId,
    bundle: &Arc<Bundle>,
    scope: &mut Scope<'_>,
    problem: &mut Problem,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in sources {
        let stated = source.of_bundle(variable, bundle, scope, problem);
        faults.extend(stated.err().unwrap_or_default());
    }
    faults
}

fn leave_out(
    variable: VariableId,
    faults: Vec<Fault>,
    scope: &mut Scope<'_>,
    problem: &mut Problem,
) {
    for fault in faults {
        problem.state(Rule::Prohibited(variable), Reason::Ineligible(fault.to_string()));
        scope.leave_out(fault);
    }
}

/// One catalog that cannot be read makes every resolution fail, even if nothing needs it.
pub(crate) fn check_catalogs(universe: &dyn Universe) -> Result<(), ResolveError> {
    let faults: Vec<CatalogFault> = universe
        .catalogs()
        .into_iter()
        .filter_map(|view| Some(CatalogFault { catalog: view.key, reason: view.unavailable? }))
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(ResolveError::Catalogs(faults)) }
}
