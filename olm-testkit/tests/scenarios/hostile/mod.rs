//! Registry servers that lie or never end, beside one that does not: each is named at its
//! CatalogSource, and no other catalog suffers. ConfigMaps that would be far larger than they are.

mod content;
mod server;

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::e2e::Scene;
use olm_testkit::e2e::stage::local::Local;
use olm_testkit::operators::Operator;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::conditions::catalog_source::CONTENT_CURRENT;

pub use content::multiplying_aliases;
use server::{Hostility, Server};

/// Longest message that is read, and one byte more.
const TOO_LONG: u32 = (32 << 20) + 1;

/// Names of catalogs, what their servers send, and what is said of them.
const CATALOGS: [(&str, Hostility, &str); 8] = [
    ("endless", Hostility::Endless, "the catalog has more than 65536 channel entries"),
    ("short", Hostility::Short, "the answer ends inside a message: 990 bytes of it are missing"),
    ("long", Hostility::Long(TOO_LONG), "message length too large"),
    ("longest", Hostility::Long(u32::MAX), "message length too large"),
    ("noise", Hostility::Noise, "error encountered while listing bundles: "),
    (
        "apis",
        Hostility::EmptyApis(2 << 20),
        "bytes in memory, with 2097152 providedApis, more than",
    ),
    (
        "skips",
        Hostility::Skips,
        "names, properties and channels of the catalog exceed 67108864 bytes",
    ),
    ("channels", Hostility::Channels, "the bundles and packages of the catalog exceed 1073741824"),
];

/// What three catalogs of a namespace keep each, in bytes of text: two of them fit.
const LARGE: usize = 48 << 20;

/// What catalog-operator takes at most, in bytes: half of what its Deployment lets it have.
const MEMORY: u64 = 768 << 20;

/// All of them at once; an operator is installed from the sound catalog all the same.
pub async fn registries(local: Arc<Local>, scene: Arc<Scene>) -> Result<()> {
    let mut servers = Vec::new();
    for (name, hostility, _) in CATALOGS {
        let server = Server::start(hostility).await?;
        let address = server.address.to_string();
        scene.create(&builders::catalog_source(&scene.namespace, name, &address)).await?;
        servers.push(server);
    }
    let bundle = csv("calm.v1.0.0", "1.0.0").deployment("calm", "default");
    let calm = Package::single("calm", Bundle::new("1.0.0", &bundle));
    scene.operator_group().await?;
    scene.catalog("sound", &[calm]).await?;
    scene.subscribe("calm", "sound").await?;
    scene.succeeded("calm.v1.0.0").await?;
    let catalogs: Api<CatalogSource> = scene.api();
    for (name, _, said) in CATALOGS {
        let says = |catalog: &CatalogSource| problem(catalog).is_some_and(|it| it.contains(said));
        let found = wait::until(&catalogs, name, &format!("say {said:?}"), says).await;
        let found = found.with_context(|| format!("catalog {name}"))?;
        let reported = problem(&found).unwrap_or_default();
        ensure!(reported.starts_with("the catalog is refused: "), "{name}: {reported}");
    }
    for catalog in catalogs.list(&ListParams::default()).await? {
        let is_hostile = CATALOGS.iter().any(|(name, ..)| *name == catalog.name_any());
        ensure!(is_hostile || problem(&catalog).is_none(), "{}", catalog.name_any());
    }
    within_memory(&local)
}

/// Catalogs of one namespace, each within the limits, that are too large together: the one for which
/// there is no room is refused by name, the others go on, and it follows when there is room.
pub async fn many(local: Arc<Local>, scene: Arc<Scene>) -> Result<()> {
    let mut servers = Vec::new();
    let names = ["large-0", "large-1", "large-2"];
    for name in names {
        let server = Server::start(Hostility::Text(LARGE)).await?;
        let address = server.address.to_string();
        scene.create(&builders::catalog_source(&scene.namespace, name, &address)).await?;
        servers.push(server);
    }
    let catalogs: Api<CatalogSource> = scene.api();
    let said = format!("the catalogs of namespace {} take no more than", scene.namespace);
    let says = |catalog: &CatalogSource| problem(catalog).is_some_and(|it| it.contains(&said));
    let refused = wait::until_some(&catalogs, "", &format!("say {said:?}"), says).await?.name_any();
    let bundle = csv("calm.v1.0.0", "1.0.0").deployment("calm", "default");
    scene.operator_group().await?;
    scene.catalog("sound", &[Package::single("calm", Bundle::new("1.0.0", &bundle))]).await?;
    scene.subscribe("calm", "sound").await?;
    scene.succeeded("calm.v1.0.0").await?;
    within_memory(&local)?;
    let other = names.iter().find(|name| **name != refused).context("a catalog that fits")?;
    catalogs.delete(other, &DeleteParams::default()).await?;
    wait::until(&catalogs, &refused, "be accepted", |it| problem(it).is_none()).await.map(drop)
}

/// Whether catalog-operator never took more than it may.
fn within_memory(local: &Local) -> Result<()> {
    let peak = local.process(Operator::Catalog)?.1;
    println!("catalog-operator took {} MiB at most", peak >> 20);
    ensure!(peak < MEMORY, "catalog-operator took {peak} bytes");
    Ok(())
}

/// What the status says about content that is not current.
fn problem(catalog: &CatalogSource) -> Option<String> {
    let conditions = &catalog.status.as_ref()?.conditions;
    let condition = conditions.iter().find(|condition| condition.type_ == CONTENT_CURRENT)?;
    Some(condition.message.clone())
}
