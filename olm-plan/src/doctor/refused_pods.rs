//! Pods of an operator that the API server refuses: OLM only says that it waits for the Deployment.

use super::csvs::of_csvs;
use super::fix::line;
use super::{Fix, Found, View};
use crate::observed::{name, namespace};
use crate::tree::{deployments, refused_pods};

/// No Pod of a Deployment can be made.
pub(super) fn find(view: &View<'_>) -> Vec<Found> {
    of_csvs(view, |csv| {
        let mut all = deployments(view.observed, csv);
        let (deployment, why) = all.find_map(|one| Some((one, refused_pods(one)?)))?;
        let own = name(&deployment.metadata);
        let see = line(namespace(&csv.metadata), &["describe", "deployment", own]);
        let wait = format!(
            "Kubernetes tries again: create the ServiceAccount, or change the quota or the policy, that the message \
             names; {see}"
        );
        Some((format!("no Pod of Deployment {own} can be made: {why}"), Fix::Wait(wait)))
    })
}
