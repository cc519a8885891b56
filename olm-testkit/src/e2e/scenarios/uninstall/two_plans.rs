//! A namespace in which one InstallPlan is stuck and a newer one waits for it.

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, InstallPlanPhase, OperatorGroup,
    Subscription,
};
use serde_json::{Value, json};

use crate::builders;
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::history::{Change, History};
use crate::wait;

/// The installed version; its plan is stuck.
pub(super) const OLD: &str = "kettle.v1.0.0";
/// The next version; its plan waits.
pub(super) const NEW: &str = "kettle.v1.1.0";

/// The two plans by name, and what happens to CSVs from the beginning.
pub(super) struct TwoPlans {
    pub(super) older: String,
    pub(super) newer: String,
    csvs: History<ClusterServiceVersion>,
}

impl TwoPlans {
    /// Has the Subscription `kettle` installed until one plan is tried again and again, and the next
    /// one waits.
    pub(super) async fn begin(ctx: &TestContext) -> Result<Self> {
        let csvs = History::of(ctx.api()).await?;
        let kind = kettles(ctx);
        let old = kettle("1.0.0", &kind).manifest(of_no_kind());
        let new = kettle("1.1.0", &kind).replaces(OLD);
        ctx.operator_group().await?;
        ctx.catalog("kitchen", &stable(&[old, new])).await?;
        let mut subscription =
            builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
        subscription.spec.starting_csv = Some(OLD.to_owned());
        ctx.create(&subscription).await?;
        let plans = ctx.api::<InstallPlan>();
        let stuck = |plan: &InstallPlan| is_for(plan, OLD) && is_retried(plan);
        let older = wait::until_some(&plans, "", "be tried again", stuck).await?;
        let waits =
            |plan: &InstallPlan| is_for(plan, NEW) && phase(plan) == InstallPlanPhase::Installing;
        let newer = wait::until_some(&plans, "", "plan the next version", waits).await?;
        ctx.conclude_refused_plans().await?;
        ensure!(newer.metadata.generate_name.as_deref() == Some("install-"), "{newer:?}");
        Ok(Self { older: older.name_any(), newer: newer.name_any(), csvs })
    }

    /// Fails if the next version was ever there.
    pub(super) fn next_version_never_came(&self) -> Result<()> {
        let came = self.csvs.so_far().iter().any(|change| change.name() == NEW);
        ensure!(!came, "{NEW} was installed");
        Ok(())
    }

    /// The states of all CSVs so far.
    pub(super) fn csvs(&self) -> Vec<Change<ClusterServiceVersion>> {
        self.csvs.so_far()
    }
}

/// An object of a kind that no cluster serves.
fn of_no_kind() -> Value {
    json!({
        "apiVersion": "monitoring.absent.example.com/v1", "kind": "ServiceMonitor",
        "metadata": {"name": "kettle"}, "spec": {},
    })
}

/// Something that a user deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UserObject {
    Subscription,
    Csvs,
    Plans,
    Group,
    Catalog,
}

/// Deletes it, if it is still there, and does not wait until it is gone.
pub(super) async fn delete(ctx: &TestContext, thing: UserObject) -> Result<()> {
    match thing {
        UserObject::Subscription => all::<Subscription>(ctx).await,
        UserObject::Csvs => all::<ClusterServiceVersion>(ctx).await,
        UserObject::Plans => all::<InstallPlan>(ctx).await,
        UserObject::Group => all::<OperatorGroup>(ctx).await,
        UserObject::Catalog => all::<CatalogSource>(ctx).await,
    }
}

async fn all<K>(ctx: &TestContext) -> Result<()>
where
    K: wait::Waitable + kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
{
    let api: Api<K> = ctx.api();
    let deleted = api.delete_collection(&DeleteParams::default(), &ListParams::default()).await;
    deleted.map(drop).with_context(|| format!("cannot delete what there is of {}", K::kind(&())))
}

fn is_for(plan: &InstallPlan, csv: &str) -> bool {
    plan.spec.cluster_service_version_names.iter().any(|name| name == csv)
}

pub(super) fn phase(plan: &InstallPlan) -> InstallPlanPhase {
    plan.status.as_ref().map(|status| status.phase).unwrap_or_default()
}

fn is_retried(plan: &InstallPlan) -> bool {
    let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
    message.is_some_and(|text| text.starts_with("retrying execution due to error"))
}
