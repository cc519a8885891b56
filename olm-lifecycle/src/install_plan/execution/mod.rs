//! Execution of the steps of an InstallPlan (spec catalog-operator 4.4), without any I/O.
//!
//! An [`Execution`] asks for one call at a time ([`Request`]) and gets what became of it
//! ([`Reply`]); first calls of steps that wait for nothing of each other may be made at the same time
//! ([`Execution::next_requests`]). It goes through the steps strictly in order; each is created first,
//! and where the object exists already, the rule of its kind decides what to write. What began to wait for
//! its API is looked at once more at the end. The first error ends the execution; the statuses that were
//! reached are kept, so the next execution goes on from there. An object that is being deleted is such an
//! error: it is created once it is gone.

mod ahead;
mod call;
mod change;
mod components;
mod copies;
mod deletion;
mod difference;
mod error;
mod existing_crds;
mod handlers;
mod joined;
mod machine;
mod manifest;
mod notes;
mod opening;
mod scope;
mod unpacked;

#[cfg(test)]
mod tests;

pub use call::{Reply, Request};
pub use copies::{copy_in_the_way, is_about_a_copy};
pub use difference::merge_patch;
pub use error::StepError;
pub use handlers::{HANDLERS, StepHandler};
pub use machine::Execution;
pub use manifest::Form;
pub use notes::{Ended, Note, NoteKind};
pub use scope::{Scope, Served};
