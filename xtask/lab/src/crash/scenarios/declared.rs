//! Approvals that are declared, for Subscriptions with and without operators in common.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, Crd, Package, csv};
use olm_types::annotations::{APPROVE, PIN};
use serde_json::json;

use super::operators::operator;
use crate::crash::context::TestContext;
use crate::crash::scenario::Scenario;

pub(super) struct Declared;

/// What the Manual Subscription approves: the first plan, and the upgrade of what it needs.
const APPROVED: &str = "kettle.v1.0.0, pot.v1.0.0, cup.v1.0.0, cup.v1.1.0";

#[async_trait]
impl Scenario for Declared {
    fn name(&self) -> &'static str {
        "declared-approvals"
    }

    fn about(&self) -> &'static str {
        "a Manual and an Automatic Subscription share an operator, a third one is pinned; all is declared"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![("kitchen", content(&["1.0.0"])), ("later", content(&["1.0.0", "1.1.0"]))]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        ctx.operator_group().await?;
        let approve = json!({"metadata": {"annotations": {APPROVE: APPROVED}},
            "spec": {"installPlanApproval": "Manual"}});
        ctx.subscribe_with("kettle", "kitchen", approve).await?;
        ctx.subscribe("pot", "kitchen").await?;
        let pin = json!({"metadata": {"annotations": {PIN: "true"}},
            "spec": {"installPlanApproval": "Manual", "startingCSV": "spoon.v1.0.0"}});
        ctx.subscribe_with("spoon", "kitchen", pin).await?;
        // Only now, so that all are resolved at once.
        ctx.catalog("kitchen", "kitchen").await?;
        for name in ["kettle", "pot", "cup", "spoon"] {
            ctx.succeeded(&format!("{name}.v1.0.0")).await?;
        }
        let cup = ctx.generated("cup", "kitchen");
        ctx.at_latest(&cup, "cup.v1.0.0").await?;
        ctx.move_catalog("kitchen", "later").await?;
        ctx.succeeded("cup.v1.1.0").await?;
        ctx.at_latest(&cup, "cup.v1.1.0").await?;
        ctx.at_latest("spoon", "spoon.v1.0.0").await
    }
}

fn content(versions: &[&str]) -> Vec<Package> {
    let cups = Crd::new("crash.example.com", "v1", "Cup");
    let cup =
        |version: &str| Bundle::new(version, &operator("cup", version, &cups)).provides(&cups);
    let spoon = |version: &str| {
        let csv = csv(&format!("spoon.v{version}"), version).deployment("spoon-manager", "default");
        Bundle::new(version, &csv)
    };
    vec![
        Package::single("kettle", user("kettle", "Kettle", &cups)),
        Package::single("pot", user("pot", "Pot", &cups)),
        following("cup", versions, cup),
        following("spoon", versions, spoon),
    ]
}

/// An operator that needs cups.
fn user(name: &str, kind: &str, cups: &Crd) -> Bundle {
    let kind = Crd::new("crash.example.com", "v1", kind);
    let csv = operator(name, "1.0.0", &kind).requires(cups);
    Bundle::new("1.0.0", &csv).provides(&kind).requires(cups)
}

/// Versions of which each follows the one before.
pub(super) fn following(name: &str, versions: &[&str], bundle: impl Fn(&str) -> Bundle) -> Package {
    let mut bundles: Vec<Bundle> = Vec::new();
    let mut before: Option<&str> = None;
    for version in versions {
        let one = bundle(version);
        bundles.push(match before {
            Some(before) => one.replaces(&format!("{name}.v{before}")),
            None => one,
        });
        before = Some(version);
    }
    Package::new(name).channel("stable", bundles)
}
