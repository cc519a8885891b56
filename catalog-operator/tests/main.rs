//! Resolution and the steps of InstallPlans, without a cluster.

#![allow(clippy::unwrap_used, clippy::panic, reason = "only tests use it")]

mod steps;
#[allow(dead_code, reason = "a part of what the resolver's tests use")]
#[path = "../../olm-resolver/tests/support/mod.rs"]
mod support;
