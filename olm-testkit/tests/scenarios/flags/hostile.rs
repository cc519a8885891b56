//! `--bundle-unpack=process`: images that are meant to do harm are refused, each with what is wrong
//! with it at the Subscription, and no other Subscription suffers.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, DeleteParams};
use olm_testkit::builders::{Bundle, Package, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, Image, ImageBuilder};
use olm_testkit::wait;
use olm_types::api::{CatalogSource, Subscription};
use olm_types::conditions::readiness::ALL;
use tar::{EntryType, Header};

use crate::unpack::{bundle, reported};

/// A bomb, ways out, a device; then an operator from another catalog.
pub async fn images(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    let calm = csv("calm.v1.0.0", "1.0.0").deployment("calm", "default");
    ctx.operator_group().await?;
    ctx.catalog("sound", &[Package::single("calm", Bundle::new("1.0.0", &calm))]).await?;
    for (name, image, wrong) in hostile()? {
        let pushed = oci::push(&image.build()?, registry.address(), name, "v1").await?;
        let kettle = bundle(&ctx, "kettle.v1.0.0").in_image(&pushed.pinned());
        ctx.catalog(name, &[Package::single("kettle", kettle)]).await?;
        ctx.subscribe("kettle", name).await?;
        let start = "Bundle unpacking failed - ImageInvalid: ";
        let says = |text: &str| text.starts_with(start) && text.contains(wrong);
        reported(&ctx, "BundleUnpackFailed", says).await.with_context(|| name.to_owned())?;
        forget(&ctx).await?;
    }
    ctx.subscribe("calm", "sound").await?;
    ctx.succeeded("calm.v1.0.0").await?;
    let sound: CatalogSource = ctx.api().get("sound").await?;
    let conditions = sound.status.map(|status| status.conditions).unwrap_or_default();
    let mut kinds = conditions.iter().map(|one| one.type_.as_str());
    ensure!(kinds.all(|kind| ALL.contains(&kind)), "{conditions:?}");
    Ok(())
}

/// Names, images, and what is said of them.
fn hostile() -> Result<[(&'static str, ImageBuilder, &'static str); 5]> {
    let none = Image::builder;
    let way_out = none().directory("/out", 0o755).layer().link("/out", "../..").layer();
    Ok([
        ("bomb", none().file("/zeros", vec![0; 32 << 20], 0o644), "more than 200 times its size"),
        ("link", way_out.file("/out/x", "x", 0o644), "leads out of the image"),
        ("path", none().archive(entry("../etc/passwd", EntryType::Regular)?), "leads out of"),
        ("device", none().archive(entry("dev/null", EntryType::Char)?), "dev/null is a device"),
        ("noise", none().archive(vec![7; 2_000]), "it is no tar archive"),
    ])
}

/// An archive of one entry; the library would refuse the interesting paths.
fn entry(path: &str, kind: EntryType) -> Result<Vec<u8>> {
    let mut header = Header::new_ustar();
    let name = header.as_old_mut().name.get_mut(..path.len()).context("a long path")?;
    name.copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_size(0);
    header.set_cksum();
    let mut archive = tar::Builder::new(Vec::new());
    archive.append(&header, &[][..])?;
    Ok(archive.into_inner()?)
}

/// Removes the Subscription, so that the next one may come.
async fn forget(ctx: &TestContext) -> Result<()> {
    let subscriptions: Api<Subscription> = ctx.api();
    subscriptions.delete("kettle", &DeleteParams::default()).await?;
    wait::until_gone(&subscriptions, "kettle").await
}
