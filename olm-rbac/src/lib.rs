//! RBAC as values: what a rule asks for, what a ServiceAccount is granted, whether one covers the
//! other, and the roles that OLM generates.
//!
//! Everything here is a function of its arguments. Objects come in through [`RbacView`] or as
//! values; nothing is read from a cluster and nothing is written.

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
pub use coverage::{CoverageError, MAX_COMBINATIONS, covers};
pub use generated::Level;
pub use grants::{Grants, RbacView, Scope};
pub use group_roles::{GROUP_KIND, group_role_name, group_roles};
pub use lift::{CopyOwner, copy_binding, copy_role, lift_binding, lift_role};
pub use ownership::Claimant;
pub use rule::{RuleError, combinations, validate};
