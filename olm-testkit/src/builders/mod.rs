//! API objects and catalogs in a few words.
//!
//! Everything has working defaults: an operator made by [`csv`] installs in any OperatorGroup
//! and has one Deployment. A test names only what it is about.

mod bundle;
mod catalog;
mod crd;
mod csv;
mod objects;

pub use bundle::Bundle;
pub use catalog::{CatalogDir, Package};
pub use crd::Crd;
pub use csv::{CsvBuilder, IMAGE, csv, deployment_spec, readiness_probe};
pub use objects::{
    catalog_source, cluster_role, namespace, operator_group, service_account, subscription,
};
