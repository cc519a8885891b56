//! Where objects differ, each difference at the deepest place that can be named.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::align::align;
use super::{Dump, Key, Path};

/// The longest value that is printed, in characters.
const LONGEST: usize = 300;

/// One place in which an object differs; `None` on the side that has nothing there.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Which object.
    pub object: Key,
    /// The place; empty when the whole object is missing on one side.
    pub path: Path,
    /// What should be there.
    pub expected: Option<Value>,
    /// What is there.
    pub found: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.0.is_empty(), &self.expected, &self.found) {
            (true, Some(_), None) => write!(f, "{}: is missing", self.object),
            (true, None, _) => write!(f, "{}: should not exist", self.object),
            (_, expected, found) => {
                write!(f, "{}: {}", self.object, self.path)?;
                write!(f, "\n    expected {}\n    found    {}", shown(expected), shown(found))
            }
        }
    }
}

fn shown(value: &Option<Value>) -> String {
    let text = value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(&text)),
        None => text,
    }
}

/// Every difference of two dumps, by object and field.
pub fn diff(expected: &Dump, found: &Dump) -> Vec<Difference> {
    let keys: BTreeSet<&Key> = expected.keys().chain(found.keys()).collect();
    let of = |key| diff_object(key, expected.get(key), found.get(key));
    keys.into_iter().flat_map(of).collect()
}

/// Every difference of an object, in the order of its fields.
pub fn diff_object(
    object: &Key,
    expected: Option<&Value>,
    found: Option<&Value>,
) -> Vec<Difference> {
    let mut comparison = Comparison { object, all: Vec::new() };
    comparison.compare(&Path::default(), expected, found);
    comparison.all
}

struct Comparison<'a> {
    object: &'a Key,
    all: Vec<Difference>,
}

impl Comparison<'_> {
    fn compare(&mut self, path: &Path, expected: Option<&Value>, found: Option<&Value>) {
        let none = Map::new();
        match (expected, found) {
            (expected, found) if expected == found => {}
            (Some(Value::Object(expected)), Some(Value::Object(found))) => {
                self.fields(path, expected, found);
            }
            (Some(Value::Object(expected)), None) if path.is_map_of_text() => {
                self.fields(path, expected, &none);
            }
            (None, Some(Value::Object(found))) if path.is_map_of_text() => {
                self.fields(path, &none, found);
            }
            (Some(Value::Array(expected)), Some(Value::Array(found))) => {
                self.elements(path, expected, found);
            }
            (Some(Value::String(expected)), Some(Value::String(found))) => {
                self.texts(path, expected, found);
            }
            (expected, found) => self.add(path, expected, found),
        }
    }

    fn fields(&mut self, path: &Path, expected: &Map<String, Value>, found: &Map<String, Value>) {
        let names: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
        for name in names {
            self.compare(&path.field(name), expected.get(name), found.get(name));
        }
    }

    fn elements(&mut self, path: &Path, expected: &[Value], found: &[Value]) {
        let aligned = align(expected, found);
        if let Some((expected, found)) = aligned.order {
            let path = path.field("(order)");
            self.add(&path, Some(&Value::from(expected)), Some(&Value::from(found)));
        }
        for (name, expected, found) in aligned.pairs {
            self.compare(&path.element(&name), expected, found);
        }
    }

    /// Texts that hold an object, as manifests do, are compared as objects first.
    fn texts(&mut self, path: &Path, expected: &str, found: &str) {
        let before = self.all.len();
        let (left, right) = (object_in(expected), object_in(found));
        let both = left.is_some() && right.is_some();
        if both {
            self.compare(path, left.as_ref(), right.as_ref());
            if self.all.len() > before {
                return;
            }
        }
        let path = if both { path.field("(text of the same object)") } else { path.clone() };
        self.add(&path, Some(&expected.into()), Some(&found.into()));
    }

    fn add(&mut self, path: &Path, expected: Option<&Value>, found: Option<&Value>) {
        let (object, path) = (self.object.clone(), path.clone());
        let (expected, found) = (expected.cloned(), found.cloned());
        self.all.push(Difference { object, path, expected, found });
    }
}

/// The object that a text is in JSON.
fn object_in(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
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
    fn differences(#[case] left: Value, #[case] right: Value, #[case] expected: &[&str]) {
        let side = |value: &Option<Value>| value.as_ref().map_or("-".into(), Value::to_string);
        let line =
            |d: &Difference| format!("{}: {} / {}", d.path, side(&d.expected), side(&d.found));
        let found: Vec<_> =
            diff_object(&Key::of(&left), Some(&left), Some(&right)).iter().map(line).collect();
        assert_eq!(found, expected);
    }

    fn dump(objects: &[Value]) -> Dump {
        objects.iter().map(|object| (Key::of(object), object.clone())).collect()
    }

    #[test]
    fn differences_name_object_and_field() {
        let object = |phase: &str, list: Value| {
            json!({"kind": "A", "metadata": {"name": "a", "namespace": "n"}, "status": phase,
                "list": list})
        };
        let other = json!({"kind": "B", "metadata": {"name": "b"}});
        let expected = dump(&[object("Complete", json!([1, 2])), other]);
        let found = dump(&[object("Failed", json!([1]))]);
        let lines: Vec<String> = diff(&expected, &found).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "A n/a: list[2]\n    expected 2\n    found    nothing",
                "A n/a: status\n    expected \"Complete\"\n    found    \"Failed\"",
                "B b: is missing",
            ]
        );
        assert!(diff(&found, &found).is_empty());
    }
}
