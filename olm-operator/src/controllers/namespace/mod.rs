//! Labels of namespaces.

mod observe;
mod reconcile;

pub use reconcile::NamespaceReconciler;
