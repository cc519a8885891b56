//! How InstallPlans are executed: on whose behalf, what happens to existing objects, and what a user
//! is reported.

mod by_hand;
mod by_tools;
mod copies;
mod crds;
mod deletion;
mod kinds;
mod scoped;
mod tool;

use anyhow::Result;
use k8s_openapi::api::core::v1::Event;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_types::api::{InstallPlan, InstallPlanPhase};

use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    of_plans().into_iter().chain(of_definitions()).collect()
}

fn of_plans() -> Vec<Scenario> {
    vec![
        scenario(
            "install_plans::scoped",
            "a plan waits for the rights of its group's account, and acts with them",
            scoped::an_account_gets_its_rights,
        ),
        scenario(
            "install_plans::by_hand",
            "a plan that a user makes finds the CSVs it names and what they need",
            by_hand::a_users_plan,
        ),
        scenario(
            "install_plans::by_tools",
            "a plan that a tool writes needs no CSV, and its manifests may be YAML where v0 reads it",
            by_tools::steps_of_no_csv,
        ),
        scenario(
            "install_plans::by_tools_with_an_account",
            "steps that name no CSV are executed with the rights of the group's account",
            by_tools::with_an_account,
        ),
        scenario(
            "install_plans::being_deleted",
            "a step waits until an object that is being deleted is gone, and creates it",
            deletion::every_kind,
        ),
        scenario(
            "install_plans::a_deleted_kind_of_two_csvs",
            "of two plans with a kind that is being deleted each leaves its record",
            deletion::a_kind_of_two_csvs,
        ),
        scenario(
            "install_plans::a_copy_in_the_way",
            "a plan whose CSV has the name of a copy says whose it is, fails, and goes on once it is gone",
            copies::in_the_way,
        ),
        scenario(
            "install_plans::kinds",
            "objects of every kind belong to their CSV, and warnings are reported",
            kinds::every_kind,
        ),
        scenario(
            "install_plans::a_missing_api",
            "a kind that the cluster does not have is named, other namespaces go on",
            kinds::a_missing_api,
        ),
    ]
}

fn of_definitions() -> Vec<Scenario> {
    vec![
        scenario(
            "install_plans::objects_that_do_not_fit",
            "a CRD is not upgraded while objects are invalid under it",
            crds::objects_that_do_not_fit,
        ),
        scenario(
            "install_plans::a_version_retires",
            "a version of a CRD goes in three steps, and its objects stay",
            crds::a_version_retires,
        ),
        scenario(
            "install_plans::two_owners",
            "a version that another operator relies on is not removed at once",
            crds::two_owners,
        ),
    ]
}

/// A plan of the namespace that is as wanted.
async fn plan(
    ctx: &TestContext,
    what: &str,
    wanted: impl Fn(&InstallPlan) -> bool,
) -> Result<InstallPlan> {
    wait::until_some(&ctx.api::<InstallPlan>(), "", what, wanted).await
}

/// Waits for an event in the namespace.
async fn event(ctx: &TestContext, what: &str, wanted: impl Fn(&Event) -> bool) -> Result<()> {
    wait::until_some(&ctx.api::<Event>(), "", what, wanted).await.map(drop)
}

fn message(plan: &InstallPlan) -> &str {
    plan.status.as_ref().and_then(|status| status.message.as_deref()).unwrap_or_default()
}

fn is_in(plan: &InstallPlan, phase: InstallPlanPhase) -> bool {
    plan.status.as_ref().is_some_and(|status| status.phase == phase)
}

/// What events with this reason say about plans of the namespace.
async fn reported(ctx: &TestContext, reason: &str) -> Result<Vec<String>> {
    let events = ctx.api::<Event>().list(&ListParams::default()).await?.items;
    let about = events.into_iter().filter(|event| event.reason.as_deref() == Some(reason));
    Ok(about.filter_map(|event| event.message).collect())
}

/// Whether a CSV is a non-blocking owner of an object.
fn is_owned_by<K: ResourceExt>(object: &K, csv: &str) -> bool {
    object
        .owner_references()
        .iter()
        .any(|owner| owner.name == csv && owner.controller != Some(true))
}

/// The objects of a kind that lives at cluster scope.
fn cluster<K>(ctx: &TestContext) -> Api<K>
where
    K: kube::Resource<DynamicType = ()>,
{
    Api::all(ctx.client.clone())
}
