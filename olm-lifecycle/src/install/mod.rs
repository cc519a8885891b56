//! The install strategy `deployment`: what a CSV's Deployments look like, and whether they run
//! (spec olm-operator 3.3-3.5).

mod check;
mod deployment;
mod disruption;
mod orphans;
mod overrides;
mod rollout;
pub(crate) mod shape;
mod size;
mod strategy;

pub(crate) use check::check_installed;
pub use check::{Unhealthy, UnhealthyReason, is_ours};
pub use deployment::DeploymentError;
pub(crate) use deployment::desired_deployment;
pub use disruption::PodLabels;
pub(crate) use disruption::{incomplete, is_disrupted};
pub use orphans::orphans;
pub(crate) use orphans::removal;
pub use overrides::{Overrides, ProxySettings};
pub use rollout::{Rollout, rollout};
pub(crate) use size::check_size;
pub use strategy::{StrategyError, strategy};

#[cfg(test)]
mod tests;
