//! `--catalogs=process`: images that exceed a limit. Each is refused with a message that names the limit, the content
//! before it stays in use, and catalogs beside it go on.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{CONFIGS, Image, ImageBuilder};
use olm_types::conditions::catalog_source::CONTENT_CURRENT;

use super::hosted_sources::noise;
use super::hosted_steps::{catalog, push, says, says_no_more, served, spec, stays};
use crate::catalog_servers::steps::create;

/// Lower than those that hold otherwise, so that small images exceed them; the others stay.
pub(super) const LIMITS: &str = "layers=20,transferred=8388608,unpacked=16777216,free=1048576,entries=1000,\
    names=262144,file=131072,kept=262144";

/// A limit by its name, an image that exceeds it, and reason and part of the message.
type Case = (&'static str, fn() -> Result<ImageBuilder>, (&'static str, &'static str));

const INVALID: &str = "ImageInvalid";

const CASES: [Case; 8] = [
    ("layers", layers, (INVALID, "the image has more than 20 layers")),
    ("transferred", transferred, (INVALID, "the image has more than 8388608 bytes to transfer")),
    ("unpacked", unpacked, (INVALID, "it holds more than 16777216 bytes")),
    ("ratio", ratio, (INVALID, "it unpacks to more than 200 times its size")),
    ("entries", entries, (INVALID, "it holds more than 1000 entries")),
    ("memory", memory, (INVALID, "it holds more than 262144 bytes in names")),
    ("file", file, ("CatalogInvalid", "a.json of 131073 bytes, and one may have 131072")),
    ("kept", kept, (INVALID, "the catalog has more than 262144 bytes")),
];

/// One catalog after the other becomes a hostile image, while another one gets newer content; then all is well again.
pub async fn limits(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let images = ImageRegistry::start(folder.path(), false).await?;
    let registry = images.address();
    let versions = ["1.0.0", "1.1.0"];
    let healthy = push(catalog(&ctx, &versions)?, registry, "healthy").await?;
    create(&ctx, "healthy", spec(registry, "healthy")).await?;
    served(&ctx, "healthy", &healthy, versions.len()).await?;
    for (number, (name, image, said)) in CASES.into_iter().enumerate() {
        let good = push(catalog(&ctx, &["1.0.0"])?, registry, name).await?;
        create(&ctx, name, spec(registry, name)).await?;
        let address = served(&ctx, name, &good, 1).await?;
        let refused = Refused { name, address, good };
        refused.by(&ctx, registry, image()?, said).await.with_context(|| name.to_owned())?;

        let count = 1 + number % versions.len();
        let newer =
            push(catalog(&ctx, versions.get(..count).unwrap_or_default())?, registry, "healthy");
        served(&ctx, "healthy", &newer.await?, count).await?;
        refused.recovers(&ctx, registry).await.with_context(|| name.to_owned())?;
    }
    ctx.keep((images, folder)).await;
    Ok(())
}

/// A catalog whose newer image is refused.
struct Refused {
    name: &'static str,
    address: SocketAddr,
    good: String,
}

impl Refused {
    async fn by(
        &self,
        ctx: &TestContext,
        registry: &str,
        image: ImageBuilder,
        (reason, text): (&str, &str),
    ) -> Result<()> {
        push(image.label(CONFIGS, "/configs"), registry, self.name).await?;
        says(ctx, self.name, (CONTENT_CURRENT, reason, text)).await?;
        stays(ctx, (self.name, self.address), &self.good, 1).await
    }

    async fn recovers(&self, ctx: &TestContext, registry: &str) -> Result<()> {
        let newer = push(catalog(ctx, &["1.0.0", "1.1.0"])?, registry, self.name).await?;
        served(ctx, self.name, &newer, 2).await?;
        says_no_more(ctx, self.name, CONTENT_CURRENT).await
    }
}

fn layers() -> Result<ImageBuilder> {
    let layer = |image: ImageBuilder, number: usize| {
        image.layer().file(&format!("/configs/{number}.json"), "{}", 0o644)
    };
    Ok((0..20).fold(Image::builder().directory("/configs", 0o755), layer))
}

fn transferred() -> Result<ImageBuilder> {
    Ok(Image::builder().file("/configs/noise", noise(9 << 20)?, 0o644))
}

/// Each of its layers is small enough for its ratio not to matter.
fn unpacked() -> Result<ImageBuilder> {
    let layer = |image: ImageBuilder, number: usize| {
        image.layer().file(&format!("/zeros/{number}"), vec![0; 1_000_000], 0o644)
    };
    Ok((0..18).fold(Image::builder().directory("/configs", 0o755), layer))
}

fn ratio() -> Result<ImageBuilder> {
    Ok(Image::builder().file("/configs/zeros", vec![0; 2 << 20], 0o644))
}

fn entries() -> Result<ImageBuilder> {
    let file = |image: ImageBuilder, number: usize| image.file(&format!("/{number}"), "", 0o644);
    Ok((0..1_001).fold(Image::builder(), file))
}

fn memory() -> Result<ImageBuilder> {
    // Each takes two entries: such a name has one of its own.
    let file =
        |image: ImageBuilder, number: usize| image.file(&format!("/{number:0>500}"), "", 0o644);
    Ok((0..480).fold(Image::builder(), file))
}

fn file() -> Result<ImageBuilder> {
    Ok(Image::builder().file("/configs/a.json", vec![b' '; (128 << 10) + 1], 0o644))
}

fn kept() -> Result<ImageBuilder> {
    let file = |image: ImageBuilder, name: &str| {
        image.file(&format!("/configs/{name}.json"), vec![b' '; 100 << 10], 0o644)
    };
    Ok(["a", "b", "c"].into_iter().fold(Image::builder(), file))
}
