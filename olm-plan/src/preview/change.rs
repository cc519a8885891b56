//! Objects before and after: what is created, changed, made anew and deleted, field by field.

use olm_types::annotations::PROPERTIES;
use olm_types::hash::sha256_hex;
use serde::Serialize;
use serde_json::{Value, json};

use super::comparable::forget_annotation;
use super::known::Key;

/// Fields of metadata that an API server keeps, and that say nothing about a change.
const KEPT: [&str; 7] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "ownerReferences",
];

/// An annotation that the controller of Deployments writes, some time after each change.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// The longest text of one value.
const SHOWN: usize = 120;

/// What becomes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Action {
    /// `+`
    Create,
    /// `~`
    Change,
    /// `-/+`: a field changes that cannot be changed, or it goes with its owner and is made again.
    Replace,
    /// `-`
    Delete,
}

impl Action {
    /// The mark in front of a line.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Create => "+",
            Self::Change => "~",
            Self::Replace => "-/+",
            Self::Delete => "-",
        }
    }
}

/// A field that changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// Such as `spec.replicas` or `rules[0].verbs`.
    pub path: String,
    /// Its value before; none when it was not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// Its value afterwards; none when it goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// An object that changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What becomes of it.
    pub action: Action,
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for objects of the cluster.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Fields that change, of an object that stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// SHA-256 of all that would be written but properties of bundles, as hex digits: what is created has no fields here. Empty when the
    /// object goes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub contents: String,
    /// Why the API server was not asked what it would make of it; none when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_checked: Option<String>,
}

impl Field {
    /// What becomes of it, in one line; nothing where it is on neither side.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let path = &self.path;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                Some(format!("~ {path}: {} -> {}", short(before), short(after)))
            }
            (None, Some(after)) => Some(format!("+ {path}: {}", short(after))),
            (Some(before), None) => Some(format!("- {path}: {}", short(before))),
            (None, None) => None,
        }
    }
}

impl Change {
    /// The object, as a reader names it: kind, namespace where it has one, and name.
    #[must_use]
    pub fn place(&self) -> String {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        format!("{} {}{slash}{}", self.kind, self.namespace, self.name)
    }
}

/// An object before and after, as it would be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Which one.
    pub key: Key,
    /// As it is; none when it is created.
    pub before: Option<Value>,
    /// As it would be; none when it goes.
    pub after: Option<Value>,
}

impl Change {
    /// What becomes of an object; none when nothing does.
    #[must_use]
    pub fn of(key: &Key, before: Option<&Value>, after: Option<&Value>) -> Option<Self> {
        let (action, fields) = match (before, after) {
            (None, None) => return None,
            (None, Some(_)) => (Action::Create, Vec::new()),
            (Some(_), None) => (Action::Delete, Vec::new()),
            (Some(before), Some(after)) => {
                let mut fields = Vec::new();
                compare("", &essential(before), &essential(after), &mut fields);
                if fields.is_empty() {
                    return None;
                }
                let has_other_selector = key.kind == "Deployment"
                    && fields.iter().any(|field| field.path.starts_with("spec.selector"));
                let anew = has_other_selector || is_another(before, after);
                (if anew { Action::Replace } else { Action::Change }, fields)
            }
        };
        let Key { group, kind, namespace, name } = key.clone();
        let contents = after.map(contents).unwrap_or_default();
        Some(Self { action, group, kind, namespace, name, fields, contents, not_checked: None })
    }
}

/// Whether an object went in between, and another one of its name came.
fn is_another(before: &Value, after: &Value) -> bool {
    matches!((uid(before), uid(after)), (Some(before), Some(after)) if before != after)
}

fn uid(object: &Value) -> Option<&str> {
    object.pointer("/metadata/uid").and_then(Value::as_str).filter(|uid| !uid.is_empty())
}

/// The hash of what counts of an object, Secrets included.
fn contents(object: &Value) -> String {
    let mut object = as_written(object);
    forget_annotation(&mut object, PROPERTIES);
    sha256_hex(object.to_string())
}

/// An object without what an API server keeps.
fn as_written(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        KEPT.iter().for_each(|field| drop(metadata.remove(*field)));
    }
    forget_annotation(&mut object, REVISION);
    object
}

/// The same for eyes: values of Secrets are not shown.
fn essential(object: &Value) -> Value {
    let mut object = as_written(object);
    if object["kind"] == "Secret" {
        for field in ["data", "stringData"] {
            let values = object.get_mut(field).and_then(Value::as_object_mut);
            values.into_iter().flat_map(serde_json::Map::values_mut).for_each(|value| {
                let bytes = value.as_str().map_or(0, str::len);
                *value = json!(format!("({bytes} bytes)"));
            });
        }
    }
    object
}

fn compare(path: &str, before: &Value, after: &Value, found: &mut Vec<Field>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let all: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in all {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                part(path, old.get(name), new.get(name), found);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for place in 0..old.len().max(new.len()) {
                part(format!("{path}[{place}]"), old.get(place), new.get(place), found);
            }
        }
        (before, after) if before == after => {}
        (before, after) => part(path.to_owned(), Some(before), Some(after), found),
    }
}

fn part(path: String, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<Field>) {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(before), Some(after)) if is_branch(before) && is_branch(after) => {
            compare(&path, before, after, found);
        }
        (before, after) => {
            let (before, after) = (before.cloned(), after.cloned());
            found.push(Field { path, before, after });
        }
    }
}

fn is_branch(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// A value in one short line.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn key(kind: &str) -> Key {
        let (group, namespace) = (String::new(), "ns".to_owned());
        Key { group, kind: kind.to_owned(), namespace, name: "a".to_owned() }
    }

    #[rstest]
    #[case::nothing(None, None, "")]
    #[case::new(None, Some(json!({"a": 1})), "+")]
    #[case::gone(Some(json!({"a": 1})), None, "-")]
    #[case::same(Some(json!({"a": 1})), Some(json!({"a": 1})), "")]
    #[case::kept(Some(json!({"metadata": {"uid": "1"}})), Some(json!({"metadata": {}})), "")]
    #[case::revision(
        Some(json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}}})),
        Some(json!({"metadata": {}})), ""
    )]
    #[case::status(Some(json!({"status": 1})), Some(json!({})), "")]
    #[case::field(Some(json!({"a": {"b": 1}})), Some(json!({"a": {"b": 2}})), "~ a.b 1 2")]
    #[case::added(Some(json!({})), Some(json!({"a": 2})), "~ a - 2")]
    #[case::item(Some(json!({"a": [1, 2]})), Some(json!({"a": [1]})), "~ a[1] 2 -")]
    #[case::another(Some(json!({"metadata": {"uid": "1"}, "a": 1})),
        Some(json!({"metadata": {"uid": "2"}, "a": 2})), "-/+ a 1 2")]
    #[case::shape(Some(json!({"a": [1]})), Some(json!({"a": 1})), "~ a [1] 1")]
    #[case::anew(Some(json!({"spec": {"selector": 1}})), Some(json!({"spec": {"selector": 2}})),
        "-/+ spec.selector 1 2")]
    fn a_change_says_what_is_different(
        #[case] before: Option<Value>,
        #[case] after: Option<Value>,
        #[case] expected: &str,
    ) {
        let change = Change::of(&key("Deployment"), before.as_ref(), after.as_ref());
        let text = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
        let found = change.map(|change| {
            let fields = change.fields.iter();
            let fields =
                fields.map(|it| format!(" {} {} {}", it.path, text(&it.before), text(&it.after)));
            change.action.mark().to_owned() + &fields.collect::<String>()
        });
        assert_eq!(found.unwrap_or_default(), expected);
    }

    #[test]
    fn secrets_are_counted_and_not_shown() {
        let secret = |value: &str| json!({"kind": "Secret", "data": {"a": value}});
        let found = Change::of(&key("Secret"), Some(&secret("abcd")), Some(&secret("abcdef")));
        assert_eq!(found.unwrap().fields[0].after, Some(json!("(6 bytes)")));
        assert_eq!(short(&json!("x".repeat(200))).chars().count(), SHOWN + 1);
    }
}
