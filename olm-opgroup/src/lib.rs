//! OperatorGroup rules: which namespaces a group selects, who is a member, which install modes
//! fit, which APIs a group provides and with which other groups it intersects.
//!
//! Everything here is a function of its arguments (spec olm-operator 1.4, 4.1-4.5).
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use olm_opgroup::select_targets;
//! use olm_types::api::OperatorGroupSpec;
//!
//! let spec = OperatorGroupSpec {
//!     target_namespaces: vec!["b".to_owned(), "a".to_owned()],
//!     ..OperatorGroupSpec::default()
//! };
//! let labels = BTreeMap::new();
//! let targets = select_targets(&spec, [("a", &labels), ("c", &labels)]).unwrap();
//! assert_eq!(targets.names().collect::<Vec<_>>(), ["a", "b"]);
//! ```

mod install_modes;
mod intersection;
mod live;
mod membership;
mod namespace_labels;
mod namespace_set;
mod oldest;
mod provided_apis;
mod selector;
mod targets;
mod tenant_policy;

pub use install_modes::{
    DuplicateInstallModes, UnsupportedTargets, check_duplicates, check_support,
};
pub use intersection::{ApiReconciliation, GroupSurface, intersecting, reconcile_apis};
pub use live::{LiveNamespaces, NoTargets};
pub use membership::{MemberAnnotations, active_targets};
pub use namespace_labels::{desired_labels, label_patch};
pub use namespace_set::NamespaceSet;
pub use oldest::{SHOWN, oldest};
pub use provided_apis::{ApiSet, group_apis, provided_apis};
pub use selector::{SelectorError, matches};
pub use targets::{TargetError, select_targets};
pub use tenant_policy::{TargetsNotAllowed, TenantPolicy, UnknownTenantPolicy};
