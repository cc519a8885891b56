//! Objects in the form of the recordings: without what differs between two runs.
//!
//! Times become `<time>`, unique ids say whose they are, InstallPlans are numbered by age.
//! Fields of the API server go; secrets, certificates and addresses become placeholders; what a
//! bundle brings unchanged (the spec of a CSV, the schema of a CRD) is left out.

mod reduce;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::recording::{Key, State};
use super::{kinds, owners};

/// Fields that the API server or the order of writes decides, wherever they are.
const VOLATILE: [&str; 4] =
    ["creationTimestamp", "managedFields", "observedGeneration", "resourceVersion"];

/// The length of a unique id, dashes included.
const UID_LENGTH: usize = 36;

/// Remembers ids and InstallPlans of a cluster across the steps of a scenario.
#[derive(Debug, Default)]
pub(super) struct Normaliser {
    /// What each id is shown as.
    uids: BTreeMap<String, String>,
    /// InstallPlans as (namespace, name), the first one has number 1.
    plans: Vec<(String, String)>,
}

impl Normaliser {
    /// The objects of a cluster in normal form.
    pub(super) fn normalise(&mut self, mut objects: Vec<Value>) -> State {
        owners::mark_wrong(&mut objects, &kinds::names());
        self.number_install_plans(&objects);
        for object in &objects {
            self.learn_uid(object);
        }
        let normal = objects.iter_mut().map(|object| {
            reduce::reduce(object);
            self.visit(object);
            canonical(object);
            (Key::of(object), object.take())
        });
        normal.collect()
    }

    /// Namespace and real name of the InstallPlan with a number.
    pub(super) fn install_plan(&self, number: usize) -> Option<(&str, &str)> {
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

    fn visit(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => self.visit_fields(fields),
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item)),
            Value::String(text) => self.visit_text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Ids occur in the keys of labels, too.
    fn visit_fields(&self, fields: &mut Map<String, Value>) {
        let old = std::mem::take(fields);
        for (mut name, mut value) in old {
            self.replace_uids(&mut name);
            self.visit(&mut value);
            fields.insert(name, value);
        }
    }

    fn visit_text(&self, text: &mut String) {
        if text.parse::<jiff::Timestamp>().is_ok() {
            *text = "<time>".to_owned();
            return;
        }
        self.replace_uids(text);
        self.rename_plans(text);
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

/// What both sides of a comparison go through: it changes nothing that was changed before.
pub(super) fn canonical(object: &mut Value) {
    drop_volatile(object);
    drop_server_fields(object);
    hide_generated_name(object);
    shorten_resolution_texts(object);
}

fn drop_volatile(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            fields.values_mut().for_each(drop_volatile);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_volatile),
        _ => {}
    }
}

/// Empty maps go as well: `kubectl apply` leaves one behind when its annotation is taken out.
fn drop_server_fields(object: &mut Value) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    // That of a spec is OLM's own: it numbers the InstallPlans of a namespace.
    metadata.remove("generation");
    metadata.remove("uid");
    metadata.remove("selfLink");
    let empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
    metadata
        .retain(|name, value| !(matches!(name.as_str(), "annotations" | "labels") && empty(value)));
}

/// InstallPlans have a number instead.
fn hide_generated_name(object: &mut Value) {
    let is_plan = text(object, "/kind") == "InstallPlan";
    let prefix = text(object, "/metadata/generateName").to_owned();
    if let Some(name) = object.pointer_mut("/metadata/name").filter(|_| !is_plan)
        && !prefix.is_empty()
    {
        *name = Value::String(format!("{prefix}<generated>"));
    }
}

/// The order of the constraints in the text of a failed resolution is one of chance in v0; the
/// part before the first colon is not.
fn shorten_resolution_texts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let failed = fields.get("type").and_then(Value::as_str) == Some("ResolutionFailed");
            if let Some(Value::String(message)) = fields.get_mut("message").filter(|_| failed)
                && let Some(colon) = message.find(':')
            {
                message.truncate(colon);
            }
            fields.values_mut().for_each(shorten_resolution_texts);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten_resolution_texts),
        _ => {}
    }
}

/// The first unique id in a text.
fn find_uid(text: &str) -> Option<String> {
    let starts = text.char_indices().map(|(start, _)| start);
    let mut windows = starts.filter_map(|start| text.get(start..start + UID_LENGTH));
    windows.find(|window| is_uid(window)).map(str::to_owned)
}

fn is_uid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let hexadecimal = |group: &&str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().all(hexadecimal) && groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
