//! Spec olm-operator 3.6, 8.8 and 8.27.

pub(crate) mod fixtures;
mod judging;
mod mounts;
mod planning;
mod rotating;
mod server_roles;
