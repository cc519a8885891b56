//! Where two dumps differ, leaf by leaf.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::{Dump, Key};

/// The longest value that is printed, in characters.
const LONGEST: usize = 300;

/// One place in which an object differs; `None` on the side that has nothing there.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Which object.
    pub object: Key,
    /// The fields that lead to the place; empty when the whole object is missing.
    pub path: String,
    /// What should be there.
    pub expected: Option<Value>,
    /// What is there.
    pub found: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), &self.expected, &self.found) {
            ("", Some(_), None) => write!(f, "{}: is missing", self.object),
            ("", None, _) => write!(f, "{}: should not exist", self.object),
            (path, expected, found) => {
                write!(f, "{}: {path}", self.object)?;
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

/// Every difference, by object and field.
pub fn diff(expected: &Dump, found: &Dump) -> Vec<Difference> {
    let keys: BTreeSet<&Key> = expected.keys().chain(found.keys()).collect();
    let mut all = Vec::new();
    for key in keys {
        let mut comparison = Comparison { object: key, all: &mut all };
        comparison.compare(String::new(), expected.get(key), found.get(key));
    }
    all
}

struct Comparison<'a> {
    object: &'a Key,
    all: &'a mut Vec<Difference>,
}

impl Comparison<'_> {
    fn compare(&mut self, path: String, expected: Option<&Value>, found: Option<&Value>) {
        match (expected, found) {
            (expected, found) if expected == found => {}
            (Some(Value::Object(expected)), Some(Value::Object(found))) => {
                self.fields(&path, expected, found);
            }
            (Some(Value::Array(expected)), Some(Value::Array(found))) => {
                self.elements(&path, expected, found);
            }
            (expected, found) => self.all.push(Difference {
                object: self.object.clone(),
                path,
                expected: expected.cloned(),
                found: found.cloned(),
            }),
        }
    }

    fn fields(&mut self, path: &str, expected: &Map<String, Value>, found: &Map<String, Value>) {
        let names: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
        for name in names {
            let separator = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{separator}{name}");
            self.compare(path, expected.get(name), found.get(name));
        }
    }

    fn elements(&mut self, path: &str, expected: &[Value], found: &[Value]) {
        for index in 0..expected.len().max(found.len()) {
            let path = format!("{path}[{index}]");
            self.compare(path, expected.get(index), found.get(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Dump, Key, diff};

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
                "A n/a: list[1]\n    expected 2\n    found    nothing",
                "A n/a: status\n    expected \"Complete\"\n    found    \"Failed\"",
                "B b: is missing",
            ]
        );
        assert!(diff(&found, &found).is_empty());
    }
}
