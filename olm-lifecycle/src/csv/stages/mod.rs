//! The rules of a CSV's life, one file each, and their order.
//!
//! A stage looks at the [`Pass`] and either lets the next stage look, or stops with a decision. To
//! add a rule, write a file and name it in [`STAGES`]. A binary of one's own adds its rules to
//! [`Stages`].

mod api_names;
mod api_roles;
mod being_replaced;
mod cleanup;
mod copied;
mod forbidden_install;
mod global_rights;
mod health;
mod install;
mod list;
mod operator_group;
mod owner_conflicts;
mod package_server;
mod provided_apis;
mod replacement;
mod requirements;
mod serving;
mod tenants;
mod webhooks;

pub use api_names::ApiNames;
pub use api_roles::{ApiRoles, api_role_names};
pub use being_replaced::BeingReplaced;
pub use cleanup::Cleanup;
pub use copied::Copied;
pub use forbidden_install::ForbiddenInstall;
pub use global_rights::GlobalRights;
pub use health::Health;
pub use install::Install;
pub use list::Stages;
pub use operator_group::Membership;
pub use owner_conflicts::OwnerConflicts;
pub use package_server::PackageServer;
pub use provided_apis::ProvidedApis;
pub use replacement::Replacement;
pub use requirements::Requirements;
pub use serving::{Learning, Servers};
pub use tenants::Tenants;
pub use webhooks::{Placeholders, Webhooks};

use std::any::Any;

use super::decision::Decision;
use super::pass::{Pass, Request};

/// One rule. It has a type of its own, by which others find their place beside it.
pub trait Stage: Any + Sync {
    /// Judges the CSV of this pass.
    fn judge(&self, pass: &Pass<'_>) -> Verdict;
}

/// What a stage says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing to say here: the next stage decides.
    Continue,
    /// This is what happens.
    Stop(Decision),
    /// Something has to be read before this stage can say anything.
    Need(Request),
}

/// All stages in their order.
///
/// `BeingReplaced` stands before `Requirements` because a CSV makes way for its replacement whether
/// or not its own requirements still hold.
pub const STAGES: &[&dyn Stage] = &[
    &Copied,
    &Cleanup,
    &PackageServer,
    &ForbiddenInstall,
    &ApiNames,
    &Membership,
    &ProvidedApis,
    &GlobalRights,
    &BeingReplaced,
    &Tenants,
    &Servers::SUCCEEDED,
    &Placeholders,
    &Requirements,
    &Webhooks,
    &OwnerConflicts,
    &Servers::FAILED,
    &Learning,
    &Install,
    &ApiRoles,
    &Health,
    &Replacement,
];
