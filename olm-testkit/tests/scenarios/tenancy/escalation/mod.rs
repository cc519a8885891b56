//! What a user gains who may write OLM's objects in one namespace (docs/security.md).
//!
//! Each way is played under both tenant policies: with v0's it works, where compatibility wants it
//! to, and under the strict one it does not. The API server says who may do what, before and after.

mod approvals;
mod bundles;
mod catalogs;
mod claims;
mod csvs;
mod definitions;
mod floods;
mod forged;
mod forgery;
mod groups;
mod hooks;
mod marks;
mod plans;
mod shared;
mod statuses;
mod targets;
mod tenant;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, DeleteParams};
use olm_lifecycle::tenancy::TenantPolicy;
use olm_testkit::e2e::TestContext;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_types::api::CatalogSource;

use tenant::Tenant;

/// One way, played to its end.
type Play = fn(Tenant) -> Pin<Box<dyn Future<Output = Result<()>>>>;

/// The ways, with the names of the trials under v0's policy and under the strict one.
pub const WAYS: &[(&str, &str, Play)] = &[
    ("escalation_v0::local_catalog", "escalation_strict::local_catalog", |tenant| {
        Box::pin(catalogs::local_catalog(tenant))
    }),
    ("escalation_v0::global_catalog", "escalation_strict::global_catalog", |tenant| {
        Box::pin(catalogs::global_catalog(tenant))
    }),
    ("escalation_v0::plan_by_hand", "escalation_strict::plan_by_hand", |tenant| {
        Box::pin(plans::plan_by_hand(tenant))
    }),
    ("escalation_v0::changed_plan", "escalation_strict::changed_plan", |tenant| {
        Box::pin(plans::changed_plan(tenant))
    }),
    ("escalation_v0::foreign_secret", "escalation_strict::foreign_secret", |tenant| {
        Box::pin(plans::foreign_secret(tenant))
    }),
    ("escalation_v0::foreign_targets", "escalation_strict::foreign_targets", |tenant| {
        Box::pin(targets::foreign_targets(tenant))
    }),
    ("escalation_v0::claimed_apis", "escalation_strict::claimed_apis", |tenant| {
        Box::pin(claims::claimed_apis(tenant))
    }),
    ("escalation_v0::webhook", "escalation_strict::webhook", |tenant| {
        Box::pin(csvs::webhook(tenant))
    }),
    ("escalation_v0::foreign_definition", "escalation_strict::foreign_definition", |tenant| {
        Box::pin(csvs::foreign_definition(tenant))
    }),
    ("escalation_v0::foreign_role", "escalation_strict::foreign_role", |tenant| {
        Box::pin(csvs::foreign_role(tenant))
    }),
    ("escalation_v0::forged_owners", "escalation_strict::forged_owners", |tenant| {
        Box::pin(forgery::forged_owners(tenant))
    }),
    ("escalation_v0::forged_account", "escalation_strict::forged_account", |tenant| {
        Box::pin(groups::forged_account(tenant))
    }),
    ("escalation_v0::forged_targets", "escalation_strict::forged_targets", |tenant| {
        Box::pin(groups::forged_targets(tenant))
    }),
    ("escalation_v0::going_targets", "escalation_strict::going_targets", |tenant| {
        Box::pin(groups::going_targets(tenant))
    }),
    ("escalation_v0::going_claim", "escalation_strict::going_claim", |tenant| {
        Box::pin(groups::going_claim(tenant))
    }),
    ("escalation_v0::cleared_targets", "escalation_strict::cleared_targets", |tenant| {
        Box::pin(hooks::cleared_targets(tenant))
    }),
    ("escalation_v0::foreign_config_map", "escalation_strict::foreign_config_map", |tenant| {
        Box::pin(bundles::foreign_config_map(tenant))
    }),
    ("escalation_v0::forged_phase", "escalation_strict::forged_phase", |tenant| {
        Box::pin(forged::forged_phase(tenant))
    }),
    ("escalation_v0::forged_annotations", "escalation_strict::forged_annotations", |tenant| {
        Box::pin(forged::forged_annotations(tenant))
    }),
    ("escalation_v0::forged_requirements", "escalation_strict::forged_requirements", |tenant| {
        Box::pin(forged::forged_requirements(tenant))
    }),
    ("escalation_v0::forged_certificates", "escalation_strict::forged_certificates", |tenant| {
        Box::pin(hooks::forged_certificates(tenant))
    }),
    ("escalation_v0::lost_certificate", "escalation_strict::lost_certificate", |tenant| {
        Box::pin(hooks::lost_certificate(tenant))
    }),
    ("escalation_v0::excluded_catalogs", "escalation_strict::excluded_catalogs", |tenant| {
        Box::pin(shared::excluded_catalogs(tenant))
    }),
    ("escalation_v0::forged_executor", "escalation_strict::forged_executor", |tenant| {
        Box::pin(forged::forged_executor(tenant))
    }),
    ("escalation_v0::older_definition", "escalation_strict::older_definition", |tenant| {
        Box::pin(definitions::older_definition(tenant))
    }),
    ("escalation_v0::forged_statuses", "escalation_strict::forged_statuses", |tenant| {
        Box::pin(statuses::forged_statuses(tenant))
    }),
    ("escalation_v0::forged_marks", "escalation_strict::forged_marks", |tenant| {
        Box::pin(marks::forged_marks(tenant))
    }),
    ("escalation_v0::forged_approvals", "escalation_strict::forged_approvals", |tenant| {
        Box::pin(approvals::forged_approvals(tenant))
    }),
    ("escalation_v0::shared_bundle", "escalation_strict::shared_bundle", |tenant| {
        Box::pin(shared::shared_bundle(tenant))
    }),
    ("escalation_v0::shared_names", "escalation_strict::shared_names", |tenant| {
        Box::pin(shared::shared_names(tenant))
    }),
    ("escalation_v0::many_labels", "escalation_strict::many_labels", |tenant| {
        Box::pin(floods::labels(tenant))
    }),
    ("escalation_v0::many_groups", "escalation_strict::many_groups", |tenant| {
        Box::pin(floods::groups(tenant))
    }),
    ("escalation_v0::forged_pointers", "escalation_strict::forged_pointers", |tenant| {
        Box::pin(forged::forged_pointers(tenant))
    }),
];

/// Plays a way in the namespace of a test whose operators have this policy.
pub async fn play(ctx: Arc<TestContext>, policy: TenantPolicy, way: Play) -> Result<()> {
    let (client, home) = (ctx.client.clone(), ctx.namespace.clone());
    let played = way(Tenant::new(ctx, policy).await?).await;
    played.and(remove_global_catalog(client, &home).await)
}

/// Whatever came of it, no other scenario sees what an administrator offered to all namespaces.
async fn remove_global_catalog(client: Client, name: &str) -> Result<()> {
    let catalogs: Api<CatalogSource> = Api::namespaced(client, OLM_NAMESPACE);
    match catalogs.delete(name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        deleted => deleted.map(drop).context("cannot delete the global catalog"),
    }
}
