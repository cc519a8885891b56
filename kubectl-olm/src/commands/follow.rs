//! What comes of a write is followed until the operator has succeeded.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use kube::api::{Patch, PatchParams};
use olm_client::Cluster;
use olm_plan::approval::{PendingApproval, is_pending};
use olm_plan::preview::{Hop, Preview};
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, Subscription};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::act::{LOOK, MANAGER, NotInTime, with_findings};
use crate::output::Output;

/// What one look at the cluster comes to.
struct Seen {
    /// How far it is, in a line.
    progress: String,
    is_done: bool,
}

/// Follows a Subscription until a CSV has succeeded, and approves the InstallPlans that were shown.
///
/// # Errors
/// An InstallPlan is another one than was shown, or time runs out: [`NotInTime`], after what the doctor
/// finds.
pub async fn follow(
    cluster: &Cluster,
    preview: &Preview,
    expected: &str,
    limit: Duration,
) -> Result<()> {
    let what = format!("{expected} has not succeeded");
    let done = until(&what, limit, async || look(cluster, preview, expected).await).await;
    with_findings(cluster, &preview.namespace, done).await
}

/// Follows an InstallPlan that was approved until all of its CSVs have succeeded.
///
/// # Errors
/// Something cannot be read, or time runs out: [`NotInTime`], after what the doctor finds.
pub async fn follow_approved(
    cluster: &Cluster,
    approval: &PendingApproval,
    limit: Duration,
) -> Result<()> {
    let names: Vec<&str> = approval.approves.iter().map(|one| one.csv.as_str()).collect();
    let what = format!("not all of {} have succeeded", names.join(", "));
    let look = async || look_at_approved(cluster, approval, &names).await;
    let done = until(&what, limit, look).await;
    with_findings(cluster, &approval.namespace, done).await
}

/// Looks until it is done, and says each progress once.
async fn until(
    what: &str,
    limit: Duration,
    mut look: impl AsyncFnMut() -> Result<Seen>,
) -> Result<()> {
    let deadline = Instant::now() + limit;
    let mut said = String::new();
    loop {
        let seen = look().await?;
        if seen.progress != said {
            Output::complain(&seen.progress);
            said = seen.progress;
        }
        if seen.is_done {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(NotInTime::new(what, limit).into());
        }
        sleep(LOOK).await;
    }
}

async fn look(cluster: &Cluster, preview: &Preview, expected: &str) -> Result<Seen> {
    let home = preview.namespace.as_str();
    let subscriptions = cluster.api::<Subscription>(Some(home));
    let asked = subscriptions.get_opt(&preview.subscription);
    let Some(subscription) = cluster.answer(asked).await? else {
        bail!("Subscription {home}/{} is gone", preview.subscription);
    };
    let plan = plan_of(cluster, home, &subscription).await?;
    let csv: Option<ClusterServiceVersion> =
        cluster.answer(cluster.api(Some(home)).get_opt(expected)).await?;
    // Once the CSV is there, a plan that waits is the next one, and was not shown.
    let pending = plan.as_ref().filter(|plan| csv.is_none() && is_pending(plan));
    if let Some(plan) = pending {
        approve_as_shown(cluster, home, plan, preview).await?;
    }
    let phase = csv.as_ref().map(ClusterServiceVersion::phase);
    let installed = subscription.status.and_then(|status| status.installed_csv);
    Ok(Seen {
        progress: progress(plan.as_ref(), expected, phase),
        is_done: phase == Some(CsvPhase::Succeeded) && installed.as_deref() == Some(expected),
    })
}

async fn look_at_approved(
    cluster: &Cluster,
    approval: &PendingApproval,
    names: &[&str],
) -> Result<Seen> {
    let home = Some(approval.namespace.as_str());
    let plans = cluster.api::<InstallPlan>(home);
    let plan = cluster.answer(plans.get_opt(&approval.install_plan)).await?;
    let csvs = cluster.api::<ClusterServiceVersion>(home);
    let mut phases = Vec::new();
    for name in names {
        let csv = cluster.answer(csvs.get_opt(name)).await?;
        phases.push((*name, csv.as_ref().map(ClusterServiceVersion::phase)));
    }
    Ok(seen(plan.as_ref(), &phases))
}

/// How far the CSVs of one InstallPlan are: a line for each that is there, and one for all others.
fn seen(plan: Option<&InstallPlan>, phases: &[(&str, Option<CsvPhase>)]) -> Seen {
    let mut lines: Vec<String> = Vec::new();
    for (csv, phase) in phases {
        let line = progress(plan, csv, *phase);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let is_done = phases.iter().all(|(_, phase)| *phase == Some(CsvPhase::Succeeded));
    Seen { progress: lines.join("\n"), is_done }
}

fn progress(plan: Option<&InstallPlan>, csv: &str, phase: Option<CsvPhase>) -> String {
    let plan = plan.map(|plan| {
        let name = plan.metadata.name.as_deref().unwrap_or_default();
        format!("InstallPlan {name}: {}", plan.phase().as_str())
    });
    match (phase, plan) {
        (Some(phase), _) => format!("ClusterServiceVersion {csv}: {}", phase.as_str()),
        (None, Some(plan)) => plan,
        (None, None) => format!("waiting for the InstallPlan of {csv}"),
    }
}

async fn plan_of(
    cluster: &Cluster,
    home: &str,
    subscription: &Subscription,
) -> Result<Option<InstallPlan>> {
    let status = subscription.status.as_ref();
    let reference = status.and_then(|status| status.install_plan_ref.as_ref()?.name.clone());
    match reference {
        Some(name) => cluster.answer(cluster.api(Some(home)).get_opt(&name)).await,
        None => Ok(None),
    }
}

/// Approves a plan whose steps are those that were shown; the write names the version that was compared.
async fn approve_as_shown(
    cluster: &Cluster,
    home: &str,
    plan: &InstallPlan,
    preview: &Preview,
) -> Result<()> {
    let name = plan.metadata.name.clone().unwrap_or_default();
    ensure!(
        preview.hops.iter().any(|hop| has_steps(plan, hop)),
        "InstallPlan {name} installs something else than was shown; `kubectl olm approve` shows it"
    );
    let patch = Patch::Merge(json!({
        "metadata": {"resourceVersion": plan.metadata.resource_version},
        "spec": {"approved": true},
    }));
    let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..Default::default() };
    let api = cluster.api::<InstallPlan>(Some(home));
    let written = cluster.answer(api.patch(&name, &parameters, &patch)).await;
    match written {
        Err(error) if !is_conflict(&error) => {
            Err(error.context(format!("cannot approve InstallPlan {name}")))
        }
        // One that has changed meanwhile is compared again.
        _ => Ok(()),
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(kube::Error::Api(status)) if status.is_conflict())
}

/// Whether a plan has the steps of a preview, in their order.
fn has_steps(plan: &InstallPlan, hop: &Hop) -> bool {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let steps: Vec<String> =
        steps.map(|step| format!("{}/{}", step.resource.kind, step.resource.name)).collect();
    steps == hop.steps
}

#[cfg(test)]
mod tests {
    use serde_json::from_value;

    use super::*;

    #[test]
    fn only_the_steps_that_were_shown_are_approved() {
        let step = |name: &str| {
            json!({"resolving": "a.v1", "status": "Unknown", "resource": {"group": "", "version": "v1",
                "kind": "Secret", "name": name, "sourceName": "c", "sourceNamespace": "ns"}})
        };
        let plan: InstallPlan = from_value(json!({"metadata": {"name": "p"},
            "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": []},
            "status": {"phase": "RequiresApproval", "plan": [step("a"), step("b")]}}))
        .unwrap();
        let hop = |steps: &[&str]| Hop {
            approval: "Manual",
            bundles: Vec::new(),
            steps: steps.iter().map(|&step| step.to_owned()).collect(),
        };
        assert!(has_steps(&plan, &hop(&["Secret/a", "Secret/b"])));
        assert!(!has_steps(&plan, &hop(&["Secret/b", "Secret/a"])));
        assert!(!has_steps(&plan, &hop(&["Secret/a"])));
    }

    #[test]
    fn an_approval_is_done_when_all_that_it_approved_has_succeeded() {
        let plan: InstallPlan = from_value(json!({"metadata": {"name": "p"},
            "spec": {"approval": "Manual", "approved": true, "clusterServiceVersionNames": []},
            "status": {"phase": "Installing"}}))
        .unwrap();
        let (pending, done) = (Some(CsvPhase::Pending), Some(CsvPhase::Succeeded));
        let begun = seen(Some(&plan), &[("a.v1", None), ("b.v1", None)]);
        assert_eq!((begun.progress.as_str(), begun.is_done), ("InstallPlan p: Installing", false));
        let half = seen(Some(&plan), &[("a.v1", done), ("b.v1", None), ("c.v1", pending)]);
        let lines = "ClusterServiceVersion a.v1: Succeeded\nInstallPlan p: Installing\n\
                     ClusterServiceVersion c.v1: Pending";
        assert_eq!((half.progress.as_str(), half.is_done), (lines, false));
        assert!(seen(None, &[("a.v1", done), ("b.v1", done)]).is_done);
        assert!(!seen(Some(&plan), &[("a.v1", done), ("b.v1", pending)]).is_done);
    }

    #[test]
    fn progress_says_what_is_furthest() {
        assert_eq!(progress(None, "a.v1", None), "waiting for the InstallPlan of a.v1");
        let installing = progress(None, "a.v1", Some(CsvPhase::Installing));
        assert_eq!(installing, "ClusterServiceVersion a.v1: Installing");
    }
}
