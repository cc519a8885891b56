//! What somebody gains who may write OLM's objects in one namespace (docs/security.md).
//!
//! Each way is played under both tenant policies: with v0's it works, where compatibility wants it
//! to, and under the strict one it does not. The API server says who may do what, before and after.

mod catalogs;
mod claims;
mod csvs;
mod forgery;
mod ground;
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
];

/// Plays a way in the namespace of a scene whose operators have this policy.
pub async fn play(scene: Arc<Scene>, policy: TenantPolicy, way: Play) -> Result<()> {
    way(Ground::new(scene, policy).await?).await
}
