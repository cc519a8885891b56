//! CSVs of tenants under the strict policy (docs/security.md).

use super::fixtures::*;
use super::world::World;
use crate::csv::{Decision, Step, decide};
use crate::tenancy::{Attestor, TenantPolicy, Trust};
use olm_opgroup::LiveNamespaces;
use olm_types::annotations::ATTESTATION;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use rstest::rstest;
use serde_json::{Value, json};

fn strict() -> Trust {
    let policy = TenantPolicy::Strict;
    Trust { policy, attestor: Attestor::new(b"key"), ..Trust::default() }
}

/// What is decided about `csv` under a policy.
fn judge(world: &World, trust: &Trust) -> Decision {
    let mut observed = world.observe("csv");
    observed.trust = trust.clone();
    match decide(&observed, world.now) {
        Step::Decided(decision) => decision,
        Step::Need(request) => panic!("{request:?}"),
    }
}

fn mk_hooked(phase: &str) -> Value {
    let mut csv = mk_csv_in("csv", phase, "AllRequirementsMet");
    csv["spec"]["webhookdefinitions"] = json!([{
        "generateName": "w.example.com", "type": "ValidatingAdmissionWebhook",
        "deploymentName": "csv-dep", "containerPort": 443, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }]);
    csv
}

fn is_stopped(decision: &Decision) -> bool {
    let phase = decision.status.phase.as_ref();
    phase.is_some_and(|change| {
        change.phase == CsvPhase::Pending && change.reason == "NotAllowedByTenantPolicy"
    })
}

#[rstest]
#[case::pending("Pending", true)]
#[case::failed("Failed", true)]
#[case::succeeded("Succeeded", true)]
#[case::making_way("Replacing", false)]
fn a_webhook_of_a_tenant_is_not_installed(#[case] phase: &str, #[case] stopped: bool) {
    let mut world = World::new();
    put_installed(&mut world, mk_hooked(phase));
    let decision = judge(&world, &strict());
    assert_eq!(is_stopped(&decision), stopped, "{decision:?}");
    if let Some(change) = decision.status.phase.filter(|_| stopped) {
        assert!(change.message.starts_with("ValidatingAdmissionWebhook w.example.com would be"));
        assert!(change.message.ends_with("OperatorGroup in ns"), "{}", change.message);
        assert!(decision.effects.is_empty());
    }
}

#[test]
fn what_is_trusted_goes_on() {
    let mut world = World::new();
    world.put(mk_hooked("Pending"));
    assert!(!is_stopped(&judge(&world, &Trust::default())), "with v0's policy");
    let trusted = Trust { namespaces: [NS.to_owned()].into(), ..strict() };
    assert!(!is_stopped(&judge(&world, &trusted)), "in a trusted namespace");
    let csv: ClusterServiceVersion = serde_json::from_value(mk_hooked("Pending")).unwrap();
    let mark = strict().attestor.csv_mark(NS, &csv).unwrap();
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["metadata"]["annotations"][ATTESTATION.name] = json!(mark);
    });
    assert!(!is_stopped(&judge(&world, &strict())), "from a global catalog");
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["spec"]["webhookdefinitions"][0]["generateName"] = json!("other.example.com");
    });
    let decision = judge(&world, &strict());
    assert!(is_stopped(&decision), "changed afterwards");
    let message = decision.status.phase.unwrap().message;
    assert!(message.contains("OperatorGroup in ns. Its annotation "), "{message}");
}

/// As when the operators run in different namespaces, each with a Secret of its own.
#[test]
fn a_mark_of_another_key_is_reported() {
    let mut world = World::new();
    world.put(mk_hooked("Pending"));
    let csv: ClusterServiceVersion = serde_json::from_value(mk_hooked("Pending")).unwrap();
    let mark = Attestor::new(b"another key").csv_mark(NS, &csv).unwrap();
    world.edit("ClusterServiceVersion", "csv", |csv| {
        csv["metadata"]["annotations"][ATTESTATION.name] = json!(mark);
    });
    let message = judge(&world, &strict()).status.phase.unwrap().message;
    assert!(message.contains("different --namespace"), "{message}");
}

#[test]
fn an_account_is_left_to_the_api_server() {
    let mut world = World::new();
    world.put(mk_hooked("Pending"));
    world.edit("OperatorGroup", "default", |group| {
        group["spec"]["serviceAccountName"] = json!("sa");
        group["status"]["serviceAccountRef"] = json!({"namespace": NS, "name": "sa"});
    });
    assert!(!is_stopped(&judge(&world, &strict())));
}

#[test]
fn who_owns_a_definition_by_his_own_word_gives_no_rights_to_users() {
    let world = with_api();
    assert_eq!(judge(&world, &Trust::default()).effects.len(), 4);
    assert!(judge(&world, &strict()).effects.is_empty());
}

#[test]
fn who_owns_a_definition_by_his_own_word_changes_nothing_in_it() {
    let mut world = World::new();
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": "K.v1.g1"});
    });
    let mut csv = mk_csv_in("csv", "Pending", "RequirementsUnknown");
    own(&mut csv, &["c1.g1"]);
    world.put(csv);
    let mut crd = mk_crd("c1.g1");
    crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"caBundle": "Cg=="}, "conversionReviewVersions": ["v1"],
    }});
    world.put(crd);
    let written = |trust: &Trust| {
        let effects = judge(&world, trust).effects;
        effects.iter().any(|effect| effect.target.name == "c1.g1")
    };
    assert!(written(&Trust::default()), "a placeholder goes");
    assert!(!written(&strict()), "of a tenant's CSV");
}

#[test]
fn a_role_of_another_owner_with_the_name_of_an_api_role_is_left_alone() {
    let mut world = with_api();
    world.put(json!({
        "kind": "ClusterRole", "rules": [],
        "metadata": {"name": "as.g.io-v1-edit", "labels": {"mine": "yes"}},
    }));
    let decision = judge(&world, &Trust::default());
    let written: Vec<&str> = decision.effects.iter().map(|it| it.target.name.as_str()).collect();
    assert_eq!(written, ["view", "crdview", "admin"].map(|end| format!("as.g.io-v1-{end}")));
}

#[rstest]
#[case::a_tenant_claims_it(strict(), false)]
#[case::under_v0(Trust::default(), true)]
fn a_claim_of_a_tenant_does_not_stop_a_trusted_operator(
    #[case] mut trust: Trust,
    #[case] conflict: bool,
) {
    let mut world = with_api();
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = Value::Null;
    });
    let mut claim = mk_group("claim", json!({"staticProvidedAPIs": true}), &[NS]);
    claim["metadata"]["namespace"] = json!("tenant");
    claim["metadata"]["annotations"] = json!({"olm.providedAPIs": "K.v1.g.io"});
    world.put(claim);
    trust.namespaces = [NS.to_owned()].into();
    let change = judge(&world, &trust).status.phase;
    let reason = change.map(|change| change.reason);
    assert_eq!(reason == Some("InterOperatorGroupOwnerConflict"), conflict, "{reason:?}");
}

#[test]
fn a_member_of_a_group_with_refused_targets_says_so() {
    let mut world = World::new();
    world.put(mk_csv_in("csv", "Succeeded", "InstallSucceeded"));
    // The status says that it has them, and nothing of a refusal.
    let asked = json!({"targetNamespaces": ["foreign"]});
    world.put(mk_group("default", asked, &["foreign"]));
    let change = judge_strictly(&world).status.phase.unwrap();
    assert_eq!((change.phase, change.reason), (CsvPhase::Failed, "NoTargetNamespaces"));
    assert!(change.message.starts_with("namespace ns may not target foreign: "));
    world.put(mk_csv_in("csv", "Failed", "NoTargetNamespaces"));
    world.put(mk_group("default", json!({"targetNamespaces": [NS]}), &[NS]));
    assert_eq!(judge_strictly(&world).status.phase.map(|it| it.phase), Some(CsvPhase::Pending));
}

/// What is decided about `csv` when Namespaces say which targets are allowed.
fn judge_strictly(world: &World) -> Decision {
    let mut observed = world.observe("csv");
    observed.namespaces = LiveNamespaces::new(TenantPolicy::Strict, Vec::new());
    match decide(&observed, world.now) {
        Step::Decided(decision) => decision,
        Step::Need(request) => panic!("{request:?}"),
    }
}

#[rstest]
#[case::nothing_is_selected(json!([]))]
#[case::all(json!([""]))]
#[case::another_owner(json!(["victim"]))]
fn a_group_that_goes_has_no_members(#[case] listed: Value) {
    let mut world = World::new();
    world.put(mk_csv_in("csv", "Succeeded", "InstallSucceeded"));
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        group["status"]["namespaces"] = listed;
    });
    let state = world.next("csv");
    assert!(state.starts_with("Failed/NoOperatorGroup OperatorGroup default is being"), "{state}");
}

#[rstest]
#[case::of_everything(json!([""]))]
#[case::of_another_owner(json!(["victim"]))]
fn a_group_with_a_malformed_selector_changes_nothing(#[case] listed: Value) {
    let mut world = World::new();
    world.put(mk_csv_in("csv", "Succeeded", "InstallSucceeded"));
    let selector = json!({"matchExpressions": [{"key": "k", "operator": "Like"}]});
    world.put(mk_group("default", json!({"selector": selector}), &[]));
    world.edit("OperatorGroup", "default", |group| group["status"]["namespaces"] = listed);
    let decision = world.sync("csv");
    assert!(decision.effects.is_empty() && decision.status.phase.is_none(), "{decision:?}");
    assert!(decision.notes[0].contains("is not a valid label selector operator"));
}

#[test]
fn a_list_that_is_not_what_the_group_gives_is_waited_for() {
    let mut world = World::new();
    world.put(mk_csv_in("csv", "Succeeded", "InstallSucceeded"));
    world.put(mk_group("default", json!({"targetNamespaces": [NS]}), &[""]));
    let decision = world.sync("csv");
    assert!(decision.effects.is_empty() && decision.status.phase.is_none(), "{decision:?}");
}

#[test]
fn who_says_that_his_csv_is_a_copy_gets_nothing_for_it() {
    let mut world = World::new();
    world.put(mk_csv_in("csv", "InstallReady", "Copied"));
    let decision = judge(&world, &strict());
    assert!(decision.effects.is_empty() && decision.status.phase.is_none(), "{decision:?}");
}

/// Neither phase is one in which a webhook that asks for too much is installed.
#[rstest]
#[case::pending("Pending")]
#[case::forged("InstallReady")]
fn webhooks_are_looked_at_before_every_install(#[case] phase: &str) {
    let mut world = World::new();
    let mut csv = mk_hooked(phase);
    csv["spec"]["webhookdefinitions"][0]["rules"] = json!([{"apiGroups": ["*"]}]);
    put_installed(&mut world, csv);
    let change = judge(&world, &Trust::default()).status.phase.unwrap();
    assert_eq!((change.phase, change.reason), (CsvPhase::Failed, "InvalidWebhookDescription"));
}
