//! The life of a ClusterServiceVersion: its phases, as a pipeline of stages (spec olm-operator 1).
//!
//! [`decide`] looks at an [`Observed`] value and answers with one [`Decision`]: calls to make and
//! the status to set once they succeeded. [`conclude`] turns the outcomes of the calls into the
//! writes of status and event. Each pass makes at most one step from phase to phase; the write of
//! the new phase is the event that leads to the next pass.
//!
//! The rules are the [`stages::STAGES`], one file each.

mod chain;
mod claimant;
mod components;
mod conclude;
mod decide;
mod decision;
mod immutable;
mod installation;
mod observed;
mod pass;
mod requirements;
mod serving;
pub mod stages;
mod status;
mod upgradeable;

pub use chain::Chain;
pub use claimant::claimant;
pub use conclude::{Conclusion, conclude};
pub use decide::{Step, decide, decide_with};
pub use decision::{CertificateTimes, Decision, OnRefusal, PhaseChange, StatusChange};
pub use observed::{ClusterOwned, Observed, is_copied};
pub use pass::{Pass, Request};
pub use requirements::{Evaluation, Requirements};
pub use status::HISTORY_LIMIT;

#[cfg(test)]
pub(crate) mod tests;
