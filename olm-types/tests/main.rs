//! The types against their committed definitions, v0's definitions and real objects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod corpus;
mod crds_committed;
mod crds_match_v0;
mod crds_nodes;
#[path = "../../olm-testkit/src/not_run.rs"]
mod not_run;
mod round_trip;
mod schema;
