//! What holds beside the codes: fixes, hostile statuses, what was not read, and many objects.

use rstest::rstest;

use super::*;

#[test]
fn an_automatic_sibling_is_held_by_the_plan_that_waits() {
    let report = examine(&changed(&[waiting_plan()]), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), ["OLM013", "OLM015"]);
    assert_eq!(report.findings[0].fix, report.findings[1].fix);
}

/// A CSV that is on its way has failed only if it does so again and again.
#[rstest]
#[case::twice("Pending", &["Failed", "Pending", "Failed"], false)]
#[case::thrice("Installing", &["Failed", "Failed", "Pending", "Failed"], true)]
#[case::before_it_succeeded("Pending", &["Failed", "Failed", "Succeeded", "Failed"], false)]
#[case::succeeded("Succeeded", &["Failed", "Failed", "Failed"], false)]
#[case::never("InstallReady", &["Pending", "Pending", "Pending", "Pending"], false)]
fn repeated_failures_are_a_failure(
    #[case] phase: &str,
    #[case] before: &[&str],
    #[case] is_found: bool,
) {
    let report = examine(&changed(&[phases(phase, before)]), false, NOW.parse().unwrap());
    let found = report.findings.iter().find(|one| one.code == "OLM032");
    assert_eq!(found.map(|one| one.evidence.as_str()), is_found.then_some("FailedAgain"));
}

/// No approval begins a plan that the Subscription holds itself.
#[rstest]
#[case::paused("UpgradePending", "Paused", "olm-rs.dev/pause-")]
#[case::pinned("AtLatestKnown", "Pinned", "spec.startingCSV")]
#[case::a_range("AtLatestKnown", "VersionRange", "olm-rs.dev/version-range-")]
#[case::malformed("UpgradePending", "MalformedValue", "which cannot be read")]
#[case::a_range_for_later_versions("UpgradePending", "VersionRange", "kubectl olm -n ns approve")]
fn a_plan_that_is_held_is_not_approved(
    #[case] state: &str,
    #[case] reason: &str,
    #[case] expected: &str,
) {
    let condition = json!({"type": "UpgradeHeld", "status": "True", "reason": reason,
        "message": "annotation olm-rs.dev/pause, which cannot be read"});
    let held =
        json!({"kind": "Subscription", "status": {"state": state, "conditions": [condition]}});
    let report = examine(&changed(&[waiting_plan(), manual(), held]), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), ["OLM013"], "{:#?}", report.findings);
    let fix = &report.findings[0].fix;
    assert!(fix.contains(expected), "{fix}");
    assert_eq!(fix.contains("approve"), expected.contains("approve"), "{fix}");
}

/// What is held holds what it needs, too: no upgrade edge is missing.
#[rstest]
#[case::held("True", "cups.a.io", false)]
#[case::not_held("False", "cups.a.io", true)]
#[case::needs_something_else("True", "other.a.io", true)]
fn what_is_held_with_another_lacks_no_upgrade_edge(
    #[case] status: &str,
    #[case] required: &str,
    #[case] is_found: bool,
) {
    let crd = |name: &str| json!([{"name": name, "kind": "Cup", "version": "v1"}]);
    let meta = |name: &str| json!({"name": name, "namespace": "ns"});
    let newer = json!({"kind": "PackageManifest", "status": {"channels": [
        {"name": "stable", "currentCSV": "kettle.v2"}]}});
    let owner = json!({"kind": "ClusterServiceVersion", "spec": {
        "customresourcedefinitions": {"owned": crd("cups.a.io")}}});
    let user = json!({"kind": "ClusterServiceVersion", "metadata": meta("pot.v1"), "spec": {
        "install": {"strategy": "deployment"},
        "customresourcedefinitions": {"required": crd(required)}}});
    let subscription = json!({"kind": "Subscription", "metadata": meta("pot"),
        "spec": {"name": "pot", "channel": "stable", "source": "kitchen", "sourceNamespace": "ns"},
        "status": {"installedCSV": "pot.v1", "conditions": [
            {"type": "UpgradeHeld", "status": status, "reason": "Paused"}]}});
    let all = [newer, owner, user, subscription];
    let report = examine(&changed(&all), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report).contains(&"OLM023"), is_found, "{:#?}", report.findings);
}

#[rstest]
#[case::misspelt_package(&[subscription("ResolutionFailed", ""),
    json!({"kind": "Subscription", "spec": {"name": "ketle"}})], r#"{"spec":{"name":"kettle"}}"#)]
#[case::misspelt_source(&[json!({"kind": "Subscription", "spec": {"source": "kitchn"}})],
    r#"{"spec":{"source":"kitchen","sourceNamespace":"ns"}}"#)]
#[case::misspelt_channel(&[subscription("ResolutionFailed", ""),
    json!({"kind": "Subscription", "spec": {"channel": "candidat"}})],
    r#"{"spec":{"channel":"candidate"}}"#)]
#[case::unknown_channel(&[subscription("ResolutionFailed", ""),
    json!({"kind": "Subscription", "spec": {"channel": "alpha"}})], r#"{"spec":{"channel":"stable"}}"#)]
#[case::only_all_namespaces(&[csv("Failed", "UnsupportedOperatorGroup")],
    r#"{"spec":{"selector":null,"targetNamespaces":null}}"#)]
fn a_fix_names_what_was_meant(#[case] changes: &[Value], #[case] expected: &str) {
    let report = examine(&changed(changes), false, NOW.parse().unwrap());
    let fix = &report.findings[0].fix;
    assert!(fix.ends_with(&format!("--type merge -p '{expected}'")), "{fix}");
}

/// Nothing is missing where there is no Pod: the operator has the image, or says why not.
#[rstest]
#[case::pulling("Ready", "Connecting", "the operator pulls the image", "OLM009")]
#[case::forged("ContentCurrent", "DigestMismatch", "why", "OLM009")]
#[case::away("ContentCurrent", "RegistryUnavailable", "why", "OLM009")]
#[case::served_by_a_pod("ServedInProcess", "RegistryUnavailable", "why", "OLM011")]
#[case::not_answering("ContentCurrent", "CatalogUnreachable", "why", "OLM011")]
fn a_catalog_that_the_operator_serves_lacks_no_pod(
    #[case] kind: &str,
    #[case] reason: &str,
    #[case] message: &str,
    #[case] expected: &str,
) {
    let condition = json!({"type": kind, "status": "False", "reason": reason, "message": message,
        "lastTransitionTime": NOW});
    let status = json!({"kind": "CatalogSource", "status": {"conditions": [condition]}});
    let report = examine(&changed(&[not_ready(), served(), status]), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), [expected], "{:#?}", report.findings);
    let found = &report.findings[0];
    assert_eq!(found.evidence.contains("without a Pod"), expected == "OLM009", "{found:?}");
    assert_eq!(found.fix.contains("describe catalogsource"), expected == "OLM009", "{found:?}");
}

/// What such a Subscription has is the newest to it, and nothing of it is for the author.
#[rstest]
#[case::pinned("olm-rs.dev/pin", "is pinned to kettle.v0", "spec.startingCSV")]
#[case::a_range("olm-rs.dev/version-range", "has version-range \"<1\"", "change the range")]
#[case::of_another("olm-rs.dev/approve", "is pinned to kettle.v0", "ask the author")]
fn what_a_subscription_declares_and_cannot_be_met_is_declared_anew(
    #[case] annotation: &str,
    #[case] words: &str,
    #[case] expected: &str,
) {
    let message = format!(
        "No upgrade leads to what is accepted by Subscription kettle, which {words} in channel stable"
    );
    let mut observed = changed(&[
        subscription("ResolutionFailed", &message),
        json!({"kind": "PackageManifest", "status": {"channels": [
            {"name": "stable", "currentCSV": "kettle.v9", "entries": []}]}}),
    ]);
    let annotations = [(annotation.to_owned(), "true".to_owned())];
    observed.subscriptions[0].metadata.annotations = Some(annotations.into());
    let report = examine(&observed, false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), ["OLM031"], "{:#?}", report.findings);
    let fix = &report.findings[0].fix;
    assert!(fix.contains(expected), "{fix}");
}

/// Neither author nor operator of the namespace can repair what another namespace has.
#[test]
fn a_copy_in_the_way_is_for_whoever_installed_it() {
    let message = "namespace ns holds a copy of kettle.v1, which is installed in namespace kitchen";
    let report = examine(&changed(&[plan_retried(message)]), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), ["OLM016"], "{:#?}", report.findings);
    let found = &report.findings[0];
    assert_eq!((found.evidence.as_str(), found.class), (message, Class::Wait));
    assert!(found.fix.ends_with("the plan goes on when the copy is gone"), "{}", found.fix);
}

/// A change that was taken back has not failed; one that is still asked for has.
#[rstest]
#[case::let_go("AtLatestKnown", json!([]), &[])]
#[case::said_to_have_failed("AtLatestKnown", json!([{"type": "InstallPlanFailed", "status": "True"}]), &["OLM016"])]
#[case::still_asked_for("UpgradePending", json!([]), &["OLM016"])]
fn a_failed_plan_that_a_pin_lets_go_is_no_finding(
    #[case] state: &str,
    #[case] more: Value,
    #[case] expected: &[&str],
) {
    let held = json!({"type": "UpgradeHeld", "status": "True", "reason": "Pinned", "message": "m"});
    let conditions: Vec<Value> = more.as_array().unwrap().iter().cloned().chain([held]).collect();
    let held =
        json!({"kind": "Subscription", "status": {"state": state, "conditions": conditions}});
    let report = examine(&changed(&[plan_failed("no"), held]), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), expected, "{:#?}", report.findings);
}

/// Deleting the old version would be the wrong end of a failing upgrade.
#[test]
fn a_csv_that_makes_way_is_no_orphan() {
    let message = "clusterserviceversion pot.v1 exists and is not referenced by a subscription";
    let replaces = json!({"kind": "ClusterServiceVersion", "spec": {"replaces": "pot.v1"},
        "status": {"phase": "Pending", "reason": "RequirementsNotMet", "requirementStatus": [
            {"kind": "CustomResourceDefinition", "name": "a", "status": "NotPresent", "message": "m"}]}});
    let changes =
        [orphan(), subscription("ResolutionFailed", message), replaces, plan_failed("no")];
    let report = examine(&changed(&changes), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), ["OLM016"], "{:#?}", report.findings);
}

#[test]
fn a_status_alone_deletes_nothing() {
    let message = "clusterserviceversion kettle.v1 exists and is not referenced by a subscription";
    let report = examine(
        &changed(&[subscription("ResolutionFailed", message)]),
        false,
        NOW.parse().unwrap(),
    );
    assert_eq!(codes_of(&report), ["OLM031"], "the CSV belongs to the Subscription");
}

#[test]
fn a_dependency_that_is_required_is_for_its_operator() {
    let owns = json!({"kind": "ClusterServiceVersion", "metadata": {"name": "pot.v1", "namespace": "ns"},
        "spec": {"customresourcedefinitions": {"owned": [{"name": "pots.a.io", "kind": "Pot", "version": "v1"}]},
            "install": {"strategy": "deployment"}},
        "status": {"phase": "Succeeded"}});
    let requires = json!({"kind": "ClusterServiceVersion", "spec": {"customresourcedefinitions": {
        "required": [{"name": "pots.a.io", "kind": "Pot", "version": "v1"}]}}});
    let found = |changes: &[Value]| {
        codes_of(&examine(&changed(changes), false, NOW.parse().unwrap())).len()
    };
    assert_eq!(found(&[generated(), owns.clone()]), 1);
    assert_eq!(found(&[generated(), requires, owns.clone()]), 0);
}

/// A failure stays recorded while another Job is at it.
#[test]
fn what_is_being_unpacked_again_has_not_failed() {
    let mut one = subscription("BundleUnpackFailed", "the Job failed");
    let again = &subscription("BundleUnpacking", "")["status"]["conditions"][0];
    one["status"]["conditions"].as_array_mut().unwrap().push(again.clone());
    let report = examine(&changed(&[one]), false, NOW.parse().unwrap());
    assert_eq!(codes_of(&report), Vec::<&str>::new(), "{:#?}", report.findings);
}

#[test]
fn hostile_statuses_are_cut_to_a_line() {
    let message = format!("\u{1b}[2J\n{}", "constraints ".repeat(1_000_000));
    let report = examine(
        &changed(&[subscription("ResolutionFailed", &message)]),
        false,
        NOW.parse().unwrap(),
    );
    let evidence = &report.findings[0].evidence;
    assert!(evidence.chars().count() <= EVIDENCE + 1 && evidence.ends_with('…'), "{evidence}");
    assert!(!evidence.contains('\n'), "{evidence}");
}

#[test]
fn healthy_objects_give_no_finding() {
    for before in [false, true] {
        let report = examine(&changed(&[]), before, NOW.parse().unwrap());
        assert!(report.findings.is_empty() && report.skipped.is_empty(), "{report:?}");
        assert_eq!(
            report.checks.len(),
            codes().iter().filter(|it| before || !it.is_before).count()
        );
    }
    assert!(examine(&Observed::default(), true, NOW.parse().unwrap()).findings.is_empty());
}

#[test]
fn what_was_not_read_is_skipped_and_never_healthy() {
    let mut observed = changed(&[json!({"without": "OperatorGroup"})]);
    observed.unread.insert("operatorgroups", "forbidden".to_owned());
    let report = examine(&observed, false, NOW.parse().unwrap());
    let skipped: Vec<&str> = report.skipped.iter().map(|skipped| skipped.code).collect();
    assert_eq!(skipped, ["OLM002", "OLM003", "OLM004", "OLM031"]);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.skipped[0].cause, "operatorgroups: forbidden");
}

#[test]
fn every_code_has_a_number_of_its_own() {
    let numbers: Vec<&str> = codes().iter().map(|code| code.id).collect();
    let expected: Vec<String> =
        (1..=numbers.len()).map(|number| format!("OLM{number:03}")).collect();
    assert_eq!(numbers, expected);
    assert!(code("olm012").is_some() && code("OLM999").is_none());
}

/// Namespaces, CSVs and Subscriptions by the thousand, all of them unhealthy.
#[test]
fn thousands_of_objects_take_no_time() {
    let mut objects = Vec::new();
    for number in 0..3_000 {
        let meta = json!({"name": format!("kettle.v{number}"), "namespace": "ns"});
        objects.push(json!({"kind": "ClusterServiceVersion", "metadata": meta,
            "spec": {"replaces": format!("kettle.v{}", number + 1), "install": {"strategy": "deployment"}},
            "status": {"phase": "Failed", "reason": "ComponentUnhealthy"}}));
        objects.push(json!({"kind": "Subscription", "metadata": meta,
            "spec": {"name": "kettle", "source": "none", "sourceNamespace": "ns"}}));
    }
    let report = examine(&observed(&objects), false, NOW.parse().unwrap());
    assert_eq!(report.findings.len(), 1 + 3_000 + 3_000, "no group, no catalog, failed");
}
