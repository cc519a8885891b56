//! The tables as roles and bindings.

use std::fmt::Write;

use super::{Right, Scope, of};
use crate::operators::Operator;

/// Name of an operator's ClusterRole. That of olm-operator is v0's, which others refer to.
pub const fn role_name(operator: Operator) -> &'static str {
    match operator {
        Operator::Olm => "system:controller:operator-lifecycle-manager",
        Operator::Catalog => "system:controller:catalog-operator",
    }
}

/// Everything that gives the operators their rights: accounts, roles and bindings, as YAML.
/// `namespace` is what stands for the operators' namespace: a name, or an expression of a template.
pub fn yaml(namespace: &str) -> String {
    let documents = Operator::ALL.map(documents);
    documents.concat().join("---\n").replace(PLACE, namespace)
}

/// The rules of an operator with this scope, as they stand in a role.
pub fn rules_of(operator: Operator, scope: Scope) -> String {
    let rights = of(operator).iter().filter(|right| right.scope == scope);
    rights.map(rule).collect()
}

/// Stands for the namespace until the text is complete.
const PLACE: &str = "@namespace@";

fn documents(operator: Operator) -> [String; 5] {
    let (name, account, cluster_role) = (operator.name(), operator.account(), role_name(operator));
    [
        format!(
            "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {account}\n  namespace: {PLACE}\n"
        ),
        role("ClusterRole", &format!("  name: {cluster_role}\n"), operator, Scope::Cluster),
        binding("ClusterRole", &format!("  name: {name}-binding-{PLACE}\n"), cluster_role, account),
        role("Role", &at_home(name), operator, Scope::OwnNamespace),
        binding("Role", &at_home(name), name, account),
    ]
}

fn at_home(name: &str) -> String {
    format!("  name: {name}\n  namespace: {PLACE}\n")
}

fn role(kind: &str, metadata: &str, operator: Operator, scope: Scope) -> String {
    let rules = rules_of(operator, scope);
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n{metadata}rules:\n{rules}"
    )
}

fn binding(kind: &str, metadata: &str, role: &str, account: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: {kind}Binding
metadata:
{metadata}roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {kind}
  name: {role}
subjects:
  - kind: ServiceAccount
    name: {account}
    namespace: {PLACE}
"
    )
}

fn rule(right: &Right) -> String {
    let mut text = String::new();
    for line in wrapped(right.reason) {
        let _ = writeln!(text, "  # {line}");
    }
    let _ = writeln!(text, "  - apiGroups: [{}]", quoted(&[right.group]));
    let _ = writeln!(text, "    resources: [{}]", quoted(right.resources));
    if !right.names.is_empty() {
        let _ = writeln!(text, "    resourceNames: [{}]", quoted(right.names));
    }
    let _ = writeln!(text, "    verbs: [{}]", quoted(right.verbs));
    text
}

/// Plain where YAML lets it be.
fn quoted(values: &[&str]) -> String {
    let quoted = values.iter().map(|value| match *value {
        "" | "*" => format!("{value:?}"),
        plain => plain.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(", ")
}

/// Longest line of a comment, without its mark.
const WIDTH: usize = 90;

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        match lines[last].len() {
            0 => lines[last].push_str(word),
            length if length + word.len() < WIDTH => {
                lines[last].push(' ');
                lines[last].push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
