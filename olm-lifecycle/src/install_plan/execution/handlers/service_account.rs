//! ServiceAccounts: what exists is merged, because others (and other steps) use it too.

use std::collections::BTreeSet;

use olm_effect::{Action, Resource, Target};
use olm_types::api::{Step, StepResource};
use serde_json::{Map, Value};

use super::draft::{Draft, named_csvs, object_target, patch};
use super::{Scope, StepError, StepHandler, StepMessages};

/// Fields that go when a later step lacks them: v0 writes the whole account.
const EXACT: &[&str] = &["automountServiceAccountToken", "imagePullSecrets"];

/// Handler of ServiceAccount steps.
pub(super) struct ServiceAccounts;

const MESSAGES: StepMessages = StepMessages {
    create: "error creating service account: ",
    read: "error getting older version of service account: ",
    update: "error updating service account: ",
    owner: "service account: ",
};

fn resource() -> Resource {
    Resource::new("", "v1", "ServiceAccount", "serviceaccounts")
}

impl StepHandler for ServiceAccounts {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "ServiceAccount" && resource.group.is_empty()
    }

    fn messages(&self) -> StepMessages {
        MESSAGES
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource(), Some(&scope.namespace), step, desired)
    }

    fn reads(&self, scope: &Scope, _: &Step, manifest: &Value) -> Vec<Target> {
        named_csvs(scope, manifest)
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let draft =
            Draft::new(step, &resource(), MESSAGES, manifest)?.place(Some(&scope.namespace))?;
        Ok(draft.refresh_owners(scope)?.finish())
    }

    fn on_existing(&self, desired: &Value, live: &Value) -> Option<Action> {
        patch(live, &merged(desired, live), EXACT)
    }
}

/// The desired account with the secrets of the live one, the annotations of both (the desired
/// ones win) and the owners of both.
fn merged(desired: &Value, live: &Value) -> Value {
    let mut merged = desired.clone();
    let Some(fields) = merged.as_object_mut() else { return merged };
    // Tokens are written by others; a step never changes them (spec catalog-operator 4.4).
    fields.remove("secrets");
    let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) else {
        return merged;
    };
    let annotations = both_maps(live.pointer("/metadata/annotations"), metadata.get("annotations"));
    let owners =
        both_lists(live.pointer("/metadata/ownerReferences"), metadata.get("ownerReferences"));
    put(metadata, "annotations", annotations.map(Value::Object));
    put(metadata, "ownerReferences", owners.map(Value::Array));
    merged
}

fn both_maps(live: Option<&Value>, desired: Option<&Value>) -> Option<Map<String, Value>> {
    let mut all = live.and_then(Value::as_object).cloned().unwrap_or_default();
    all.extend(desired.and_then(Value::as_object).cloned().unwrap_or_default());
    (!all.is_empty()).then_some(all)
}

/// Equal entries once, the live ones first.
fn both_lists(live: Option<&Value>, desired: Option<&Value>) -> Option<Vec<Value>> {
    let mut all = live.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut known: BTreeSet<String> = all.iter().map(Value::to_string).collect();
    let desired = desired.and_then(Value::as_array).into_iter().flatten();
    all.extend(desired.filter(|entry| known.insert(entry.to_string())).cloned());
    (!all.is_empty()).then_some(all)
}

fn put(fields: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => fields.insert(key.to_owned(), value),
        None => fields.remove(key),
    };
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// The rows of spec catalog-operator 9.7 about merged owner references.
    #[rstest]
    #[case::none(json!([]), json!([]), 0)]
    #[case::another_uid(json!([{"name": "a", "uid": "1"}]), json!([{"name": "a", "uid": "2"}]), 2)]
    #[case::another_flag(
        json!([{"uid": "1", "controller": false}]),
        json!([{"uid": "1", "controller": true}]),
        2
    )]
    #[case::without_uid(json!([{"name": "a", "uid": "1"}]), json!([{"name": "a"}]), 2)]
    #[case::the_same(json!([{"uid": "1"}]), json!([{"uid": "1"}]), 1)]
    fn owners_of_both(#[case] live: Value, #[case] desired: Value, #[case] count: usize) {
        let account = |owners| json!({"metadata": {"name": "sa", "ownerReferences": owners}});
        let merged = merged(&account(desired), &account(live));
        let owners = merged.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        assert_eq!(owners.map_or(0, Vec::len), count);
    }
}
