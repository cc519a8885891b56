//! ClusterOperators: how OpenShift shows the state of OLM (spec olm-operator 6.7, 6.8; catalog-operator 8).
//!
//! The kind exists on OpenShift only, so it has no type of its own here: [`Status`] reads what is
//! needed of an object and puts it back beside whatever else is there. Nothing is written unless
//! a flag names the object.

mod catalog;
mod compatibility;
mod object;
mod olm;
mod package_server;

pub use catalog::{CatalogReport, decide_catalog};
#[cfg(test)]
pub(crate) use compatibility::incompatible_operators;
pub use compatibility::{Incompatible, ReleaseError};
pub use object::{API, Condition, RelatedObject, Status, VersionEntry};
pub use olm::{OlmReport, decide_olm};
pub use package_server::{PackageServerReport, decide_package_server};

#[cfg(test)]
mod tests;
