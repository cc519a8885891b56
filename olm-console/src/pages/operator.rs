//! One operator: what came of its Subscription, what happened, and why there is no newer version.

use askama::Template;
use axum::response::Response;
use olm_client::operator::{Happened, Reasons, reasons, subscription, timeline};
use olm_plan::tree::{Node, tree};
use olm_plan::why::{Need, NeededBy};

use super::frame::{Frame, Problem, html, url};
use super::{Page, Visit, given};
use crate::failure::Failure;

/// Events that are shown, the newest.
const EVENTS: usize = 200;

#[derive(Template)]
#[template(path = "operator.html")]
struct Operator {
    frame: Frame,
    root: Branch,
    package: String,
    plan: String,
    events: Vec<Happened>,
    no_events: Option<Failure>,
    why: Option<Answer>,
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

/// Why it is there, and why there is no newer one.
struct Answer {
    verdict: &'static str,
    lists: Vec<(&'static str, Vec<String>)>,
    unread: Vec<String>,
}

/// Reads the page.
pub(super) async fn read(visit: &Visit<'_>) -> Response {
    let name = given(&visit.params.name).unwrap_or_default();
    let command = visit.command().word("status").word(name);
    let shown = async {
        let observed = visit.cluster.observe(Some(visit.home()), true).await?;
        let subscription = subscription(&observed, name)?;
        let root = branch(tree(&observed, subscription));
        let happened = timeline(&visit.cluster, &observed, subscription).await;
        anyhow::Ok((root, subscription.spec.name.clone(), happened))
    };
    let (root, package, happened) = match shown.await {
        Ok(shown) => shown,
        Err(error) => {
            let frame = visit.frame(Page::Operator, name, &command);
            return html(&Problem { frame, failure: Failure::of(&error) });
        }
    };
    let sources = &visit.desk.console.reading.sources;
    let answered = reasons(&visit.cluster, visit.home(), name, sources).await;
    let (why, no_why) = parts(answered.map(answer));
    let (events, no_events) = parts(happened.map(newest));
    let home = Some(visit.home());
    html(&Operator {
        package: url("/package", &[("namespace", home), ("name", Some(&package))]),
        plan: url("/plan", &[("namespace", home), ("name", Some(name))]),
        frame: visit.frame(Page::Operator, name, &command),
        root,
        events: events.unwrap_or_default(),
        no_events,
        why,
        no_why,
    })
}

fn parts<T>(read: anyhow::Result<T>) -> (Option<T>, Option<Failure>) {
    match read {
        Ok(read) => (Some(read), None),
        Err(error) => (None, Some(Failure::of(&error))),
    }
}

/// The newest first.
fn newest(mut events: Vec<Happened>) -> Vec<Happened> {
    events.reverse();
    events.truncate(EVENTS);
    events
}

fn branch(node: Node) -> Branch {
    Branch {
        title: format!("{} {}", node.kind, node.name),
        health: node.health.as_str(),
        state: node.state,
        children: node.children.into_iter().map(branch).collect(),
    }
}

fn answer(found: Reasons) -> Answer {
    let Reasons { why, unread } = found;
    let lists = vec![
        ("Needed by", why.needed_by.iter().map(NeededBy::line).collect()),
        ("It needs", why.needs.iter().map(Need::line).collect()),
        ("Next", why.next),
        ("Reasons", why.reasons),
        ("Would help", why.repairs),
        ("Newer in other channels", why.elsewhere),
        ("OLM says", why.says),
    ];
    let lists = lists.into_iter().filter(|(_, lines)| !lines.is_empty()).collect();
    Answer { verdict: why.verdict.sentence(), lists, unread }
}
