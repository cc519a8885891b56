//! InstallPlans: approval and execution (spec catalog-operator 4.3 and 4.4).

mod calls;
mod observe;
mod reconcile;
mod record;

pub(crate) use calls::Calls;
pub use reconcile::InstallPlans;
