//! Every node of the generated schemas says what v0's says at the same place, down to the last field of a
//! Pod that a CSV, a Subscription or a CatalogSource embeds.
//!
//! `data/schemas.jsonl` has the schemas of v0's CRDs without their descriptions; `cargo xtask codegen`
//! writes it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::schema::schema;

/// Keywords under which further nodes are found, and those that only explain.
const NOT_COMPARED: [&str; 4] = ["description", "properties", "items", "additionalProperties"];

/// Differences on purpose: the end of the path, the keyword, what v0 and we have. docs/differences.md
/// has a row for each.
const KEPT: [(&str, &str, Value, Value); 1] = [(
    ".volumes[].ephemeral.volumeClaimTemplate.metadata",
    "x-kubernetes-preserve-unknown-fields",
    Value::Null,
    Value::Bool(true),
)];

/// Fields that v0's definitions lack, which say how far a status is (docs/differences.md).
const ADDED: [&str; 2] = [
    "CatalogSource/v1alpha1.status.observedGeneration",
    "Subscription/v1alpha1.status.observedGeneration",
];

/// One keyword of one node that differs; `Null` where it is absent.
#[derive(Debug, PartialEq)]
struct Difference {
    path: String,
    keyword: String,
    v0: Value,
    ours: Value,
}

impl Difference {
    /// The place in [`KEPT`] of a difference on purpose.
    fn kept(&self) -> Option<usize> {
        KEPT.iter().position(|(path, keyword, v0, ours)| {
            self.path.ends_with(path)
                && self.keyword == *keyword
                && self.v0 == *v0
                && self.ours == *ours
        })
    }
}

/// Schemas of v0 by kind and version, and the same of ours.
fn pairs() -> Vec<(String, Value, Value)> {
    let lines = include_str!("data/schemas.jsonl").lines();
    let pair = |line| {
        let v0: Value = serde_json::from_str(line).unwrap();
        let (kind, version) = (v0["kind"].as_str().unwrap(), v0["version"].as_str().unwrap());
        (format!("{kind}/{version}"), v0["schema"].clone(), schema(kind, version))
    };
    lines.map(pair).collect()
}

/// Compares two nodes and all below them.
fn compare(path: &str, v0: &Value, ours: &Value, found: &mut Vec<Difference>) {
    differ(path, &keywords(v0), &keywords(ours), found);
    let empty = Map::new();
    let fields = |node: &Value| node["properties"].as_object().unwrap_or(&empty).clone();
    each(&fields(v0), &fields(ours), |name, v0, ours| {
        below(&format!("{path}.{name}"), v0, ours, found);
    });
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        below(&format!("{path}{suffix}"), &v0[key], &ours[key], found);
    }
}

/// Compares what stands at a place on both sides, or says that one side has nothing there.
fn below(path: &str, v0: &Value, ours: &Value, found: &mut Vec<Difference>) {
    match (v0.is_object(), ours.is_object()) {
        (true, true) => compare(path, v0, ours, found),
        _ if v0 == ours => {}
        _ => found.push(Difference {
            path: path.to_owned(),
            keyword: "the node".to_owned(),
            v0: keywords(v0).into(),
            ours: keywords(ours).into(),
        }),
    }
}

fn differ(
    path: &str,
    v0: &Map<String, Value>,
    ours: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    each(v0, ours, |keyword, v0, ours| {
        if v0 != ours {
            let (path, keyword) = (path.to_owned(), keyword.to_owned());
            found.push(Difference { path, keyword, v0: v0.clone(), ours: ours.clone() });
        }
    });
}

/// Calls `f` with each name of either map and what the maps have there.
fn each(
    v0: &Map<String, Value>,
    ours: &Map<String, Value>,
    mut f: impl FnMut(&str, &Value, &Value),
) {
    let names: BTreeSet<&String> = v0.keys().chain(ours.keys()).collect();
    for name in names {
        let of = |map: &Map<String, Value>| map.get(name).cloned().unwrap_or_default();
        f(name, &of(v0), &of(ours));
    }
}

/// The keywords of one node, in a form that can be compared.
fn keywords(node: &Value) -> Map<String, Value> {
    let compared = node.as_object().into_iter().flatten();
    let compared = compared.filter(|(keyword, _)| !NOT_COMPARED.contains(&keyword.as_str()));
    let normal = |(keyword, value): (&String, &Value)| {
        let value = match (keyword.as_str(), value) {
            ("minimum" | "maximum", number) => json!(number.as_f64()),
            // A set.
            ("required", Value::Array(names)) => {
                json!(names.iter().filter_map(Value::as_str).collect::<BTreeSet<_>>())
            }
            _ => value.clone(),
        };
        (keyword.clone(), value)
    };
    compared.map(normal).collect()
}

#[test]
fn every_node_is_that_of_v0() {
    let mut found = Vec::new();
    for (title, v0, ours) in pairs() {
        compare(&title, &v0, &ours, &mut found);
    }
    let kept: BTreeMap<usize, &Difference> =
        found.iter().filter_map(|one| Some((one.kept()?, one))).collect();
    assert_eq!(kept.len(), KEPT.len(), "a difference on purpose is none any more");
    found.retain(|difference| difference.kept().is_none());
    let added: Vec<&str> =
        found.iter().map(|one| one.path.as_str()).filter(|path| ADDED.contains(path)).collect();
    assert_eq!(added, ADDED, "a field that was added is missing");
    found.retain(|difference| !ADDED.contains(&difference.path.as_str()));
    let lines: Vec<String> = found.iter().map(|one| format!("{one:?}")).collect();
    assert!(lines.is_empty(), "{} differences:\n{}", lines.len(), lines.join("\n"));
}

/// Nodes are counted in the text, so that a place that the comparison does not reach shows.
#[test]
fn a_change_of_any_node_is_seen() {
    for (title, v0, _) in pairs() {
        let text = v0.to_string();
        // "integer or string" names two types and is one node.
        let either = text.matches(r#""x-kubernetes-int-or-string":true"#).count();
        let nodes = text.matches(r#""type":""#).count() - either;
        let mut changed = v0.clone();
        mark(&mut changed);
        let mut found = Vec::new();
        compare(&title, &v0, &changed, &mut found);
        assert_eq!(found.len(), nodes, "{title}");
    }
}

/// Changes the merge rule of a node and of all below it.
fn mark(node: &mut Value) {
    let Some(keywords) = node.as_object_mut() else { return };
    for key in ["items", "additionalProperties"] {
        keywords.get_mut(key).into_iter().for_each(mark);
    }
    let fields = keywords.get_mut("properties").and_then(Value::as_object_mut);
    fields.into_iter().flat_map(Map::values_mut).for_each(mark);
    keywords.insert("x-kubernetes-list-type".to_owned(), json!("changed"));
}

#[test]
fn a_missing_node_is_seen() {
    let (_, v0, mut ours) = pairs().pop().unwrap();
    let spec = ours["properties"]["spec"]["properties"].as_object_mut().unwrap();
    spec.remove("config").unwrap();
    let mut found = Vec::new();
    compare("", &v0, &ours, &mut found);
    let expected = [".spec.config", ".status.observedGeneration"];
    assert_eq!(found.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), expected);
}
