//! An operator whose InstallPlan has ten steps.

use olm_testkit::builders::{Crd, csv};
use serde_json::{Value, json};

use crate::scale::published::Published;

/// The CSV of every namespace.
pub(super) const CSV: &str = "tool.v1.0.0";

/// Steps: the CSV, a CRD, two ServiceAccounts with a Role and a RoleBinding each, and a ClusterRole
/// with its binding.
pub(super) const STEPS: usize = 10;

/// Bytes of prose in the CSV; real ones have several thousand.
const PROSE: usize = 8 * 1024;

/// The only version of the package.
pub(super) fn published() -> Published {
    let kind = Crd::new("scale.example.com", "v1", "Tool");
    let csv = csv(CSV, "1.0.0")
        .owns(&kind)
        .deployment("tool", "tool")
        .permission("tool", rules("configmaps"))
        .permission("tool-helper", rules("secrets"))
        .cluster_permission("tool", rules("nodes"))
        .description("A tool works. ".repeat(PROSE / 14));
    Published { package: "tool", csv, crds: vec![kind.manifest()] }
}

fn rules(resource: &str) -> Value {
    json!([{"apiGroups": [""], "resources": [resource], "verbs": ["get", "list", "watch"]}])
}
