//! Labels what an older OLM made.

mod observe;
mod reconcile;

pub use reconcile::Labeller;
