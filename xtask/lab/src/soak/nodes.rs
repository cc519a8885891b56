//! Pods that no node takes, because none has the labels that they ask for.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use serde_json::Value;

use super::plan::Pods;

/// The labels of each node.
pub(super) struct Nodes(Vec<BTreeMap<String, String>>);

impl Nodes {
    /// The nodes of a cluster.
    pub(super) async fn look(client: &Client) -> Result<Self> {
        let nodes: Api<Node> = Api::all(client.clone());
        let nodes = nodes.list(&ListParams::default()).await.context("cannot list nodes")?;
        Ok(Self(nodes.iter().map(|node| node.labels().clone()).collect()))
    }

    /// What some Pods ask for that no node has: object, field and what it says.
    pub(super) fn unmet(&self, all: &[Pods]) -> Option<String> {
        all.iter().find_map(|pods| {
            let (field, asked) = if self.0.iter().any(|node| meets_selector(node, pods)) {
                let met = self
                    .0
                    .iter()
                    .any(|node| meets_selector(node, pods) && meets_affinity(node, &pods.affinity));
                (!met).then_some(("affinity.nodeAffinity", &pods.affinity))?
            } else {
                ("nodeSelector", &pods.selector)
            };
            let name = &pods.deployment;
            let path = format!("spec.template.spec.{field}");
            Some(format!("Deployment {name}, {path}: no node meets {asked}"))
        })
    }
}

/// A node has every label of the selector.
fn meets_selector(node: &BTreeMap<String, String>, pods: &Pods) -> bool {
    let asked = pods.selector.as_object().into_iter().flatten();
    asked.into_iter().all(|(key, value)| node.get(key).map(String::as_str) == value.as_str())
}

/// A node meets one of the terms that are required for scheduling; without terms any does.
fn meets_affinity(node: &BTreeMap<String, String>, affinity: &Value) -> bool {
    let required = "/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let Some(terms) = affinity.pointer(required).and_then(Value::as_array) else { return true };
    terms.iter().any(|term| {
        let asked = term["matchExpressions"].as_array().into_iter().flatten();
        asked.into_iter().all(|one| meets_expression(node, one))
    })
}

/// Operators that compare numbers are taken as met: their Pods are waited for.
fn meets_expression(node: &BTreeMap<String, String>, expression: &Value) -> bool {
    let value = node.get(expression["key"].as_str().unwrap_or_default());
    let values = expression["values"].as_array().into_iter().flatten();
    let is_listed =
        value.is_some_and(|value| values.into_iter().any(|one| one.as_str() == Some(value)));
    match expression["operator"].as_str() {
        Some("In") => is_listed,
        Some("NotIn") => !is_listed,
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn wanting(operator: &str, values: &[&str]) -> Value {
        let expression = json!({"key": "arch", "operator": operator, "values": values});
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [expression]}],
        }})
    }

    #[rstest]
    #[case(json!(null), json!(null), None)]
    #[case(json!({"arch": "arm"}), json!(null), None)]
    #[case(json!({"arch": "arm", "zone": "a"}), json!(null), Some("nodeSelector"))]
    #[case(json!({"disk": "ssd"}), json!(null), Some("nodeSelector"))]
    #[case(json!(null), wanting("In", &["arm", "z"]), None)]
    #[case(json!(null), wanting("In", &["z"]), Some("affinity.nodeAffinity"))]
    #[case(json!(null), wanting("NotIn", &["arm", "x"]), Some("affinity.nodeAffinity"))]
    #[case(json!(null), wanting("Exists", &[]), None)]
    #[case(json!(null), wanting("DoesNotExist", &[]), Some("affinity.nodeAffinity"))]
    #[case(json!({"zone": "a"}), wanting("In", &["arm"]), Some("affinity.nodeAffinity"))]
    fn one_node_must_have_all(
        #[case] selector: Value,
        #[case] affinity: Value,
        #[case] expected: Option<&str>,
    ) {
        let node = |labels: &[(&str, &str)]| {
            labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let nodes = Nodes(vec![node(&[("arch", "x"), ("zone", "a")]), node(&[("arch", "arm")])]);
        let pods = Pods { deployment: "d".to_owned(), selector, affinity };
        let unmet = nodes.unmet(&[pods]);
        let field = unmet.as_deref().and_then(|text| text.split("spec.template.spec.").nth(1));
        assert_eq!(field.and_then(|text| text.split(':').next()), expected, "{unmet:?}");
    }
}
