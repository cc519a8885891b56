//! InstallPlans: what they hold, how they are created, approved, executed and collected
//! (spec catalog-operator 3.9, 3.10 and 4).

pub(crate) mod approval;
pub mod collect;
pub(crate) mod components;
pub mod continuation;
pub mod execution;
pub(crate) mod package;
pub mod phase;
pub(crate) mod plan_order;
mod report;
pub mod request;
pub mod requesters;
mod stale;
pub mod steps;
mod superseded;
pub mod waiting;

pub use approval::is_declared as is_approval_declared;
pub use components::keys as component_labels;
