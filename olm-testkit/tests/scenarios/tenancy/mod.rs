//! Who sees which operator, and who may do what: groups, copies of CSVs and rights.
//!
//! Rights are not read from Roles but asked of the API server, before and after.

pub mod escalation;
mod everywhere;
mod review;
mod selector;
mod targets;
mod users;

pub use everywhere::everywhere;
pub use selector::selector;
pub use targets::targets;
pub use users::users;
