//! Resolutions that cannot succeed explain themselves.

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Event;
use kube::api::{Api, ListParams};
use olm_types::api::InstallPlan;

use crate::builders::{Bundle, Crd, Package, csv};
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "resolution::missing_api",
            "an operator needs a kind that no operator provides, and says so",
            missing_api,
        ),
        scenario(
            "resolution::missing_package",
            "an operator needs a package that no catalog has, and says so",
            missing_package,
        ),
        scenario(
            "resolution::orphan",
            "a CSV without a Subscription lacks something, says so, and stops no other",
            orphan,
        ),
    ]
}

/// An operator needs a kind that no operator provides.
async fn missing_api(ctx: Arc<TestContext>) -> Result<()> {
    let crd = Crd::new("nowhere.example.com", "v1", "Unicorn");
    let csv = csv("rider.v1.0.0", "1.0.0").requires(&crd).deployment("rider", "default");
    let bundle = Bundle::new("1.0.0", &csv).requires(&crd);
    expect(
        ctx,
        bundle,
        "an operator providing an API with group: nowhere.example.com, version: v1, kind: Unicorn",
    )
    .await
}

/// An operator needs a package that no catalog has.
async fn missing_package(ctx: Arc<TestContext>) -> Result<()> {
    let csv = csv("rider.v1.0.0", "1.0.0").deployment("rider", "default");
    let bundle = Bundle::new("1.0.0", &csv).requires_package("unicorn", ">=1.0.0");
    expect(ctx, bundle, "an operator with package: unicorn and with version in range: >=1.0.0")
        .await
}

async fn expect(ctx: Arc<TestContext>, bundle: Bundle, needed: &str) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("stable-yard", &[Package::single("rider", bundle)]).await?;
    ctx.subscribe("rider", "stable-yard").await?;
    let condition =
        ctx.condition("rider", "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    let expected = format!(
        "constraints not satisfiable: bundle rider.v1.0.0 requires {needed}, subscription rider \
         exists, subscription rider requires stable-yard/{}/stable/rider.v1.0.0",
        ctx.namespace
    );
    // v0's line comes first; our sentences, with what would help, follow.
    let message = condition.message.unwrap_or_default();
    let ours = message.strip_prefix(&expected).unwrap_or_default();
    ensure!(
        ours.starts_with(". Subscription rider needs rider.v1.0.0 (channel stable of ")
            && ours.contains(" What helps: create a CatalogSource that provides "),
        "the Subscription says {message:?}"
    );
    let plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?;
    ensure!(plans.items.is_empty(), "there is an InstallPlan for a Subscription that was refused");
    check_event(&ctx, &ctx.namespace, &message).await
}

/// A CSV that was applied by hand needs a kind that no operator provides. v0 would install nothing
/// beside it.
async fn orphan(ctx: Arc<TestContext>) -> Result<()> {
    let crd = Crd::new("nowhere.example.com", "v1", "Unicorn");
    ctx.operator_group().await?;
    let lonely = csv("lonely.v1.0.0", "1.0.0").requires(&crd).deployment("lonely", "default");
    ctx.create(&lonely.build()).await?;
    let rider = csv("rider.v1.0.0", "1.0.0").deployment("rider", "default");
    let rider = Package::single("rider", Bundle::new("1.0.0", &rider));
    ctx.catalog("stable-yard", &[rider]).await?;
    ctx.subscribe("rider", "stable-yard").await?;
    ctx.succeeded("rider.v1.0.0").await?;
    let message = "ClusterServiceVersion lonely.v1.0.0 is in the namespace without a Subscription. \
                   The installed lonely.v1.0.0 requires a provider of the API Unicorn \
                   (nowhere.example.com/v1), which no channel of the visible catalogs offers. Each \
                   of these helps: create a CatalogSource that provides the API Unicorn \
                   (nowhere.example.com/v1); delete the ClusterServiceVersion lonely.v1.0.0.";
    check_event(&ctx, "lonely.v1.0.0", message).await
}

/// The text is an event about the object.
async fn check_event(ctx: &TestContext, about: &str, message: &str) -> Result<()> {
    let everywhere: Api<Event> = Api::all(ctx.client.clone());
    let about = format!("reason=ResolutionFailed,involvedObject.name={about}");
    let deadline = tokio::time::Instant::now() + crate::wait::TIMEOUT;
    loop {
        let events = everywhere.list(&ListParams::default().fields(&about)).await?;
        let said: Vec<_> = events.items.into_iter().filter_map(|event| event.message).collect();
        if said.iter().any(|said| said == message) {
            return Ok(());
        }
        ensure!(
            tokio::time::Instant::now() < deadline,
            "no event says {message:?}, they say {said:?}"
        );
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}
