//! Status of CatalogSources: the rows of spec 9.8 that need no pod.

use olm_effect::Action;
use olm_types::api::CatalogSourceSpec;
use rstest::rstest;

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

fn status_after(observed: &Observed) -> Option<CatalogSourceStatus> {
    match decide(observed, now())?.action {
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
    let observed = Observed { catalog: catalog(spec.clone(), None), connection: Ok(None) };
    let status = status_after(&observed).unwrap();
    assert_eq!(
        (status.reason.as_deref(), status.message.as_deref()),
        (Some("SpecInvalidError"), Some(message))
    );
    let told = Observed { catalog: catalog(spec, Some(status)), connection: Ok(None) };
    assert_eq!(status_after(&told), None);
    assert!(!super::super::is_healthy(&told.catalog));
}

#[rstest]
#[case(CatalogSourceSpec { image: Some("i".to_owned()), ..of_type("grpc") })]
#[case(CatalogSourceSpec { config_map: Some("c".to_owned()), ..of_type("configmap") })]
fn types_without_backend_say_so(#[case] spec: CatalogSourceSpec) {
    let status =
        status_after(&Observed { catalog: catalog(spec, None), connection: Ok(None) }).unwrap();
    assert_eq!(status.reason.as_deref(), Some("RegistryServerError"));
    assert!(status.message.unwrap().contains("is not supported by this version yet"));
}

#[test]
fn an_address_is_served_and_its_connection_shown() {
    let mut observed =
        Observed { catalog: catalog(at("there:50051"), None), connection: connection("READY") };
    let status = status_after(&observed).unwrap();
    insta::assert_json_snapshot!(status, @r#"
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
}

#[test]
fn a_spec_that_became_valid_loses_its_complaint() {
    let status = CatalogSourceStatus {
        reason: Some("SpecInvalidError".to_owned()),
        ..CatalogSourceStatus::default()
    };
    let observed =
        Observed { catalog: catalog(at("there:50051"), Some(status)), connection: Ok(None) };
    assert_eq!(status_after(&observed).unwrap().reason, None);
}

#[test]
fn an_address_that_cannot_be_dialled_is_told() {
    let connection = Err("address there: missing port in address".to_owned());
    let status =
        status_after(&Observed { catalog: catalog(at("there"), None), connection }).unwrap();
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
fn connection_states(
    #[case] recorded: &str,
    #[case] observed: &str,
    #[case] written: Option<&str>,
) {
    let first =
        Observed { catalog: catalog(at("there:50051"), None), connection: connection(recorded) };
    let told = catalog(at("there:50051"), status_after(&first));
    let status = status_after(&Observed { catalog: told, connection: connection(observed) });
    let state =
        status.and_then(|status| status.connection_state).map(|state| state.last_observed_state);
    assert_eq!(state.as_deref(), written);
}
