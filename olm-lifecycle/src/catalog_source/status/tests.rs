//! Statuses of CatalogSources: the rows of spec catalog-operator 9.8 that need no server, and
//! connections.

use std::sync::Arc;

use olm_effect::Action;
use olm_types::api::CatalogSourceSpec;
use rstest::rstest;

use super::super::observed::Content;
use super::super::ready::without;
use super::super::registry::Settings;
use super::super::{is_healthy, plan};
use super::*;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn catalog(spec: CatalogSourceSpec, status: Option<CatalogSourceStatus>) -> Arc<CatalogSource> {
    let mut catalog = CatalogSource::new("cool-catalog", spec);
    catalog.metadata.namespace = Some("cool-namespace".to_owned());
    catalog.status = status;
    Arc::new(catalog)
}

fn of_type(source_type: &str) -> CatalogSourceSpec {
    CatalogSourceSpec { source_type: source_type.to_owned(), ..CatalogSourceSpec::default() }
}

fn at(address: &str) -> CatalogSourceSpec {
    CatalogSourceSpec { address: Some(address.to_owned()), ..of_type("grpc") }
}

fn connection(state: &str) -> Result<Option<Connection>, String> {
    Ok(Some(Connection {
        address: "there:50051".to_owned(),
        state: state.to_owned(),
        since: now(),
    }))
}

fn observed(
    catalog: Arc<CatalogSource>,
    connection: Result<Option<Connection>, String>,
) -> Observed {
    Observed {
        catalog,
        connection,
        acting_since: now(),
        server: Default::default(),
        config_map: Default::default(),
        content: Content::default(),
        digest: None,
        server_version: None,
        hosting: None,
    }
}

fn status_after(observed: &Observed) -> Option<CatalogSourceStatus> {
    let plan = plan(observed, &Settings::default(), now());
    assert_eq!(plan.steps, [], "an address needs no objects");
    match conclude(observed, &plan, &[], now()).status?.action {
        Action::Status { object, .. } => {
            serde_json::from_value::<CatalogSource>(object).unwrap().status
        }
        _ => None,
    }
}

#[rstest]
#[case(of_type("nope"), "unknown sourcetype: nope")]
#[case(of_type("grpc"), "image and address unset: at least one must be set for sourcetype: grpc")]
#[case(of_type("internal"), "configmap name unset: must be set for sourcetype: internal")]
#[case(of_type("configmap"), "configmap name unset: must be set for sourcetype: configmap")]
fn invalid_specs(#[case] spec: CatalogSourceSpec, #[case] message: &str) {
    let status = status_after(&observed(catalog(spec.clone(), None), Ok(None))).unwrap();
    assert_eq!(
        (status.reason.as_deref(), status.message.as_deref()),
        (Some("SpecInvalidError"), Some(message))
    );
    let reported = observed(catalog(spec, Some(status)), Ok(None));
    assert_eq!(status_after(&reported), None);
    assert!(!is_healthy(&reported.catalog));
}

#[test]
fn an_address_is_served_and_its_connection_shown() {
    let mut observed = observed(catalog(at("there:50051"), None), connection("READY"));
    let status = status_after(&observed).unwrap();
    insta::assert_json_snapshot!(without(status.clone()), @r#"
    {
      "registryService": {
        "protocol": "grpc",
        "createdAt": "1970-01-01T00:00:00Z"
      },
      "connectionState": {
        "address": "there:50051",
        "lastObservedState": "READY",
        "lastConnect": "1970-01-01T00:00:00Z"
      }
    }
    "#);
    observed.catalog = catalog(at("there:50051"), Some(status));
    assert_eq!(status_after(&observed), None);
    assert!(is_healthy(&observed.catalog));
}

#[test]
fn an_interval_without_image_says_nothing() {
    let spec: CatalogSourceSpec = serde_json::from_value(serde_json::json!({
        "sourceType": "grpc", "address": "there:50051",
        "updateStrategy": {"registryPoll": {"interval": "soon"}},
    }))
    .unwrap();
    let status = status_after(&observed(catalog(spec, None), connection("READY"))).unwrap();
    assert_eq!(status.reason, None);
}

#[test]
fn a_spec_that_became_valid_loses_its_complaint() {
    let status = CatalogSourceStatus {
        reason: Some("SpecInvalidError".to_owned()),
        ..CatalogSourceStatus::default()
    };
    let observed = observed(catalog(at("there:50051"), Some(status)), Ok(None));
    assert_eq!(status_after(&observed).unwrap().reason, None);
}

#[test]
fn an_address_that_cannot_be_dialled_is_reported() {
    let connection = Err("address there: missing port in address".to_owned());
    let status = status_after(&observed(catalog(at("there"), None), connection)).unwrap();
    assert_eq!(
        status.message.as_deref(),
        Some("couldn't connect to registry - address there: missing port in address")
    );
}

#[rstest]
#[case::fails("CONNECTING", "TRANSIENT_FAILURE", Some("TRANSIENT_FAILURE"))]
#[case::keeps_failing("TRANSIENT_FAILURE", "CONNECTING", None)]
#[case::comes_back("TRANSIENT_FAILURE", "READY", Some("READY"))]
#[case::stays("READY", "READY", None)]
#[case::is_made_anew("READY", "CONNECTING", None)]
#[case::is_lost("READY", "TRANSIENT_FAILURE", Some("TRANSIENT_FAILURE"))]
fn connection_states(#[case] recorded: &str, #[case] found: &str, #[case] written: Option<&str>) {
    let first = observed(catalog(at("there:50051"), None), connection(recorded));
    let reported = catalog(at("there:50051"), status_after(&first));
    let status = status_after(&observed(reported, connection(found)));
    let state =
        status.and_then(|status| status.connection_state).map(|state| state.last_observed_state);
    assert_eq!(state.as_deref(), written);
}

/// What was recorded at second 100, and what is known after a start at second 200.4: `connected` is
/// when the connection got its state.
#[rstest]
#[case::connects_again("READY", "READY", 201, Some(201))]
#[case::connected_before_it_took_the_lease("READY", "READY", 150, Some(200))]
#[case::is_about_to_connect("READY", "CONNECTING", 201, None)]
#[case::stays_unreachable("TRANSIENT_FAILURE", "TRANSIENT_FAILURE", 202, Some(202))]
#[case::was_idle_and_is("IDLE", "IDLE", 201, None)]
fn a_start_is_reported_once(
    #[case] recorded: &str,
    #[case] found: &str,
    #[case] connected: i64,
    #[case] written: Option<i64>,
) {
    let second = |second: i64| Timestamp::from_second(second).unwrap();
    let state = GrpcConnectionState {
        address: Some("there:50051".to_owned()),
        last_observed_state: recorded.to_owned(),
        last_connect: Some(Time(second(100))),
    };
    let connection = Connection {
        address: "there:50051".to_owned(),
        state: found.to_owned(),
        since: second(connected),
    };
    let start = Timestamp::from_millisecond(200_400).unwrap();
    let reported = connection_state(Some(state.clone()), &connection, start);
    let at = reported.last_connect.as_ref().map(|time| time.0.as_second());
    assert_eq!(at, Some(written.unwrap_or(100)));
    // As it comes back from the API server, it is true.
    let kept = connection_state(Some(reported.clone()), &connection, start);
    assert_eq!(kept, reported);
    assert_eq!(connection_state(Some(state.clone()), &connection, second(50)), state);
}

fn content(read: bool, problem: Option<&str>, blocks: bool) -> Content {
    let problem = problem.map(str::to_owned);
    Content { read_at: read.then(now), entries: 7, problem, blocks, hidden: None }
}

fn hiding(hidden: &str) -> Content {
    Content { hidden: Some(hidden.to_owned()), ..content(true, None, false) }
}

#[rstest]
#[case::current("READY", content(true, None, false), "")]
#[case::packages("READY", hiding("too large"), "PackagesTooLarge: too large")]
#[case::never_answered("TRANSIENT_FAILURE", content(false, None, false), "")]
#[case::away(
    "TRANSIENT_FAILURE",
    content(true, None, false),
    "CatalogUnreachable: the registry server does not answer; what was read at \
     1970-01-01T00:00:00Z stays in use (7 channel entries)"
)]
#[case::away_and_blocking(
    "TRANSIENT_FAILURE",
    content(true, None, true),
    "CatalogUnreachable: the registry server does not answer; nothing is resolved with what was \
     read at 1970-01-01T00:00:00Z (--unhealthy-catalogs=block)"
)]
#[case::refused(
    "READY",
    content(false, Some("too large"), false),
    "CatalogNotReadable: the catalog is refused: too large; nothing was read before, so none of \
     its packages can be chosen"
)]
#[case::refused_after_good(
    "READY",
    content(true, Some("too large"), false),
    "CatalogNotReadable: the catalog is refused: too large; what was read at \
     1970-01-01T00:00:00Z stays in use (7 channel entries)"
)]
fn what_resolution_uses(#[case] state: &str, #[case] content: Content, #[case] reported: &str) {
    let mut observed = observed(catalog(at("there:50051"), None), connection(state));
    observed.content = content;
    let status = status_after(&observed).unwrap();
    let conditions: Vec<_> = without(status.clone())
        .conditions
        .iter()
        .map(|one| {
            assert!(["ContentCurrent", "PackagesShown"].contains(&&*one.type_), "{}", one.type_);
            assert_eq!(one.status, "False");
            format!("{}: {}", one.reason, one.message)
        })
        .collect();
    assert_eq!(conditions.join("\n"), reported);
    observed.catalog = catalog(at("there:50051"), Some(status));
    assert_eq!(status_after(&observed), None, "written once");
}
