//! How often an install of operators for all namespaces writes what, on a cluster of its own: each
//! status is written when it says something that lasts, and no write meets an earlier one of the same
//! program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Event, Namespace};
use kube::api::{Api, ListParams, PostParams};
use olm_testkit::audit::{AuditLog, Write};
use olm_testkit::builders::{self, Bundle, Crd, Package, csv};
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::e2e::{Provider, TestContext};
use olm_testkit::operators::Operator;
use olm_testkit::wait::TIMEOUT;
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallModeType};
use olm_types::labels::COPIED_FROM;

use crate::environment;

/// The packages that are subscribed to at once, each with one operator.
const PACKAGES: [&str; 3] = ["cup", "fork", "spoon"];

/// Namespaces beside those that every cluster has.
const NAMESPACES: usize = 10;

/// Most writes of the status of one ClusterServiceVersion, from its creation until it has succeeded.
const CSV_STATUS: usize = 7;

/// Most writes of the status of one Operator.
const OPERATOR_STATUS: usize = 3;

/// A status of an original that lasted this long may show in its copies: half of what olm-operator
/// waits for (`olm-operator/src/status_delay.rs`), as its watch may bring one status late and the next at once.
const LASTS: SignedDuration = SignedDuration::from_millis(500);

/// The phases that a ClusterServiceVersion goes through.
const PHASES: [CsvPhase; 4] =
    [CsvPhase::Pending, CsvPhase::InstallReady, CsvPhase::Installing, CsvPhase::Succeeded];

/// The reasons of the events about it.
const EVENTS: [&str; 3] = ["RequirementsUnknown", "AllRequirementsMet", "InstallSucceeded"];

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(5);

/// Several operators that watch all namespaces, subscribed to at once.
pub async fn for_all_namespaces(_: Arc<TestContext>) -> Result<()> {
    let started = Arc::new(environment::start("writes").await?);
    let played = play(&started).await;
    // A dead operator explains a failure better than what was waited for.
    let played = started.check().and(played);
    environment::end(&started).await.and(played)
}

async fn play(started: &Arc<Local>) -> Result<()> {
    let ctx = TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "writes::all").await?;
    prepare(&ctx).await?;
    let mut audit = AuditLog::new(started.cluster().audit_log());
    audit.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await?;
    let mut refused = AuditLog::from_now(started.cluster().audit_log())?;
    ctx.subscribe_together().await;
    for package in PACKAGES {
        ctx.subscribe(package, "kitchen").await?;
    }
    for package in PACKAGES {
        ctx.succeeded(&name(package)).await?;
    }
    let writes = audit.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await?;
    let (own, all) = (Operator::Olm.name(), writes.len());
    let writes: Vec<Write> = writes.into_iter().filter(|write| write.program == own).collect();
    println!("{all} writes, of {own} {}:{}", writes.len(), table(&writes));
    let conflicts = refused.conflicts(&[own])?;
    println!("conflicts of {own}: {}{}", conflicts.len(), table(&conflicts));
    let found = check(&ctx, &writes).await;
    found.and_then(|()| {
        ensure!(conflicts.is_empty(), "{} conflicts:{}", conflicts.len(), table(&conflicts));
        Ok(())
    })
}

/// Namespaces, a group that selects all of them, and a catalog of operators.
async fn prepare(ctx: &TestContext) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    for number in 0..NAMESPACES {
        let object = builders::namespace(&format!("shelf-{number}"));
        let made = namespaces.create(&PostParams::default(), &object).await;
        made.context("cannot make a namespace")?;
    }
    ctx.create(&builders::operator_group(&ctx.namespace, "everywhere", &[])).await?;
    let packages = PACKAGES.map(|package| {
        let kind = Crd::new(&format!("{package}.writes.example.com"), "v1", "Thing");
        let operator = csv(&name(package), "1.0.0")
            .owns(&kind)
            .deployment(package, "default")
            .install_modes(&[InstallModeType::AllNamespaces]);
        Package::single(package, Bundle::new("1.0.0", &operator).provides(&kind))
    });
    ctx.catalog("kitchen", &packages).await.map(drop)
}

fn name(package: &str) -> String {
    format!("{package}.v1.0.0")
}

async fn check(ctx: &TestContext, writes: &[Write]) -> Result<()> {
    let statuses = counts(writes, "clusterserviceversions/status ");
    let copies = copies(ctx).await?;
    for (place, copy) in &copies {
        let written = statuses.get(place.as_str()).copied().unwrap_or_default();
        let name = copy.metadata.name.as_deref().unwrap_or_default();
        let lasted = lasted(writes, &format!("{}/{name}", ctx.namespace));
        ensure!(
            (1..=1 + lasted).contains(&written),
            "the status of the copy {place} was written {written} times; \
             {lasted} statuses of its original lasted before it had succeeded"
        );
        let status = copy.status.as_ref().context("a copy without a status")?;
        ensure!(status.phase == CsvPhase::Succeeded, "the copy {place} is {}", status.phase);
    }
    for package in PACKAGES {
        let (name, namespace) = (name(package), &ctx.namespace);
        let written = statuses.get(format!("{namespace}/{name}").as_str()).copied();
        let written = written.unwrap_or_default();
        ensure!(written <= CSV_STATUS, "the status of {name} was written {written} times");
        observers_saw_everything(ctx, &name).await?;
    }
    for (name, written) in counts(writes, "operators/status ") {
        ensure!(written <= OPERATOR_STATUS, "the status of {name} was written {written} times");
    }
    Ok(())
}

/// All copies, by namespace and name: one of each operator in every other namespace.
async fn copies(ctx: &TestContext) -> Result<BTreeMap<String, ClusterServiceVersion>> {
    let everywhere: Api<ClusterServiceVersion> = Api::all(ctx.client.clone());
    let copies = everywhere.list(&ListParams::default().labels(COPIED_FROM)).await?.items;
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    let others = namespaces.list(&ListParams::default()).await?.items.len() - 1;
    let expected = others * PACKAGES.len();
    ensure!(copies.len() == expected, "{} copies instead of {expected}", copies.len());
    let place = |copy: &ClusterServiceVersion| {
        let metadata = &copy.metadata;
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        format!("{namespace}/{}", metadata.name.as_deref().unwrap_or_default())
    };
    Ok(copies.into_iter().map(|copy| (place(&copy), copy)).collect())
}

/// Each phase was entered once, in order, and is in the history; events say so, each once.
async fn observers_saw_everything(ctx: &TestContext, name: &str) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = ctx.api();
    let status = csvs.get(name).await?.status.unwrap_or_default();
    let mut phases: Vec<CsvPhase> = status.conditions.iter().map(|past| past.phase).collect();
    phases.dedup();
    ensure!(phases == PHASES, "{name} went through {phases:?}");
    let events: Api<Event> = ctx.api();
    let fields = format!("involvedObject.name={name}");
    let events = events.list(&ListParams::default().fields(&fields)).await?.items;
    for reason in EVENTS {
        let said = events.iter().any(|event| event.reason.as_deref() == Some(reason));
        ensure!(said, "no event of {name} says {reason}");
    }
    // Two phases have the same reason with a message of their own.
    let mut texts = BTreeSet::new();
    for event in &events {
        let is_new = texts.insert((event.reason.as_deref(), event.message.as_deref()));
        let times = event.count.unwrap_or(1);
        ensure!(is_new && times == 1, "an event of {name} is repeated: {:?}", event.message);
    }
    Ok(())
}

/// How many statuses of an original lasted until the next one; on an idle machine none does.
fn lasted(writes: &[Write], original: &str) -> usize {
    let object = format!("clusterserviceversions/status {original}");
    let own: Vec<&Write> = writes.iter().filter(|write| write.object == object).collect();
    let gaps = own.windows(2).map(|pair| pair[1].done.duration_since(pair[0].done));
    gaps.filter(|gap| *gap >= LASTS).count()
}

/// How often each object of a resource was written, by its place.
fn counts<'a>(writes: &'a [Write], resource: &str) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for place in writes.iter().filter_map(|write| write.object.strip_prefix(resource)) {
        *counts.entry(place).or_default() += 1;
    }
    counts
}

/// Requests by verb and resource, a line each.
fn table(writes: &[Write]) -> String {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for write in writes {
        let resource = write.object.split(' ').next().unwrap_or_default();
        *counts.entry((resource, &write.verb)).or_default() += 1;
    }
    counts
        .iter()
        .map(|((resource, verb), count)| format!("\n{count:6} {verb} {resource}"))
        .collect()
}
