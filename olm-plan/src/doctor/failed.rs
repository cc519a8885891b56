//! CSVs that have failed, or fail again and again, for a reason without a code of its own.

use olm_types::api::{ClusterServiceVersion, ClusterServiceVersionCondition, CsvPhase};

use super::csvs::{circle, missing, of_csvs, unpulled};
use super::fix::line;
use super::groups::{EXPLAINED, reason_and_message};
use super::{Fix, Found, View};
use crate::observed::namespace;
use crate::tree::{deployments, refused_pods};

/// Failures of one reason, since the CSV last was Succeeded, after which one that is installed anew is taken
/// to have failed: once or twice is what an installation under way looks like, too.
const REPEATED: usize = 3;

/// A CSV is Failed, or it was again and again and is on its way for the moment.
pub(super) fn find(view: &View<'_>) -> Vec<Found> {
    of_csvs(view, |csv| {
        let (reason, message) = failure(csv)?;
        let is_explained = EXPLAINED.contains(&reason)
            || missing(csv).next().is_some()
            || unpulled(view.observed, csv).is_some()
            || deployments(view.observed, csv).any(|one| refused_pods(one).is_some())
            || circle(view, csv).is_some();
        let see = line(namespace(&csv.metadata), &["get", "pods"]);
        let ask = format!("ask the author, with the log of the operator; see {see}");
        (!is_explained).then(|| (reason_and_message(reason, message), Fix::AskTheAuthor(ask)))
    })
}

/// Reason and message of the failure.
fn failure(csv: &ClusterServiceVersion) -> Option<(&str, &str)> {
    let status = csv.status.as_ref()?;
    match status.phase {
        CsvPhase::Failed => Some(words(status.reason.as_deref(), status.message.as_deref())),
        CsvPhase::Pending | CsvPhase::InstallReady | CsvPhase::Installing => {
            repeated(&status.conditions)
        }
        _ => None,
    }
}

/// The last failure in a history of phases, if the same one is there often enough. OLM v0 takes a CSV whose
/// Deployment the API server refuses from Failed over Pending and InstallReady to Failed without a pause.
fn repeated(history: &[ClusterServiceVersionCondition]) -> Option<(&str, &str)> {
    let recent = history.iter().rev().take_while(|one| one.phase != CsvPhase::Succeeded);
    let mut failures = recent
        .filter(|one| one.phase == CsvPhase::Failed)
        .map(|one| words(one.reason.as_deref(), one.message.as_deref()));
    let last = failures.next()?;
    (1 + failures.filter(|(reason, _)| *reason == last.0).count() >= REPEATED).then_some(last)
}

fn words<'a>(reason: Option<&'a str>, message: Option<&'a str>) -> (&'a str, &'a str) {
    (reason.unwrap_or_default(), message.unwrap_or_default())
}
