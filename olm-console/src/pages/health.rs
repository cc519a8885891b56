//! What is wrong, with what repairs it, and what was not looked at; how catalogs are, and when certificates rotate.

use anyhow::Result;
use askama::Template;
use axum::response::Response;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_client::catalogs::Visible;
use olm_client::examined::examination;
use olm_plan::doctor::{Class, Finding, Report};
use olm_plan::observed::name;
use olm_types::api::{CatalogSource, ClusterServiceVersion};
use olm_types::bundle::CatalogKey;

use super::bounds::short;
use super::frame::{Frame, html};
use super::{Page, PageView};
use crate::failure::Failure;

/// CSVs that are no copies.
const OWN: &str = "!olm.copiedFrom";

/// Rows of a table.
const ROWS: usize = 100;

/// Characters of what is wrong with a catalog.
const TEXT: usize = 300;

#[derive(Template)]
#[template(path = "health.html")]
struct Findings {
    frame: Frame,
    report: Report,
    found: Vec<Found>,
    failure: Option<Failure>,
    catalogs: Vec<Catalog>,
    unread: Vec<String>,
    no_catalogs: Option<Failure>,
    certificates: Vec<Certificate>,
    no_certificates: Option<Failure>,
}

struct Found {
    object: String,
    is_command: bool,
    class: &'static str,
    finding: Finding,
}

/// A catalog that the namespace sees.
#[derive(Debug, PartialEq, Eq)]
struct Catalog {
    name: String,
    state: String,
    since: String,
    created: String,
    problem: String,
}

/// The certificate of an operator that the API server calls.
#[derive(Debug, PartialEq, Eq)]
struct Certificate {
    csv: String,
    made: String,
    rotates: String,
}

/// Reads the page.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let (report, failure) = part(examination(&visit.cluster, Some(visit.home()), false).await);
    let (seen, no_catalogs) = part(catalogs(visit).await);
    let (certificates, no_certificates) = part(certificates(visit).await);
    let found = report.findings.iter().cloned().map(found).collect();
    let frame = visit.frame(Page::Health, "Health", &visit.command().word("doctor"));
    let (catalogs, unread) = seen;
    html(&Findings {
        frame,
        report,
        found,
        failure,
        catalogs,
        unread,
        no_catalogs,
        certificates,
        no_certificates,
    })
}

fn part<T: Default>(read: Result<T>) -> (T, Option<Failure>) {
    match read {
        Ok(read) => (read, None),
        Err(error) => (T::default(), Some(Failure::of(&error))),
    }
}

fn found(finding: Finding) -> Found {
    Found {
        object: finding.object(),
        is_command: finding.class == Class::Command,
        class: finding.class.as_str(),
        finding,
    }
}

/// The catalogs that the namespace sees, and what could not be read of them.
async fn catalogs(visit: &PageView<'_>) -> Result<(Vec<Catalog>, Vec<String>)> {
    let global = visit.context.console.reading.sources.olm_namespace.as_deref();
    let settings = visit.cluster.settings(global).await?;
    let (visible, unread) = Visible::read(&visit.cluster, visit.home(), &settings).await?;
    let rows = visible.sources().take(ROWS).map(|(key, source)| catalog(&key, source));
    Ok((rows.collect(), unread))
}

fn catalog(key: &CatalogKey, source: &CatalogSource) -> Catalog {
    let status = source.status.as_ref();
    let connection = status.and_then(|status| status.connection_state.as_ref());
    let state = connection.map(|connection| connection.last_observed_state.clone());
    let problem = status.and_then(|status| status.message.as_deref()).unwrap_or_default();
    Catalog {
        name: key.to_string(),
        state: state.filter(|state| !state.is_empty()).unwrap_or_else(|| "unknown".to_owned()),
        since: time(connection.and_then(|connection| connection.last_connect.as_ref())),
        created: time(source.metadata.creation_timestamp.as_ref()),
        problem: short(problem, TEXT),
    }
}

/// Certificates of the operators of the namespace.
async fn certificates(visit: &PageView<'_>) -> Result<Vec<Certificate>> {
    let api = visit.cluster.api::<ClusterServiceVersion>(Some(visit.home()));
    let csvs = visit.cluster.labelled_list(&api, OWN).await?;
    Ok(csvs.iter().filter_map(certificate).take(ROWS).collect())
}

fn certificate(csv: &ClusterServiceVersion) -> Option<Certificate> {
    let status = csv.status.as_ref()?;
    let rotates = Some(status.certs_rotate_at.as_ref()?);
    let made = status.certs_last_updated.as_ref();
    Some(Certificate {
        csv: name(&csv.metadata).to_owned(),
        made: time(made),
        rotates: time(rotates),
    })
}

fn time(time: Option<&Time>) -> String {
    time.map_or_else(|| "unknown".to_owned(), |time| time.0.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    #[test]
    fn a_catalog_has_its_age_state_and_problem() {
        let shown = |status: Value| {
            let source = json!({"metadata": {"name": "c", "creationTimestamp": "2026-01-02T03:04:05Z"},
                "spec": {"sourceType": "grpc"}, "status": status});
            catalog(&CatalogKey::new("ns", "c"), &from_value(source).unwrap())
        };
        let found = shown(json!({"message": "m".repeat(TEXT + 1), "connectionState":
            {"lastObservedState": "CONNECTING", "lastConnect": "2026-01-03T03:04:05Z"}}));
        assert_eq!(found.problem.chars().count(), TEXT + 1, "the beginning, and a mark");
        let expected = Catalog {
            name: "ns/c".to_owned(),
            state: "CONNECTING".to_owned(),
            since: "2026-01-03T03:04:05Z".to_owned(),
            created: "2026-01-02T03:04:05Z".to_owned(),
            problem: found.problem.clone(),
        };
        assert_eq!(found, expected);
        let new = shown(json!({}));
        assert_eq!((new.state.as_str(), new.since.as_str()), ("unknown", "unknown"));
    }

    #[test]
    fn an_operator_with_certificates_says_when_they_rotate() {
        let shown = |status: Value| {
            let csv = json!({"metadata": {"name": "tea.v1"}, "spec": {}, "status": status});
            certificate(&from_value(csv).unwrap())
        };
        assert_eq!(shown(json!({})), None);
        let found = shown(json!({"certsRotateAt": "2026-01-03T03:04:05Z"})).unwrap();
        assert_eq!((found.csv.as_str(), found.made.as_str()), ("tea.v1", "unknown"));
        assert_eq!(found.rotates, "2026-01-03T03:04:05Z");
    }
}
