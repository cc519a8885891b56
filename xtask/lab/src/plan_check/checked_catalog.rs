//! One cluster with one catalog, and each of its packages from the first version to its end.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, PostParams};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_testkit::audit::{AuditLog, Write};
use olm_testkit::builders::{self, CatalogDir};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::peer::OlmV0;
use olm_testkit::plan_check::{
    ObservedWrites, differences, images, is_of_collection, is_passing, is_to_be_collected, problem,
    rights,
};
use olm_testkit::process::Running;
use olm_testkit::progress::Progress;
use olm_testkit::take_over::{BesideV0, set_up_v0};
use olm_types::bundle::CatalogKey;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::content::Contents;
use super::program::Program;
use super::{CATALOG, content, ours, program};

/// Without a write for so long, OLM is at rest, beside other stages of a run of all tests, too.
const QUIET: Duration = Duration::from_secs(3);

/// The same of v0, which looks again and again.
const QUIET_OF_V0: Duration = Duration::from_secs(4);

/// What that may take, on a busy machine as well.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Most upgrades of one package.
const UPGRADES: usize = 40;

/// Which packages of a catalog are played.
#[derive(Clone, Copy)]
pub(super) enum Selection<'a> {
    /// Those with this in their names, or all.
    Named(Option<&'a str>),
    /// The first so many whose default channel has a single bundle.
    Smallest(usize),
}

/// A step of a package, and what came of it.
pub(super) struct Line {
    what: String,
    verdict: StepResult,
}

enum StepResult {
    /// It was done as it was shown.
    Same(usize),
    /// The plan has problems, and nothing was done.
    Refused(String),
    /// What differs.
    Other(Vec<String>),
}

impl Line {
    pub(super) fn is_same(&self) -> bool {
        matches!(self.verdict, StepResult::Same(_))
    }

    pub(super) fn is_other(&self) -> bool {
        matches!(self.verdict, StepResult::Other(_))
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.verdict {
            StepResult::Same(objects) => write!(f, "{}: {objects} objects as shown", self.what),
            StepResult::Refused(why) => write!(f, "{}: not done, as shown: {why}", self.what),
            StepResult::Other(lines) => write!(f, "{}:\n  {}", self.what, lines.join("\n  ")),
        }
    }
}

/// A cluster with a catalog.
pub(super) struct CheckedCatalog {
    program: Program,
    snapshot: CatalogSnapshot,
    quiet: Duration,
    // What runs ends before its cluster.
    v0: Option<(Vec<Running>, BesideV0)>,
    fixture: Fixture,
}

impl CheckedCatalog {
    /// With OLM of this project.
    pub(super) async fn of_ours(
        places: &FixturePaths,
        catalog: &Path,
        progress: Progress,
    ) -> Result<Self> {
        let fixture = ours(places, catalog, progress).await?;
        Self::of(fixture, None, places, catalog)
    }

    /// With OLM v0.
    pub(super) async fn of_v0(
        places: &FixturePaths,
        catalog: &Path,
        progress: Progress,
    ) -> Result<Self> {
        let fixture = Fixture::empty("plan-check", places, progress.clone()).await?;
        let v0 = OlmV0::ensure(&progress)?;
        let v0 = set_up_v0(&v0, &fixture, places.logs.as_deref()).await?;
        let address = fixture.serve(CATALOG, CatalogDir::existing(catalog.to_owned()))?;
        fixture.add_catalog(CATALOG, &address).await?;
        Self::of(fixture, Some(v0), places, catalog)
    }

    fn of(
        fixture: Fixture,
        v0: Option<(Vec<Running>, BesideV0)>,
        places: &FixturePaths,
        catalog: &Path,
    ) -> Result<Self> {
        let key = CatalogKey::new(OLM_NAMESPACE, CATALOG);
        let snapshot = CatalogSnapshot::of_folder(key, catalog)
            .with_context(|| format!("cannot read the catalog {}", catalog.display()))?;
        let binaries = places.binaries.clone().context("there are no programs")?;
        let program = program(&binaries, &fixture, catalog);
        let quiet = if v0.is_some() { QUIET_OF_V0 } else { QUIET };
        Ok(Self { program, snapshot, quiet, v0, fixture })
    }

    /// Plays those packages.
    pub(super) async fn play(&self, selection: Selection<'_>, lines: &mut Vec<Line>) -> Result<()> {
        for package in self.selected(selection) {
            for line in self.package(package).await? {
                println!("{line}");
                lines.push(line);
            }
        }
        Ok(())
    }

    fn selected(&self, selection: Selection<'_>) -> Vec<&str> {
        let packages = self.snapshot.packages();
        let names = packages.keys().map(|name| &**name);
        match selection {
            Selection::Named(focus) => {
                names.filter(|name| focus.is_none_or(|focus| name.contains(focus))).collect()
            }
            Selection::Smallest(count) => {
                let entries = packages.iter().map(|(name, summary)| {
                    (&**name, self.snapshot.channel(name, &summary.default_channel).len())
                });
                let single = entries.filter(|(_, entries)| *entries == 1);
                single.map(|(name, _)| name).take(count).collect()
            }
        }
    }

    pub(super) async fn end(self) -> Result<()> {
        if let Some((operators, _)) = self.v0 {
            operators.into_iter().for_each(Running::stop);
        }
        self.fixture.end().await
    }

    async fn package(&self, package: &str) -> Result<Vec<Line>> {
        let home = format!("check-{}", package.to_lowercase().replace(['.', '_'], "-"));
        let namespaces: Api<Namespace> = Api::all(self.fixture.client.clone());
        namespaces.create(&PostParams::default(), &builders::namespace(&home)).await?;
        let first = self.first(package)?;
        let source = format!("{OLM_NAMESPACE}/{CATALOG}");
        let words =
            ["install", package, "--version", &first, "--approval", "Manual", "--source", &source];
        let installed = self.step(&home, &words).await?;
        let goes_on = installed.is_same();
        let mut lines = vec![installed];
        for _ in 0..UPGRADES {
            let more = match goes_on && lines.iter().all(Line::is_same) {
                true => self.upgrade(&home, package).await?,
                false => None,
            };
            let Some(line) = more else { break };
            lines.push(line);
        }
        if goes_on {
            lines.push(self.step(&home, &["uninstall", package]).await?);
        }
        namespaces.delete(&home, &DeleteParams::default()).await?;
        until_gone(&namespaces, &home).await?;
        Ok(lines)
    }

    /// The oldest bundle of the default channel that is not skipped.
    fn first(&self, package: &str) -> Result<String> {
        let summary = self.snapshot.packages().get(package).context("no such package")?;
        let entries = self.snapshot.channel(package, &summary.default_channel);
        let skipped: BTreeSet<&str> =
            entries.iter().flat_map(|entry| entry.skips.iter().map(|name| &**name)).collect();
        let offered = entries.iter().filter(|entry| !skipped.contains(&*entry.name));
        let oldest = offered.min_by(|a, b| a.version.cmp(&b.version));
        Ok(oldest.context("the default channel is empty")?.name.to_string())
    }

    async fn upgrade(&self, home: &str, package: &str) -> Result<Option<Line>> {
        let words = ["upgrade", package];
        let plan = self.program.plan(home, &words).await?;
        if plan["hops"].as_array().is_none_or(Vec::is_empty) {
            return Ok(None);
        }
        self.step(home, &words).await.map(Some)
    }

    /// Shows, does and compares.
    async fn step(&self, home: &str, words: &[&str]) -> Result<Line> {
        let mut audit = self.fixture.audit();
        self.until_idle(&mut audit).await?;
        let plan = self.program.plan(home, words).await?;
        let what = format!("{home} {}", words[..2].join(" "));
        let line = |verdict: StepResult| Line { what: described(&what, &plan), verdict };
        if let Some(why) = problem(&plan) {
            return Ok(line(StepResult::Refused(why)));
        }
        let before = images::there(&self.fixture.client, home).await?;
        let contents = content::there(&self.fixture.client).await?;
        if let Err(error) = self.program.act(home, words).await {
            return Ok(line(StepResult::Other(vec![format!("{error:#}")])));
        }
        let mut found = self.until_as_shown(&mut audit, home, &plan, &contents).await?;
        let now = content::there(&self.fixture.client).await?;
        found.retain(|line| !content::is_same(line, &contents, &now));
        let after = images::there(&self.fixture.client, home).await?;
        found.extend(images::differences(&plan, &before, &after));
        found.extend(rights::differences(&self.fixture.client, home, &plan).await?);
        Ok(line(match found.is_empty() {
            true => StepResult::Same(plan["changes"].as_array().map_or(0, Vec::len)),
            false => StepResult::Other(found),
        }))
    }

    /// What was done otherwise than shown, once nothing is written any more. The garbage collector may begin later: it
    /// first takes note of new kinds, every half minute.
    async fn until_as_shown(
        &self,
        audit: &mut AuditLog,
        home: &str,
        plan: &Value,
        before: &Contents,
    ) -> Result<Vec<String>> {
        let deadline = Instant::now() + TIMEOUT;
        let mut writes = Vec::new();
        loop {
            writes.extend(self.until_idle(audit).await?);
            let found = differences(plan, &self.observed(&writes, home, before).await?);
            if Instant::now() > deadline || !found.iter().any(|line| is_to_be_collected(line)) {
                return Ok(found);
            }
        }
    }

    /// What was done; of whole collections the cluster says what has gone with them.
    async fn observed(
        &self,
        writes: &[Write],
        home: &str,
        before: &Contents,
    ) -> Result<ObservedWrites> {
        let mut seen = ObservedWrites::of(writes, home);
        if writes.iter().any(is_of_collection) {
            let now = content::there(&self.fixture.client).await?;
            seen.delete_collections(writes, &content::gone(before, &now));
        }
        Ok(seen)
    }

    /// Waits until nothing is written; what was written meanwhile.
    async fn until_idle(&self, audit: &mut AuditLog) -> Result<Vec<Write>> {
        let deadline = Instant::now() + TIMEOUT;
        let (mut all, mut since) = (Vec::new(), Instant::now());
        while since.elapsed() < self.quiet {
            if Instant::now() > deadline {
                bail!("there is no end of writes");
            }
            sleep(LOOK).await;
            let new = audit.all_writes()?;
            if new.iter().any(|write| !is_passing(&write.object)) {
                since = Instant::now();
            }
            all.extend(new);
        }
        Ok(all)
    }
}

/// What a namespace still holds would be in the way of the next package.
async fn until_gone(namespaces: &Api<Namespace>, name: &str) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    while namespaces.get_opt(name).await?.is_some() {
        ensure!(Instant::now() < deadline, "namespace {name} does not go");
        sleep(LOOK).await;
    }
    Ok(())
}

fn described(what: &str, plan: &Value) -> String {
    let bundles = plan["hops"].as_array().into_iter().flatten();
    let bundles = bundles.flat_map(|hop| hop["bundles"].as_array().into_iter().flatten());
    let names: Vec<&str> = bundles.filter_map(|bundle| bundle["csv"].as_str()).collect();
    format!("{what} {}", names.join(" ")).trim_end().to_owned()
}
