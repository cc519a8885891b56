//! Copies of CSVs: how the users of a namespace see which operators watch it (spec olm-operator 5).
//!
//! [`desired`] says whether a namespace should have a copy, [`Prototype`] what it looks like. Of
//! the copies that exist only a [`CopiedCsv`] is kept: where it is, whence it came, and a
//! fingerprint that says whether it is still in step.

mod config;
mod copied_roles;
mod desired;
mod fingerprint;
mod prototype;
mod record;

pub use config::{CopyInventory, config_status, disabled_note};
pub use copied_roles::{TargetRights, decide_rights};
pub use desired::{Copying, Desired, desired, has_concluded};
pub use fingerprint::{Fingerprint, OutdatedParts};
pub use prototype::Prototype;
pub use record::CopiedCsv;

#[cfg(test)]
mod tests;
