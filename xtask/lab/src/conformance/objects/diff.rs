//! The differences of two values, each at the deepest place that can be named.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::align::align;

/// The place of a value in an object, from the outside in; an element of a list is `[name]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path(pub Vec<String>);

impl Path {
    fn field(&self, name: &str) -> Self {
        Self(self.0.iter().cloned().chain([name.to_owned()]).collect())
    }

    fn element(&self, name: &str) -> Self {
        self.field(&format!("[{name}]"))
    }

    /// Whether only elements of lists have other names.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let same = |(one, other): (&String, &String)| {
            one == other || (one.starts_with('[') && other.starts_with('['))
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }

    /// Whether the last part is `labels` or `annotations`: absent and empty are the same there.
    fn is_map_of_text(&self) -> bool {
        matches!(self.0.last().map(String::as_str), Some("labels" | "annotations"))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            match part.as_str() {
                element if element.starts_with('[') => f.write_str(&cut(element))?,
                key if key.contains(['.', '/']) => write!(f, "[{key:?}]")?,
                field if index == 0 => f.write_str(field)?,
                field => write!(f, ".{field}")?,
            }
        }
        Ok(())
    }
}

/// The longest name of a list element that is shown.
const LONGEST_NAME: usize = 100;

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…]", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// One place where two values differ; `None` on the side that has nothing there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub path: Path,
    pub v0: Option<Value>,
    pub ours: Option<Value>,
}

impl Difference {
    /// Whether it is a field of this name, or an object of ours that has it.
    pub(super) fn is_about(&self, field: &str) -> bool {
        let is_field = self.path.0.last().is_some_and(|last| last == field);
        is_field || self.ours.as_ref().is_some_and(|ours| ours.get(field).is_some())
    }
}

/// Every difference, in the order of the fields.
pub(super) fn diff(v0: &Value, ours: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&Path::default(), Some(v0), Some(ours), &mut found);
    found
}

fn compare(path: &Path, v0: Option<&Value>, ours: Option<&Value>, found: &mut Vec<Difference>) {
    let none = Map::new();
    match (v0, ours) {
        (v0, ours) if v0 == ours => {}
        (Some(Value::Object(v0)), Some(Value::Object(ours))) => fields(path, v0, ours, found),
        (Some(Value::Object(v0)), None) if path.is_map_of_text() => fields(path, v0, &none, found),
        (None, Some(Value::Object(ours))) if path.is_map_of_text() => {
            fields(path, &none, ours, found);
        }
        (Some(Value::Array(v0)), Some(Value::Array(ours))) => elements(path, v0, ours, found),
        (Some(Value::String(left)), Some(Value::String(right))) => texts(path, left, right, found),
        (v0, ours) => found.push(difference(path, v0, ours)),
    }
}

fn fields(
    path: &Path,
    v0: &Map<String, Value>,
    ours: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    let names: BTreeSet<_> = v0.keys().chain(ours.keys()).collect();
    for name in names {
        compare(&path.field(name), v0.get(name), ours.get(name), found);
    }
}

fn elements(path: &Path, v0: &[Value], ours: &[Value], found: &mut Vec<Difference>) {
    let aligned = align(v0, ours);
    if let Some((v0, ours)) = aligned.order {
        let path = path.field("(order)");
        found.push(difference(&path, Some(&Value::from(v0)), Some(&Value::from(ours))));
    }
    for (name, v0, ours) in aligned.pairs {
        compare(&path.element(&name), v0, ours, found);
    }
}

/// Texts that hold an object, as manifests do, are compared as objects first.
fn texts(path: &Path, v0: &str, ours: &str, found: &mut Vec<Difference>) {
    let before = found.len();
    let object = |text: &str| {
        serde_json::from_str(text).ok().filter(|value| matches!(value, Value::Object(_)))
    };
    let (left, right): (Option<Value>, Option<Value>) = (object(v0), object(ours));
    if let (Some(left), Some(right)) = (left, right) {
        compare(path, Some(&left), Some(&right), found);
        if found.len() > before {
            return;
        }
        let path = path.field("(text of the same object)");
        found.push(difference(&path, Some(&v0.into()), Some(&ours.into())));
        return;
    }
    found.push(difference(path, Some(&v0.into()), Some(&ours.into())));
}

fn difference(path: &Path, v0: Option<&Value>, ours: Option<&Value>) -> Difference {
    Difference { path: path.clone(), v0: v0.cloned(), ours: ours.cloned() }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::equal(json!({"a": [1]}), json!({"a": [1]}), &[])]
    #[case::field(json!({"a": 1, "b": 2}), json!({"a": 2, "c": 3}), &[
        "a: 1 / 2", "b: 2 / -", "c: - / 3",
    ])]
    #[case::labels_one_by_one(
        json!({"metadata": {"labels": {"x.io/y": ""}}}), json!({"metadata": {}}),
        &[r#"metadata.labels["x.io/y"]: "" / -"#],
    )]
    #[case::named_elements(
        json!([{"type": "A", "status": "True"}, {"type": "B"}]),
        json!([{"type": "A", "status": "False"}, {"type": "C"}]),
        &[r#"[A].status: "True" / "False""#, r#"[B]: {"type":"B"} / -"#, r#"[C]: - / {"type":"C"}"#],
    )]
    #[case::order(
        json!([{"type": "A"}, {"type": "B"}]), json!([{"type": "B"}, {"type": "A"}]),
        &[r#"(order): ["A","B"] / ["B","A"]"#],
    )]
    #[case::nameless_elements(
        json!([{"verbs": ["get"]}, {"verbs": ["list"]}, {"verbs": ["watch"]}]),
        json!([{"verbs": ["get"]}, {"verbs": ["*"]}, {"verbs": ["watch"]}]),
        &[r#"[1].verbs[0]: "list" / "*""#],
    )]
    #[case::manifests(
        json!({"manifest": r#"{"a":1}"#}), json!({"manifest": r#"{"a":2}"#}),
        &["manifest.a: 1 / 2"],
    )]
    #[case::manifest_text(
        json!({"manifest": r#"{"a":1}"#}), json!({"manifest": r#"{"a": 1}"#}),
        &[r#"manifest.(text of the same object): "{\"a\":1}" / "{\"a\": 1}""#],
    )]
    fn differences(#[case] v0: Value, #[case] ours: Value, #[case] expected: &[&str]) {
        let side = |value: &Option<Value>| value.as_ref().map_or("-".into(), Value::to_string);
        let line = |d: &Difference| format!("{}: {} / {}", d.path, side(&d.v0), side(&d.ours));
        let found: Vec<_> = diff(&v0, &ours).iter().map(line).collect();
        assert_eq!(found, expected);
    }
}
