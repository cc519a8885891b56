//! InstallPlans: approval and execution (spec catalog-operator 4.3 and 4.4).

mod observe;
mod reconcile;

pub use reconcile::InstallPlans;
