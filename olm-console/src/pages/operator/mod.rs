//! One operator: what came of its Subscription, what happened, and why there is no newer version.

mod branch;

use askama::Template;
use axum::response::Response;
use olm_client::acts::example_kinds;
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::cause;
use olm_client::operator::{Operand, TimelineEvent, operands, reasons, subscription, timeline};
use olm_plan::Observed;
use olm_plan::observed::name as name_of;
use olm_plan::preview::permissions::{held, right};
use olm_plan::timeline::EventSubject;
use olm_plan::tree::{Node, tree};
use olm_types::api::{ClusterServiceVersion, Subscription};

use super::act::{self, ActionLink};
use super::bounds::Budget;
use super::explained::{Explanation, Key, versions};
use super::frame::{Frame, Problem, html, url};
use super::{Page, PageView, given};
use crate::failure::Failure;
use branch::{Branch, branch, fitting};

/// Events that are shown, the newest.
const EVENTS: usize = 200;

/// Bytes of all of them, and of what its accounts may do: a page has 150 KiB at most.
const HAPPENED: usize = 64 * 1024;
const HELD: usize = 24 * 1024;
const LINE_MARKUP: usize = 10;

/// Bytes of markup around an event, with its time written twice.
const EVENT_MARKUP: usize = 160;

/// Commands that print what the page shows.
const COMMANDS: [&str; 5] = ["status", "operands", "why", "permissions", "events"];

/// Kinds of which it is asked whether one may be created.
const KINDS: usize = 20;

#[derive(Template)]
#[template(path = "operator.html")]
struct Operator {
    frame: Frame,
    root: Branch,
    package: String,
    links: Vec<ActionLink>,
    /// Custom resources for which the tree has no place.
    more_operands: usize,
    unread: Vec<String>,
    no_operands: Option<Failure>,
    rights: Vec<String>,
    more_rights: usize,
    events: Vec<TimelineEvent>,
    older: usize,
    no_events: Option<Failure>,
    why: Option<Explanation>,
    no_why: Option<Failure>,
}

/// What was read of an operator.
struct Found {
    root: Node,
    package: String,
    csv: Option<ClusterServiceVersion>,
    operands: anyhow::Result<(Vec<Operand>, Vec<String>)>,
    happened: anyhow::Result<Vec<TimelineEvent>>,
    versions: u64,
}

/// Reads the page.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let name = given(&visit.params.name).unwrap_or_default();
    let commands = COMMANDS.map(|command| visit.command().word(command).word(name));
    let found = match find(visit, name).await {
        Ok(found) => found,
        Err(error) => {
            let frame = visit.frame_of(Page::Operator, name, &commands);
            return html(&Problem { frame, failure: Failure::of(&error) });
        }
    };
    let (why, no_why) = parts(explained(visit, name, found.versions).await);
    let (happened, no_events) = parts(found.happened.map(newest));
    let (events, older) = happened.unwrap_or_default();
    let (made, no_operands) = parts(found.operands);
    let (operands, unread) = made.unwrap_or_default();
    let (mut operands, more_operands) = fitting(operands);
    let csv = found.csv.as_ref();
    let (rights, more_rights) = csv.map(permissions).unwrap_or_default();
    let installed = csv.map(|csv| name_of(&csv.metadata)).unwrap_or_default();
    let home = Some(visit.home());
    html(&Operator {
        package: url("/package", &[("namespace", home), ("name", Some(&found.package))]),
        links: links(visit, name, csv).await,
        frame: visit.frame_of(Page::Operator, name, &commands),
        root: branch(found.root, installed, &mut operands),
        more_operands,
        unread,
        no_operands,
        rights,
        more_rights,
        events,
        older,
        no_events,
        why,
        no_why,
    })
}

async fn find(visit: &PageView<'_>, name: &str) -> anyhow::Result<Found> {
    let observed = visit.cluster.observe(Some(visit.home()), true).await?;
    let subscription = subscription(&observed, name)?;
    let csv = installed(visit, &observed, subscription).await;
    let operands = match &csv {
        Some(csv) => operands(&visit.cluster, csv).await,
        None => Ok((Vec::new(), Vec::new())),
    };
    let of_operand = |one: &Operand| EventSubject::new(visit.home(), &one.kind, &one.name);
    let made = operands.iter().flat_map(|(all, _)| all).map(of_operand);
    Ok(Found {
        root: tree(&observed, subscription),
        package: subscription.spec.name.clone(),
        happened: timeline(&visit.cluster, &observed, subscription, made).await,
        versions: versions(&observed),
        operands,
        csv,
    })
}

/// The CSV that is installed: as a whole, or where that cannot be read, as far as it was listed.
async fn installed(
    visit: &PageView<'_>,
    observed: &Observed,
    subscription: &Subscription,
) -> Option<ClusterServiceVersion> {
    let name = subscription.status.as_ref()?.installed_csv.as_deref()?;
    let listed = observed.csv(visit.home(), name)?;
    match visit.cluster.csv(visit.home(), name).await {
        Ok(whole) => Some(whole),
        Err(error) => {
            let cause = cause(&error);
            visit.cluster.notices.say(&format!("warning: cannot read CSV {name}: {cause}"));
            Some(listed.clone())
        }
    }
}

/// What may be done with it, and why something may not.
async fn links(
    visit: &PageView<'_>,
    name: &str,
    csv: Option<&ClusterServiceVersion>,
) -> Vec<ActionLink> {
    let home = visit.home();
    let may = NamespaceRights::read(&visit.cluster, home).await;
    let olm = |verb: &'static str, resource: &str| Action::of_olm(verb, resource, home);
    let deletes = [olm("delete", "subscriptions"), olm("delete", "clusterserviceversions")];
    let link =
        |id: &'static str, text: &'static str, path: &str, why_not: Vec<String>| ActionLink {
            id,
            text,
            url: url(path, &[("namespace", Some(home)), ("name", Some(name))]),
            why_not,
        };
    let upgrades = act::not_allowed(&may, &[olm("patch", "installplans")]).await;
    let removes = act::not_allowed(&may, &deletes).await;
    let creates = creations(&may, home, csv).await;
    vec![
        link("act-plan", "Its plan", "/plan", Vec::new()),
        link("act-upgrade", "Upgrade", "/upgrade", upgrades),
        link("act-remove", "Remove", "/remove", removes),
        link("act-create", "Create a custom resource", "/create", creates),
    ]
}

/// Why no custom resource of it may be created; nothing where one may.
async fn creations(
    may: &NamespaceRights<'_>,
    home: &str,
    csv: Option<&ClusterServiceVersion>,
) -> Vec<String> {
    let Some(csv) = csv else { return vec!["nothing is installed yet".to_owned()] };
    let mut why_not = Vec::new();
    for crd in example_kinds(csv).iter().take(KINDS) {
        let create = [Action::of_crd("create", &crd.name, Some(home))];
        let refused = act::not_allowed(may, &create).await;
        if refused.is_empty() {
            return refused;
        }
        why_not.extend(refused);
    }
    if why_not.is_empty() {
        why_not.push("the operator has no kinds of its own".to_owned());
    }
    why_not
}

fn parts<T>(read: anyhow::Result<T>) -> (Option<T>, Option<Failure>) {
    match read {
        Ok(read) => (Some(read), None),
        Err(error) => (None, Some(Failure::of(&error))),
    }
}

/// What the accounts of a CSV may do, escalations first, as much as fits, and how much more there is.
fn permissions(csv: &ClusterServiceVersion) -> (Vec<String>, usize) {
    let all: Vec<String> = held(csv).iter().map(right).collect();
    let mut budget = Budget::new(HELD);
    let fits = |line: &&String| budget.holds(LINE_MARKUP, &[line.as_str()]);
    let lines: Vec<String> = all.iter().take_while(fits).cloned().collect();
    let more = all.len().saturating_sub(lines.len());
    (lines, more)
}

/// The newest first, as many as fit, and how many older ones there are.
fn newest(mut events: Vec<TimelineEvent>) -> (Vec<TimelineEvent>, usize) {
    events.reverse();
    let mut budget = Budget::new(HAPPENED);
    let fits = |one: &&TimelineEvent| {
        budget.holds(EVENT_MARKUP, &[&one.object, &one.type_, &one.reason, &one.message])
    };
    let fitting = events.iter().take(EVENTS).take_while(fits).count();
    let older = events.len().saturating_sub(fitting);
    events.truncate(fitting);
    (events, older)
}

/// Why there is no newer version.
async fn explained(visit: &PageView<'_>, name: &str, versions: u64) -> anyhow::Result<Explanation> {
    let (home, name) = (visit.home().to_owned(), name.to_owned());
    let key = Key { session: visit.session, home, name, versions };
    if let Some(known) = visit.context.explanations.get(&key) {
        return Ok(known);
    }
    let sources = &visit.context.console.reading.sources;
    let found = reasons(&visit.cluster, visit.home(), &key.name, sources).await?;
    let found = Explanation::from(found);
    visit.context.explanations.keep(key, found.clone());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(count: i32, characters: usize) -> Vec<TimelineEvent> {
        let event = |count: i32| TimelineEvent {
            last_seen: None,
            object: "Pod/a".to_owned(),
            type_: "Warning".to_owned(),
            reason: "BackOff".to_owned(),
            count,
            message: "m".repeat(characters),
        };
        (0..count).map(event).collect()
    }

    #[test]
    fn the_newest_events_are_shown_as_far_as_they_fit() {
        let (shown, older) = newest(events(3, 10));
        let counts: Vec<i32> = shown.iter().map(|one| one.count).collect();
        assert_eq!((counts, older), (vec![2, 1, 0], 0));
        let (shown, older) = newest(events(300, 10));
        assert_eq!((shown.len(), older), (EVENTS, 100));
        let (shown, older) = newest(events(200, 10_000));
        assert_eq!((shown.len(), older), (6, 194));
    }
}
