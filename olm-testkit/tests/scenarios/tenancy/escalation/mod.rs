//! What a user gains who may write OLM's objects in one namespace (docs/security.md).
//!
//! Each way is played under both tenant policies: with v0's it works, where compatibility wants it
//! to, and under the strict one it does not. The API server says who may do what, before and after.

mod bundles;
mod catalogs;
mod claims;
mod csvs;
mod forged;
mod forgery;
mod ground;
mod groups;
mod hooks;
mod plans;
mod targets;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Result;
use olm_lifecycle::tenancy::TenantPolicy;
use olm_testkit::e2e::Scene;

use ground::Ground;

/// One way, played to its end.
type Play = fn(Ground) -> Pin<Box<dyn Future<Output = Result<()>>>>;

/// The ways, with the names of the trials under v0's policy and under the strict one.
pub const WAYS: &[(&str, &str, Play)] = &[
    ("escalation_v0::local_catalog", "escalation_strict::local_catalog", |ground| {
        Box::pin(catalogs::local_catalog(ground))
    }),
    ("escalation_v0::global_catalog", "escalation_strict::global_catalog", |ground| {
        Box::pin(catalogs::global_catalog(ground))
    }),
    ("escalation_v0::plan_by_hand", "escalation_strict::plan_by_hand", |ground| {
        Box::pin(plans::plan_by_hand(ground))
    }),
    ("escalation_v0::changed_plan", "escalation_strict::changed_plan", |ground| {
        Box::pin(plans::changed_plan(ground))
    }),
    ("escalation_v0::foreign_secret", "escalation_strict::foreign_secret", |ground| {
        Box::pin(plans::foreign_secret(ground))
    }),
    ("escalation_v0::foreign_targets", "escalation_strict::foreign_targets", |ground| {
        Box::pin(targets::foreign_targets(ground))
    }),
    ("escalation_v0::claimed_apis", "escalation_strict::claimed_apis", |ground| {
        Box::pin(claims::claimed_apis(ground))
    }),
    ("escalation_v0::webhook", "escalation_strict::webhook", |ground| {
        Box::pin(csvs::webhook(ground))
    }),
    ("escalation_v0::foreign_definition", "escalation_strict::foreign_definition", |ground| {
        Box::pin(csvs::foreign_definition(ground))
    }),
    ("escalation_v0::forged_owners", "escalation_strict::forged_owners", |ground| {
        Box::pin(forgery::forged_owners(ground))
    }),
    ("escalation_v0::forged_account", "escalation_strict::forged_account", |ground| {
        Box::pin(groups::forged_account(ground))
    }),
    ("escalation_v0::forged_targets", "escalation_strict::forged_targets", |ground| {
        Box::pin(groups::forged_targets(ground))
    }),
    ("escalation_v0::going_targets", "escalation_strict::going_targets", |ground| {
        Box::pin(groups::going_targets(ground))
    }),
    ("escalation_v0::going_claim", "escalation_strict::going_claim", |ground| {
        Box::pin(groups::going_claim(ground))
    }),
    ("escalation_v0::cleared_targets", "escalation_strict::cleared_targets", |ground| {
        Box::pin(hooks::cleared_targets(ground))
    }),
    ("escalation_v0::foreign_config_map", "escalation_strict::foreign_config_map", |ground| {
        Box::pin(bundles::foreign_config_map(ground))
    }),
    ("escalation_v0::forged_phase", "escalation_strict::forged_phase", |ground| {
        Box::pin(forged::forged_phase(ground))
    }),
    ("escalation_v0::forged_annotations", "escalation_strict::forged_annotations", |ground| {
        Box::pin(forged::forged_annotations(ground))
    }),
    ("escalation_v0::forged_executor", "escalation_strict::forged_executor", |ground| {
        Box::pin(forged::forged_executor(ground))
    }),
    ("escalation_v0::forged_pointers", "escalation_strict::forged_pointers", |ground| {
        Box::pin(forged::forged_pointers(ground))
    }),
];

/// Plays a way in the namespace of a scene whose operators have this policy.
pub async fn play(scene: Arc<Scene>, policy: TenantPolicy, way: Play) -> Result<()> {
    way(Ground::new(scene, policy).await?).await
}
