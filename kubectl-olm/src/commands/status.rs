//! `status` or `tree`: a Subscription and all that came of it.

use anyhow::Result;
use jiff::Timestamp;
use olm_client::Cluster;
use olm_client::operator::subscription;
use olm_plan::Health;
use olm_plan::tree::{Node, tree};

use super::observe;
use crate::Outcome;
use crate::args::{Format, StatusArgs};
use crate::output::{Kind, Output, Table, age};

/// Characters of a state that are shown without `-o wide`.
const SHORT: usize = 100;

/// Prints the tree of a Subscription.
pub async fn run(
    cluster: &Cluster,
    home: Option<&str>,
    asked: &StatusArgs,
    output: Output,
) -> Result<Outcome> {
    let observed = observe(cluster, home, true).await?;
    let root = tree(&observed, subscription(&observed, &asked.name)?);
    let mut lines = Vec::new();
    flatten(&root, "", "", &mut lines);
    match output.format() {
        Format::Table | Format::Wide => {
            output.print(&table(&lines, output.is_wide()).to_string())?
        }
        Format::Name => {
            let names = lines
                .iter()
                .map(|(_, node)| format!("{}/{}\n", node.kind.to_lowercase(), node.name));
            output.print(&names.collect::<String>())?;
        }
        _ => output.object(Kind::Status, &root)?,
    }
    let is_healthy = lines.iter().all(|(_, node)| node.health == Health::Healthy);
    Ok(if asked.detailed_exitcode && !is_healthy { Outcome::Findings } else { Outcome::Fine })
}

/// Every node in the order of the tree, with the lines that are drawn before it.
fn flatten<'a>(node: &'a Node, before: &str, below: &str, lines: &mut Vec<(String, &'a Node)>) {
    lines.push((before.to_owned(), node));
    for (number, child) in node.children.iter().enumerate() {
        let is_last = number + 1 == node.children.len();
        let (branch, trunk) = if is_last { ("└─", "  ") } else { ("├─", "│ ") };
        flatten(child, &format!("{below}{branch}"), &format!("{below}{trunk}"), lines);
    }
}

fn table(lines: &[(String, &Node)], is_wide: bool) -> Table {
    let mut table = Table::new(&["NAME", "NAMESPACE", "HEALTH", "STATE", "AGE"]);
    let now = Timestamp::now();
    for (before, node) in lines {
        let long = node.state.chars().count() > SHORT && !is_wide;
        let state = match long {
            true => node.state.chars().take(SHORT).chain(['…']).collect(),
            false => node.state.clone(),
        };
        let name = format!("{before}{}/{}", node.kind, node.name);
        let health = node.health.as_str().to_owned();
        let age = age(node.created.as_deref(), now);
        table.row(vec![name, node.namespace.clone(), health, state, age]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::assert_described;

    fn node(name: &str, children: Vec<Node>) -> Node {
        let (namespace, state) = ("ns".to_owned(), "State".to_owned());
        Node {
            kind: "Pod",
            namespace,
            name: name.to_owned(),
            health: Health::Healthy,
            state,
            created: None,
            children,
        }
    }

    #[test]
    fn branches_show_what_belongs_to_what() {
        let root = node("a", vec![node("b", vec![node("c", vec![])]), node("d", vec![])]);
        let mut lines = Vec::new();
        flatten(&root, "", "", &mut lines);
        let printed = table(&lines, false).to_string();
        let header = printed.lines().next().unwrap_or_default();
        assert!(header.starts_with("NAME ") && header.ends_with(" AGE"), "{header}");
        let first: Vec<&str> =
            printed.lines().skip(1).filter_map(|line| line.split("   ").next()).collect();
        assert_eq!(first, ["Pod/a", "├─Pod/b", "│ └─Pod/c", "└─Pod/d"]);
    }

    #[test]
    fn the_schema_describes_a_tree() {
        let created = Some("2026-01-02T03:04:05Z".to_owned());
        assert_described(Kind::Status, &Node { created, ..node("a", vec![node("b", vec![])]) });
    }
}
