//! Parts of a server that are lost, or filled with something else.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{Api, DeleteParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase, webhook_type};
use serde_json::{Value, json};

use super::operator::Example;
use super::traffic::Traffic;
use crate::builders;
use crate::e2e::TestContext;
use crate::wait::{self, Waitable};

/// Whatever an install made for a server and a user deletes is named by the CSV and made again.
pub(super) async fn come_back(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let example = Example::new(&ctx);
    example.install(&ctx).await?;
    let lost = DeletedComponent { ctx: &ctx, csv: example.name() };
    let (service, cert) = (format!("{}-service", example.name()), example.secret());
    let role = |name: &str| format!("role.rbac.authorization.k8s.io \"{name}\" not found");
    let binding =
        |name: &str| format!("rolebinding.rbac.authorization.k8s.io \"{name}\" not found");
    lost.found(&ctx.api::<Role>(), &cert, &role(&cert)).await?;
    lost.found(&ctx.api::<RoleBinding>(), &cert, &binding(&cert)).await?;
    let delegator = format!("{service}-system:auth-delegator");
    let text = format!("clusterrolebinding.rbac.authorization.k8s.io \"{delegator}\" not found");
    lost.found(&Api::<ClusterRoleBinding>::all(ctx.client.clone()), &delegator, &text).await?;
    let api = example.api_service();
    let text = format!("apiservice.apiregistration.k8s.io \"{api}\" not found");
    lost.found(&Api::<APIService>::all(ctx.client.clone()), &api, &text).await?;
    let text = format!("deployment.apps \"{}\" not found", example.name());
    lost.found(&ctx.api::<Deployment>(), example.name(), &text).await?;
    let text = format!("secret \"{cert}\" not found");
    lost.found(&ctx.api::<Secret>(), &cert, &text).await?;
    is_called(&ctx, &example).await
}

/// What is deleted behind the back of a CSV.
struct DeletedComponent<'a> {
    ctx: &'a TestContext,
    csv: &'a str,
}

impl DeletedComponent<'_> {
    /// Deletes an object; the CSV names it, installs again, and it is there once more.
    async fn found<K>(&self, api: &Api<K>, name: &str, text: &str) -> Result<()>
    where
        K: Waitable,
    {
        let deleted = api.delete(name, &DeleteParams::background()).await;
        deleted.map(drop).with_context(|| format!("there is no {name}"))?;
        let states = [
            (CsvPhase::Failed, "APIServiceResourceIssue"),
            (CsvPhase::Pending, "APIServiceResourcesNeedReinstall"),
        ];
        let what = format!("miss {name}");
        wait::until(&self.ctx.api(), self.csv, &what, |csv: &ClusterServiceVersion| {
            states.iter().all(|(phase, reason)| was(csv, *phase, reason, text))
        })
        .await?;
        self.ctx.succeeded(self.csv).await?;
        api.get(name).await.map(drop).with_context(|| format!("{name} is not back"))
    }
}

fn was(csv: &ClusterServiceVersion, phase: CsvPhase, reason: &str, text: &str) -> bool {
    csv.status.iter().flat_map(|status| &status.conditions).any(|past| {
        past.phase == phase
            && past.reason.as_deref() == Some(reason)
            && past.message.as_deref() == Some(text)
    })
}

/// A Secret of the name that an install wants, full of what is no certificate: it is filled anew,
/// before the install and while the operator runs.
pub(super) async fn garbage_is_replaced(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let example = Example::new(&ctx);
    let name = example.secret();
    let text = |text: &str| ByteString(text.as_bytes().to_vec());
    let data = ["olmCAKey", "tls.crt", "tls.key"].map(|key| (key.to_owned(), text("garbage")));
    let mut garbage = Secret { data: Some(data.into()), ..Secret::default() };
    garbage.metadata.name = Some(name.clone());
    garbage.type_ = Some("kubernetes.io/tls".to_owned());
    ctx.create(&garbage).await?;
    example.install(&ctx).await?;
    ensure!(is_certificate(&ctx.api::<Secret>().get(&name).await?), "the garbage is served");

    let spoilt = json!({"data": {"tls.crt": text("more garbage")}});
    ctx.edit::<Secret>(&name, spoilt).await?;
    wait::until(&ctx.api(), &name, "hold a certificate again", is_certificate).await?;
    ctx.succeeded(example.name()).await?;
    is_called(&ctx, &example).await
}

fn is_certificate(secret: &Secret) -> bool {
    let certificate = secret.data.as_ref().and_then(|data| data.get("tls.crt"));
    certificate.is_some_and(|ByteString(pem)| pem.starts_with(b"-----BEGIN CERTIFICATE-----"))
}

/// The servers answer through the API server.
async fn is_called(ctx: &TestContext, example: &Example) -> Result<()> {
    let mut traffic = Traffic::begin(ctx, example).await?;
    traffic.until_called(1).await?;
    traffic.end().await.map(drop)
}

/// A CSV that requires an API which another one serves waits for it, and owns nothing of it.
pub(super) async fn a_required_api(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let example = Example::new(&ctx);
    let reader = builders::csv("reader", "1.0.0").deployment("reader", "default");
    let required: Value = json!({"required": [{
        "name": "readings", "group": example.api_group, "version": "v1", "kind": "Reading",
    }]});
    let required = serde_json::from_value(required).context("a malformed requirement")?;
    ctx.create(&reader.with(|csv| csv.spec.apiservicedefinitions = Some(required)).build()).await?;
    let text = "one or more requirements couldn't be found";
    ctx.is("reader", (CsvPhase::Pending, "RequirementsNotMet", text)).await?;
    example.install(&ctx).await?;
    ctx.succeeded("reader").await?;
    let services: Api<APIService> = Api::all(ctx.client.clone());
    let service = services.get(&example.api_service()).await?;
    let owner = service.metadata.labels.as_ref().and_then(|labels| labels.get("olm.owner"));
    ensure!(owner.is_some_and(|owner| owner == example.name()), "it belongs to {owner:?}");
    is_called(&ctx, &example).await
}

/// Conversion is for the whole cluster: a CSV that can be confined to namespaces says so, until it
/// converts nothing.
pub(super) async fn conversion_is_for_all(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let example = Example::new(&ctx).converting();
    let mut csv = example.csv();
    csv.spec.install_modes.iter_mut().for_each(|mode| mode.supported = true);
    csv.spec.apiservicedefinitions = None;
    example.create_kind(&ctx).await?;
    ctx.create(&csv).await?;
    let text = "install strategy failed: unable to manage conversion webhook: CSVs with conversion \
                webhooks must support only AllNamespaces";
    wait::until(&ctx.api(), example.name(), "say so", |csv: &ClusterServiceVersion| {
        was(csv, CsvPhase::Failed, "InstallComponentFailed", text)
    })
    .await?;
    csv.spec.webhookdefinitions.retain(|webhook| webhook.type_ != webhook_type::CONVERSION);
    let others = json!({"spec": {"webhookdefinitions": csv.spec.webhookdefinitions}});
    ctx.edit::<ClusterServiceVersion>(example.name(), others).await?;
    ctx.succeeded(example.name()).await.map(drop)
}
