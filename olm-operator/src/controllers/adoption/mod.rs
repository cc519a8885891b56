//! Adoption: Subscriptions and CSVs put the label of their Operator on what belongs to them.

mod observe;
mod reconcile;

pub use reconcile::{CsvAdoptionReconciler, SubscriptionAdoptionReconciler};
