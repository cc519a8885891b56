//! Servers of one tenant that are slow on purpose: meanwhile a Subscription of another namespace is
//! served as if they were not there.
//!
//! Each scenario has one succeed before there are slow servers, another one when these keep the operator waiting,
//! and ends while they still do. The second takes less than 3 s; where the first takes more than a second, as on a
//! busy machine, less than 3 s longer than that.

mod conversion;
mod grpc;
mod images;
mod waiting;
mod webhook;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Failed, Trial};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::e2e::scenarios::packages;
use olm_testkit::e2e::{Provider, TestContext};
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, Image};
use olm_testkit::wait;
use olm_types::api::{Approval, CatalogSource, InstallPlan, InstallPlanSpec};
use serde_json::json;

use crate::environment::Environment;
use crate::schedule;
use crate::unpack::{bundle, subscribe};
use grpc::{GET_BUNDLE, LIST_BUNDLES, SlowRegistry};
use images::DrippingRegistry;

/// Just less than what one call may take.
const SLOW: Duration = Duration::from_secs(29);
/// Longer than any call may take.
const SILENT: Duration = Duration::from_secs(3_600);
/// What a Subscription of another namespace may take beside slow servers.
const SOON: Duration = Duration::from_secs(3);
/// Where it takes more without any, the machine is busy.
const BUSY: Duration = Duration::from_secs(1);
/// Bundles that each of two plans names.
const BUNDLES: usize = 500;

/// The scenarios of this folder: with the flags of most others, and with `--bundle-unpack=process` and
/// `--catalog-polling=digest`.
pub fn all(most: &Arc<Environment>, flags: &Arc<Environment>) -> Vec<Trial> {
    let lacking = !ImageRegistry::is_available();
    if lacking {
        println!("ignored: slow::pulls: there is no docker-registry on this machine");
    }
    vec![
        trial(most, "slow::plans_of_a_user", plans_of_a_user),
        trial(most, "slow::silent_catalogs", silent_catalogs),
        trial(most, "slow::conversion", conversion::conversion),
        trial(flags, "slow::digests", digests),
        trial(flags, "slow::pulls", pulls).with_ignored_flag(lacking),
    ]
}

/// Two plans that name 1,000 bundles, each of which takes 29 s.
async fn plans_of_a_user(provider: Arc<dyn Provider>) -> Result<()> {
    let (_, usual) = healthy(&provider, "slow-plans-before").await?;
    let slow = TestContext::new(Arc::clone(&provider), "slow-plans").await?;
    let packages: Vec<_> = (0..2 * BUNDLES).map(|number| package(&format!("p{number}"))).collect();
    let server = slow.registry("many", slow.content(&packages)?).await?;
    let server = SlowRegistry::before(&server, GET_BUNDLE, SLOW).await?;
    catalog(&slow, "many", &server).await?;
    slow.operator_group().await?;
    // What shows its packages asks first.
    server.waiting.until(1).await?;
    let before = server.waiting.count();
    for (name, start) in [("first", 0), ("second", BUNDLES)] {
        let names = (start..start + BUNDLES).map(|number| format!("p{number}.v1.0.0"));
        plan(&slow, name, names.collect()).await?;
    }
    server.waiting.until(before + 2).await?;
    let (healthy, beside) = healthy(&provider, "slow-plans-healthy").await?;
    is_as_usual(usual, beside)?;
    packages::seen(&healthy.api(), "calm").await?;
    ensure!(server.waiting.count() > 0, "nothing is slow any more");
    slow.catalog_dies("many").await
}

/// Namespaces with a silent catalog, and the call that it never answers.
const SILENT_IN: [(&str, &str); 3] = [
    ("slow-silent-one", GET_BUNDLE),
    ("slow-silent-two", GET_BUNDLE),
    ("slow-silent-lists", LIST_BUNDLES),
];

/// Two catalogs, each of another namespace, list bundles and never give one; a third one does not even list them.
async fn silent_catalogs(provider: Arc<dyn Provider>) -> Result<()> {
    let (_, usual) = healthy(&provider, "slow-silent-before").await?;
    let mut silent = Vec::new();
    for (name, call) in SILENT_IN {
        let ctx = TestContext::new(Arc::clone(&provider), name).await?;
        let server = ctx.registry("silent", ctx.content(&[package("mute")])?).await?;
        let server = SlowRegistry::before(&server, call, SILENT).await?;
        ctx.operator_group().await?;
        catalog(&ctx, "silent", &server).await?;
        ctx.subscribe("mute", "silent").await?;
        // Bundles are asked for by one who shows packages, and by one who resolves; lists by one for both.
        let callers = if call == GET_BUNDLE { 2 } else { 1 };
        silent.push((ctx, server, callers));
    }
    for (_, server, callers) in &silent {
        server.waiting.until(*callers).await?;
    }
    let (healthy, beside) = healthy(&provider, "slow-silent-healthy").await?;
    is_as_usual(usual, beside)?;
    ensure!(
        silent.iter().all(|(_, server, _)| server.waiting.count() > 0),
        "nothing is silent any more"
    );
    packages::seen(&healthy.api(), "calm").await?;
    for (ctx, ..) in &silent {
        ctx.conclude_all_plans().await?;
        ctx.catalog_dies("silent").await?;
    }
    Ok(())
}

/// Four catalogs whose images are in a registry that sends a byte a second, looked at every second.
async fn digests(provider: Arc<dyn Provider>) -> Result<()> {
    let (_, usual) = healthy(&provider, "slow-digests-before").await?;
    let slow = TestContext::new(Arc::clone(&provider), "slow-digests").await?;
    let registry = DrippingRegistry::start().await?;
    for name in ["a", "b", "c", "d"] {
        let poll = json!({"registryPoll": {"interval": "1s"}});
        let image = format!("{}/a/{name}:v1", registry.address);
        let spec = json!({"sourceType": "grpc", "image": image, "updateStrategy": poll});
        let metadata = json!({"name": name, "namespace": slow.namespace});
        let source = json!({"metadata": metadata, "spec": spec});
        slow.create(&serde_json::from_value::<CatalogSource>(source)?).await?;
    }
    registry.waiting.until(2).await?;
    let (_, beside) = healthy(&provider, "slow-digests-healthy").await?;
    is_as_usual(usual, beside)?;
    ensure!(registry.waiting.count() > 0, "nothing is slow any more");
    Ok(())
}

/// Four bundles in images of such a registry; the healthy one is in an image, too.
async fn pulls(provider: Arc<dyn Provider>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let sound = ImageRegistry::start(folder.path(), false).await?;
    let usual = pulled(&provider, "slow-pulls-before", &sound).await?;
    let slow = TestContext::new(Arc::clone(&provider), "slow-pulls").await?;
    let registry = DrippingRegistry::start().await?;
    let names = ["a", "b", "c", "d"];
    let packages = names.map(|name| {
        let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
        let image = format!("{}/a/{name}:v1", registry.address);
        Package::single(name, Bundle::new("1.0.0", &csv).in_image(&image))
    });
    slow.operator_group().await?;
    slow.catalog("dripping", &packages).await?;
    for name in names {
        slow.subscribe(name, "dripping").await?;
    }
    registry.waiting.until(1).await?;
    let beside = pulled(&provider, "slow-pulls-healthy", &sound).await?;
    is_as_usual(usual, beside)?;
    ensure!(registry.waiting.count() > 0, "nothing is slow any more");
    slow.conclude_all_plans().await
}

/// As [`healthy`], with a bundle in an image of this registry.
async fn pulled(
    provider: &Arc<dyn Provider>,
    name: &str,
    registry: &ImageRegistry,
) -> Result<Duration> {
    let ctx = TestContext::new(Arc::clone(provider), name).await?;
    let path = format!("a/{name}");
    let pushed = oci::push(&image(&ctx)?, registry.address(), &path, "v1").await?;
    ctx.operator_group().await?;
    let start = Instant::now();
    subscribe(&ctx, "kettle.v1.0.0", &pushed.pinned()).await?;
    ctx.just_succeeded("kettle.v1.0.0").await?;
    let took = report(&ctx, start);
    ctx.conclude_all_plans().await?;
    Ok(took)
}

/// Fails when slow servers of another namespace hold a Subscription up.
fn is_as_usual(usual: Duration, beside: Duration) -> Result<()> {
    let most = if usual < BUSY { SOON } else { usual + SOON };
    ensure!(beside < most, "it took {beside:?} beside slow servers, {usual:?} before");
    Ok(())
}

/// Subscribes to an operator in a namespace of its own, waits until it is there, and says how long
/// that took.
async fn healthy(provider: &Arc<dyn Provider>, name: &str) -> Result<(Arc<TestContext>, Duration)> {
    let ctx = TestContext::new(Arc::clone(provider), name).await?;
    ctx.operator_group().await?;
    let start = Instant::now();
    ctx.catalog("sound", &[package("calm")]).await?;
    ctx.subscribe("calm", "sound").await?;
    ctx.just_succeeded("calm.v1.0.0").await?;
    let took = report(&ctx, start);
    ctx.conclude_all_plans().await?;
    Ok((ctx, took))
}

fn report(ctx: &TestContext, start: Instant) -> Duration {
    let took = start.elapsed();
    println!("{}: succeeded after {:.2} s", ctx.namespace, took.as_secs_f64());
    took
}

fn package(name: &str) -> Package {
    let csv = csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default");
    Package::single(name, Bundle::new("1.0.0", &csv))
}

async fn catalog(ctx: &TestContext, name: &str, server: &SlowRegistry) -> Result<()> {
    let address = server.address.to_string();
    let source = builders::catalog_source(&ctx.namespace, name, &address);
    ctx.create(&source).await?;
    wait::until_connected(&ctx.api(), name).await.map(drop)
}

async fn plan(ctx: &TestContext, name: &str, csvs: Vec<String>) -> Result<()> {
    let spec = InstallPlanSpec {
        cluster_service_version_names: csvs,
        approval: Approval::Manual,
        ..InstallPlanSpec::default()
    };
    let mut plan = InstallPlan::new(name, spec);
    plan.metadata.namespace = Some(ctx.namespace.clone());
    ctx.create(&plan).await.map(drop)
}

/// The bundle of the healthy namespace as an image.
fn image(ctx: &TestContext) -> Result<Image> {
    let files = bundle(ctx, "kettle.v1.0.0").files("kettle").into_iter();
    let add = |image: oci::ImageBuilder, (path, text)| image.file(&format!("/{path}"), text, 0o644);
    files.fold(Image::builder(), add).build()
}

/// A scenario that makes its namespaces itself.
fn trial<F, S>(environment: &Arc<Environment>, name: &'static str, scenario: S) -> Trial
where
    F: Future<Output = Result<()>>,
    S: FnOnce(Arc<dyn Provider>) -> F + Send + 'static,
{
    let environment = Arc::clone(environment);
    Trial::test(name, move || {
        let _place = schedule::enter(name);
        let played = environment.run(scenario);
        played.map_err(|error| Failed::from(format!("{error:#}")))
    })
}
