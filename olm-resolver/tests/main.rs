//! Resolution as a whole, through the public items of the library.

#![allow(clippy::unwrap_used, clippy::panic, reason = "only tests use it")]

mod bad_input;
mod blocked;
mod budget;
mod conformance;
mod dependencies;
mod explanations;
mod oracle;
mod order;
mod parts;
mod scenarios;
mod support;
mod upgrades;
mod versions;
