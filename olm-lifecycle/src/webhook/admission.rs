//! The configurations of admission webhooks (spec olm-operator 3.8, items 2, 3 and 5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::ByteString;
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::{ClusterServiceVersion, WebhookDescription, webhook_type};
use olm_types::{hash, labels, owner};
use serde_json::{Map, Value, json};

use super::configuration::Configuration;
use super::deployment_of;
use crate::certificates::{ServingCsv, ServingNames, ServingWrites, webhook_port};
use crate::writes::resource_of;

/// Shape of a description, for Go-compatible JSON.
const DESCRIPTION_SHAPE: &str = "operators/v1alpha1.WebhookDescription";

/// The writes of all admission webhooks, none while no single group says for which namespaces they
/// are called; `trusted` has whom the API server is to trust by the name of the Deployment. Every configuration that belongs to a description is brought up to date; one
/// is created where there is none.
pub fn writes(observed: &ServingCsv<'_>, trusted: &BTreeMap<String, Vec<u8>>) -> ServingWrites {
    let mut writes = ServingWrites::default();
    let Some(namespaces) = namespaces(observed) else { return writes };
    for webhook in &observed.csv.spec.webhookdefinitions {
        let trusted = trusted.get(deployment_of(webhook));
        let trusted = trusted.map(Vec::as_slice).unwrap_or_default();
        let desired = Desired::new(observed, webhook, &namespaces, trusted);
        match webhook.type_.as_str() {
            webhook_type::VALIDATING => desired.write(&observed.serving.validating, &mut writes),
            webhook_type::MUTATING => desired.write(&observed.serving.mutating, &mut writes),
            _ => {}
        }
    }
    writes
}

/// The deletions of configurations whose description is gone. One that does not say which
/// description it belongs to was not made here and stays; in v0 it fails the CSV for ever.
pub fn removed(observed: &ServingCsv<'_>) -> Vec<Effect> {
    let mut all = strays(observed, &observed.serving.validating);
    all.extend(strays(observed, &observed.serving.mutating));
    all
}

/// Hash of a description, by which a configuration is recognised as up to date.
pub(super) fn description_hash(webhook: &WebhookDescription) -> String {
    let value = serde_json::to_value(webhook).unwrap_or_default();
    let text = hash::go_json::encode(DESCRIPTION_SHAPE, &value);
    // A typed description always has the shape of one.
    text.map(|text| hash::deep_hash(&text)).unwrap_or_default()
}

fn strays<K: Configuration>(observed: &ServingCsv<'_>, all: &[Arc<K>]) -> Vec<Effect> {
    let webhooks = observed.csv.spec.webhookdefinitions.iter();
    let named: BTreeSet<&str> = webhooks
        .filter(|webhook| webhook.type_ == K::TYPE)
        .map(|webhook| webhook.generate_name.as_str())
        .collect();
    let is_stray = |found: &&Arc<K>| {
        let description = found.label(labels::WEBHOOK_GENERATE_NAME);
        description.is_some_and(|name| !named.contains(name))
            && found.meta().deletion_timestamp.is_none()
    };
    all.iter().filter(is_stray).map(|found| delete(found.as_ref())).collect()
}

fn delete<K: Configuration>(configuration: &K) -> Effect {
    let name = configuration.meta().name.as_deref().unwrap_or_default();
    let action = Action::Delete {
        uid: configuration.meta().uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Effect::new(Target::cluster(resource_of::<K>(), name), action)
}

/// What a configuration is to say.
struct Desired<'a> {
    description: &'a WebhookDescription,
    labels: BTreeMap<String, String>,
    webhook: Value,
}

impl<'a> Desired<'a> {
    fn new(
        observed: &ServingCsv<'_>,
        description: &'a WebhookDescription,
        namespaces: &Value,
        trusted: &[u8],
    ) -> Self {
        let kind = ClusterServiceVersion::KIND;
        let mut all = owner::owner_labels(observed.name(), observed.namespace(), kind);
        let name = description.generate_name.clone();
        all.insert(labels::WEBHOOK_GENERATE_NAME.to_owned(), name);
        all.insert(labels::WEBHOOK_HASH.to_owned(), description_hash(description));
        all.insert(labels::MANAGED.to_owned(), labels::MANAGED_VALUE.to_owned());
        let webhook = webhook(observed, description, namespaces, trusted);
        Self { description, labels: all, webhook }
    }

    fn write<K: Configuration>(&self, present: &[Arc<K>], writes: &mut ServingWrites) {
        let name = self.description.generate_name.as_str();
        let mut own = present
            .iter()
            .filter(|found| found.label(labels::WEBHOOK_GENERATE_NAME) == Some(name))
            .peekable();
        if own.peek().is_none() {
            writes.creations.push(self.create::<K>());
        }
        writes.updates.extend(own.map(|found| self.update(found.as_ref())));
    }

    fn create<K: Configuration>(&self) -> Effect {
        let target = Target::cluster(resource_of::<K>(), "");
        let object = json!({
            "apiVersion": target.resource.api_version(),
            "kind": target.resource.kind,
            "metadata": {
                "generateName": format!("{}-", self.description.generate_name),
                "labels": self.labels,
            },
            "webhooks": [self.webhook],
        });
        Effect::create(target, object)
    }

    fn update<K: Configuration>(&self, present: &K) -> Effect {
        let name = present.meta().name.as_deref().unwrap_or_default();
        let patch = json!({"metadata": {"labels": self.labels}, "webhooks": [self.webhook]});
        let present = serde_json::to_value(present).ok();
        Effect::merge(Target::cluster(resource_of::<K>(), name), patch, present)
    }
}

fn webhook(
    observed: &ServingCsv<'_>,
    description: &WebhookDescription,
    namespaces: &Value,
    trusted: &[u8],
) -> Value {
    let mut webhook = Map::new();
    let mut put = |field: &str, value: Value| {
        if !value.is_null() {
            webhook.insert(field.to_owned(), value);
        }
    };
    put("name", json!(description.generate_name));
    if !description.rules.is_empty() {
        put("rules", json!(description.rules));
    }
    put("failurePolicy", json!(description.failure_policy));
    put("matchPolicy", json!(description.match_policy));
    put("objectSelector", json!(description.object_selector));
    put("namespaceSelector", namespaces.clone());
    put("sideEffects", json!(description.side_effects));
    put("timeoutSeconds", json!(description.timeout_seconds));
    put("admissionReviewVersions", json!(description.admission_review_versions));
    if description.type_ == webhook_type::MUTATING {
        put("reinvocationPolicy", json!(description.reinvocation_policy));
    }
    put("clientConfig", client(observed, description, trusted));
    Value::Object(webhook)
}

fn client(observed: &ServingCsv<'_>, description: &WebhookDescription, trusted: &[u8]) -> Value {
    let names = ServingNames::new(observed.namespace(), deployment_of(description));
    let mut service = json!({
        "name": names.service(),
        "namespace": observed.namespace(),
        "port": webhook_port(description),
    });
    if let Some(path) = &description.webhook_path {
        service["path"] = json!(path);
    }
    json!({"service": service, "caBundle": ByteString(trusted.to_vec())})
}

/// The namespaces of the only OperatorGroup: those that it names carry its label; else its selector;
/// without either all namespaces. Nothing when it gives none.
///
/// A selector is a tenant's own word, and would fit namespaces that come later: where he is not
/// trusted, the label says what his group was given.
fn namespaces(observed: &ServingCsv<'_>) -> Option<Value> {
    let groups = observed.own_groups();
    let [group] = groups.as_slice() else { return None };
    let targets = observed.namespaces.targets(group).ok()?;
    let own_word = observed.trust.namespace(group.metadata.namespace.as_deref());
    if group.spec.target_namespaces.is_empty() && (own_word || targets.is_all()) {
        return Some(json!(group.spec.selector));
    }
    let uid = group.metadata.uid.as_deref().unwrap_or_default();
    Some(json!({"matchLabels": {labels::operator_group_uid(uid): ""}}))
}
