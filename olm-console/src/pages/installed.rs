//! What is installed, what needs a user first.

use askama::Template;
use axum::response::Response;
use olm_plan::Health;
use olm_plan::installed::{Installed, installed};

use super::frame::{Frame, html, url};
use super::{Page, Visit};
use crate::failure::Failure;

#[derive(Template)]
#[template(path = "installed.html")]
struct Table {
    frame: Frame,
    rows: Vec<Row>,
    failure: Option<Failure>,
}

struct Row {
    url: String,
    plan: Option<String>,
    health: &'static str,
    version: String,
    newest: String,
    channel: String,
    one: Installed,
}

/// Reads the page.
pub(super) async fn read(visit: &Visit<'_>) -> Response {
    let (rows, failure) = match visit.cluster.observe(Some(visit.home()), false).await {
        Ok(observed) => (ordered(installed(&observed)), None),
        Err(error) => (Vec::new(), Some(Failure::of(&error))),
    };
    let rows = rows.into_iter().map(row).collect();
    let frame = visit.frame(Page::Installed, "Installed", &visit.command().word("list"));
    html(&Table { frame, rows, failure })
}

fn ordered(mut rows: Vec<Installed>) -> Vec<Installed> {
    rows.sort_by_key(|row| urgency(row.health));
    rows
}

/// What waits for a user comes first.
fn urgency(health: Health) -> u8 {
    match health {
        Health::NeedsApproval => 0,
        Health::Unhealthy => 1,
        Health::Unknown => 2,
        Health::Progressing => 3,
        Health::Healthy => 4,
    }
}

fn row(one: Installed) -> Row {
    let of = [("namespace", Some(one.namespace.as_str())), ("name", Some(one.name.as_str()))];
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    Row {
        url: url("/operator", &of),
        plan: (one.health == Health::NeedsApproval).then(|| url("/plan", &of)),
        health: one.health.as_str(),
        version: one.version.clone().unwrap_or_else(|| "none yet".to_owned()),
        newest: text(&one.newest),
        channel: text(&one.channel),
        one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_user_comes_first() {
        let all = [
            Health::NeedsApproval,
            Health::Unhealthy,
            Health::Unknown,
            Health::Progressing,
            Health::Healthy,
        ];
        assert!(all.is_sorted_by_key(|health| urgency(*health)));
    }
}
