//! Subscriptions, each by itself (spec catalog-operator 2.2).

mod observe;
mod reconcile;

pub use reconcile::Subscriptions;
