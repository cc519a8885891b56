//! An upgrade: what it would do, and the step that begins it. That is the approval of the InstallPlan that waits, or
//! another channel.

use anyhow::{Result, ensure};
use askama::Template;
use axum::response::{IntoResponse, Response};
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::acts::{self, ReviewedPlan, difference, follow_channel, verdict};
use olm_client::operator::subscription;
use olm_plan::approval::is_pending;
use olm_plan::observed::name;
use olm_plan::preview::{Operation, Preview};
use olm_types::api::InstallPlan;

use super::act::{self, Changed, Refusal, Submit, WRITING};
use super::frame::{Frame, html};
use super::shown::{Shown, shown};
use super::{Page, PageView, given};
use crate::command::CommandLine;
use crate::failure::Failure;

#[derive(Template)]
#[template(path = "upgrade.html")]
struct Upgrade {
    frame: Frame,
    operator: String,
    channel: String,
    plan_hash: String,
    submit: Submit,
    shown: Option<Shown>,
    failure: Option<Failure>,
    refusal: Option<Failure>,
}

/// What begins an upgrade.
enum Step {
    Channel(String),
    Approval(Box<InstallPlan>),
    /// Nothing that a user does, and why.
    Nothing(&'static str),
}

/// Reads the page, or does what was shown.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let operator = given(&visit.params.name).unwrap_or_default();
    if !visit.params.is_posted() {
        return page(visit, operator, None).await;
    }
    let hash = match visit.params.hash() {
        Ok(hash) => hash,
        Err(bad) => return bad.into_response(),
    };
    match upgraded(visit, operator, hash).await {
        Ok(()) => act::done(visit, operator),
        Err(error) => page(visit, operator, Some(Refusal::of(&error))).await,
    }
}

fn wanted(visit: &PageView<'_>, operator: &str) -> Operation {
    let channel = given(&visit.params.channel).map(str::to_owned);
    Operation::Upgrade { operator: operator.to_owned(), to: None, channel }
}

async fn upgraded(visit: &PageView<'_>, operator: &str, hash: &str) -> Result<()> {
    let preview = act::preview(visit, wanted(visit, operator)).await?;
    act::same(&preview, hash)?;
    verdict(&preview)?;
    let home = visit.home();
    match step(visit, operator, &preview).await? {
        Step::Channel(channel) => {
            let place = (home, preview.subscription.as_str());
            follow_channel(&visit.cluster, place, &channel, WRITING).await
        }
        Step::Approval(plan) => {
            let name = name(&plan.metadata);
            let resource_version = plan.metadata.resource_version.as_deref().unwrap_or_default();
            let looked = ReviewedPlan { namespace: home, name, resource_version };
            let is_approved = acts::approve(&visit.cluster, looked, WRITING).await?;
            let changed =
                || Changed(format!("InstallPlan {name} has changed meanwhile; look again"));
            ensure!(is_approved, changed());
            Ok(())
        }
        Step::Nothing(why) => Err(Changed(why.to_owned()).into()),
    }
}

async fn step(visit: &PageView<'_>, operator: &str, preview: &Preview) -> Result<Step> {
    if let Some(channel) = given(&visit.params.channel) {
        return Ok(Step::Channel(channel.to_owned()));
    }
    if !acts::needs_approval(preview) {
        return Ok(Step::Nothing(
            "there is nothing to approve: OLM upgrades an Automatic Subscription by itself",
        ));
    }
    let observed = visit.cluster.observe(Some(visit.home()), false).await?;
    let plan = observed.plan_of(subscription(&observed, operator)?).filter(|plan| is_pending(plan));
    Ok(match plan {
        None => Step::Nothing("the InstallPlan of this upgrade is not there yet; OLM makes it"),
        Some(plan) if difference(plan, &preview.hops).is_some() => Step::Nothing(
            "the InstallPlan that waits installs something else than this; the page of the plan shows it",
        ),
        Some(plan) => Step::Approval(Box::new(plan.clone())),
    })
}

async fn page(visit: &PageView<'_>, operator: &str, refusal: Option<Refusal>) -> Response {
    let (code, refusal) = act::parts(refusal);
    let channel = given(&visit.params.channel).unwrap_or_default();
    let (submit, read) = match act::preview(visit, wanted(visit, operator)).await {
        Ok(preview) => (submit(visit, operator, &preview).await, Ok(preview)),
        Err(error) => (button(Vec::new()), Err(error)),
    };
    let (shown, failure) = match read {
        Ok(preview) => (Some(shown(preview)), None),
        Err(error) => (None, Some(Failure::of(&error))),
    };
    let plan_hash = shown.as_ref().map(|shown| shown.preview.plan_hash.clone()).unwrap_or_default();
    let page = html(&Upgrade {
        frame: visit.frame(
            Page::Upgrade,
            &format!("Upgrade of {operator}"),
            &command(visit, operator),
        ),
        operator: operator.to_owned(),
        channel: channel.to_owned(),
        plan_hash,
        submit,
        shown,
        failure,
        refusal,
    });
    (code, page).into_response()
}

fn command(visit: &PageView<'_>, operator: &str) -> CommandLine {
    let command = visit.command().word("upgrade").word(operator);
    command.flag("--channel", given(&visit.params.channel))
}

fn button(why_not: Vec<String>) -> Submit {
    Submit { text: "Upgrade", step: "upgrade", why_not }
}

/// The button, and all that is in its way.
async fn submit(visit: &PageView<'_>, operator: &str, preview: &Preview) -> Submit {
    let mut why_not: Vec<String> =
        verdict(preview).err().map(|error| error.to_string()).into_iter().collect();
    let resource = match step(visit, operator, preview).await {
        Ok(Step::Channel(_)) => Some("subscriptions"),
        Ok(Step::Approval(_)) => Some("installplans"),
        Ok(Step::Nothing(why)) => {
            why_not.push(why.to_owned());
            None
        }
        Err(error) => {
            why_not.push(format!("{error:#}"));
            None
        }
    };
    if let Some(resource) = resource {
        let may = NamespaceRights::read(&visit.cluster, visit.home()).await;
        let patch = [Action::of_olm("patch", resource, visit.home())];
        why_not.extend(act::not_allowed(&may, &patch).await);
    }
    button(why_not)
}
