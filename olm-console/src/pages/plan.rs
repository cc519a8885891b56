//! What an approval would apply, and what else it approves. Nothing is approved here.

use askama::Template;
use axum::response::Response;
use jiff::Timestamp;
use olm_client::operator::subscription;
use olm_client::plan::on_cluster;
use olm_plan::Observed;
use olm_plan::approval::{PendingApproval, approval, is_pending};
use olm_plan::observed::name;
use olm_plan::preview::change::Field;
use olm_plan::preview::permissions::right;
use olm_plan::preview::{Asked, Change, CrdVerdict, Preview, Wanted};

use super::frame::{Frame, Problem, html, url};
use super::{Page, Visit, given};
use crate::failure::Failure;

/// Fields of one object that are shown.
const FIELDS: usize = 12;

/// Objects that are shown.
const OBJECTS: usize = 200;

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
    approval: Option<PendingApproval>,
    approve: String,
    shown: Option<Shown>,
    failure: Option<Failure>,
}

/// A preview, ready to be written.
struct Shown {
    preview: Preview,
    lists: Vec<(&'static str, Vec<String>)>,
    objects: Vec<Object>,
    more: usize,
}

struct Object {
    mark: &'static str,
    place: String,
    not_checked: bool,
    fields: Vec<String>,
    more: usize,
}

/// Reads the page: one plan, or all that wait.
pub(super) async fn read(visit: &Visit<'_>) -> Response {
    match given(&visit.params.name) {
        Some(name) => one(visit, name).await,
        None => all(visit).await,
    }
}

async fn all(visit: &Visit<'_>) -> Response {
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

async fn one(visit: &Visit<'_>, operator: &str) -> Response {
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
            return html(&Problem { frame, failure: Failure::of(&error) });
        }
    };
    let (shown, failure) = match preview(visit, operator).await {
        Ok(preview) => (Some(shown(preview)), None),
        Err(error) => (None, Some(Failure::of(&error))),
    };
    let title = format!("Plan of {operator}");
    html(&Plan {
        frame: visit.frame(Page::Plan, &title, &command),
        approve: approve(visit, &package, waits.as_ref()),
        approval: waits,
        shown,
        failure,
    })
}

/// The command that approves what is shown.
fn approve(visit: &Visit<'_>, package: &str, waits: Option<&PendingApproval>) -> String {
    let Some(waits) = waits else { return String::new() };
    let own = waits.approves.iter().find(|one| !one.subscriptions.is_empty());
    let version = own.or(waits.approves.first());
    let version = version.map(|one| one.version.as_ref().unwrap_or(&one.csv).as_str());
    let command = visit.command().word("approve").word(package);
    command.word(version.unwrap_or_default()).flag("--plan-hash", Some(&waits.plan_hash)).line()
}

async fn preview(visit: &Visit<'_>, operator: &str) -> anyhow::Result<Preview> {
    let reading = &visit.desk.console.reading;
    let settings = visit.cluster.settings(reading.sources.olm_namespace.as_deref()).await?;
    let operator = operator.to_owned();
    let wanted = Wanted::Upgrade { operator, to: None, channel: None };
    let asked =
        Asked { namespace: visit.home().to_owned(), settings, now: Timestamp::now(), wanted };
    on_cluster(&visit.cluster, &asked, reading).await
}

fn shown(preview: Preview) -> Shown {
    let reason = |(name, why): (&String, &String)| format!("{name}: {why}");
    let rights = &preview.rights;
    let lists = vec![
        ("Problems", preview.problems.clone()),
        ("The same approval approves", preview.also_approved.clone()),
        ("Nothing for", preview.refused.iter().map(reason).collect()),
        ("Held back", preview.blocked.iter().map(reason).collect()),
        ("Reaches beyond the operator", rights.reaches.iter().cloned().collect()),
        (
            "Rights gained; those with ! reach further than they look",
            rights.gained.iter().map(right).collect(),
        ),
        ("Rights lost", rights.lost.iter().map(right).collect()),
        ("CRDs", preview.crds.iter().map(CrdVerdict::line).collect()),
        ("New images", preview.images.gained.clone()),
        ("Images no longer used", preview.images.lost.clone()),
        ("Notes of the plan", preview.notes.clone()),
    ];
    let objects = preview.changes.iter().take(OBJECTS).map(object).collect();
    Shown {
        lists: lists
            .into_iter()
            .filter(|(_, lines): &(_, Vec<String>)| !lines.is_empty())
            .collect(),
        objects,
        more: preview.changes.len().saturating_sub(OBJECTS),
        preview,
    }
}

fn object(change: &Change) -> Object {
    let Change { action, fields, .. } = change;
    Object {
        mark: action.mark(),
        place: change.place(),
        not_checked: change.not_checked.is_some(),
        fields: fields.iter().take(FIELDS).filter_map(Field::line).collect(),
        more: fields.len().saturating_sub(FIELDS),
    }
}
