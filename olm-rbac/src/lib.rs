//! RBAC as values: what a rule asks for, what a ServiceAccount is granted, whether one covers the
//! other, and the roles that OLM generates.
//!
//! Everything here is a function of its arguments. Objects come in through [`RbacView`] or as
//! values; nothing is read from a cluster and nothing is written.
//!
//! ```
//! use k8s_openapi::api::rbac::v1::PolicyRule;
//! use olm_rbac::{ComparisonBudget, covers};
//!
//! let rule = |resources: &[&str], verbs: &[&str]| PolicyRule {
//!     api_groups: Some(vec![String::new()]),
//!     resources: Some(resources.iter().map(|one| (*one).to_owned()).collect()),
//!     verbs: verbs.iter().map(|one| (*one).to_owned()).collect(),
//!     ..PolicyRule::default()
//! };
//! let granted = rule(&["pods", "services"], &["*"]);
//! assert!(covers(&[&granted], &rule(&["pods"], &["get"]), &ComparisonBudget::default()).unwrap());
//! assert!(!covers(&[&granted], &rule(&["secrets"], &["get"]), &ComparisonBudget::default()).unwrap());
//! ```

mod account;
mod api_roles;
mod coverage;
mod generated;
mod grants;
mod group_roles;
mod lift;
mod ownership;
mod rule;

pub use account::Account;
pub use api_roles::{api_service_roles, crd_roles};
pub use coverage::{ComparisonBudget, CoverageError, MAX_COMBINATIONS, MAX_COMPARISONS, covers};
pub use generated::Level;
pub use grants::{Grants, RbacView, Scope};
pub use group_roles::{GROUP_KIND, group_role_name, group_roles};
pub use lift::{CopyOwner, copy_binding, copy_role, lift_binding, lift_role};
pub use ownership::{Claimant, Replaced};
pub use rule::{RuleError, combinations, validate};
