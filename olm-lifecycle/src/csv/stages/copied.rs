//! A copy stands for an operator in another namespace and has no life of its own.

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::is_copied;
use crate::csv::pass::Pass;

/// Leaves copies alone. One that is being deleted may still carry the finalizer, and goes on.
pub struct Copied;

impl Stage for Copied {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let csv = &pass.observed.csv;
        if is_copied(csv) && csv.metadata.deletion_timestamp.is_none() {
            return Verdict::Stop(Decision::nothing().note("skipped: the CSV is a copy"));
        }
        Verdict::Continue
    }
}
