//! Scenarios that know a cluster only through its API, and what runs them.
//!
//! A [`Scenario`] gets a [`TestContext`]: a namespace, and words like "serve this catalog", "subscribe",
//! "wait until the CSV has succeeded". It runs on any [`Provider`], a cluster in which OLM works:
//!
//! - [`provider::local`]: a control plane on this machine with a simulated node, operators as
//!   processes;
//! - [`provider::in_cluster`]: any cluster with OLM in Pods, whether ours or OLM v0.
//!
//! The tests of this crate and `cargo xtask e2e` run the same list, [`scenarios::all`]. What a
//! scenario asks of a cluster is among its [`Need`]s; where one is not met it is skipped, with the
//! reason.

pub mod context;
mod evidence;
pub mod figures;
pub mod healthy;
pub mod provider;
pub mod report;
pub mod runner;
mod scenario;
pub mod scenarios;

pub use context::TestContext;
pub use provider::Provider;
pub use runner::{Outcome, ScenarioResult};
pub use scenario::{Need, RunsWith, Scenario, scenario};
