//! What is written with the rights of a user, and what has to be so before: `kubectl olm` and the console ask and
//! report each in its own way, and write here.
//!
//! ```text
//! create    objects of manifests
//! upgrade   InstallPlans approved, in the version that was looked at; a Subscription follows another channel
//! shown     whether an InstallPlan is the one that was shown
//! remove    custom resources, Subscription and CSVs, and a report
//! custom    custom resources of an operator, tried and made
//! verdict   whether a plan does what was asked for
//! rights    what the user may do, before it is offered
//! ```
//! Nothing is written that was not compared with what was shown: that is for the caller to see to.

mod create;
mod custom;
mod remove;
pub mod rights;
mod shown;
mod upgrade;
mod verdict;

use std::time::Duration;

use kube::api::{DeleteParams, PatchParams, PostParams};

pub use create::{Created, create};
pub use custom::{crd_of, example_kinds, examples, make, read_object};
pub use remove::{Operands, Removal, check_operands, delete, deleted_csvs, gone, remove, report};
pub use shown::{difference, without_digest};
pub use upgrade::{ReviewedPlan, approve, follow_channel};
pub use verdict::{expected, needs_approval, verdict};

/// How often the cluster is looked at while something is waited for.
pub const LOOK: Duration = Duration::from_millis(500);

/// Something did not come to its end in time.
#[derive(Debug, thiserror::Error)]
#[error("{what} within {} s; --timeout allows more", limit.as_secs())]
pub struct NotInTime {
    what: String,
    limit: Duration,
}

impl NotInTime {
    /// What did not happen, and how long was waited.
    #[must_use]
    pub fn new(what: &str, limit: Duration) -> Self {
        Self { what: what.to_owned(), limit }
    }
}

/// How something is written.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// Who writes, for the API server's records.
    pub manager: &'a str,
    /// The API server is asked as if, and writes nothing.
    pub dry_run: bool,
}

impl Writing<'_> {
    fn post(self) -> PostParams {
        PostParams { dry_run: self.dry_run, field_manager: Some(self.manager.to_owned()) }
    }

    fn patch(self) -> PatchParams {
        let field_manager = Some(self.manager.to_owned());
        PatchParams { dry_run: self.dry_run, field_manager, ..PatchParams::default() }
    }

    fn delete(self) -> DeleteParams {
        DeleteParams { dry_run: self.dry_run, ..DeleteParams::default() }
    }
}
