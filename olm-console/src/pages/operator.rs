//! One operator: what came of its Subscription, what happened, and why there is no newer version.

use askama::Template;
use axum::response::Response;
use olm_client::acts::example_kinds;
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::operator::{Operand, TimelineEvent, operands, reasons, subscription, timeline};
use olm_plan::preview::permissions::{held, right};
use olm_plan::tree::{Node, tree};
use olm_types::api::ClusterServiceVersion;

use super::act::{self, ActionLink};
use super::bounds::{Budget, short};
use super::explained::{Explanation, Key, versions};
use super::frame::{Frame, Problem, html, url};
use super::{Page, PageView, given};
use crate::failure::Failure;

/// Events that are shown, the newest.
const EVENTS: usize = 200;

/// Bytes of all of them, and of what its accounts may do: a page has 150 KiB at most.
const HAPPENED: usize = 64 * 1024;
const HELD: usize = 24 * 1024;
const LINE_MARKUP: usize = 10;

/// Characters that a custom resource says of itself.
const STATE: usize = 200;

/// Custom resources that are shown.
const OPERANDS: usize = 100;

/// Bytes of markup around an event, with its time written twice.
const EVENT_MARKUP: usize = 160;

/// Kinds of which it is asked whether one may be created.
const KINDS: usize = 20;

#[derive(Template)]
#[template(path = "operator.html")]
struct Operator {
    frame: Frame,
    root: Branch,
    package: String,
    links: Vec<ActionLink>,
    operands: Vec<Operand>,
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

/// An object and those that came of it.
#[derive(Template)]
#[template(path = "branch.html")]
struct Branch {
    title: String,
    health: &'static str,
    state: String,
    children: Vec<Branch>,
}

/// Reads the page.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let name = given(&visit.params.name).unwrap_or_default();
    let command = visit.command().word("status").word(name);
    let shown = async {
        let observed = visit.cluster.observe(Some(visit.home()), true).await?;
        let subscription = subscription(&observed, name)?;
        let root = branch(tree(&observed, subscription));
        let happened = timeline(&visit.cluster, &observed, subscription).await;
        let installed = subscription.status.as_ref().and_then(|it| it.installed_csv.as_deref());
        let csv = installed.and_then(|csv| observed.csv(visit.home(), csv)).cloned();
        let package = subscription.spec.name.clone();
        anyhow::Ok((root, package, happened, csv, versions(&observed)))
    };
    let (root, package, happened, csv, versions) = match shown.await {
        Ok(shown) => shown,
        Err(error) => {
            let frame = visit.frame(Page::Operator, name, &command);
            return html(&Problem { frame, failure: Failure::of(&error) });
        }
    };
    let (why, no_why) = parts(explained(visit, name, versions).await);
    let (happened, no_events) = parts(happened.map(newest));
    let (events, older) = happened.unwrap_or_default();
    let (made, no_operands) = match &csv {
        Some(csv) => parts(operands(&visit.cluster, csv).await),
        None => (None, None),
    };
    let (operands, unread) = made.unwrap_or_default();
    let (rights, more_rights) = csv.as_ref().map(permissions).unwrap_or_default();
    let home = Some(visit.home());
    html(&Operator {
        package: url("/package", &[("namespace", home), ("name", Some(&package))]),
        links: links(visit, name, csv.as_ref()).await,
        frame: visit.frame(Page::Operator, name, &command),
        root,
        operands: operands.into_iter().take(OPERANDS).map(shortened).collect(),
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

fn shortened(operand: Operand) -> Operand {
    Operand { state: short(&operand.state, STATE), ..operand }
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

fn branch(node: Node) -> Branch {
    Branch {
        title: format!("{} {}", node.kind, node.name),
        health: node.health.as_str(),
        state: node.state,
        children: node.children.into_iter().map(branch).collect(),
    }
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
