//! Catalogs that do not have every version, and operators of every age.

use std::sync::Arc;

use anyhow::Result;

use super::{Recorded, kettle, kettles, stable};
use crate::builders::{Bundle, Package};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::install::operator;

/// One operator for each age, and the versions that it goes through.
const WAYS: [(&str, &[&str]); 4] = [
    ("cup", &["cup.v1.0.0", "cup.v1.1.0", "cup.v1.2.0"]),
    ("jug", &["jug.v1.1.0", "jug.v1.2.0"]),
    ("pan", &["pan.v1.2.0"]),
    // Its fixes replace each other within the minor version, and the last one skips the others.
    ("pot", &["pot.v1.2.0", "pot.v1.2.2"]),
];

/// From every version that is installed, the way leads to the newest one by the edges of the channel.
pub async fn from_every_version(ctx: Arc<TestContext>) -> Result<()> {
    let recorded = Recorded::begin(&ctx).await?;
    ctx.operator_group().await?;
    let then = WAYS.map(|(name, way)| {
        let first = way.first().copied().unwrap_or_default();
        let versions = versions(&ctx, name);
        let known = versions.iter().position(|version| version.name() == first).unwrap_or_default();
        Package::new(name).channel("stable", versions.get(..=known).unwrap_or_default().to_vec())
    });
    ctx.catalog("kitchen", &then).await?;
    for (name, way) in WAYS {
        ctx.subscribe(name, "kitchen").await?;
        ctx.at_latest(name, way.first().copied().unwrap_or_default()).await?;
    }
    for (_, way) in WAYS {
        ctx.succeeded(way.first().copied().unwrap_or_default()).await?;
    }

    let now = WAYS.map(|(name, _)| Package::new(name).channel("stable", versions(&ctx, name)));
    ctx.publish("kitchen", &now).await?;
    for (name, way) in WAYS {
        ctx.at_latest(name, way.last().copied().unwrap_or_default()).await?;
        recorded.check_chain(way).await?;
    }
    Ok(())
}

/// What a version replaces and skips need not be in the catalog: it is installed anew, and it
/// replaces what was installed from an older catalog.
pub async fn absent_names(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, kind) = (Recorded::begin(&ctx).await?, kettles(&ctx));
    let old = kettle("1.0.0", &kind);
    let new =
        kettle("1.2.0", &kind).replaces("kettle.v1.0.0").skips(&["kettle.v1.1.0", "kettle.v0.9.0"]);
    let fresh = ctx.kind("Cup");
    let fresh = Bundle::new("2.0.0", &operator("cup", "2.0.0", &fresh))
        .provides(&fresh)
        .replaces("cup.v1.0.0")
        .skips(&["cup.v1.5.0"]);
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(&[old])).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.at_latest("kettle", "kettle.v1.0.0").await?;
    ctx.succeeded("kettle.v1.0.0").await?;

    let [kettle] = stable(&[new]);
    ctx.publish("kitchen", &[kettle, Package::single("cup", fresh)]).await?;
    ctx.at_latest("kettle", "kettle.v1.2.0").await?;
    recorded.check_chain(&["kettle.v1.0.0", "kettle.v1.2.0"]).await?;
    ctx.subscribe("cup", "kitchen").await?;
    ctx.at_latest("cup", "cup.v2.0.0").await?;
    ctx.succeeded("cup.v2.0.0").await.map(drop)
}

/// The versions of an operator, each with the edges of its channel.
fn versions(ctx: &TestContext, name: &str) -> Vec<Bundle> {
    let mut title = name.to_owned();
    title.get_mut(..1).map(str::make_ascii_uppercase);
    let kind = ctx.kind(&title);
    let version =
        |version: &str| Bundle::new(version, &operator(name, version, &kind)).provides(&kind);
    let of = |version: &str| format!("{name}.v{version}");
    if name == "pot" {
        let last = version("1.2.2").replaces(&of("1.2.0")).skips(&[&of("1.2.1")]);
        return vec![version("1.2.0"), version("1.2.1").replaces(&of("1.2.0")), last];
    }
    vec![
        version("1.0.0"),
        version("1.1.0").replaces(&of("1.0.0")),
        version("1.2.0").replaces(&of("1.1.0")),
    ]
}
