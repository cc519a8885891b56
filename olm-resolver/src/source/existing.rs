//! CSVs of the namespace. One that no Subscription refers to stays as it is; one that cannot be
//! understood stops those that it may concern.

use crate::error::Fault;
use crate::problem::{Problem, Reason, Rule};
use crate::source::{ConstraintSource, Scope};

/// Makes every installed CSV a variable, and those without a Subscription mandatory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Existing;

impl ConstraintSource for Existing {
    fn roots(&self, scope: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        for installed in scope.installed().bundles().to_vec() {
            let variable = problem.bundle(&scope.intern(&installed.entry));
            if let Some(fault) = &installed.fault {
                problem.state(Rule::Prohibited(variable), Reason::Ineligible(fault.to_string()));
                let catalog = scope.virtual_catalog();
                scope.leave_out(Fault::Installed { catalog, source: fault.clone() });
            }
            if installed.subscription.is_none() {
                problem.state(Rule::Mandatory(variable), Reason::OrphanExists);
            }
        }
        Ok(())
    }
}
