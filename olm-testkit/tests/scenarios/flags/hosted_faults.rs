//! `--catalogs=process`: what becomes of catalogs while something is wrong with their registry. What was pulled stays
//! in use, the status says what is wrong, catalogs of other registries go on, and when it is over, so does this one.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures::future::try_join_all;
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::server::ImageRegistry;
use olm_types::conditions::catalog_source::{CONTENT_CURRENT, IMAGE_POLLED};

use super::hosted_steps::{catalog, push, says, says_no_more, served, spec, stays};
use crate::catalog_servers::steps::create;
use crate::faulty_registry::{Fault, FaultyRegistry};

const OLD: [&str; 1] = ["1.0.0"];
const NEW: [&str; 2] = ["1.0.0", "1.1.0"];
const UNAVAILABLE: &str = "RegistryUnavailable";
const MISMATCH: &str = "DigestMismatch";

/// A fault of a registry, and what is said about it.
struct Case {
    name: &'static str,
    fault: Fault,
    /// Condition, reason, and a part of the message.
    said: (&'static str, &'static str, &'static str),
}

const fn case(
    name: &'static str,
    fault: Fault,
    said: (&'static str, &'static str, &'static str),
) -> Case {
    Case { name, fault, said }
}

static CASES: [Case; 8] = [
    case("away", Fault::Away, (IMAGE_POLLED, UNAVAILABLE, "cannot be reached")),
    case("limited", Fault::Limited, (IMAGE_POLLED, UNAVAILABLE, "asks for a pause")),
    case("broken", Fault::Broken, (IMAGE_POLLED, UNAVAILABLE, "with 500")),
    case("circle", Fault::Circle, (IMAGE_POLLED, UNAVAILABLE, "more than 5 redirects")),
    case("drip", Fault::Drip, (IMAGE_POLLED, UNAVAILABLE, "is too slow")),
    case("truncated", Fault::Truncated, (IMAGE_POLLED, UNAVAILABLE, "cannot be reached")),
    case("short", Fault::Short, (CONTENT_CURRENT, MISMATCH, "bytes and has ")),
    case("forged", Fault::Forged, (CONTENT_CURRENT, MISMATCH, "should have the digest sha256:")),
];

/// All faults at once, each of another registry, and a registry without any.
pub async fn faults(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    let real = registry.address();
    let first = push(catalog(&ctx, &OLD)?, real, "healthy").await?;
    create(&ctx, "healthy", spec(real, "healthy")).await?;
    served(&ctx, "healthy", &first, 1).await?;

    let begun = CASES.iter().map(|case| Faulty::begin(&ctx, case, real));
    let faulty = try_join_all(begun).await?;
    // Content of its own: what one catalog has had pulled, others take from the disk.
    let newer = push(catalog(&ctx, &["1.0.0", "1.2.0"])?, real, "healthy").await?;
    served(&ctx, "healthy", &newer, 2).await?;
    try_join_all(faulty.iter().map(|one| one.stays(&ctx))).await?;
    try_join_all(faulty.iter().map(|one| one.recovers(&ctx))).await?;
    moved_tag(&ctx, real).await?;
    for one in faulty {
        ctx.keep(one.registry).await;
    }
    ctx.keep((registry, folder)).await;
    Ok(())
}

/// A catalog whose registry has a fault.
struct Faulty<'a> {
    case: &'a Case,
    registry: FaultyRegistry,
    address: SocketAddr,
    /// Digests of what it has, and of what it does not get.
    digests: [String; 2],
}

impl<'a> Faulty<'a> {
    /// A catalog is served, then its registry has newer content and a fault.
    async fn begin(ctx: &TestContext, case: &'a Case, real: &str) -> Result<Self> {
        let Case { name, fault, said } = case;
        let registry = FaultyRegistry::start(real).await?;
        let old = push(catalog(ctx, &OLD)?, real, name).await?;
        create(ctx, name, spec(registry.address(), name)).await?;
        let address = served(ctx, name, &old, 1).await?;
        registry.set(*fault);
        let new = push(catalog(ctx, &NEW)?, real, name).await?;
        says(ctx, name, *said).await?;
        if *fault == Fault::Drip {
            // Each further attempt would take the place of other pulls for half a minute.
            registry.set(Fault::Away);
        }
        Ok(Self { case, registry, address, digests: [old, new] })
    }

    async fn stays(&self, ctx: &TestContext) -> Result<()> {
        stays(ctx, (self.case.name, self.address), &self.digests[0], 1).await
    }

    async fn recovers(&self, ctx: &TestContext) -> Result<()> {
        self.registry.set(Fault::Nothing);
        served(ctx, self.case.name, &self.digests[1], 2).await?;
        says_no_more(ctx, self.case.name, self.case.said.0).await
    }
}

/// The tag becomes another image while the one before is pulled: what is served is one of them, whole, and in the end
/// the last.
async fn moved_tag(ctx: &TestContext, real: &str) -> Result<()> {
    let registry = FaultyRegistry::start(real).await?;
    let old = push(catalog(ctx, &OLD)?, real, "moved").await?;
    create(ctx, "moved", spec(registry.address(), "moved")).await?;
    let address = served(ctx, "moved", &old, 1).await?;
    registry.set(Fault::Held);
    // No other catalog has had this content pulled.
    push(catalog(ctx, &["1.0.0", "1.3.0"])?, real, "moved").await?;
    registry.until_held().await?;
    let last = push(catalog(ctx, &["1.0.0", "1.1.0", "1.2.0"])?, real, "moved").await?;
    stays(ctx, ("moved", address), &old, 1).await?;
    registry.set(Fault::Nothing);
    served(ctx, "moved", &last, 3).await?;
    says_no_more(ctx, "moved", CONTENT_CURRENT).await?;
    says_no_more(ctx, "moved", IMAGE_POLLED).await?;
    ctx.keep(registry).await;
    Ok(())
}
