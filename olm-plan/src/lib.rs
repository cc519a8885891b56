//! What `kubectl olm` shows: comparisons of observed objects and their result types.
//!
//! Everything here is a function from objects, and the time where ages count, to values that print and
//! serialize. It reads nothing and writes nothing. What OLM would do comes from the crates that decide:
//! a rule exists once.

pub mod approval;
pub mod details;
pub mod doctor;
pub mod graph;
pub mod health;
pub mod installed;
pub mod needs;
pub mod observed;
pub mod preview;
pub mod search;
pub mod settings;
pub mod skew;
pub mod suggested;
pub mod timeline;
pub mod tree;
pub mod why;

pub use health::Health;
pub use observed::Observed;
