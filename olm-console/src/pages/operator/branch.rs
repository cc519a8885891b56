//! The tree of an operator as its page shows it, with custom resources.

use askama::Template;
use olm_client::operator::Operand;
use olm_plan::tree::Node;
use olm_types::api::ClusterServiceVersion;

use crate::pages::bounds::{Budget, short};

/// Bytes of all custom resources.
const OPERANDS: usize = 24 * 1024;

/// Bytes of markup around a custom resource, with its health twice.
const OPERAND_MARKUP: usize = 130;

/// Characters that a custom resource says of itself.
const STATE: usize = 200;

/// An object and those that came of it.
#[derive(Template)]
#[template(path = "branch.html")]
pub(super) struct Branch {
    title: String,
    health: &'static str,
    state: String,
    children: Vec<Branch>,
}

/// The tree. Custom resources of an operator are below the CSV that is installed.
pub(super) fn branch(node: Node, installed: &str, operands: &mut Vec<Operand>) -> Branch {
    let below = node.children.into_iter().map(|child| branch(child, installed, operands));
    let mut children: Vec<Branch> = below.collect();
    if node.kind == ClusterServiceVersion::KIND && node.name == installed {
        children.extend(operands.drain(..).map(leaf));
    }
    Branch {
        title: format!("{} {}", node.kind, node.name),
        health: node.health.as_str(),
        state: node.state,
        children,
    }
}

fn leaf(operand: Operand) -> Branch {
    Branch {
        title: format!("{} {}", operand.kind, operand.name),
        health: operand.health.as_str(),
        state: operand.state,
        children: Vec::new(),
    }
}

/// Custom resources, as many as fit, and how many more there are.
pub(super) fn fitting(operands: Vec<Operand>) -> (Vec<Operand>, usize) {
    let count = operands.len();
    let mut budget = Budget::new(OPERANDS);
    let shortened =
        operands.into_iter().map(|one| Operand { state: short(&one.state, STATE), ..one });
    let fits = |one: &Operand| budget.holds(OPERAND_MARKUP, &[&one.kind, &one.name, &one.state]);
    let shown: Vec<Operand> = shortened.take_while(fits).collect();
    let more = count.saturating_sub(shown.len());
    (shown, more)
}

#[cfg(test)]
mod tests {
    use olm_plan::Health;

    use super::*;

    fn operand(name: &str, state: &str) -> Operand {
        let [kind, name, state] = ["Kettle", name, state].map(str::to_owned);
        Operand { kind, name, health: Health::Healthy, state }
    }

    fn node(kind: &'static str, name: &str, children: Vec<Node>) -> Node {
        Node {
            kind,
            namespace: "ns".to_owned(),
            name: name.to_owned(),
            health: Health::Progressing,
            state: String::new(),
            created: None,
            children,
        }
    }

    #[test]
    fn custom_resources_are_below_the_csv_that_is_installed() {
        let csv = |name: &str| {
            node("ClusterServiceVersion", name, vec![node("Deployment", "manager", Vec::new())])
        };
        let root = node("Subscription", "kettle", vec![csv("kettle.v1"), csv("kettle.v2")]);
        let mut operands = vec![operand("mine", "Ready: True")];
        let root = branch(root, "kettle.v1", &mut operands);
        let below = |number: usize| -> Vec<&str> {
            root.children[number].children.iter().map(|one| one.title.as_str()).collect()
        };
        assert_eq!(below(0), ["Deployment manager", "Kettle mine"]);
        assert_eq!(below(1), ["Deployment manager"]);
        let text = root.render().unwrap();
        assert!(text.contains("<span class=\"mark Healthy\">Healthy</span> <strong>Kettle mine"));
    }

    #[test]
    fn custom_resources_are_shown_as_far_as_they_fit() {
        let many = |count: usize| vec![operand("mine", &"&".repeat(1_000)); count];
        let (shown, more) = fitting(many(3));
        assert_eq!((shown.len(), more), (3, 0));
        assert!(shown.iter().all(|one| one.state.chars().count() == STATE + 1));
        let (shown, more) = fitting(many(300));
        assert!(shown.len() < 30 && shown.len() + more == 300, "{}", shown.len());
    }
}
