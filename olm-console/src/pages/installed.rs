//! What is installed in a namespace, or in all that one may see, what needs a user first.

use std::collections::BTreeSet;

use askama::Template;
use axum::response::Response;
use olm_plan::installed::{Installed, Readiness, installed};
use olm_plan::observed::{name, namespace};
use olm_plan::{Health, Observed, health};
use olm_types::api::CsvPhase;

use super::bounds::{Budget, short};
use super::frame::{Frame, html, url};
use super::{Page, PageView};
use crate::command::CommandLine;
use crate::failure::Failure;

/// Bytes of all rows.
const ROWS: usize = 110 * 1024;

/// CSVs without a Subscription that are shown.
const OTHERS: usize = 20;

/// Bytes of a row beside its texts.
const MARKUP: usize = 300;

/// Characters of a text that others write.
const TEXT: usize = 120;

#[derive(Template)]
#[template(path = "installed.html")]
struct Table {
    frame: Frame,
    is_of_all: bool,
    /// The page of all namespaces, or of this one alone.
    other: String,
    rows: Vec<Row>,
    /// Rows that do not fit on the page.
    more: usize,
    /// CSVs that no Subscription has installed, as lines.
    others: Vec<String>,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Row {
    url: String,
    /// Where its namespace is looked at.
    home: String,
    plan: Option<String>,
    name: String,
    namespace: String,
    /// Where it has another name.
    package: Option<String>,
    health: &'static str,
    ready: String,
    version: String,
    newest: String,
    channel: String,
    approval: &'static str,
    pin: String,
    catalog: String,
    reason: String,
}

/// Reads the page.
pub(super) async fn read(visit: &PageView<'_>, is_of_all: bool) -> Response {
    let observed = match is_of_all {
        true => visit.cluster.observe_installed().await,
        false => visit.cluster.observe(Some(visit.home()), false).await,
    };
    let (found, others, failure) = match observed {
        Ok(observed) => (installed(&observed), others(&observed), None),
        Err(error) => (Vec::new(), Vec::new(), Some(Failure::of(&error))),
    };
    let (rows, more) = fitting(found);
    let (here, title, command, all) = match is_of_all {
        true => {
            let command = CommandLine::of_all(&visit.context.console.flags).word("list").word("-A");
            (Page::AllInstalled, "Installed in all namespaces", command, None)
        }
        false => (Page::Installed, "Installed", visit.command().word("list"), Some("true")),
    };
    let other = url("/installed", &[("namespace", Some(visit.home())), ("all", all)]);
    let frame = visit.frame(here, title, &command);
    html(&Table { frame, is_of_all, other, rows, more, others, failure })
}

/// As many as fit, those that need a user first, and how many more there are.
fn fitting(mut found: Vec<Installed>) -> (Vec<Row>, usize) {
    found.sort_by_key(urgency);
    let count = found.len();
    let mut budget = Budget::new(ROWS);
    let rows = found.into_iter().map(row).take_while(|row| budget.holds(MARKUP, &row.texts()));
    let rows: Vec<Row> = rows.collect();
    let more = count.saturating_sub(rows.len());
    (rows, more)
}

/// Operators that no Subscription has installed: applied by hand, or left by a Subscription that was deleted. A CSV that
/// another one replaces is on its way out.
fn others(observed: &Observed) -> Vec<String> {
    let of_subscriptions: BTreeSet<(&str, &str)> = observed
        .subscriptions
        .iter()
        .filter_map(|one| Some((namespace(&one.metadata), one.status.as_ref()?)))
        .flat_map(|(home, status)| {
            let known = [status.installed_csv.as_deref(), status.current_csv.as_deref()];
            known.into_iter().flatten().map(move |csv| (home, csv))
        })
        .collect();
    let goes = [CsvPhase::Replacing, CsvPhase::Deleting];
    let others = observed.own_csvs().filter(|csv| {
        let is_going = csv.status.as_ref().is_some_and(|status| goes.contains(&status.phase));
        !is_going && !of_subscriptions.contains(&(namespace(&csv.metadata), name(&csv.metadata)))
    });
    let mut lines: Vec<String> = others
        .map(|csv| {
            let (home, name) = (namespace(&csv.metadata), name(&csv.metadata));
            let (health, reason) = health::of_csv(observed, home, name);
            short(&format!("{name} in namespace {home}: {}, {reason}", health.as_str()), TEXT)
        })
        .collect();
    let more = lines.len().saturating_sub(OTHERS);
    lines.truncate(OTHERS);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}

/// What waits for a user comes first.
fn urgency(row: &Installed) -> u8 {
    let is_stalled = row.ready.as_ref().is_some_and(|ready| ready.stalled);
    match row.health {
        Health::NeedsApproval => 0,
        Health::Unhealthy => 1,
        // What is installed may work, while what is asked for does not come.
        _ if is_stalled => 1,
        Health::Unknown => 2,
        Health::Progressing => 3,
        Health::Healthy => 4,
    }
}

fn row(one: Installed) -> Row {
    let of = [("namespace", Some(one.namespace.as_str())), ("name", Some(one.name.as_str()))];
    let text = |value: &Option<String>, none: &str| short(value.as_deref().unwrap_or(none), TEXT);
    Row {
        url: url("/operator", &of),
        home: url("/installed", &[("namespace", Some(one.namespace.as_str()))]),
        plan: (one.health == Health::NeedsApproval).then(|| url("/plan", &of)),
        package: (one.name != one.package).then(|| short(&one.package, TEXT)),
        health: one.health.as_str(),
        ready: one.ready.as_ref().map_or_else(|| "-".to_owned(), ready),
        version: text(&one.version, "none yet"),
        newest: text(&one.newest, "unknown"),
        channel: text(&one.channel, "unknown"),
        approval: one.approval,
        pin: pin(&one),
        catalog: short(&one.catalog, TEXT),
        reason: short(&one.reason, TEXT),
        name: one.name,
        namespace: one.namespace,
    }
}

/// The condition and why it is so.
fn ready(ready: &Readiness) -> String {
    let line = format!("{} {}", ready.status, ready.reason);
    short(line.trim_end(), TEXT)
}

/// What holds the version.
fn pin(one: &Installed) -> String {
    match one.declared().join(", ") {
        none if none.is_empty() => "-".to_owned(),
        declared => short(&declared, TEXT),
    }
}

impl Row {
    /// All that is written of it; its health twice, as it has a colour.
    fn texts(&self) -> [&str; 16] {
        [
            &self.url,
            &self.home,
            self.plan.as_deref().unwrap_or_default(),
            &self.name,
            &self.namespace,
            self.package.as_deref().unwrap_or_default(),
            self.health,
            self.health,
            &self.ready,
            &self.version,
            &self.newest,
            &self.channel,
            self.approval,
            &self.pin,
            &self.catalog,
            &self.reason,
        ]
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn subscriptions(all: &[Value]) -> Vec<Installed> {
        let subscriptions = all.iter().map(|one| from_value(one.clone()).unwrap()).collect();
        installed(&Observed { subscriptions, ..Observed::default() })
    }

    fn subscription(namespace: &str, status: &Value) -> Value {
        json!({"metadata": {"name": "kettle", "namespace": namespace},
            "spec": {"name": "kettle", "source": "kitchen", "sourceNamespace": "olm"},
            "status": status})
    }

    fn condition(type_: &str, status: &str, reason: &str) -> Value {
        json!({"type": type_, "status": status, "reason": reason})
    }

    fn page(is_of_all: bool, found: Vec<Installed>, failure: Option<Failure>) -> String {
        let (rows, more) = fitting(found);
        let frame = Frame {
            title: "Installed".to_owned(),
            here: Page::Installed,
            namespace: "team".to_owned(),
            server: "https://cluster.example".to_owned(),
            command: "kubectl olm list".to_owned(),
            leaves: false,
            live: None,
            notes: Vec::new(),
            token: String::new(),
        };
        let other = "/installed".to_owned();
        let others = vec!["a.v1 in namespace team: Healthy, InstallSucceeded".to_owned()];
        Table { frame, is_of_all, other, rows, more, others, failure }.render().unwrap()
    }

    #[test]
    fn what_waits_for_a_user_comes_first() {
        let of = |conditions: Value| json!({"conditions": conditions});
        let pending = condition("InstallPlanPending", "True", "RequiresApproval");
        let failed = condition("ResolutionFailed", "True", "ConstraintsNotSatisfiable");
        let ready = condition("Ready", "False", "MalformedValue");
        let stalled = json!([ready, condition("Stalled", "True", "MalformedValue")]);
        let found = subscriptions(&[
            subscription("a", &of(json!([condition("Ready", "False", "Installing")]))),
            subscription("b", &json!({"installedCSV": "kettle.v1"})),
            subscription("c", &of(stalled)),
            subscription("d", &of(json!([failed]))),
            subscription("e", &of(json!([pending]))),
        ]);
        let (rows, more) = fitting(found);
        let order: Vec<&str> = rows.iter().map(|row| row.namespace.as_str()).collect();
        assert_eq!((order, more), (vec!["e", "c", "d", "b", "a"], 0));
        assert_eq!(rows[0].plan.as_deref(), Some("/plan?namespace=e&name=kettle"));
        assert_eq!((rows[1].ready.as_str(), rows[3].ready.as_str()), ("False MalformedValue", "-"));
    }

    #[rstest]
    #[case::nothing(json!({}), "-")]
    #[case::pinned(json!({"olm-rs.dev/pin": "true"}), "kettle.v1")]
    #[case::several(
        json!({"olm-rs.dev/version-range": ">=1 <2", "olm-rs.dev/pause": "true"}), ">=1 <2, paused")]
    fn what_holds_a_version_has_a_column(#[case] annotations: Value, #[case] expected: &str) {
        let mut one = subscription("team", &json!({}));
        one["metadata"]["annotations"] = annotations;
        one["spec"]["startingCSV"] = json!("kettle.v1");
        let (rows, _) = fitting(subscriptions(&[one]));
        assert_eq!(rows[0].pin, expected);
    }

    #[test]
    fn what_no_subscription_has_installed_is_shown_too() {
        let csv = |name: &str, phase: &str| -> Value {
            json!({"metadata": {"name": name, "namespace": "team"}, "spec": {},
                "status": {"phase": phase, "reason": "Why"}})
        };
        let csvs = [csv("kettle.v1", "Succeeded"), csv("a.v0", "Replacing"), csv("a.v1", "Failed")];
        let status = json!({"installedCSV": "kettle.v1"});
        let found = others(&Observed {
            subscriptions: vec![from_value(subscription("team", &status)).unwrap()],
            csvs: csvs.into_iter().map(|csv| from_value(csv).unwrap()).collect(),
            ..Observed::default()
        });
        assert_eq!(found, ["a.v1 in namespace team: Unhealthy, Why"]);
        let csvs = (0..OTHERS + 2).map(|number| csv(&format!("b.v{number}"), "Succeeded"));
        let csvs = csvs.map(|csv| from_value(csv).unwrap()).collect();
        let found = others(&Observed { csvs, ..Observed::default() });
        assert_eq!(found.len(), OTHERS + 1);
        assert_eq!(found.last().map(String::as_str), Some("and 2 more"));
        assert!(page(false, Vec::new(), None).contains("<li>a.v1 in namespace team: Healthy"));
    }

    #[test]
    fn the_page_of_all_namespaces_links_each() {
        let found = || subscriptions(&[subscription("stove", &json!({}))]);
        let link = "<a href=\"/installed?namespace=stove\">stove</a>";
        let all = page(true, found(), None);
        assert!(all.contains(link) && all.contains("<caption>") && !all.contains("more"), "{all}");
        assert!(all.contains("Namespace team alone"), "{all}");
        let one = page(false, found(), None);
        assert!(!one.contains(link) && one.contains("All namespaces"), "{one}");
        assert!(page(true, Vec::new(), None).contains("No Subscriptions in any namespace."));
    }

    #[test]
    fn a_namespace_can_be_typed_where_all_may_not_be_read() {
        let failure = Failure { kind: "not allowed", why: "cannot list".to_owned() };
        let page = page(true, Vec::new(), Some(failure));
        for part in ["not allowed", "cannot list", "id=\"namespace\"", "Type a namespace"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    /// Thousands of Subscriptions, and texts that take the most bytes.
    #[test]
    fn a_page_has_a_size_and_says_what_is_left_out() {
        let long = "<".repeat(2_000);
        let namespaces: Vec<String> = (0..3_000).map(|number| format!("team-{number}")).collect();
        for reason in ["Installing", &long] {
            let status = json!({"conditions": [condition("Ready", "False", reason)]});
            let all: Vec<Value> = namespaces.iter().map(|one| subscription(one, &status)).collect();
            let (rows, more) = fitting(subscriptions(&all));
            assert_eq!(rows.len() + more, namespaces.len());
            let page = page(true, subscriptions(&all), None);
            assert!(rows.len() > 50 && page.len() < 150_000, "{} {}", rows.len(), page.len());
            assert!(page.contains(&format!("and {more} more")), "{page}");
        }
    }
}
