//! What comes of a write is followed: the InstallPlans that were shown are approved, and nothing else, until the
//! operator has succeeded.

mod progress;
mod read;

use std::time::Duration;

use anyhow::{Result, bail};
use olm_client::Cluster;
use olm_client::acts::{ReviewedPlan, approve, difference, needs_approval, without_digest};
use olm_plan::approval::{PendingApproval, is_pending};
use olm_plan::observed::{name, namespace};
use olm_plan::preview::Preview;
use olm_types::api::InstallPlan;
use tokio::time::{Instant, sleep};

use super::act::{Failed, LOOK, NotInTime, with_findings, writing};
use crate::args::{DryRun, WriteArgs};
use crate::output::Output;
use progress::{ObservedProgress, State, failure, lines};
use read::{failed, plan_of, state, subscription};

pub use read::current;

/// A Subscription on its way to what was shown.
#[derive(Clone, Copy)]
pub struct Follow<'a> {
    /// Where it is.
    pub cluster: &'a Cluster,
    /// What was shown.
    pub preview: &'a Preview,
    /// The CSV that it has at last.
    pub expected: &'a str,
    /// The InstallPlan of what was asked for before: where it is not what was shown, or has failed, the next one is
    /// waited for.
    pub left: Option<&'a str>,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Approved,
    Succeeded,
}

impl Follow<'_> {
    /// Goes as far as flags say: approves what was shown, and waits until the operator has succeeded.
    ///
    /// # Errors
    /// An InstallPlan is another one than was shown, or has failed for good: [`Failed`], or time runs out:
    /// [`NotInTime`]; after what the doctor finds.
    pub async fn go(&self, acting: &WriteArgs, output: Output) -> Result<()> {
        let (expected, following) = (self.expected, &acting.following);
        let waits = needs_approval(self.preview);
        match (acting.dry_run, following.wait) {
            (DryRun::None, true) => {
                let what = format!("{expected} has not succeeded");
                self.until(&what, following.timeout, Goal::Succeeded).await?;
                output.progress(&format!("{expected} has succeeded.\n"))
            }
            (DryRun::None, false) if waits => {
                let what = format!("the InstallPlan of {expected} was not there");
                self.until(&what, following.timeout, Goal::Approved).await?;
                output.progress(&format!("The InstallPlan of {expected} is approved.\n"))
            }
            (DryRun::Server, _) if waits => self.try_approval(output).await,
            _ => Ok(()),
        }
    }

    async fn until(&self, what: &str, limit: Duration, goal: Goal) -> Result<()> {
        let done = until(what, limit, async || self.look(goal).await).await;
        with_findings(self.cluster, &self.preview.namespace, done).await
    }

    async fn look(&self, goal: Goal) -> Result<ObservedProgress> {
        let (cluster, home) = (self.cluster, self.preview.namespace.as_str());
        let Some(subscription) = subscription(cluster, self.preview).await? else {
            bail!("Subscription {home}/{} is gone", self.preview.subscription);
        };
        let plan = plan_of(cluster, home, &subscription).await?;
        let mut others = plan.as_ref().map(|plan| self.shown_in(plan)).unwrap_or_default();
        others.retain(|csv| *csv != self.expected);
        let own = state(cluster, home, self.expected).await?;
        let failed = failed(cluster, home, &others).await?;
        // Once the CSV is there, a plan that waits is the next one, and was not shown.
        let pending = plan.as_ref().filter(|plan| !own.is_there() && is_pending(plan));
        if let Some(plan) = pending {
            self.approve(plan, false).await?;
        }
        let installed = subscription.status.and_then(|status| status.installed_csv);
        let is_done = match goal {
            Goal::Approved => {
                own.is_there() || plan.as_ref().is_some_and(|it| self.is_approved(it))
            }
            Goal::Succeeded => own.has_succeeded() && installed.as_deref() == Some(self.expected),
        };
        let is_followed = |plan: &&InstallPlan| {
            self.left != plan.metadata.name.as_deref() && !self.shown_in(plan).is_empty()
        };
        Ok(ObservedProgress {
            lines: lines(plan.as_ref(), &[vec![own], failed].concat()),
            failure: plan.as_ref().filter(is_followed).and_then(failure),
            is_done,
        })
    }

    /// The CSVs of a plan that were shown.
    fn shown_in<'p>(&self, plan: &'p InstallPlan) -> Vec<&'p str> {
        let names = plan.spec.cluster_service_version_names.iter();
        let is_shown = |csv: &&String| {
            let mut bundles = self.preview.hops.iter().flat_map(|hop| &hop.bundles);
            bundles.any(|bundle| bundle.csv == **csv)
        };
        names.filter(is_shown).map(String::as_str).collect()
    }

    fn is_approved(&self, plan: &InstallPlan) -> bool {
        let mut names = plan.spec.cluster_service_version_names.iter();
        plan.spec.approved && names.any(|csv| csv == self.expected)
    }

    /// Approves a plan that was shown. One that has changed meanwhile is compared again.
    async fn approve(&self, plan: &InstallPlan, dry_run: bool) -> Result<bool> {
        let name = name(&plan.metadata);
        match difference(plan, &self.preview.hops) {
            Some(_) if self.left == Some(name) => return Ok(false),
            Some(difference) => bail!("{difference}"),
            None => {}
        }
        let looked = ReviewedPlan {
            namespace: namespace(&plan.metadata),
            name,
            resource_version: plan.metadata.resource_version.as_deref().unwrap_or_default(),
        };
        let is_approved = approve(self.cluster, looked, writing(dry_run)).await?;
        for image in without_digest(plan).iter().filter(|_| is_approved) {
            Output::complain(&format!(
                "warning: InstallPlan {name} installs what OLM has unpacked of {image}: without a digest it may be \
                 other than was shown"
            ));
        }
        Ok(is_approved)
    }

    /// What a server dry run says of approvals: a plan that waits already is tried.
    async fn try_approval(&self, output: Output) -> Result<()> {
        let (cluster, home) = (self.cluster, self.preview.namespace.as_str());
        let plan = match subscription(cluster, self.preview).await? {
            Some(subscription) => plan_of(cluster, home, &subscription).await?,
            None => None,
        };
        if let Some(plan) = plan.filter(is_pending)
            && self.approve(&plan, true).await?
        {
            let name = name(&plan.metadata);
            return output.progress(&format!("InstallPlan {name} approved (server dry run)\n"));
        }
        let expected = self.expected;
        output.progress(&format!(
            "the InstallPlan of {expected} would be approved once it is there\n"
        ))
    }
}

/// Follows an InstallPlan that was approved until all of its CSVs have succeeded.
///
/// # Errors
/// It has failed for good: [`Failed`], or time runs out: [`NotInTime`]; after what the doctor finds.
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

async fn look_at_approved(
    cluster: &Cluster,
    approval: &PendingApproval,
    names: &[&str],
) -> Result<ObservedProgress> {
    let home = approval.namespace.as_str();
    let plans = cluster.api::<InstallPlan>(Some(home));
    let plan = cluster.answer(plans.get_opt(&approval.install_plan)).await?;
    let mut states = Vec::new();
    for name in names {
        states.push(state(cluster, home, name).await?);
    }
    Ok(ObservedProgress {
        lines: lines(plan.as_ref(), &states),
        failure: plan.as_ref().and_then(failure),
        is_done: states.iter().all(State::has_succeeded),
    })
}

/// Looks until it is done, or waiting would not help, and says each line once.
async fn until(
    what: &str,
    limit: Duration,
    mut look: impl AsyncFnMut() -> Result<ObservedProgress>,
) -> Result<()> {
    let deadline = Instant::now() + limit;
    let mut said: Vec<String> = Vec::new();
    loop {
        let seen = look().await?;
        let new = seen.lines.iter().filter(|line| !said.contains(line));
        new.for_each(|line| Output::complain(line));
        said = seen.lines;
        if let Some(failure) = seen.failure {
            return Err(Failed(failure).into());
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
