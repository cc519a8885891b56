//! Spec olm-operator 3.8 and 8.11.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::ByteString;
use olm_effect::Action;
use olm_types::api::{ClusterServiceVersion, WebhookDescription};
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::certificates::tests::fixtures::{days, mk_authority, mk_csv, now};
use crate::csv::Observed;
use crate::tenancy::TenantPolicy;
use olm_opgroup::LiveNamespaces;

fn mk<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

fn mk_webhook(kind: &str) -> Value {
    json!({
        "generateName": "w.example.com", "type": kind, "deploymentName": "dep",
        "sideEffects": "None", "admissionReviewVersions": ["v1"],
    })
}

fn csv_with(webhooks: &[Value]) -> ClusterServiceVersion {
    let mut csv = mk_csv();
    csv.spec.webhookdefinitions = webhooks.iter().cloned().map(mk).collect();
    csv
}

/// A CSV that watches all namespaces and owns the definition `things.g`, which is there.
fn converting(change: impl FnOnce(&mut Value)) -> Observed {
    let mut webhook = mk_webhook("ConversionWebhook");
    webhook["conversionCRDs"] = json!(["things.g"]);
    let mut csv = csv_with(&[webhook]);
    csv.spec.customresourcedefinitions =
        mk(json!({"owned": [{"name": "things.g", "version": "v1", "kind": "T"}]}));
    csv.spec.install_modes = mk(json!([
        {"type": "AllNamespaces", "supported": true}, {"type": "OwnNamespace", "supported": false},
    ]));
    let mut crd = json!({
        "metadata": {"name": "things.g"},
        "spec": {"group": "g", "scope": "Namespaced", "names": {"plural": "things", "kind": "T"}, "versions": []},
    });
    change(&mut crd["spec"]);
    Observed {
        csv: Arc::new(csv),
        crds: BTreeMap::from([("things.g".to_owned(), mk(crd))]),
        ..Observed::default()
    }
}

fn trusted() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([("dep".to_owned(), b"pem".to_vec())])
}

#[rstest]
#[case::all_groups(json!({"apiGroups": ["*"]}), "webhook rules cannot include all groups")]
#[case::olm(json!({"apiGroups": ["apps", "operators.coreos.com"]}),
    "webhook rules cannot include the OLM group")]
#[case::all_configurations(
    json!({"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"]}),
    "webhook rules cannot include MutatingWebhookConfiguration or ValidatingWebhookConfiguration \
     resources")]
#[case::kinds(
    json!({"apiGroups": ["admissionregistration.k8s.io"],
           "resources": ["ValidatingWebhookConfiguration"]}),
    "webhook rules cannot include MutatingWebhookConfiguration or ValidatingWebhookConfiguration \
     resources")]
#[case::plurals(
    json!({"apiGroups": ["admissionregistration.k8s.io"],
           "resources": ["mutatingwebhookconfigurations/status"]}),
    "webhook rules cannot include MutatingWebhookConfiguration or ValidatingWebhookConfiguration \
     resources")]
#[case::others_of_the_group(
    json!({"apiGroups": ["admissionregistration.k8s.io"],
           "resources": ["validatingadmissionpolicies"]}), "")]
#[case::all_resources_of_a_group(json!({"apiGroups": ["apps"], "resources": ["*/*"]}), "")]
#[case::nothing(json!({}), "")]
fn rules_are_guarded(#[case] rule: Value, #[case] expected: &str) {
    let mut webhook = mk_webhook("ValidatingAdmissionWebhook");
    webhook["rules"] = json!([rule]);
    let found = check_descriptions(&csv_with(&[webhook])).err();
    assert_eq!(found.map(|error| error.to_string()).unwrap_or_default(), expected);
}

#[rstest]
#[case::repeated(&[mk_webhook("ValidatingAdmissionWebhook"), mk_webhook("ConversionWebhook")],
    "CSV contains repeated WebhookDescription name")]
#[case::no_deployment(
    &[json!({"generateName": "w", "type": "ConversionWebhook", "deploymentName": "other"})],
    "spec.webhookdefinitions[w].deploymentName: the install strategy has no deployment \"other\"; \
     name one of spec.install.spec.deployments")]
#[case::unknown_type(&[mk_webhook("Webhook")],
    "spec.webhookdefinitions[w.example.com].type: there is no webhook of type \"Webhook\"; write \
     ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook")]
fn descriptions_are_checked(#[case] webhooks: &[Value], #[case] expected: &str) {
    let error = check_descriptions(&csv_with(webhooks)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[rstest]
#[case::all_namespaces(json!({}), json!(null))]
#[case::selector(json!({"selector": {"matchLabels": {"a": "b"}}}),
    json!({"matchLabels": {"a": "b"}}))]
#[case::names(json!({"targetNamespaces": ["ns"], "selector": {"matchLabels": {"a": "b"}}}),
    json!({"matchLabels": {"olm.operatorgroup.uid/u-1": ""}}))]
fn a_webhook_sees_the_namespaces_of_its_group(#[case] spec: Value, #[case] expected: Value) {
    let observed = observed_with(&mk_webhook("ValidatingAdmissionWebhook"), spec);
    assert_eq!(called_for(&observed), Some(expected));
}

/// A CSV with a webhook, in a namespace with one group.
fn observed_with(webhook: &Value, spec: Value) -> Observed {
    let group = json!({"metadata": {"name": "og", "namespace": "ns", "uid": "u-1"}, "spec": spec});
    Observed {
        csv: Arc::new(csv_with(std::slice::from_ref(webhook))),
        operator_groups: vec![mk(group)],
        ..Observed::default()
    }
}

/// The namespaces for which the webhook is called; `None` when none is written.
fn called_for(observed: &Observed) -> Option<Value> {
    let created = admission_writes(&observed.serving_csv(), &trusted()).creations;
    let Action::Create(object) = &created.first()?.action else { panic!() };
    Some(object["webhooks"][0]["namespaceSelector"].clone())
}

/// A tenant's selector would fit namespaces that come later.
#[rstest]
#[case::a_tenant(false, json!({"matchLabels": {"olm.operatorgroup.uid/u-1": ""}}))]
#[case::who_is_trusted(true, json!({"matchLabels": {"a": "b"}}))]
fn a_selector_counts_where_it_is_trusted(#[case] trusted: bool, #[case] expected: Value) {
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}});
    let mut observed = observed_with(&mk_webhook("ValidatingAdmissionWebhook"), spec);
    observed.trust.policy = TenantPolicy::Strict;
    observed.trust.namespaces.extend(trusted.then(|| "ns".to_owned()));
    assert_eq!(called_for(&observed), Some(expected));
}

#[rstest]
#[case::no_group(|it: &mut Observed| it.operator_groups.clear())]
#[case::several_groups(|it: &mut Observed| it.operator_groups.extend(it.operator_groups.clone()))]
#[case::a_group_that_goes(|it: &mut Observed| it.operator_groups = vec![mk(json!({
    "metadata": {"name": "og", "namespace": "ns", "deletionTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {"targetNamespaces": ["ns"]}, "status": {"namespaces": ["ns"]},
}))])]
#[case::targets_that_are_not_allowed(|it: &mut Observed| {
    it.namespaces = LiveNamespaces::new(TenantPolicy::Strict, Vec::new());
})]
fn without_targets_there_is_no_webhook(#[case] change: fn(&mut Observed)) {
    let mut observed = observed_with(&mk_webhook("ValidatingAdmissionWebhook"), json!({}));
    assert_eq!(called_for(&observed), Some(json!(null)));
    change(&mut observed);
    assert_eq!(called_for(&observed), None);
}

/// The description of cert-manager 1.4.0 in the community catalog, and what v0 makes of it.
#[rstest]
#[case("ValidatingAdmissionWebhook", "validate", "6utrst00yyB3crSuEA75JSXBnB7hukbpx7WonW")]
#[case("MutatingAdmissionWebhook", "mutate", "7INVO3ePOjJB4oxSdiQjscB2KM1gJbEgv7tTMG")]
fn configurations_are_those_of_v0(#[case] kind: &str, #[case] verb: &str, #[case] hash: &str) {
    let webhook = json!({
        "type": kind, "admissionReviewVersions": ["v1", "v1beta1"], "containerPort": 443,
        "targetPort": 10250, "deploymentName": "dep", "failurePolicy": "Fail",
        "generateName": format!("{verb}.webhooks.cert-manager.io"),
        "rules": [{
            "apiGroups": ["cert-manager.io", "acme.cert-manager.io"], "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE"], "resources": ["*/*"],
        }],
        "sideEffects": "None", "timeoutSeconds": 10, "webhookPath": format!("/{verb}"),
    });
    let mut original = webhook.clone();
    original["deploymentName"] = json!("cert-manager-webhook");
    assert_eq!(description_hash(&mk(original)), hash);
    let observed = observed_with(&webhook, json!({}));
    let created = admission_writes(&observed.serving_csv(), &trusted()).creations;
    let Action::Create(object) = &created[0].action else { panic!() };
    insta::assert_json_snapshot!(format!("configuration_{verb}"), object);
}

fn mk_configuration(generate_name: Option<&str>, bundle: Option<&str>) -> Value {
    let mut labels = json!({});
    if let Some(name) = generate_name {
        labels["olm.webhook-description-generate-name"] = json!(name);
    }
    let client = json!({"caBundle": bundle.map(|text| ByteString(text.as_bytes().to_vec()))});
    json!({
        "metadata": {"name": "found", "uid": "u", "labels": labels},
        "webhooks": [{"name": "w", "clientConfig": client, "sideEffects": "None",
                      "admissionReviewVersions": []}],
    })
}

#[rstest]
#[case::none(vec![], None)]
#[case::of_another(vec![mk_configuration(Some("x"), Some("pem"))], None)]
#[case::without_bundle(vec![mk_configuration(Some("w.example.com"), None)], None)]
#[case::without_hash(vec![mk_configuration(Some("w.example.com"), Some("pem"))], Some("pem"))]
fn the_authority_is_that_of_the_first_configuration(
    #[case] found: Vec<Value>,
    #[case] expected: Option<&str>,
    #[values("ValidatingAdmissionWebhook", "MutatingAdmissionWebhook")] kind: &str,
) {
    let webhook: WebhookDescription = mk(mk_webhook(kind));
    let mut observed = Observed { csv: Arc::new(mk_csv()), ..Observed::default() };
    match kind {
        "ValidatingAdmissionWebhook" => {
            observed.serving.validating = found.into_iter().map(mk).collect();
        }
        _ => observed.serving.mutating = found.into_iter().map(mk).collect(),
    }
    assert_eq!(authority_of(&observed.serving_csv(), &webhook), expected.map(str::as_bytes));
}

#[rstest]
#[case::bundle(json!({"caBundle": ByteString(b"pem".to_vec())}), Some("pem"))]
#[case::no_bundle(json!({}), None)]
fn the_authority_of_a_conversion_is_that_of_its_definition(
    #[case] client: Value,
    #[case] expected: Option<&str>,
) {
    let conversion = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": client, "conversionReviewVersions": [],
    }});
    let observed = converting(|spec| spec["conversion"] = conversion);
    let webhook = &observed.csv.spec.webhookdefinitions[0];
    assert_eq!(authority_of(&observed.serving_csv(), webhook), expected.map(str::as_bytes));
    let state = match expected {
        Some(_) => Availability::Available,
        None => Availability::Failed("conversionWebhook not ready".to_owned()),
    };
    assert_eq!(availability(&observed.serving_csv()), state);
}

#[test]
fn what_is_there_is_updated_and_what_is_not_described_goes() {
    let mut observed = observed_with(&mk_webhook("ValidatingAdmissionWebhook"), json!({}));
    let configurations =
        [Some("w.example.com"), Some("old"), None].map(|name| mk(mk_configuration(name, None)));
    observed.serving.validating = configurations.to_vec();
    let writes = admission_writes(&observed.serving_csv(), &trusted());
    assert_eq!((writes.updates.len(), writes.creations.len()), (1, 0));
    let gone = removed(&observed.serving_csv());
    assert_eq!(gone.len(), 1, "one that says nothing of a description was made by another owner");
    assert_eq!(
        availability(&observed.serving_csv()),
        Availability::Missing,
        "its hash is not there yet"
    );
    let Action::MergePatch { patch, .. } = &writes.updates[0].action else { panic!() };
    let mut updated = mk_configuration(None, None);
    updated["metadata"]["labels"] = patch["metadata"]["labels"].clone();
    observed.serving.validating = vec![mk(updated)];
    assert_eq!(availability(&observed.serving_csv()), Availability::Available);
}

#[test]
fn a_definition_calls_its_conversion_webhook() {
    let observed = converting(|_| {});
    let writes = conversion_writes(&observed.serving_csv(), &trusted()).unwrap();
    let Action::MergePatch { patch, .. } = &writes[0].action else { panic!() };
    insta::assert_json_snapshot!(patch);
}

#[rstest]
#[case::modes(
    |o: &mut Observed| edit(o, |csv| csv.spec.install_modes[1].supported = true),
    "unable to manage conversion webhook: CSVs with conversion webhooks must support only \
     AllNamespaces")]
#[case::not_all_namespaces(
    |o: &mut Observed| edit(o, |csv| csv.spec.install_modes[0].supported = false),
    "unable to manage conversion webhook: CSVs with conversion webhooks must support only \
     AllNamespaces")]
#[case::no_definition(
    |o: &mut Observed| edit(o, |csv| csv.spec.webhookdefinitions[0].conversion_crds.clear()),
    "unable to manager conversion webhook: conversion webhook must have at least one CRD specified")]
#[case::missing(|o: &mut Observed| o.crds.clear(),
    "unable to get CRD things.g specified in Conversion Webhook: \
     customresourcedefinitions.apiextensions.k8s.io \"things.g\" not found")]
#[case::not_owned(|o: &mut Observed| edit(o, |csv| csv.spec.customresourcedefinitions = None),
    "csv csv does not own CRD things.g")]
fn conversion_has_conditions(#[case] change: fn(&mut Observed), #[case] expected: &str) {
    let mut observed = converting(|_| {});
    change(&mut observed);
    let error = conversion_writes(&observed.serving_csv(), &trusted()).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

fn edit(observed: &mut Observed, change: impl FnOnce(&mut ClusterServiceVersion)) {
    let mut csv = observed.csv.as_ref().clone();
    change(&mut csv);
    observed.csv = Arc::new(csv);
}

/// The definition of opentelemetry-operator 0.27.0 holds a line feed there.
#[rstest]
#[case::line_feed(json!({"caBundle": "Cg=="}), 1)]
#[case::nothing(json!({}), 0)]
#[case::certificate(json!({"caBundle": ByteString(mk_authority(now(), now() + days(1)).0.into_bytes())}), 0)]
fn placeholders_for_certificates_are_taken_out(#[case] client: Value, #[case] count: usize) {
    let conversion = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": client, "conversionReviewVersions": ["v1"],
    }});
    let observed = converting(|spec| spec["conversion"] = conversion);
    let writes = placeholders(&observed.serving_csv());
    assert_eq!(writes.len(), count);
    for write in writes {
        let Action::MergePatch { patch, .. } = &write.action else { panic!() };
        let expected =
            json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": null}}}}});
        assert_eq!(*patch, expected);
    }
}

#[test]
fn a_definition_that_keeps_unknown_fields_is_not_converted() {
    let observed = converting(|spec| spec["preserveUnknownFields"] = json!(true));
    let error = conversion_writes(&observed.serving_csv(), &trusted()).unwrap_err();
    assert_eq!(error, ConversionError::PreservesUnknownFields);
}

#[test]
fn no_listed_modes_is_as_good_as_all_namespaces() {
    let mut observed = converting(|_| {});
    edit(&mut observed, |csv| csv.spec.install_modes.clear());
    assert!(conversion_writes(&observed.serving_csv(), &trusted()).is_ok());
}

#[rstest]
#[case::described("dep-service", false, false)]
#[case::going("dep-service", true, true)]
#[case::of_another_owner("other-service", true, false)]
fn definitions_stop_calling_what_goes(
    #[case] service: &str,
    #[case] is_going: bool,
    #[case] expected: bool,
) {
    let client = json!({"service": {"name": service, "namespace": "ns"}});
    let conversion = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": client, "conversionReviewVersions": [],
    }});
    let mut observed = converting(|spec| spec["conversion"] = conversion);
    assert_eq!(!released(&observed.serving_csv(), is_going).is_empty(), expected);
    edit(&mut observed, |csv| csv.spec.webhookdefinitions.clear());
    let is_ours = service == "dep-service";
    assert_eq!(
        !released(&observed.serving_csv(), false).is_empty(),
        is_ours,
        "nothing describes it any more"
    );
}
