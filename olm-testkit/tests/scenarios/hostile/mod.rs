//! Registry servers that lie or never end, beside one that does not: each is named at its
//! CatalogSource, and no other catalog suffers. ConfigMaps that would be far larger than they are.

mod content;
mod definitions;
mod heavy;
mod nested;
mod plans;
mod server;
mod tool;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, Subscription};
use olm_types::conditions::catalog_source::CONTENT_CURRENT;

pub use content::multiplying_aliases;
pub use definitions::definitions;
pub use heavy::heavy;
pub use nested::nested;
pub use plans::{deployments, references};
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

/// The catalog with 500 packages, each with the largest answer that is accepted.
const PACKAGES: &str = "packages";

/// Names of catalogs at the largest sizes that are accepted, and what their servers send.
const ACCEPTED: [(&str, Hostility); 4] = [
    (PACKAGES, Hostility::Packages),
    ("one-api", Hostility::OneApi),
    ("refusals", Hostility::Refusals),
    ("empty-lists", Hostility::EmptyLists),
];

/// What each of many catalogs of a namespace keeps, in bytes of text: as much as a catalog may, nearly.
const LARGE: usize = 60 << 20;
/// How many such catalogs there are.
const MANY: usize = 30;
/// How many of them fit into what their namespace may keep.
const FIT: usize = 2;

/// What catalog-operator takes at most, in bytes. Scenarios before this one count, too: a build for tests gives little
/// of its memory back.
const MEMORY: u64 = Operator::Catalog.memory_limit();

/// All of them at once; an operator is installed from the sound catalog all the same.
pub async fn registries(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let mut servers = Vec::new();
    for (name, hostility, _) in CATALOGS {
        let server = Server::start(hostility).await?;
        let address = server.address.to_string();
        ctx.create(&builders::catalog_source(&ctx.namespace, name, &address)).await?;
        servers.push(server);
    }
    let bundle = csv("calm.v1.0.0", "1.0.0").deployment("calm", "default");
    let calm = Package::single("calm", Bundle::new("1.0.0", &bundle));
    ctx.operator_group().await?;
    ctx.catalog("sound", &[calm]).await?;
    ctx.subscribe("calm", "sound").await?;
    ctx.succeeded("calm.v1.0.0").await?;
    let catalogs: Api<CatalogSource> = ctx.api();
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
    let [(_, _, endless), ..] = CATALOGS;
    let server = Server::start(Hostility::Endless).await?;
    tool::ends(&ctx, &server.address.to_string(), endless).await?;
    within_memory(&local)
}

/// Each of them alone: how much memory catalog-operator takes for it, and how long an operator of another
/// namespace takes beside it.
pub async fn one_by_one(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let catalogs: Api<CatalogSource> = ctx.api();
    for (name, hostility, said) in CATALOGS {
        local.forget_peak(Operator::Catalog)?;
        let server = Server::start(hostility).await?;
        let address = server.address.to_string();
        let (process, before) = local.process(Operator::Catalog)?;
        ctx.create(&builders::catalog_source(&ctx.namespace, name, &address)).await?;
        healthy(&local, &format!("hostile::beside-{name}")).await?;
        let says = |catalog: &CatalogSource| problem(catalog).is_some_and(|it| it.contains(said));
        wait::until(&catalogs, name, &format!("say {said:?}"), says).await?;
        let (now, peak) = local.process(Operator::Catalog)?;
        ensure!(now == process, "catalog-operator was process {process} and is {now}");
        println!(
            "{name}: catalog-operator took {} MiB at most, {} before",
            peak >> 20,
            before >> 20
        );
        within_memory(&local)?;
        catalogs.delete(name, &DeleteParams::default()).await?;
    }
    Ok(())
}

/// Catalogs that are as large as catalogs may be, each with a Subscription to it: what reading and resolving them
/// takes, and how long an operator of another namespace takes beside it.
pub async fn accepted(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let catalogs: Api<CatalogSource> = ctx.api();
    ctx.operator_group().await?;
    for (name, hostility) in ACCEPTED {
        local.forget_peak(Operator::Catalog)?;
        let server = Server::start(hostility).await?;
        let address = server.address.to_string();
        ctx.create(&builders::catalog_source(&ctx.namespace, name, &address)).await?;
        let mut subscription = builders::subscription(&ctx.namespace, "a", "stable", name);
        subscription.metadata.name = Some(name.to_owned());
        let begun = Instant::now();
        ctx.create(&subscription).await?;
        healthy(&local, &format!("hostile::beside-{name}")).await?;
        // Its server lists bundles, and has none.
        let ends = |subscription: &Subscription| {
            let mut conditions = subscription.status.iter().flat_map(|status| &status.conditions);
            conditions.any(|one| one.type_ == "ResolutionFailed" && one.status == "True")
        };
        wait::until(&ctx.api(), name, "be answered", ends).await?;
        println!("{name}: answered after {:.2} s", begun.elapsed().as_secs_f64());
        // What is refused may be as large as it likes; this one is not.
        if name == PACKAGES {
            let is_read = |catalog: &CatalogSource| {
                problem(catalog).is_none_or(|it| !it.contains("it is still being read"))
            };
            let found = wait::until(&catalogs, name, "be read", is_read).await?;
            let refused = problem(&found).unwrap_or_default();
            ensure!(!refused.starts_with("the catalog is refused"), "{name}: {refused}");
        }
        within_memory(&local)?;
        ctx.conclude_refused_plans().await?;
        ctx.api::<Subscription>().delete(name, &DeleteParams::default()).await?;
        catalogs.delete(name, &DeleteParams::default()).await?;
    }
    Ok(())
}

/// Many catalogs of one namespace, each within the limits: those for which there is no memory are refused
/// by name, the others go on, and so does another namespace. One follows when there is memory.
pub async fn many(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    local.forget_peak(Operator::Catalog)?;
    let server = Server::start(Hostility::Text(LARGE)).await?;
    let address = server.address.to_string();
    for number in 0..MANY {
        let name = format!("large-{number}");
        ctx.create(&builders::catalog_source(&ctx.namespace, &name, &address)).await?;
    }
    let catalogs: Api<CatalogSource> = ctx.api();
    let said = format!("the catalogs of namespace {} take no more than", ctx.namespace);
    let says = |catalog: &CatalogSource| problem(catalog).is_some_and(|it| it.contains(&said));
    let what = format!("say {said:?}");
    wait::until_some(&catalogs, "", &what, says).await?;
    healthy(&local, "hostile::beside-many").await?;
    let mut refused = BTreeSet::new();
    while refused.len() < MANY - FIT {
        let is_next = |it: &CatalogSource| !refused.contains(&it.name_any()) && says(it);
        let next = wait::until_some(&catalogs, "", &what, is_next).await?.name_any();
        refused.insert(next);
    }
    within_memory(&local)?;
    let all = catalogs.list(&ListParams::default()).await?;
    let fitting: Vec<_> = all.iter().filter(|it| !refused.contains(&it.name_any())).collect();
    ensure!(fitting.iter().all(|it| problem(it).is_none()), "one that fits is refused");
    let one = fitting.first().context("a catalog that fits")?.name_any();
    catalogs.delete(&one, &DeleteParams::default()).await?;
    let follows = |it: &CatalogSource| refused.contains(&it.name_any()) && problem(it).is_none();
    wait::until_some(&catalogs, "", "be accepted", follows).await?;
    within_memory(&local)?;
    // The others would be read again and again, for as long as other scenarios are played.
    catalogs.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    Ok(())
}

/// An operator of another namespace, which is installed as if nothing were wrong; says how long it took.
async fn healthy(local: &Arc<Local>, name: &str) -> Result<Arc<TestContext>> {
    let ctx = TestContext::new(Arc::clone(local) as _, name).await?;
    let bundle = csv("calm.v1.0.0", "1.0.0").deployment("calm", "default");
    let calm = Package::single("calm", Bundle::new("1.0.0", &bundle));
    ctx.operator_group().await?;
    let begun = Instant::now();
    ctx.catalog("sound", &[calm]).await?;
    ctx.subscribe("calm", "sound").await?;
    ctx.just_succeeded("calm.v1.0.0").await?;
    println!("{}: succeeded after {:.2} s", ctx.namespace, begun.elapsed().as_secs_f64());
    ctx.conclude_all_plans().await?;
    Ok(ctx)
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
