//! Operators: everything that belongs to one operator, found by label (spec olm-operator 6.1, 6.2).
//!
//! [`decide`] keeps the list of components in an Operator's status, and brings an Operator back
//! whose components are there. [`adopt_by_subscription`] and [`adopt_by_csv`] put the label on
//! what belongs together; only a newer InstallPlan removes it.

mod adoption;
mod component;
mod names;
mod plan;
mod status;

pub use adoption::{InstallPlanLabels, Owned, adopt_by_csv, adopt_by_subscription};
pub use component::Component;
pub use names::{component_keys, operator_name, operator_names};
pub use plan::{PlanSummary, PlanSummaryStatus};
pub use status::{Observed, decide};

#[cfg(test)]
mod tests;
