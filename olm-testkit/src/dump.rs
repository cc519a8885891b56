//! Objects in a normal form: without what differs between two runs that did the same.

use std::collections::BTreeMap;

use k8s_openapi::serde::Serialize;
use serde_json::{Map, Value};

/// Fields of metadata that the server or the clock chooses.
const VOLATILE_METADATA: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// An object as YAML for a reader: everything but `managedFields`.
pub fn yaml<K: Serialize>(object: &K) -> String {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    yaml_serde::to_string(&value).unwrap_or_else(|error| format!("cannot be shown: {error}\n"))
}

/// Replaces what differs between runs: server-set metadata goes, times become `<time>`, and each
/// unique id becomes a number in the order of appearance.
#[derive(Debug, Default)]
pub struct Normaliser {
    uids: BTreeMap<String, usize>,
}

impl Normaliser {
    /// The normal form of one object. Ids keep their numbers across calls.
    pub fn normalise<K: Serialize>(&mut self, object: &K) -> Value {
        let mut value = serde_json::to_value(object).unwrap_or_default();
        if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
            VOLATILE_METADATA.iter().for_each(|field| drop(metadata.remove(*field)));
        }
        self.visit(&mut value);
        value
    }

    fn visit(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.visit_fields(fields),
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item)),
            Value::String(text) if text.parse::<jiff::Timestamp>().is_ok() => {
                *text = "<time>".to_owned();
            }
            _ => {}
        }
    }

    fn visit_fields(&mut self, fields: &mut Map<String, Value>) {
        for (name, value) in fields.iter_mut() {
            match value {
                Value::String(uid) if name == "uid" || name == "uuid" => {
                    let next = self.uids.len() + 1;
                    let number = *self.uids.entry(uid.clone()).or_insert(next);
                    *uid = format!("<uid {number}>");
                }
                _ => self.visit(value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Normaliser;

    #[test]
    fn two_runs_of_the_same_give_the_same() {
        let run = |uid: &str, time: &str| {
            let owner = json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": time}});
            let owned = json!({
                "metadata": {"name": "b", "ownerReferences": [{"kind": "A", "uid": uid}]},
                "status": {"lastUpdated": time, "message": "two at 2"},
            });
            let mut normaliser = Normaliser::default();
            [normaliser.normalise(&owner), normaliser.normalise(&owned)]
        };
        let first = run("11-22", "2026-01-02T03:04:05Z");
        assert_eq!(first, run("33-44", "2027-01-02T03:04:05.5Z"));
        assert_eq!(first[1]["status"]["message"], "two at 2");
        assert_eq!(first[1]["metadata"]["ownerReferences"][0]["uid"], "<uid 1>");
    }
}
