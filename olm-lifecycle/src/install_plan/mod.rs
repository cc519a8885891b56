//! InstallPlans: what they hold, how they are created, approved, executed and collected
//! (spec catalog-operator 3.9, 3.10 and 4).

pub mod attenuation;
pub mod collect;
pub mod continuation;
pub mod execution;
pub(crate) mod package;
pub mod phase;
mod report;
pub mod request;
mod stale;
pub mod steps;
mod superseded;
mod turn;
