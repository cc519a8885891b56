//! What is written with the rights of a user, and what has to be so before: `kubectl olm` and the console ask and
//! report each in its own way, and write here.
//!
//! ```text
//! create    objects of manifests
//! approve   InstallPlans, in the version that was looked at
//! shown     whether an InstallPlan is the one that was shown
//! follow    a Subscription follows another channel
//! remove    custom resources, Subscription and CSVs, and a report
//! custom    custom resources of an operator, tried and made
//! verdict   whether a plan does what was asked for
//! rights    what the user may do, before it is offered
//! ```
//! Nothing is written that was not compared with what was shown: that is for the caller to see to.

mod approve;
mod create;
mod custom;
mod follow;
mod late;
mod remove;
pub mod rights;
mod shown;
mod verdict;

use kube::api::{DeleteParams, PatchParams, PostParams};

pub use approve::{Looked, approve};
pub use create::{Created, create};
pub use custom::{crd_of, example_kinds, examples, make, read_object};
pub use follow::follow_channel;
pub use late::NotInTime;
pub use remove::{Operands, Removal, check_operands, delete, deleted_csvs, gone, remove, report};
pub use shown::{difference, without_digest};
pub use verdict::{expected, needs_approval, verdict};

/// How often the cluster is looked at while something is waited for.
pub const LOOK: std::time::Duration = std::time::Duration::from_millis(500);

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
