//! API objects and vocabulary of the Operator Lifecycle Manager.
//!
//! Serde and a YAML scanner only: this crate knows no client, no async runtime and no clock. Everything that other
//! software can observe (names, labels, annotations, reasons, hashes) is spelled here, once.
//!
//! ```
//! use olm_types::labels::component;
//! use olm_types::version::{Range, Version};
//!
//! let range = Range::parse(">=1.2.0 <2.0.0").unwrap();
//! assert!(range.contains(&Version::parse("1.4.7").unwrap()));
//! assert!(!range.contains(&Version::parse("2.0.0").unwrap()));
//! assert_eq!(component("etcd.team").unwrap(), "operators.coreos.com/etcd.team");
//! ```

pub mod annotations;
pub mod api;
pub mod bundle;
pub mod conditions;
pub mod document;
pub mod duration;
pub mod gvk;
pub mod hash;
pub mod image_ref;
pub mod labels;
pub mod owner;
pub mod properties;
pub mod reasons;
pub mod tracking;
pub mod unset;
pub mod version;

/// Finalizers that OLM puts on objects.
pub mod finalizers {
    /// On CSVs: cluster-scoped children are removed before the CSV goes (spec olm-operator 1.9).
    pub const CSV_CLEANUP: &str = "operators.coreos.com/csv-cleanup";
}
