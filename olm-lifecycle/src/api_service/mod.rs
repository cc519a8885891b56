//! API services that an operator serves (spec olm-operator 3.7).
//!
//! An APIService is cluster-scoped and has no owner reference; its labels say which CSV it belongs
//! to, and a CSV takes one over only from a CSV that makes way for it.

mod adoption;
mod availability;
mod check;
mod legacy;
mod orphan;
mod write;

pub use adoption::is_adoptable;
pub(crate) use availability::{are_available, wanted_apis};
pub use check::ResourceErrors;
pub(crate) use check::check_resources;
pub use legacy::legacy;
pub use orphan::{Provided, labelled_owner, orphan};
pub(crate) use write::authority_of;
pub use write::{NotAdoptable, removed, writes};

#[cfg(test)]
mod tests;
