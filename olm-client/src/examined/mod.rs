//! What the doctor reads: lists first, several at a time and in pages, then what they say that matters.
//!
//! Of each object no more is kept than the checks look at, so that a thousand namespaces take little memory.

mod cluster_lists;
mod details;
mod lists;
mod orphaned_crds;
mod packages;
pub(crate) mod pages;
pub(crate) mod slim;

use anyhow::Result;
use jiff::Timestamp;
use olm_plan::Observed;
use olm_plan::doctor::{Report, examine, wanted};
use olm_plan::observed::Plural;

use crate::cluster::{Cluster, cause, is_not_found};

/// Requests that are under way at once.
const AT_ONCE: usize = 16;

/// Reads a namespace, or all of them, and makes every check. `before` is for the time before an
/// installation or a take-over: then a cluster without OLM's kinds is no error.
///
/// # Errors
/// OLM is not installed, or Subscriptions cannot be read, or not in time. What else cannot be read is skipped
/// in the report.
pub async fn examination(cluster: &Cluster, home: Option<&str>, before: bool) -> Result<Report> {
    let reading = Reading { cluster, home, before };
    let mut observed = Observed { home: home.map(str::to_owned), ..Observed::default() };
    let plans = reading.lists(&mut observed).await?;
    reading.cluster_lists(&mut observed).await;
    let wanted = wanted(&observed, &plans);
    reading.details(&wanted, &mut observed).await;
    reading.packages(&wanted, &mut observed).await;
    reading.orphaned_crds(&wanted.orphaned_crds, &mut observed).await;
    if before {
        reading.rights(&mut observed).await;
    }
    Ok(examine(&observed, before, Timestamp::now()))
}

/// What is read, and how.
#[derive(Clone, Copy)]
struct Reading<'a> {
    cluster: &'a Cluster,
    home: Option<&'a str>,
    before: bool,
}

impl Reading<'_> {
    /// What was read; nothing, and a note of why, where it may not be, or was not answered in time.
    fn noted<T: Default>(&self, read: Result<T>, kind: Plural, observed: &mut Observed) -> T {
        read.unwrap_or_else(|error| {
            // A kind that there is not yet has no objects.
            if !(self.before && is_not_found(&error)) {
                observed.unread.insert(kind, cause(&error));
            }
            T::default()
        })
    }
}
