//! Reports to OpenShift (spec olm-operator 6.7, 6.8, 8.31).

use std::sync::Arc;

use jiff::Timestamp;
use olm_effect::{Action, Effect};
use olm_types::api::ClusterServiceVersion;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn csv(name: &str, extra: Value) -> Arc<ClusterServiceVersion> {
    let mut csv = json!({
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"version": "1.0.0"},
    });
    csv.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    Arc::new(serde_json::from_value(csv).unwrap())
}

/// A CSV whose annotation holds these values of `olm.maxOpenShiftVersion`, as JSON.
fn limited(name: &str, values: &[&str]) -> Arc<ClusterServiceVersion> {
    let property =
        |value: &&str| format!("{{\"type\":\"olm.maxOpenShiftVersion\",\"value\":{value}}}");
    let properties: Vec<String> = values.iter().map(property).collect();
    let text = format!("{{\"properties\":[{}]}}", properties.join(","));
    let metadata = json!({
        "name": name, "namespace": "ns",
        "annotations": {"operatorframework.io/properties": text},
    });
    csv(name, json!({"metadata": metadata}))
}

fn reported(release: Option<&str>, csvs: &[Arc<ClusterServiceVersion>]) -> Vec<String> {
    match incompatible_operators(release, csvs.iter().map(AsRef::as_ref)) {
        Ok(found) => found.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[rstest]
#[case("1.0.0", "\"1.1.0\"", None)]
#[case("1.0.0", "\"1.1.0+build\"", None)]
#[case("1.0.0", "\"2.0.0\"", None)]
#[case("1.0.0", "4.8", None)]
#[case("1.0.1", "\"1.1\"", None)]
#[case("1.0.0", "\"1.0.0\"", Some("maximum supported OCP version for ns/a is 1.0"))]
#[case("1.0.0", "\"0.1.0\"", Some("maximum supported OCP version for ns/a is 0.1"))]
#[case("1.1.0-pre", "\"1.1.0\"", Some("maximum supported OCP version for ns/a is 1.1"))]
#[case("4.22.0", "\"4.23\"", None)]
#[case("4.22.0", "\"5.0\"", None)]
#[case("4.23.0", "\"5.1\"", None)]
#[case("4.23.0", "\"4.23\"", Some("maximum supported OCP version for ns/a is 4.23"))]
#[case("4.23.0", "\"5.0\"", Some("maximum supported OCP version for ns/a is 5.0"))]
#[case("5.0.0", "\"4.23\"", Some("maximum supported OCP version for ns/a is 4.23"))]
#[case("5.1.0", "\"5.1\"", Some("maximum supported OCP version for ns/a is 5.1"))]
#[case("4.16.0-rc1", "\"4.16\"", Some("maximum supported OCP version for ns/a is 4.16"))]
fn the_next_version(#[case] release: &str, #[case] value: &str, #[case] blocking: Option<&str>) {
    let expected: Vec<&str> = blocking.into_iter().collect();
    assert_eq!(reported(Some(release), &[limited("a", &[value])]), expected);
}

#[rstest]
#[case(&["\"1.1.0-pre\""], "must specify only <major>.<minor> version, got invalid value 1.1.0-pre")]
#[case(&["\"1.1.2\""], "must specify only <major>.<minor> version, got invalid value 1.1.2")]
#[case(&["\"\""], "value cannot be \"\" (an empty string)")]
#[case(&["\"garbage\""], "failed to parse \"garbage\" as semver")]
#[case(&["\"1.0\"", "\"1.1\""], "defining more than one \"olm.maxOpenShiftVersion\" property is not allowed")]
fn malformed_limits(#[case] values: &[&str], #[case] error: &str) {
    let reported = reported(Some("1.0.0"), &[limited("a", values)]);
    let start = "ns/a has invalid olm.maxOpenShiftVersion properties: ";
    assert!(reported[0].starts_with(start) && reported[0].contains(error), "{reported:?}");
}

/// Every user may write CSVs, with annotations of 256 KiB.
#[test]
fn limits_of_tenants_do_not_fill_the_status() {
    let long = format!("\"{}\"", "1".repeat(200_000));
    let csvs = (0..500).map(|number| limited(&format!("c{number}"), &[long.as_str()])).collect();
    let report = OlmReport { csvs, has_worked: true, ..report() };
    let status = written(decide_olm(&report, Timestamp::UNIX_EPOCH));
    let message = condition(&status, "Upgradeable")["message"].as_str().unwrap();
    assert!(message.contains("value has 200000 bytes, and may have 256"), "{message}");
    assert!(message.ends_with("- and 400 more") && message.len() < 20_000, "{message}");
}

#[test]
fn a_missing_release_is_an_error_and_an_operator_without_a_limit_is_none() {
    let missing = "desired release version missing from RELEASE_VERSION env variable";
    assert_eq!(reported(None, &[]), [missing]);
    assert_eq!(reported(Some(""), &[]), [missing]);
    assert_eq!(reported(Some("1.0.0"), &[csv("a", json!({}))]), Vec::<String>::new());
}

/// The status after a write that has to happen.
fn written(effect: Option<Effect>) -> Value {
    match effect.map(|effect| effect.action) {
        Some(Action::Status { object, .. }) => object["status"].clone(),
        other => panic!("no status is written but {other:?}"),
    }
}

fn condition<'a>(status: &'a Value, type_: &str) -> &'a Value {
    let conditions = status["conditions"].as_array().unwrap();
    conditions.iter().find(|condition| condition["type"] == type_).unwrap()
}

fn report() -> OlmReport {
    OlmReport {
        name: "operator-lifecycle-manager".to_owned(),
        live: Some(json!({"metadata": {"name": "operator-lifecycle-manager"}})),
        namespace: "ns".to_owned(),
        olm_version: "0.46.0".to_owned(),
        release: Some("4.18.0".to_owned()),
        ..OlmReport::default()
    }
}

#[test]
fn a_missing_object_is_created_first() {
    let effect = decide_olm(&OlmReport { live: None, ..report() }, Timestamp::UNIX_EPOCH);
    assert!(matches!(effect.unwrap().action, Action::Create(_)));
}

#[test]
fn nothing_is_ready_before_the_first_success() {
    let status = written(decide_olm(&report(), Timestamp::UNIX_EPOCH));
    insta::assert_json_snapshot!(status);
}

#[test]
fn a_working_olm_says_its_version_and_who_blocks_the_next_one() {
    let csvs =
        vec![limited("old", &["\"4.17\""]), limited("odd", &["\"\""]), limited("ok", &["4.19"])];
    let mut report = OlmReport { has_worked: true, csvs, ..report() };
    let status = written(decide_olm(&report, Timestamp::UNIX_EPOCH));
    insta::assert_json_snapshot!(status);
    report.live = Some(json!({"metadata": {"name": "o"}, "status": status}));
    assert_eq!(
        decide_olm(&report, Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(60)),
        None
    );
    report.release = None;
    let status = written(decide_olm(&report, Timestamp::UNIX_EPOCH));
    assert_eq!(condition(&status, "Upgradeable")["reason"], "ErrorCheckingOperatorCompatibility");
}

fn package_server(live: Value, csvs: &[Arc<ClusterServiceVersion>]) -> Option<Effect> {
    let report = PackageServerReport {
        name: "packageserver".to_owned(),
        live: Some(live),
        csvs: csvs.to_vec(),
        release: Some("4.18.0".to_owned()),
    };
    decide_package_server(&report, Timestamp::UNIX_EPOCH)
}

#[rstest]
#[case::kept_true(true)]
#[case::kept_false(false)]
fn work_in_progress_says_nothing_about_availability(#[case] available: bool) {
    let available = if available { "True" } else { "False" };
    let live = json!({"status": {"conditions": [{"type": "Available", "status": available}]}});
    let installing = csv("p.v1", json!({"status": {"phase": "Installing"}}));
    let status = written(package_server(live, &[installing]));
    assert_eq!(condition(&status, "Available")["status"], available);
    assert_eq!(condition(&status, "Progressing")["message"], "Working toward 1.0.0");
    assert_eq!(condition(&status, "Degraded")["status"], "False");
}

#[test]
fn the_package_server_is_followed_from_waiting_to_uninstalled() {
    let begun = written(package_server(json!({}), &[]));
    assert_eq!(
        condition(&begun, "Progressing")["message"],
        "waiting for events - source=packageserver"
    );
    let old = csv("p.v1", json!({"status": {"phase": "Replacing"}}));
    let new = csv(
        "p.v2",
        json!({
            "spec": {"version": "2.0.0", "replaces": "p.v1"}, "status": {"phase": "Succeeded"},
        }),
    );
    let done = written(package_server(json!({"status": begun}), &[old, new]));
    insta::assert_json_snapshot!(done);
    let gone = written(package_server(json!({"status": done}), &[]));
    assert_eq!(condition(&gone, "Available")["message"], "Uninstalled version 2.0.0");
    assert_eq!(gone["versions"], json!([{"name": "operator", "version": "4.18.0"}]));
}

#[test]
fn a_failed_package_server_is_not_available() {
    let failed = csv("p.v1", json!({"status": {"phase": "Failed", "reason": "R", "message": "m"}}));
    let status = written(package_server(json!({}), &[failed]));
    let message =
        "ClusterServiceVersion ns/p.v1 observed in phase Failed with reason: R, message: m";
    assert_eq!(condition(&status, "Available")["message"], message);
    assert_eq!(condition(&status, "Progressing")["message"], "Failed to deploy 1.0.0");
}

fn catalog() -> CatalogReport {
    CatalogReport {
        name: "operator-lifecycle-manager-catalog".to_owned(),
        live: Some(json!({"metadata": {"name": "operator-lifecycle-manager-catalog"}})),
        namespace: "ns".to_owned(),
        olm_version: "0.46.0".to_owned(),
        release: Some("4.18.0".to_owned()),
        ..CatalogReport::default()
    }
}

/// The report after one that has led to a status.
fn after(status: &Value) -> CatalogReport {
    CatalogReport { live: Some(json!({"metadata": {"name": "o"}, "status": status})), ..catalog() }
}

#[test]
fn a_catalog_operator_is_available_and_progresses_until_its_release_is_reported() {
    let missing = decide_catalog(&CatalogReport { live: None, ..catalog() }, Timestamp::UNIX_EPOCH);
    assert!(matches!(missing.unwrap().action, Action::Create(_)));
    let first = written(decide_catalog(&catalog(), Timestamp::UNIX_EPOCH));
    assert_eq!(condition(&first, "Progressing")["status"], "True");
    let later = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(30);
    let second = written(decide_catalog(&after(&first), later));
    insta::assert_json_snapshot!(second);
    assert_eq!(decide_catalog(&after(&second), later), None);
    let newer = CatalogReport { release: Some("4.19.0".to_owned()), ..after(&second) };
    let third = written(decide_catalog(&newer, later));
    assert_eq!(condition(&third, "Progressing")["status"], "True");
    assert_eq!(third["versions"][0]["version"], "4.19.0");
}

#[test]
fn without_a_release_a_catalog_operator_reports_no_versions() {
    let unknown = CatalogReport { release: Some(String::new()), ..catalog() };
    let status = written(decide_catalog(&unknown, Timestamp::UNIX_EPOCH));
    assert_eq!(status["versions"], json!([]));
    assert_eq!(condition(&status, "Progressing")["status"], "False");
}

#[test]
fn a_time_is_that_of_the_last_turn_not_of_the_last_message() {
    let status = written(decide_catalog(
        &after(&json!({"conditions": [
        {"type": "Progressing", "status": "False", "message": "Deployed 0.45.0",
         "lastTransitionTime": "1970-01-01T00:00:07Z"},
    ], "versions": [{"name": "operator", "version": "4.18.0"}]})),
        Timestamp::UNIX_EPOCH,
    ));
    let progressing = condition(&status, "Progressing");
    assert_eq!(progressing["message"], "Deployed 0.46.0");
    assert_eq!(progressing["lastTransitionTime"], "1970-01-01T00:00:07Z");
}

#[test]
fn what_installs_operators_beside_olm_is_listed() {
    let subscription = json!({"metadata": {"name": "s", "namespace": "ns"},
        "spec": {"source": "c", "sourceNamespace": "ns", "name": "p"}});
    let plan = json!({"metadata": {"name": "install-1", "namespace": "ns"},
        "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []}});
    let report = CatalogReport {
        subscriptions: vec![Arc::new(serde_json::from_value(subscription).unwrap())],
        plans: vec![Arc::new(serde_json::from_value(plan).unwrap())],
        ..catalog()
    };
    let status = written(decide_catalog(&report, Timestamp::UNIX_EPOCH));
    let group = "operators.coreos.com";
    let expected = json!([
        {"group": group, "resource": "subscriptions", "namespace": "ns", "name": "s"},
        {"group": group, "resource": "installplans", "namespace": "ns", "name": "install-1"},
        {"group": "", "resource": "namespaces", "name": "ns"},
    ]);
    assert_eq!(status["relatedObjects"], expected);
}
