//! Which crate of the workspace may use which: the arrows of ARCHITECTURE.md.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Workspace;

/// Every crate with the crates it may use.
const ARROWS: [(&str, &[&str]); 27] = [
    ("olm-types", &[]),
    ("olm-effect", &["olm-types"]),
    ("olm-resolver", &["olm-types"]),
    ("olm-opgroup", &["olm-types"]),
    ("olm-rbac", &["olm-types"]),
    ("olm-lifecycle", &["olm-types", "olm-effect", "olm-opgroup", "olm-rbac"]),
    ("olm-flags", &[]),
    ("olm-pages", &[]),
    ("olm-tasks", &[]),
    ("olm-transport", &[]),
    ("olm-catalog", &["olm-types", "olm-flags", "olm-tasks"]),
    (
        "olm-kit",
        &["olm-types", "olm-effect", "olm-flags", "olm-pages", "olm-tasks", "olm-transport"],
    ),
    ("olm-operator", OPERATOR),
    ("catalog-operator", CATALOG_OPERATOR),
    ("olm-plan", PLAN),
    ("olm-client", CLIENT),
    ("olm-console", &["olm-types", "olm-tasks", "olm-plan", "olm-client"]),
    ("kubectl-olm", &["olm-types", "olm-catalog", "olm-plan", "olm-client", "olm-console"]),
    ("olm-testkit", &["olm-types", "olm-tools"]),
    ("olm-rig", &["olm-testkit"]),
    ("olm-tools", &[]),
    ("olm-workload", &[]),
    ("xtask", &["olm-tools"]),
    ("xtask-demo", &["xtask", "olm-types", "olm-testkit", "olm-rig", "olm-catalog"]),
    ("xtask-generate", &["xtask", "olm-types", "olm-testkit", "olm-tools"]),
    ("xtask-load", &["olm-catalog"]),
    (
        "xtask-lab",
        &[
            "xtask",
            "xtask-demo",
            "olm-types",
            "olm-testkit",
            "olm-rig",
            "olm-catalog",
            "olm-resolver",
            "olm-plan",
        ],
    ),
];

const OPERATOR: &[&str] =
    &["olm-types", "olm-effect", "olm-lifecycle", "olm-opgroup", "olm-rbac", "olm-kit"];

const PLAN: &[&str] =
    &["olm-types", "olm-effect", "olm-resolver", "olm-opgroup", "olm-rbac", "olm-lifecycle"];

const CLIENT: &[&str] = &[
    "olm-types",
    "olm-effect",
    "olm-lifecycle",
    "olm-catalog",
    "olm-pages",
    "olm-transport",
    "olm-plan",
];

const CATALOG_OPERATOR: &[&str] = &[
    "olm-types",
    "olm-effect",
    "olm-lifecycle",
    "olm-opgroup",
    "olm-rbac",
    "olm-kit",
    "olm-resolver",
    "olm-catalog",
];

/// Dependencies against the arrows. Tests may use what they like, but nothing that ships may
/// use the test kit.
pub(super) fn forbidden(workspace: &Workspace) -> Result<Vec<String>> {
    let members = || workspace.packages.values().filter(|package| package.source.is_none());
    let names: BTreeSet<&str> = members().map(|package| package.name.as_str()).collect();
    let mut found = Vec::new();
    for package in members() {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
            found.push(format!("{} is not in the table of arrows", package.name));
            continue;
        };
        let shipped = package.dependencies.iter().filter(|d| d.kind.as_deref() != Some("dev"));
        let wrong = shipped.filter(|dependency| {
            let name = dependency.name.as_str();
            names.contains(name) && !allowed.contains(&name)
        });
        found.extend(wrong.map(|d| format!("{} must not use {}", package.name, d.name)));
    }
    Ok(found)
}
