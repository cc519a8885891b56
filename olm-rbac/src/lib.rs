//! RBAC as values: what a rule asks for, what a ServiceAccount is granted, and whether one covers
//! the other.
//!
//! Everything here is a function of its arguments. Objects come in through [`RbacView`] or as
//! values; nothing is read from a cluster and nothing is written.

mod account;
mod coverage;
mod grants;
mod ownership;
mod rule;

pub use account::Account;
pub use coverage::{CoverageError, MAX_COMBINATIONS, covers};
pub use grants::{Grants, RbacView, Scope};
pub use ownership::Claimant;
pub use rule::{RuleError, combinations, validate};
