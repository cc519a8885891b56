//! What differs between two runs that did the same, taken out or given a name.
//!
//! Times become `<time>`, an id says whose it is, the random end of an InstallPlan's name becomes
//! its number by age, addresses that the API server draws become `<address>`, the end of a name
//! that it draws `<name>`. Certificates and what depends on them become `<certificate>`. Versions
//! and generations of objects, which count writes of others, too, are left out.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Dump, Key};

/// Fields that the API server or the order of writes decides, wherever they are.
const VOLATILE: [&str; 5] =
    ["creationTimestamp", "managedFields", "observedGeneration", "resourceVersion", "selfLink"];

/// Fields with an address that the API server draws.
const DRAWN: [&str; 3] = ["clusterIP", "clusterIPs", "nodePort"];

/// Fields with a certificate, a key or the hash of one.
const CERTIFIED: [&str; 5] = ["caBundle", "olmCAKey", "olmcahash", "tls.crt", "tls.key"];

/// The annotation of pods that show a certificate: a hash of it, on which others depend.
const CERTIFICATE_OF_PODS: &str = "/spec/template/metadata/annotations/olmcahash";

/// The normal form of objects that belong together: ids and names of one may be in another.
pub fn normalise(objects: Vec<Value>) -> Dump {
    let names = Names::of(&objects);
    let normal = objects.into_iter().map(|mut object| {
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.remove("generation");
            metadata.remove("uid");
        }
        names.visit(&mut object);
        (Key::of(&object), object)
    });
    normal.collect()
}

/// What to write in place of random text.
struct Names {
    uids: BTreeMap<String, String>,
    plans: BTreeMap<String, String>,
    drawn: BTreeMap<String, String>,
}

impl Names {
    fn of(objects: &[Value]) -> Self {
        let plans = plans(objects);
        let uids = objects.iter().map(|object| {
            let key = Key::of(object);
            let name = plans.get(&key.name).unwrap_or(&key.name);
            let shown = format!("<uid of {} {name}>", key.kind);
            (text(object, "/metadata/uid").to_owned(), shown)
        });
        let uids = uids.filter(|(uid, _)| !uid.is_empty()).collect();
        Self { uids, plans, drawn: drawn(objects) }
    }

    fn visit(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.visit_fields(fields),
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item)),
            Value::String(text) => *text = self.visit_text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Ids occur in the names of fields, too: those of labels.
    fn visit_fields(&self, fields: &mut Map<String, Value>) {
        for (name, mut value) in std::mem::take(fields) {
            if VOLATILE.contains(&name.as_str()) {
                continue;
            }
            if DRAWN.contains(&name.as_str()) {
                value = "<address>".into();
            }
            if CERTIFIED.contains(&name.as_str()) {
                value = "<certificate>".into();
            }
            self.visit(&mut value);
            fields.insert(self.visit_text(&name), value);
        }
    }

    fn visit_text(&self, text: &str) -> String {
        if text.parse::<jiff::Timestamp>().is_ok() {
            return "<time>".to_owned();
        }
        let mut shown = text.to_owned();
        for (random, name) in self.uids.iter().chain(&self.plans).chain(&self.drawn) {
            if shown.contains(random.as_str()) {
                shown = shown.replace(random.as_str(), name);
            }
        }
        shown
    }
}

/// What the API server draws in the names of webhook configurations, and hashes that depend on a
/// certificate.
fn drawn(objects: &[Value]) -> BTreeMap<String, String> {
    let mut drawn = BTreeMap::new();
    for object in objects {
        let start = text(object, "/metadata/generateName");
        if text(object, "/kind").ends_with("WebhookConfiguration") && !start.is_empty() {
            let name = text(object, "/metadata/name").to_owned();
            drawn.insert(name, format!("{start}<name>"));
        }
        if object.pointer(CERTIFICATE_OF_PODS).is_some() {
            let labels = ["olm.deployment-spec-hash", "pod-template-hash"];
            let hashes = labels.map(|label| text(object, &format!("/metadata/labels/{label}")));
            let hashes = hashes.into_iter().filter(|hash| !hash.is_empty());
            drawn.extend(hashes.map(|hash| (hash.to_owned(), "<certificate>".to_owned())));
        }
    }
    drawn
}

/// A name by age for each InstallPlan.
fn plans(objects: &[Value]) -> BTreeMap<String, String> {
    let plans = objects.iter().filter(|object| text(object, "/kind") == "InstallPlan");
    let mut by_age: Vec<_> = plans
        .map(|plan| {
            let generation = plan.pointer("/spec/generation").and_then(Value::as_i64);
            let created = text(plan, "/metadata/creationTimestamp");
            (generation, created, text(plan, "/metadata/name").to_owned())
        })
        .collect();
    by_age.sort_unstable();
    let numbered = by_age.into_iter().zip(1..);
    numbered.map(|((_, _, name), number)| (name, format!("install-<{number}>"))).collect()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Key, normalise};

    fn run(uid: &str, time: &str, plan: &str) -> Vec<Value> {
        let label = format!("olm.operatorgroup.uid/{uid}");
        vec![
            json!({"kind": "OperatorGroup", "metadata": {"name": "a", "namespace": "n", "uid": uid,
                "resourceVersion": time, "generation": time.len()}}),
            json!({"kind": "Namespace", "metadata": {"name": "n", "labels": {label: ""}}}),
            json!({"kind": "InstallPlan", "metadata": {"name": plan, "creationTimestamp": time},
                "spec": {"generation": 1}, "status": {"startTime": time, "message": "two at 2"}}),
            json!({"kind": "Subscription", "metadata": {"name": "s",
                "ownerReferences": [{"kind": "OperatorGroup", "uid": uid}]},
                "status": {"installPlanRef": {"name": plan, "resourceVersion": time}}}),
        ]
    }

    #[test]
    fn certificates_and_what_depends_on_them_are_the_same() {
        let run = |random: &str| {
            let template = json!({"metadata": {"annotations": {"olmcahash": random}}});
            let labels = json!({"olm.deployment-spec-hash": format!("hash-{random}")});
            vec![
                json!({"kind": "Secret", "metadata": {"name": "s"}, "data": {"tls.crt": random}}),
                json!({"kind": "Deployment", "metadata": {"name": "d", "labels": labels},
                    "spec": {"template": template}}),
                json!({"kind": "ValidatingWebhookConfiguration", "metadata": {
                    "generateName": "w-", "name": format!("w-{random}"),
                }, "webhooks": [{"clientConfig": {"caBundle": random}}]}),
            ]
        };
        assert_eq!(normalise(run("aaaa")), normalise(run("bbbb")));
    }

    #[test]
    fn two_runs_of_the_same_give_the_same() {
        let first = normalise(run("11-22", "2026-01-02T03:04:05Z", "install-abcde"));
        assert_eq!(first, normalise(run("33-44", "2027-01-02T03:04:05.5Z", "install-xyzzy")));
        let key = |kind: &str, name: &str| Key {
            kind: kind.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        let plan = &first[&key("InstallPlan", "install-<1>")];
        assert_eq!(plan["status"], json!({"startTime": "<time>", "message": "two at 2"}));
        let subscription = &first[&key("Subscription", "s")];
        assert_eq!(subscription["status"]["installPlanRef"]["name"], "install-<1>");
        let owner = &subscription["metadata"]["ownerReferences"][0]["uid"];
        assert_eq!(owner, "<uid of OperatorGroup a>");
        let labels = &first[&key("Namespace", "n")]["metadata"]["labels"];
        assert_eq!(*labels, json!({"olm.operatorgroup.uid/<uid of OperatorGroup a>": ""}));
    }
}
