//! Operators that the API server calls: webhooks for admission and conversion, and APIs.

mod leftovers;
mod lost_components;
mod operator;
mod rotation;
mod traffic;
mod upgrade;

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde_json::json;

use crate::builders;
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::wait;
use operator::Example;
use traffic::Traffic;

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    [called(), mended()].into_iter().flatten().collect()
}

/// Servers that are called.
fn called() -> Vec<Scenario> {
    let pods = [Need::Containers, Need::Workload];
    vec![
        scenario(
            "servers::are_called_and_removed",
            "webhooks and an API of an operator are called, then taken away with its CSV",
            are_called_and_removed,
        ),
        scenario(
            "servers::conversion",
            "a definition calls the conversion webhook of an operator, until its CSV is gone",
            conversion,
        )
        .needs(&pods)
        .exclusive(),
        scenario(
            "servers::rotation",
            "no call fails while certificates are replaced",
            rotation::no_call_fails,
        ),
        scenario(
            "servers::rotation_of_pods",
            "no call of Pods that run fails while certificates are replaced",
            rotation::no_call_of_pods_fails,
        )
        .needs(&pods)
        .undisturbed(),
        scenario(
            "servers::conversion_of_an_upgrade",
            "a version that brings conversion is installed while its plan is unfinished",
            conversion_of_an_upgrade,
        )
        .needs(&pods)
        .exclusive(),
    ]
}

/// What stands behind servers, and is wrong or gone.
fn mended() -> Vec<Scenario> {
    vec![
        scenario(
            "servers::older_versions",
            "what an older OLM made for an API goes when its operator is installed",
            leftovers::of_older_versions,
        ),
        scenario(
            "servers::orphans",
            "an API whose operator does not exist goes",
            leftovers::of_no_csv,
        ),
        scenario(
            "servers::lost_parts",
            "what an install made for a server and a user deleted is named and made again",
            lost_components::come_back,
        ),
        scenario(
            "servers::garbage_in_a_secret",
            "what is no certificate in the Secret of a server is replaced",
            lost_components::garbage_is_replaced,
        ),
        scenario(
            "servers::a_required_api",
            "a CSV waits for the API that another one serves",
            lost_components::a_required_api,
        ),
        scenario(
            "servers::conversion_is_for_all",
            "a CSV with a conversion webhook that can be confined to namespaces says so",
            lost_components::conversion_is_for_all,
        ),
        scenario(
            "servers::bad_descriptions",
            "a CSV with a webhook on everything says so and disturbs no other",
            bad_descriptions,
        ),
    ]
}

/// Webhooks for admission and an API.
async fn are_called_and_removed(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    play(&ctx, &Example::new(&ctx)).await
}

/// The same with conversion. The operator has to watch all namespaces, and its copies in them
/// would be in the way of other scenarios.
///
/// # Errors
/// When a call fails, or something is left.
pub async fn conversion(ctx: Arc<TestContext>) -> Result<()> {
    let group = builders::operator_group(&ctx.namespace, "group", &[]);
    ctx.create(&group).await?;
    play(&ctx, &Example::new(&ctx).converting()).await
}

/// An upgrade to a version that brings a conversion webhook, with a plan that cannot end and pods
/// that cannot run for a while.
///
/// # Errors
/// When the plan takes the conversion back, or objects cannot be read.
pub async fn conversion_of_an_upgrade(ctx: Arc<TestContext>) -> Result<()> {
    upgrade::with_an_unfinished_plan(&ctx).await
}

/// Each kind of server is called; what is not described any more goes at once, and the rest with
/// the CSV.
async fn play(ctx: &TestContext, example: &Example) -> Result<()> {
    example.install(ctx).await?;
    let mut traffic = Traffic::begin(ctx, example).await?;
    traffic.until_called(10).await?;
    traffic.end().await?;
    example.forget_webhook(ctx, "mutate").await?;
    ctx.api::<ClusterServiceVersion>().delete(example.name(), &DeleteParams::background()).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), example.name()).await?;
    nothing_is_left(ctx, example).await
}

async fn nothing_is_left(ctx: &TestContext, example: &Example) -> Result<()> {
    let client = || ctx.client.clone();
    wait::until_gone(&Api::<APIService>::all(client()), &example.api_service()).await?;
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(client());
    let ours = ListParams::default().labels(&format!("olm.owner.namespace={}", ctx.namespace));
    let left = configurations.list(&ours).await.context("cannot list webhook configurations")?;
    ensure!(left.items.is_empty(), "webhook configurations are left");
    let bindings: Api<ClusterRoleBinding> = Api::all(client());
    wait::until_gone(&bindings, &format!("{}-service-system:auth-delegator", example.name()))
        .await?;
    let readers: Api<RoleBinding> = Api::namespaced(client(), "kube-system");
    wait::until_gone(&readers, &format!("{}-service-auth-reader", example.name())).await?;
    let crds: Api<CustomResourceDefinition> = Api::all(client());
    wait::until(&crds, &example.kind.name(), "convert nothing", |crd: &CustomResourceDefinition| {
        crd.spec.conversion.as_ref().is_none_or(|conversion| conversion.strategy == "None")
    })
    .await
    .map(drop)
}

/// A CSV whose webhook asks for every group says why it fails. A correction lets it succeed.
async fn bad_descriptions(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let example = Example::new(&ctx);
    let rules = json!([{
        "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"],
    }]);
    let rules = serde_json::from_value(rules).context("malformed rules")?;
    let mut csv = example.csv();
    csv.spec.apiservicedefinitions = None;
    csv.spec.webhookdefinitions.truncate(1);
    let good = csv.spec.webhookdefinitions.clone();
    csv.spec.webhookdefinitions.iter_mut().for_each(|webhook| webhook.rules = Vec::clone(&rules));
    example.create_kind(&ctx).await?;
    ctx.create(&csv).await?;
    let failed =
        ctx.csv_phase(example.name(), CsvPhase::Failed, "InvalidWebhookDescription").await?;
    let message = failed.status.and_then(|status| status.message);
    ensure!(message.as_deref() == Some("webhook rules cannot include all groups"), "{message:?}");
    let corrected = Patch::Merge(json!({"spec": {"webhookdefinitions": good}}));
    ctx.api::<ClusterServiceVersion>()
        .patch(example.name(), &PatchParams::default(), &corrected)
        .await?;
    ctx.succeeded(example.name()).await.map(drop)
}
