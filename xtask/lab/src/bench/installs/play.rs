//! One install of everything: from the Subscriptions until nothing is written any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::future::try_join_all;
use futures::{StreamExt, pin_mut};
use jiff::Timestamp;
use kube::api::{Api, ApiResource, PostParams};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use olm_testkit::audit::{self, AuditLog, Write, own_conflicts};
use olm_testkit::builders::CatalogDir;
use olm_testkit::dump::Kinds;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::{builders, wait};
use olm_types::api::{ClusterServiceVersion, CsvPhase, Subscription};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use super::super::olm::{Implementation, Olm};
use super::content::Content;
use super::passes::Passes;
use super::writes::{Writes, is_counted, is_resolved};

/// The namespace of the operators; its OperatorGroup selects all namespaces, in v0 and in ours.
pub(super) const NAMESPACE: &str = "operators";

/// The name of the catalog.
const CATALOG: &str = "community";

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(5);

/// What converging and installing may take.
const TIMEOUT: Duration = Duration::from_secs(240);

/// How long is waited where.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitTimes {
    /// Before memory is read for the first time: an allocator gives back what it has not needed.
    idle: Duration,
    /// After the last CSV has succeeded, until everything is counted.
    after: Duration,
    /// And then, without a write.
    silence: Duration,
}

impl WaitTimes {
    /// With so many seconds without a write at the end.
    pub(super) fn of(silence: u64) -> Self {
        let seconds = Duration::from_secs;
        Self { idle: seconds(15), after: seconds(20), silence: seconds(silence) }
    }
}

/// What an install took.
#[derive(Debug)]
pub(super) struct Played {
    /// Who installed.
    pub(super) title: &'static str,
    /// Until all CSVs have succeeded.
    pub(super) installed: Duration,
    /// Of both operators, until the end of the rest after the installs.
    pub(super) processor_time: Duration,
    /// What was written until then.
    pub(super) writes: Writes,
    /// By program, verb and resource.
    pub(super) tally: BTreeMap<String, usize>,
    /// What was refused with status 409, by program, verb and resource.
    pub(super) conflicts: BTreeMap<String, usize>,
    /// How many of these met a write of the same process.
    pub(super) own_conflicts: usize,
    /// What was written in the silence, by program, verb and resource.
    pub(super) afterwards: BTreeMap<String, usize>,
    /// Lines of ours about what was resolved.
    pub(super) resolved: usize,
    /// Passes of the controllers of ours until the end of the rest after the installs.
    pub(super) passes: Passes,
    /// Memory of each operator before.
    pub(super) idle: Memory,
    /// And after.
    pub(super) after: Memory,
    /// What is in the cluster because of the installs, and its kinds.
    pub(super) left: LeftObjects,
}

/// Bytes of each operator.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Resident, pages of the program included.
    pub(super) resident: Vec<u64>,
    /// Of that what is no page of a file.
    pub(super) anonymous: Vec<u64>,
}

impl Memory {
    fn of(olm: &Olm) -> Result<Self> {
        Ok(Self { resident: olm.memory()?, anonymous: olm.anonymous_memory()? })
    }
}

/// Objects, and how the API server calls their kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct LeftObjects {
    /// Objects, each with its kind.
    pub(super) objects: Vec<Value>,
    /// By kind.
    pub(super) kinds: BTreeMap<String, ApiResource>,
    /// Resource, namespace and name of what was created before the last CSV had succeeded.
    pub(super) before_success: BTreeSet<String>,
}

impl LeftObjects {
    /// Whether it was created before the last CSV had succeeded.
    pub(super) fn is_before_success(&self, object: &Value) -> bool {
        let text =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let Some(resource) = self.kinds.get(text("/kind")) else { return false };
        let name = match text("/metadata/namespace") {
            "" => text("/metadata/name").to_owned(),
            namespace => format!("{namespace}/{}", text("/metadata/name")),
        };
        self.before_success.contains(&format!("{} {name}", resource.plural))
    }
}

/// Installs on a cluster of its own, and measures.
pub(super) async fn play(
    implementation: &Implementation,
    content: &Content,
    (binaries, logs): (&Path, Option<&Path>),
    rest: WaitTimes,
) -> Result<Played> {
    let mut olm = implementation.start(binaries, logs, &[]).await?;
    let measured = measure(&olm, implementation, content, rest).await;
    // A dead operator explains a failure better than what was waited for.
    let measured = olm.check().and(measured);
    olm.end().await.and(measured)
}

async fn measure(
    olm: &Olm,
    implementation: &Implementation,
    content: &Content,
    rest: WaitTimes,
) -> Result<Played> {
    let (fixture, programs) = (&olm.fixture, implementation.programs());
    let address = fixture.serve(CATALOG, CatalogDir::existing(content.catalog().to_owned()))?;
    fixture.add_catalog(CATALOG, &address).await?;
    fixture.audit().until_idle(&programs, QUIET, TIMEOUT).await?;
    sleep(rest.idle).await;
    let idle = Memory::of(olm)?;
    let before = objects(&fixture.client).await?;
    let passes = Passes::of(&olm.metrics().await?);
    let (mut audit, mut refused) = (from_now(fixture.audit())?, from_now(fixture.audit())?);
    let spent = olm.processor_time()?;
    let installed = install(&fixture.client, content).await?;
    let succeeded_at = Timestamp::now();
    sleep(rest.after).await;
    let processor_time = olm.processor_time()?.saturating_sub(spent);
    let written = counted(&mut audit)?;
    let conflicts = refused.conflicts(&programs)?;
    let after = Memory::of(olm)?;
    let passes = Passes::of(&olm.metrics().await?).since(&passes);
    let resolved = olm.logs()?.lines().filter(|line| is_resolved(line)).count();
    sleep(rest.silence).await;
    Ok(Played {
        title: implementation.title(),
        installed,
        processor_time,
        writes: Writes::of(&written, &programs, NAMESPACE, conflicts.len()),
        tally: audit::tally(&written),
        conflicts: audit::tally(&conflicts),
        own_conflicts: own_conflicts(&programs, &fixture.cluster().audit_log())?.len(),
        afterwards: audit::tally(&counted(&mut audit)?),
        resolved,
        passes,
        idle,
        after,
        left: LeftObjects {
            before_success: created_before(&written, succeeded_at),
            ..left(&fixture.client, &before).await?
        },
    })
}

fn from_now(mut audit: AuditLog) -> Result<AuditLog> {
    audit.skip().map(|()| audit)
}

/// Writes of all callers since the last call, apart from heartbeats.
fn counted(audit: &mut AuditLog) -> Result<Vec<Write>> {
    let mut all = audit.all_writes()?;
    all.retain(is_counted);
    Ok(all)
}

fn created_before(written: &[Write], end: Timestamp) -> BTreeSet<String> {
    let created = written.iter().filter(|write| write.is_new && write.done <= end);
    created.map(|write| write.object.clone()).collect()
}

/// Subscribes to all packages at once and waits until as many CSVs have succeeded.
async fn install(client: &Client, content: &Content) -> Result<Duration> {
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), NAMESPACE);
    let started = Instant::now();
    let subscribed = content.packages().map(|package| {
        // Without a channel it is the package's default one.
        let mut subscription = builders::subscription(NAMESPACE, package, "", CATALOG);
        OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
        let subscriptions = subscriptions.clone();
        async move { subscriptions.create(&PostParams::default(), &subscription).await }
    });
    try_join_all(subscribed).await.context("cannot subscribe")?;
    until_succeeded(client, content.packages().len()).await?;
    Ok(started.elapsed())
}

async fn until_succeeded(client: &Client, wanted: usize) -> Result<()> {
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), NAMESPACE);
    let deadline = Instant::now() + wait::TIMEOUT * 2;
    let states = watcher(csvs, watcher::Config::default()).default_backoff().applied_objects();
    pin_mut!(states);
    let mut phases = BTreeMap::new();
    let succeeded = |phases: &BTreeMap<String, CsvPhase>| {
        phases.values().filter(|phase| **phase == CsvPhase::Succeeded).count()
    };
    while succeeded(&phases) < wanted {
        let Ok(Some(csv)) = timeout_at(deadline, states.next()).await else {
            bail!("{} of {wanted} CSVs have succeeded: {phases:?}", succeeded(&phases));
        };
        // A watch that fails starts again by itself.
        let Ok(csv) = csv else { continue };
        let phase = csv.status.as_ref().map(|status| status.phase);
        phases.insert(csv.name_any(), phase.unwrap_or_default());
    }
    Ok(())
}

/// Every object of the cluster, by its uid.
async fn objects(client: &Client) -> Result<BTreeSet<String>> {
    let kinds = Kinds::discover(client).await?;
    Ok(kinds.objects(client).await?.iter().map(uid).collect())
}

/// What was not there before.
async fn left(client: &Client, before: &BTreeSet<String>) -> Result<LeftObjects> {
    let kinds = Kinds::discover(client).await?;
    let mut left = LeftObjects { objects: kinds.objects(client).await?, ..LeftObjects::default() };
    left.objects.retain(|object| !before.contains(&uid(object)));
    for kind in left.objects.iter().filter_map(|object| object["kind"].as_str()) {
        if let Some(resource) = kinds.get(kind) {
            left.kinds.insert(kind.to_owned(), resource.clone());
        }
    }
    Ok(left)
}

fn uid(object: &Value) -> String {
    object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default().to_owned()
}
