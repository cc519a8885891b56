//! InstallPlans: approval and execution (spec catalog-operator 4.3 and 4.4).

mod calls;
mod guard;
mod observe;
mod reconcile;
mod record;
mod surroundings;

pub(crate) use calls::Calls;
pub use reconcile::InstallPlanReconciler;
