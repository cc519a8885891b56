//! Steps of scenarios with several catalogs that the operator serves.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::{self, CONFIGS, ImageBuilder};
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use serde_json::{Value, json};

use super::hosted::{bundles_at, kettle, message};

/// Spec of a catalog whose image is in a repository of a registry, which is asked every second.
pub(super) fn spec(registry: &str, repository: &str) -> Value {
    json!({
        "sourceType": "grpc", "image": format!("{registry}/{repository}:v1"),
        "updateStrategy": {"registryPoll": {"interval": "1s"}},
    })
}

/// The image of a catalog with these versions of one operator, which no other scenario has: what one has had pulled,
/// others would take from the disk.
pub(super) fn catalog(ctx: &TestContext, versions: &[&str]) -> Result<ImageBuilder> {
    let content = ctx.content(&[kettle(versions)])?;
    let image = oci::catalog(content.path())?.label(CONFIGS, "/configs");
    Ok(image.label("scenario", &ctx.namespace))
}

/// Pushes an image in place of the one before; says its digest.
pub(super) async fn push(image: ImageBuilder, registry: &str, repository: &str) -> Result<String> {
    Ok(oci::push(&image.build()?, registry, repository, "v1").await?.digest)
}

/// Waits until clients of a catalog are sent to the content with this digest, and it is served; says where.
pub(super) async fn served(
    ctx: &TestContext,
    name: &str,
    digest: &str,
    bundles: usize,
) -> Result<SocketAddr> {
    let is = |slice: &EndpointSlice| digest_of(slice) == Some(digest);
    let slice = wait::until(&ctx.api(), &format!("{name}-olm-rs"), "say the digest", is).await?;
    let mut ports = slice.ports.iter().flatten().filter_map(|port| port.port);
    let port = u16::try_from(ports.next().unwrap_or_default())?;
    let address = SocketAddr::new(super::address(), port);
    wait::until_ok("serve the content", || async {
        let found = bundles_at(address).await?;
        ensure!(found.len() == bundles, "it serves {found:?}");
        anyhow::Ok(())
    })
    .await?;
    Ok(address)
}

/// Fails when clients are sent to anything but so many bundles with this digest.
pub(super) async fn stays(
    ctx: &TestContext,
    (name, address): (&str, SocketAddr),
    digest: &str,
    bundles: usize,
) -> Result<()> {
    let slice = ctx.api::<EndpointSlice>().get(&format!("{name}-olm-rs")).await?;
    ensure!(digest_of(&slice) == Some(digest), "{name}: {:?} is recorded", slice.annotations());
    let found = bundles_at(address).await?;
    ensure!(found.len() == bundles, "{name}: it serves {found:?}");
    Ok(())
}

/// Waits until a condition says why the newer content is not there, and that the former one stays in use.
pub(super) async fn says(
    ctx: &TestContext,
    name: &str,
    (kind, reason, text): (&str, &str, &str),
) -> Result<()> {
    let has = |catalog: &CatalogSource| {
        let conditions = catalog.status.iter().flat_map(|status| &status.conditions);
        let mut found = conditions.filter(|one| one.type_ == kind && one.reason == reason);
        // What becomes of what was pulled: it stays in use, or blocks, as the flag has it.
        found.any(|one| {
            let blocks = one.message.contains("nothing is resolved with what was read at ");
            one.message.contains(text) && (blocks || one.message.contains("stays in use"))
        })
    };
    wait::until(&ctx.api(), name, &format!("say {reason}: {text}"), has).await.map(drop)
}

/// Waits until a condition is gone.
pub(super) async fn says_no_more(ctx: &TestContext, name: &str, kind: &str) -> Result<()> {
    let lacks = |catalog: &CatalogSource| message(catalog, kind).is_none();
    wait::until(&ctx.api(), name, &format!("say no more {kind}"), lacks).await.map(drop)
}

fn digest_of(slice: &EndpointSlice) -> Option<&str> {
    slice.annotations().get("olm-rs.dev/catalog-digest").map(String::as_str)
}
