//! Subscriptions (spec catalog-operator 2).
//!
//! [`sync`] keeps one Subscription's conditions about its InstallPlan, its catalogs and
//! deprecations true;
//! [`resolution`] turns the resolution of a namespace into an InstallPlan and into what its
//! Subscriptions say about it.

mod conditions;
pub mod deprecations;
pub mod health;
mod held;
pub mod plan_status;
pub(crate) mod policy;
pub mod readiness;
pub mod resolution;
pub mod sync;

pub use policy::{declarations, held_by_mistake, holding, is_held, pinned};
