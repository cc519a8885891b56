//! What an approval would apply, and what else it approves; and the approval of what was shown.

use anyhow::{Result, ensure};
use askama::Template;
use axum::response::{IntoResponse, Response};
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::acts::{self, ReviewedPlan};
use olm_client::operator::subscription;
use olm_plan::Observed;
use olm_plan::approval::{PendingApproval, approval, is_pending};
use olm_plan::observed::name;
use olm_plan::preview::Operation;

use super::act::{self, Changed, Refusal, Submit, WRITING};
use super::frame::{Frame, Problem, html, url};
use super::shown::{Shown, shown};
use super::{Page, PageView, given};
use crate::failure::Failure;
use crate::form::InvalidField;

#[derive(Template)]
#[template(path = "plans.html")]
struct Plans {
    frame: Frame,
    waiting: Vec<Waiting>,
    failure: Option<Failure>,
}

/// A plan that waits, and where it is shown.
struct Waiting {
    url: String,
    approval: PendingApproval,
}

#[derive(Template)]
#[template(path = "plan.html")]
struct Plan {
    frame: Frame,
    operator: String,
    approval: Option<PendingApproval>,
    submit: Submit,
    approve: String,
    shown: Option<Shown>,
    failure: Option<Failure>,
    refusal: Option<Failure>,
}

/// Reads the page: one plan, or all that wait; or approves what was shown.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    match given(&visit.params.name) {
        Some(name) if visit.params.is_posted() => approve(visit, name).await,
        Some(name) => one(visit, name, None).await,
        None if visit.params.is_posted() => {
            InvalidField::new("name", "it names nothing").into_response()
        }
        None => all(visit).await,
    }
}

async fn approve(visit: &PageView<'_>, operator: &str) -> Response {
    let posted = &visit.params.posted;
    let hash = match visit.params.hash() {
        Ok(hash) => hash,
        Err(bad) => return bad.into_response(),
    };
    let (plan, version) = (given(&posted.install_plan), given(&posted.resource_version));
    let (Some(plan), Some(version)) = (plan, version) else {
        return InvalidField::new("install_plan", "it names no version of one").into_response();
    };
    match approved(visit, (plan, version), hash).await {
        Ok(()) => act::done(visit, operator),
        Err(error) => one(visit, operator, Some(Refusal::of(&error))).await,
    }
}

/// Approves an InstallPlan in the version that was shown.
async fn approved(visit: &PageView<'_>, (plan, version): (&str, &str), hash: &str) -> Result<()> {
    let home = visit.home();
    let observed = visit.cluster.observe(Some(home), false).await?;
    let found = observed.install_plan(home, plan).filter(|plan| is_pending(plan));
    let is_shown = |now: PendingApproval| now.resource_version == version && now.plan_hash == hash;
    let changed = || {
        Changed(format!(
            "InstallPlan {plan} has changed since it was shown, or waits no more. Nothing was approved; below is what \
             waits now"
        ))
    };
    ensure!(found.is_some_and(|plan| is_shown(approval(&observed, plan))), changed());
    let looked = ReviewedPlan { namespace: home, name: plan, resource_version: version };
    ensure!(acts::approve(&visit.cluster, looked, WRITING).await?, changed());
    Ok(())
}

async fn all(visit: &PageView<'_>) -> Response {
    let (waiting, failure) = match visit.cluster.observe(Some(visit.home()), false).await {
        Ok(observed) => (waiting(&observed, visit.home()), None),
        Err(error) => (Vec::new(), Some(Failure::of(&error))),
    };
    let frame = visit.frame(Page::Plan, "Plans that wait", &visit.command().word("list"));
    html(&Plans { frame, waiting, failure })
}

fn waiting(observed: &Observed, home: &str) -> Vec<Waiting> {
    let plans = observed.install_plans.iter().filter(|plan| is_pending(plan));
    let asks = |plan: &str| {
        let points = |one: &&olm_types::api::Subscription| {
            observed.plan_of(one).is_some_and(|found| name(&found.metadata) == plan)
        };
        let found = observed.subscriptions.iter().find(points);
        found.map(|one| name(&one.metadata).to_owned()).unwrap_or_default()
    };
    let waiting = plans.map(|plan| {
        let by = asks(name(&plan.metadata));
        let of = [("namespace", Some(home)), ("name", Some(by.as_str()))];
        Waiting { url: url("/plan", &of), approval: approval(observed, plan) }
    });
    waiting.collect()
}

async fn one(visit: &PageView<'_>, operator: &str, refusal: Option<Refusal>) -> Response {
    let (code, refusal) = act::parts(refusal);
    let command = visit.command().word("plan").word("upgrade").word(operator);
    let observed = visit.cluster.observe(Some(visit.home()), false).await;
    let found = observed.and_then(|observed| {
        let subscription = subscription(&observed, operator)?;
        let plan = observed.plan_of(subscription).filter(|plan| is_pending(plan));
        let waits = plan.map(|plan| approval(&observed, plan));
        Ok((waits, subscription.spec.name.clone()))
    });
    let (waits, package) = match found {
        Ok(found) => found,
        Err(error) => {
            let frame = visit.frame(Page::Plan, "Plan", &command);
            let page = html(&Problem { frame, failure: Failure::of(&error) });
            return (code, page).into_response();
        }
    };
    let wanted = Operation::Upgrade { operator: operator.to_owned(), to: None, channel: None };
    let (shown, failure) = match act::preview(visit, wanted).await {
        Ok(preview) => (Some(shown(preview)), None),
        Err(error) => (None, Some(Failure::of(&error))),
    };
    let approves = [Action::of_olm("patch", "installplans", visit.home())];
    let why_not = match waits {
        Some(_) => {
            act::not_allowed(&NamespaceRights::read(&visit.cluster, visit.home()).await, &approves)
                .await
        }
        None => Vec::new(),
    };
    let title = format!("Plan of {operator}");
    let page = html(&Plan {
        frame: visit.frame(Page::Plan, &title, &command),
        operator: operator.to_owned(),
        approve: command_of(visit, &package, waits.as_ref()),
        approval: waits,
        submit: Submit { text: "Approve", step: "approve", why_not },
        shown,
        failure,
        refusal,
    });
    (code, page).into_response()
}

/// The command that approves what is shown.
fn command_of(visit: &PageView<'_>, package: &str, waits: Option<&PendingApproval>) -> String {
    let Some(waits) = waits else { return String::new() };
    let own = waits.approves.iter().find(|one| !one.subscriptions.is_empty());
    let version = own.or(waits.approves.first());
    let version = version.map(|one| one.version.as_ref().unwrap_or(&one.csv).as_str());
    let command = visit.command().word("approve").word(package);
    command.word(version.unwrap_or_default()).flag("--plan-hash", Some(&waits.plan_hash)).line()
}
