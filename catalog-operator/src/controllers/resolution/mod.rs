//! Namespaces: resolution, and the InstallPlan that comes of it (spec catalog-operator 2.3, 3).

mod deferred_plans;
mod install;
mod messages;
mod named;
mod observe;
mod outcome;
mod reconcile;
mod refusals;
mod solve;
mod solver;
mod unchanged;
mod unpack;

pub(crate) use deferred_plans::DeferredPlans;
pub use named::Unresolved;
pub(crate) use outcome::Outcomes;
pub use reconcile::ResolutionReconciler;
pub(crate) use refusals::Refusals;
pub use solve::Rules;
pub use solver::Solver;
pub(crate) use unchanged::Unchanged;
