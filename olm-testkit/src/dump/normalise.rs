//! What differs between two runs that did the same, taken out or given a name.
//!
//! Times become `<time>`, an id says whose it is, the random end of an InstallPlan's name becomes
//! its number by age, addresses that the API server draws become `<cluster ip>`, the end of a name
//! that it draws `<generated>`. Certificates, keys and what depends on them become placeholders. Versions
//! and generations of objects, which count writes of others, too, are left out.

use std::collections::BTreeMap;

use olm_types::annotations::APPROVED_BY;
use serde_json::{Map, Value};

use super::masks;
use super::{Dump, Key};

/// Fields that the API server or the order of writes decides, wherever they are.
const VOLATILE: [&str; 5] =
    ["creationTimestamp", "managedFields", "observedGeneration", "resourceVersion", "selfLink"];

/// The length of a unique id, dashes included.
const UID_LENGTH: usize = 36;

/// The normal form of objects that belong together: ids and names of one may be in another.
pub fn normalise(objects: Vec<Value>) -> Dump {
    Normaliser::default().normalise(objects)
}

/// Remembers ids and InstallPlans of a cluster from one look to the next.
#[derive(Debug, Default)]
pub struct Normaliser {
    /// What each id is shown as.
    uids: BTreeMap<String, String>,
    /// InstallPlans as (namespace, name), the first one has number 1.
    plans: Vec<(String, String)>,
}

impl Normaliser {
    /// The objects of a cluster in normal form.
    pub fn normalise(&mut self, objects: Vec<Value>) -> Dump {
        self.number_install_plans(&objects);
        objects.iter().for_each(|object| self.learn_uid(object));
        let generated = masks::generated(&objects);
        let normal = objects.into_iter().map(|mut object| {
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.remove("generation");
                metadata.remove("uid");
            }
            masks::mask(&mut object);
            self.visit(&mut object, &generated);
            (Key::of(&object), object)
        });
        normal.collect()
    }

    /// Namespace and real name of the InstallPlan with a number.
    pub fn install_plan(&self, number: usize) -> Option<(&str, &str)> {
        let (namespace, name) = self.plans.get(number.checked_sub(1)?)?;
        Some((namespace, name))
    }

    fn number_install_plans(&mut self, objects: &[Value]) {
        let plans = objects.iter().filter(|object| text(object, "/kind") == "InstallPlan");
        let mut found: Vec<_> = plans
            .map(|plan| {
                let generation = plan.pointer("/spec/generation").and_then(Value::as_i64);
                let age = (text(plan, "/metadata/creationTimestamp"), generation);
                (age, text(plan, "/metadata/namespace"), text(plan, "/metadata/name"))
            })
            .collect();
        found.sort_unstable();
        for (_, namespace, name) in found {
            let plan = (namespace.to_owned(), name.to_owned());
            if !self.plans.contains(&plan) {
                self.plans.push(plan);
            }
        }
    }

    fn learn_uid(&mut self, object: &Value) {
        let mut name = text(object, "/metadata/name").to_owned();
        self.rename_plans(&mut name);
        let shown = format!("<uid of {}/{name}>", text(object, "/kind"));
        self.uids.insert(text(object, "/metadata/uid").to_owned(), shown);
    }

    fn visit(&self, value: &mut Value, generated: &BTreeMap<String, String>) {
        match value {
            Value::Object(fields) => self.visit_fields(fields, generated),
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item, generated)),
            Value::String(text) => self.visit_text(text, generated),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Ids occur in the names of fields, too: those of labels.
    fn visit_fields(&self, fields: &mut Map<String, Value>, generated: &BTreeMap<String, String>) {
        for (mut name, mut value) in std::mem::take(fields) {
            if VOLATILE.contains(&name.as_str()) {
                continue;
            }
            match name == APPROVED_BY {
                true => self.visit_json(&mut value, generated),
                false => self.visit(&mut value, generated),
            }
            self.replace_uids(&mut name);
            fields.insert(name, value);
        }
    }

    /// A text that is JSON, which names versions of objects.
    fn visit_json(&self, value: &mut Value, generated: &BTreeMap<String, String>) {
        let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        if let Some(mut inner) = inner {
            self.visit(&mut inner, generated);
            *value = inner.to_string().into();
        }
    }

    fn visit_text(&self, text: &mut String, generated: &BTreeMap<String, String>) {
        if text.parse::<jiff::Timestamp>().is_ok() {
            *text = "<time>".to_owned();
            return;
        }
        self.replace_uids(text);
        self.rename_plans(text);
        for (random, shown) in generated {
            if text.contains(random.as_str()) {
                *text = text.replace(random.as_str(), shown);
            }
        }
    }

    fn rename_plans(&self, text: &mut String) {
        for ((_, name), number) in self.plans.iter().zip(1..) {
            if text.contains(name.as_str()) {
                *text = text.replace(name.as_str(), &format!("install-{number}"));
            }
        }
    }

    fn replace_uids(&self, text: &mut String) {
        while let Some(uid) = find_uid(text) {
            let shown = self.uids.get(&uid).map_or("<uid>", String::as_str);
            *text = text.replace(&uid, shown);
        }
    }
}

/// The first unique id in a text.
fn find_uid(text: &str) -> Option<String> {
    let starts = text.char_indices().map(|(start, _)| start);
    let mut windows = starts.filter_map(|start| text.get(start..start + UID_LENGTH));
    windows.find(|window| is_uid(window)).map(str::to_owned)
}

fn is_uid(text: &str) -> bool {
    if text.as_bytes().get(8) != Some(&b'-') {
        return false;
    }
    let groups: Vec<&str> = text.split('-').collect();
    let hexadecimal = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().all(hexadecimal) && groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{APPROVED_BY, Key, Normaliser, normalise};

    const UID: &str = "0b1e4f3a-0000-4000-8000-000000000001";
    const OTHER: &str = "0b1e4f3a-0000-4000-8000-000000000002";

    fn run(uid: &str, time: &str, plan: &str) -> Vec<Value> {
        let label = format!("olm.operatorgroup.uid/{uid}");
        vec![
            json!({"kind": "OperatorGroup", "metadata": {"name": "a", "namespace": "n", "uid": uid,
                "resourceVersion": time, "generation": time.len()}}),
            json!({"kind": "Namespace", "metadata": {"name": "n", "labels": {label: ""}}}),
            json!({"kind": "InstallPlan", "metadata": {"name": plan, "creationTimestamp": time,
                "annotations": {APPROVED_BY: json!([{"resourceVersion": time}]).to_string()}},
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
        let first = normalise(run(UID, "2026-01-02T03:04:05Z", "install-abcde"));
        assert_eq!(first, normalise(run(OTHER, "2027-01-02T03:04:05.5Z", "install-xyzzy")));
        let key = |kind: &str, name: &str| Key {
            kind: kind.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        let plan = &first[&key("InstallPlan", "install-1")];
        assert_eq!(plan["status"], json!({"startTime": "<time>", "message": "two at 2"}));
        assert_eq!(plan["metadata"]["annotations"][APPROVED_BY], "[{}]");
        let subscription = &first[&key("Subscription", "s")];
        assert_eq!(subscription["status"]["installPlanRef"]["name"], "install-1");
        let owner = &subscription["metadata"]["ownerReferences"][0]["uid"];
        assert_eq!(owner, "<uid of OperatorGroup/a>");
        let labels = &first[&key("Namespace", "n")]["metadata"]["labels"];
        assert_eq!(*labels, json!({"olm.operatorgroup.uid/<uid of OperatorGroup/a>": ""}));
    }

    #[test]
    fn install_plans_are_numbered_by_age_and_keep_their_numbers() {
        let plan = |name: &str, time: &str, uid: &str| {
            let metadata =
                json!({"namespace": "n", "name": name, "creationTimestamp": time, "uid": uid});
            json!({"kind": "InstallPlan", "metadata": metadata})
        };
        let (late, early) = ("2026-01-01T00:00:09Z", "2026-01-01T00:00:01Z");
        let subscription = json!({"kind": "Subscription", "metadata": {"name": "s"}, "status": {
            "installplan": {"name": "install-zzzzz", "uuid": OTHER},
        }});
        let mut normaliser = Normaliser::default();
        let first = plan("install-zzzzz", early, OTHER);
        normaliser.normalise(vec![first]);
        let state = normaliser.normalise(vec![plan("install-aaaaa", late, UID), subscription]);
        assert_eq!(normaliser.install_plan(1), Some(("n", "install-zzzzz")));
        assert_eq!(normaliser.install_plan(3), None);
        let names: Vec<_> = state.keys().map(ToString::to_string).collect();
        assert_eq!(names, ["InstallPlan n/install-2", "Subscription s"]);
        let shown = json!({"name": "install-1", "uuid": "<uid of InstallPlan/install-1>"});
        assert_eq!(state.values().last().unwrap()["status"]["installplan"], shown);
    }
}
