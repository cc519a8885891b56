//! Where nothing changes, nothing is written: neither by operators that run on nor, but for when
//! catalogs were connected, by operators that are started again. Where nothing of importance changes, nothing is resolved. What is measured
//! there is golden.

mod groups;
mod resolutions;
mod scrape;
mod sent;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_testkit::audit::Write;
use olm_testkit::builders::{self, Bundle, Crd, Package, csv};
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::e2e::{Provider, TestContext};
use olm_testkit::operators::Operator;
use olm_testkit::wait::{self, TIMEOUT};
use olm_types::api::{CatalogSource, CsvPhase};

use crate::environment;

pub use waiting::{as_v0, waits};

/// The silence that is asserted.
const SILENCE: Duration = Duration::from_secs(60);

/// The silence after a start: each object is looked at once within it.
const SILENCE_AFTER_START: Duration = Duration::from_secs(20);

/// Catalogs of which nothing is written once they are connected.
const CATALOGS: usize = 200;

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(5);

/// An installed operator with a dependency, a resolution that fails, a namespace with two
/// OperatorGroups, and groups that fight over one, in a cluster in which nothing else happens.
pub async fn no_writes(_: Arc<TestContext>) -> Result<()> {
    let started = Arc::new(environment::start("idle").await?);
    let silent = silence(&started).await;
    // A dead operator explains a failure better than what was waited for.
    let silent = started.check().and(silent);
    environment::end(&started).await.and(silent)
}

async fn silence(started: &Arc<Local>) -> Result<()> {
    let mut audit = started.audit();
    // Their catalogs are served until the end.
    let contexts = [
        installed(started).await?,
        unsatisfiable(started).await?,
        torn(started).await?,
        many_catalogs(started).await?,
        groups::contested(started).await?,
        groups::many_targets(started).await?,
    ];
    audit.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await?;
    audit.nothing_for(&Operator::NAMES, SILENCE).await.context("while nothing changed")?;
    for ctx in &contexts {
        ctx.conclude_all_plans().await?;
    }
    scrape::is_golden(started).await?;
    let before = Timestamp::now();
    started.restart_operators().await?;
    let written = audit.until_idle(&Operator::NAMES, SILENCE_AFTER_START, TIMEOUT).await;
    let written = written.context("after a start of both operators")?;
    connected_again(started, &written, before).await?;
    let [_, refused, ..] = &contexts;
    resolutions::only_when_needed(started, refused).await?;
    refused.conclude_all_plans().await
}

/// After a start, each CatalogSource is reported once that it was connected, and nothing else is
/// written.
async fn connected_again(started: &Local, written: &[Write], before: Timestamp) -> Result<()> {
    let catalogs: Api<CatalogSource> = Api::all(started.client());
    let catalogs = catalogs.list(&ListParams::default()).await?.items;
    let mut expected: Vec<_> = catalogs
        .iter()
        .map(|one| {
            let namespace = one.namespace().unwrap_or_default();
            format!("catalogsources/status {namespace}/{}", one.name_any())
        })
        .collect();
    let mut found: Vec<_> = written.iter().map(|write| write.object.clone()).collect();
    expected.sort();
    found.sort();
    let unexpected: Vec<_> = found.iter().filter(|one| !expected.contains(one)).collect();
    ensure!(unexpected.is_empty(), "after a start of both operators: {unexpected:?}");
    ensure!(found == expected, "{} writes for {} catalogs", found.len(), expected.len());
    for catalog in catalogs {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        let connected = state.and_then(|state| state.last_connect.as_ref()).map(|time| time.0);
        let moved = connected.is_some_and(|time| time.as_second() >= before.as_second());
        ensure!(moved, "{} was connected at {connected:?}", catalog.name_any());
    }
    Ok(())
}

async fn installed(started: &Arc<Local>) -> Result<Arc<TestContext>> {
    let ctx = TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "idle::installed").await?;
    let cups = Crd::new("idle.example.com", "v1", "Cup");
    let cup = csv("cup.v1.0.0", "1.0.0").owns(&cups).deployment("cup", "default");
    let tea = csv("tea.v1.0.0", "1.0.0").requires(&cups).deployment("tea", "default");
    let packages = [
        Package::single("cup", Bundle::new("1.0.0", &cup).provides(&cups)),
        Package::single("tea", Bundle::new("1.0.0", &tea).requires(&cups)),
    ];
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &packages).await?;
    ctx.subscribe("tea", "kitchen").await?;
    ctx.succeeded("cup.v1.0.0").await?;
    ctx.succeeded("tea.v1.0.0").await?;
    Ok(ctx)
}

async fn unsatisfiable(started: &Arc<Local>) -> Result<Arc<TestContext>> {
    let ctx =
        TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "idle::unsatisfiable").await?;
    let rider = csv("rider.v1.0.0", "1.0.0").deployment("rider", "default");
    let bundle = Bundle::new("1.0.0", &rider).requires_package("unicorn", ">=1.0.0");
    ctx.operator_group().await?;
    ctx.catalog("stable-yard", &[Package::single("rider", bundle)]).await?;
    ctx.subscribe("rider", "stable-yard").await?;
    ctx.condition("rider", "ResolutionFailed", "True", "ConstraintsNotSatisfiable").await?;
    Ok(ctx)
}

async fn torn(started: &Arc<Local>) -> Result<Arc<TestContext>> {
    let ctx = TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "idle::torn").await?;
    ctx.operator_group().await?;
    let second = builders::operator_group(&ctx.namespace, "second", &[&ctx.namespace]);
    ctx.create(&second).await?;
    ctx.create(&csv("torn.v1.0.0", "1.0.0").deployment("torn", "default").build()).await?;
    ctx.csv_phase("torn.v1.0.0", CsvPhase::Failed, "TooManyOperatorGroups").await?;
    Ok(ctx)
}

/// Catalogs without Subscriptions, each with a connection of its own to one server.
async fn many_catalogs(started: &Arc<Local>) -> Result<Arc<TestContext>> {
    let ctx = TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "idle::catalogs").await?;
    let spoon = csv("spoon.v1.0.0", "1.0.0").deployment("spoon", "default");
    let content = ctx.content(&[Package::single("spoon", Bundle::new("1.0.0", &spoon))])?;
    let address = ctx.registry("shared", content).await?;
    let names: Vec<String> = (0..CATALOGS).map(|number| format!("shared-{number}")).collect();
    for name in &names {
        ctx.create(&builders::catalog_source(&ctx.namespace, name, &address)).await?;
    }
    for name in &names {
        wait::until(&ctx.api(), name, "be READY", |catalog: &CatalogSource| {
            let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
            state.is_some_and(|state| state.last_observed_state == "READY")
        })
        .await?;
    }
    Ok(ctx)
}
