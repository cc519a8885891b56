//! Objects that can belong to an Operator, whatever their kind.
//!
//! [`ComponentKind`] names the kinds and finds their objects in the stores; [`ComponentIndex`] knows
//! which objects carry a component label and which belong to a CSV, so that no reconcile searches
//! all stores for them.

mod index;
mod kind;

pub use index::{ComponentId, ComponentIndex, owners};
pub use kind::ComponentKind;
