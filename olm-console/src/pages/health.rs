//! What is wrong, with what repairs it, and what was not looked at.

use askama::Template;
use axum::response::Response;
use olm_client::examined::examination;
use olm_plan::doctor::{Class, Finding, Report};

use super::frame::{Frame, html};
use super::{Page, Visit};
use crate::failure::Failure;

#[derive(Template)]
#[template(path = "health.html")]
struct Findings {
    frame: Frame,
    report: Report,
    found: Vec<Found>,
    failure: Option<Failure>,
}

struct Found {
    object: String,
    is_command: bool,
    class: &'static str,
    finding: Finding,
}

/// Reads the page.
pub(super) async fn read(visit: &Visit<'_>) -> Response {
    let (report, failure) = match examination(&visit.cluster, Some(visit.home()), false).await {
        Ok(report) => (report, None),
        Err(error) => (Report::default(), Some(Failure::of(&error))),
    };
    let found = report.findings.iter().cloned().map(found).collect();
    let frame = visit.frame(Page::Health, "Health", &visit.command().word("doctor"));
    html(&Findings { frame, report, found, failure })
}

fn found(finding: Finding) -> Found {
    Found {
        object: finding.object(),
        is_command: finding.class == Class::Command,
        class: finding.class.as_str(),
        finding,
    }
}
