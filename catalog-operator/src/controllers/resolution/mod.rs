//! Namespaces: resolution, and the InstallPlan that comes of it (spec catalog-operator 2.3, 3).

mod install;
mod named;
mod observe;
mod reconcile;
mod settled;
mod solve;
mod unpack;
mod words;

pub use named::Unresolved;
pub use reconcile::Resolutions;
pub(crate) use settled::Settled;
pub use solve::Rules;
