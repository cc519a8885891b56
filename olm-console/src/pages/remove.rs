//! A removal: what goes and what stays, what becomes of custom resources, and a report at the end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use anyhow::Result;
use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use clap::ValueEnum;
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::acts::{self, Operands, Removal, verdict};
use olm_plan::preview::{Operation, Preview};

use super::act::{self, Refusal, Submit, WRITING};
use super::frame::{Frame, html, url};
use super::params::one_of;
use super::shown::{Shown, shown};
use super::{Page, PageView, given};
use crate::failure::Failure;
use crate::form::InvalidField;
use crate::guard::random;

/// Reports that are kept.
const REPORTS: usize = 32;

/// How long a custom resource is waited for: a page is read in less than that takes for two of them.
const LIMIT: Duration = Duration::from_secs(40);

/// What may become of custom resources, as forms say it.
const OPERANDS: [&str; 3] = ["keep", "abort", "delete"];

/// Reports of removals, the newest last, by names that are not guessed.
#[derive(Default)]
pub(super) struct Reports(RefCell<VecDeque<Report>>);

/// What one session has removed.
struct Report {
    session: u64,
    name: String,
    text: String,
}

#[derive(Template)]
#[template(path = "remove.html")]
struct Remove {
    frame: Frame,
    operator: String,
    plan_hash: String,
    count: usize,
    choices: Vec<Choice>,
    submit: Submit,
    shown: Option<Shown>,
    failure: Option<Failure>,
    refusal: Option<Failure>,
}

/// What may become of custom resources.
struct Choice {
    value: &'static str,
    text: &'static str,
    is_chosen: bool,
    why_not: Vec<String>,
}

#[derive(Template)]
#[template(path = "removed.html")]
struct Removed {
    frame: Frame,
    lines: Vec<String>,
}

impl Reports {
    /// Keeps a report; its name.
    fn keep(&self, session: u64, text: String) -> Option<String> {
        let name = random().ok()?;
        let mut kept = self.0.borrow_mut();
        kept.push_back(Report { session, name: name.clone(), text });
        while kept.len() > REPORTS {
            kept.pop_front();
        }
        Some(name)
    }

    fn find(&self, session: u64, name: &str) -> Option<String> {
        let kept = self.0.borrow();
        let found = kept.iter().find(|one| one.session == session && one.name == name);
        found.map(|one| one.text.clone())
    }
}

/// Reads the page or a report, or does what was shown.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let operator = given(&visit.params.name).unwrap_or_default();
    if !visit.params.is_posted() {
        let report = given(&visit.params.report);
        let report = report.and_then(|name| visit.context.reports.find(visit.session, name));
        return match report {
            Some(report) => reported(visit, operator, &report),
            None => page(visit, operator, None).await,
        };
    }
    let (hash, operands) = match (visit.params.hash(), operands(visit)) {
        (Ok(hash), Ok(operands)) => (hash, operands),
        (Err(bad), _) | (_, Err(bad)) => return bad.into_response(),
    };
    match removed(visit, operator, operands, hash).await {
        Ok(report) => {
            let kept = visit.context.reports.keep(visit.session, report);
            let home = Some(visit.home());
            let of = [("namespace", home), ("name", Some(operator)), ("report", kept.as_deref())];
            Redirect::to(&url("/remove", &of)).into_response()
        }
        Err(error) => page(visit, operator, Some(Refusal::of(&error))).await,
    }
}

fn operands(visit: &PageView<'_>) -> Result<Operands, InvalidField> {
    let said = given(&visit.params.posted.operands);
    let known = one_of("operands", said, &OPERANDS)?;
    Operands::from_str(known, false).map_err(|why| InvalidField::new("operands", &why))
}

fn wanted(operator: &str) -> Operation {
    Operation::Uninstall { operator: operator.to_owned() }
}

async fn removed(
    visit: &PageView<'_>,
    operator: &str,
    operands: Operands,
    hash: &str,
) -> Result<String> {
    let preview = act::preview(visit, wanted(operator)).await?;
    act::same(&preview, hash)?;
    verdict(&preview)?;
    acts::check_operands(operands, &preview)?;
    let removal = Removal { operands, how: WRITING, limit: LIMIT, wait: false };
    acts::remove(&visit.cluster, &preview, removal).await?;
    Ok(acts::report(&preview, operands, false))
}

fn reported(visit: &PageView<'_>, operator: &str, report: &str) -> Response {
    let command = visit.command().word("list");
    let frame = visit.frame(Page::Remove, &format!("{operator} is removed"), &command);
    html(&Removed { frame, lines: report.lines().map(str::to_owned).collect() })
}

async fn page(visit: &PageView<'_>, operator: &str, refusal: Option<Refusal>) -> Response {
    let (code, refusal) = act::parts(refusal);
    let command = visit.command().word("uninstall").word(operator);
    let command = command.word("--operands=keep");
    let read = act::preview(visit, wanted(operator)).await;
    let may = NamespaceRights::read(&visit.cluster, visit.home()).await;
    let (why_not, choices) = match &read {
        Ok(preview) => {
            (in_the_way(visit, &may, preview).await, choices(visit, &may, preview).await)
        }
        Err(_) => (Vec::new(), Vec::new()),
    };
    let (shown, failure) = match read {
        Ok(preview) => (Some(shown(preview)), None),
        Err(error) => (None, Some(Failure::of(&error))),
    };
    let preview = shown.as_ref().map(|shown| &shown.preview);
    let plan_hash = preview.map(|preview| preview.plan_hash.clone()).unwrap_or_default();
    let page = html(&Remove {
        frame: visit.frame(Page::Remove, &format!("Removal of {operator}"), &command),
        operator: operator.to_owned(),
        plan_hash,
        count: preview.map(|preview| preview.operands.len()).unwrap_or_default(),
        choices,
        submit: Submit { text: "Remove", step: "remove", why_not },
        shown,
        failure,
        refusal,
    });
    (code, page).into_response()
}

async fn in_the_way(
    visit: &PageView<'_>,
    may: &NamespaceRights<'_>,
    preview: &Preview,
) -> Vec<String> {
    let mut why_not: Vec<String> = Vec::new();
    why_not.extend(verdict(preview).err().map(|error| error.to_string()));
    let deletes = ["subscriptions", "clusterserviceversions"]
        .map(|resource| Action::of_olm("delete", resource, visit.home()));
    why_not.extend(act::not_allowed(may, &deletes).await);
    why_not
}

async fn choices(
    visit: &PageView<'_>,
    may: &NamespaceRights<'_>,
    preview: &Preview,
) -> Vec<Choice> {
    let said = given(&visit.params.posted.operands).unwrap_or("keep");
    let deletes: Vec<Action> = preview
        .crds
        .iter()
        .flat_map(|crd| ["list", "delete"].map(|verb| Action::of_crd(verb, &crd.name, None)))
        .collect();
    let may_not = act::not_allowed(may, &deletes).await;
    let texts = [
        "they stay",
        "nothing is removed when there are any",
        "they are deleted first, in all namespaces",
    ];
    let choice = |(value, text): (&'static str, &'static str)| Choice {
        value,
        text,
        is_chosen: value == said,
        why_not: if value == "delete" { may_not.clone() } else { Vec::new() },
    };
    OPERANDS.into_iter().zip(texts).map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_bounded_and_found_by_their_own_name() {
        let reports = Reports::default();
        let first = reports.keep(1, "first".to_owned()).unwrap();
        assert_eq!(reports.find(1, &first).as_deref(), Some("first"));
        assert_eq!(reports.find(2, &first), None, "it is shown to another session");
        assert_eq!(reports.find(1, ""), None);
        for number in 0..REPORTS {
            reports.keep(1, number.to_string());
        }
        assert_eq!(reports.find(1, &first), None);
        assert_eq!(reports.0.borrow().len(), REPORTS);
    }

    #[test]
    fn a_form_says_what_kubectl_olm_says() {
        let values: Vec<String> = Operands::value_variants()
            .iter()
            .filter_map(|one| Some(one.to_possible_value()?.get_name().to_owned()))
            .collect();
        assert_eq!(values, OPERANDS);
    }
}
