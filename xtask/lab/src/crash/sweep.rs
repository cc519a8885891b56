//! All runs of one scenario, spread over the clusters.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};
use futures::future::try_join_all;
use olm_testkit::builders::CatalogDir;
use olm_testkit::dump::{Difference, diff};
use olm_testkit::operators::Operator;
use olm_testkit::process::Running;

use super::context::TestContext;
use super::operators::CrashPoint;
use super::report::{self, CrashPointResult, Tally};
use super::run::{self, ReferenceRun};
use super::scenario::Scenario;
use super::setup::Setup;

/// How often a run is tried in which the operator has to write a certain number of times: how
/// many states in between it gets to see depends on the speed of others.
const ATTEMPTS: usize = 10;

/// Undisturbed runs per cluster.
const ROUNDS: usize = 2;

/// Runs a scenario with every crash, or with one of them.
pub(super) async fn sweep(
    scenario: &dyn Scenario,
    stages: &mut [Setup],
    only: Option<&str>,
) -> Result<Tally> {
    report::name(scenario);
    let catalogs = Catalogs::serve(scenario, stages)?;
    let undisturbed = undisturbed(scenario, stages, &catalogs).await.context("undisturbed")?;
    report::undisturbed(&undisturbed);
    let mut points = points(&undisturbed);
    if let Some(only) = only {
        points.retain(|point| format!("{}:{}", point.operator, point.number) == only);
        if points.is_empty() {
            bail!("there is no crash point {only:?}");
        }
    }
    let mut tally = Tally::of(&undisturbed);
    let todo = Mutex::new(VecDeque::from(points));
    let workers = stages.iter_mut().map(|setup| {
        let ctx = catalogs.ctx(setup);
        work(scenario, ctx, setup, &todo, &undisturbed)
    });
    for verdicts in try_join_all(workers).await? {
        verdicts.iter().for_each(|verdict| tally.count(verdict));
    }
    report::scenario(&tally);
    Ok(tally)
}

/// Some undisturbed runs, on all clusters at the same time. They must agree; the one with the
/// fewest writes gives the crash points, since other runs write as often, too.
async fn undisturbed(
    scenario: &dyn Scenario,
    stages: &mut [Setup],
    catalogs: &Catalogs,
) -> Result<ReferenceRun> {
    let runs = stages.iter_mut().map(|setup| {
        let ctx = catalogs.ctx(setup);
        async move {
            let mut runs = Vec::new();
            for _ in 0..ROUNDS {
                runs.push(run::undisturbed(scenario, &ctx, setup).await?);
            }
            Ok::<_, anyhow::Error>(runs)
        }
    });
    let mut runs = try_join_all(runs).await?.into_iter().flatten().collect::<Vec<_>>();
    runs.sort_by_key(|run| run.effects.len());
    let mut runs = runs.into_iter();
    let first = runs.next().context("there is no cluster")?;
    for other in runs {
        let differences = diff(&first.objects, &other.objects);
        let lines: String = differences.iter().map(|one| format!("\n{one}")).collect();
        ensure!(differences.is_empty(), "two undisturbed runs do not agree:{lines}");
    }
    Ok(first)
}

/// Takes crash points from the queue until it is empty.
async fn work(
    scenario: &dyn Scenario,
    ctx: TestContext,
    setup: &mut Setup,
    todo: &Mutex<VecDeque<CrashPoint>>,
    undisturbed: &ReferenceRun,
) -> Result<Vec<CrashPointResult>> {
    let mut verdicts = Vec::new();
    while let Some(point) = next(todo) {
        let verdict = judge(scenario, &ctx, setup, point, undisturbed).await;
        let verdict = verdict.with_context(|| format!("{} {}", point.operator, point.number))?;
        report::verdict(point, &verdict);
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

fn next(todo: &Mutex<VecDeque<CrashPoint>>) -> Option<CrashPoint> {
    todo.lock().ok()?.pop_front()
}

async fn judge(
    scenario: &dyn Scenario,
    ctx: &TestContext,
    setup: &mut Setup,
    point: CrashPoint,
    undisturbed: &ReferenceRun,
) -> Result<CrashPointResult> {
    for _ in 0..ATTEMPTS {
        let crashed = run::crashed(scenario, ctx, setup, point, &undisturbed.objects).await?;
        if let Some(after) = crashed.after {
            return Ok(CrashPointResult::of(after, crashed.differences));
        }
        if let Err(error) = ended_the_same(crashed.differences) {
            return Ok(CrashPointResult::Failed { after: None, error });
        }
    }
    Ok(CrashPointResult::NotThere)
}

/// A run without a crash is one more that was not disturbed.
fn ended_the_same(differences: Result<Vec<Difference>>) -> Result<()> {
    let lines: String = differences?.iter().map(|one| format!("\n{one}")).collect();
    ensure!(lines.is_empty(), "without a crash it ended otherwise:{lines}");
    Ok(())
}

/// Every write of every operator.
fn points(undisturbed: &ReferenceRun) -> Vec<CrashPoint> {
    let count = |operator: Operator| {
        undisturbed.effects.iter().filter(|(other, _)| *other == operator).count()
    };
    let of = |operator| (1..=count(operator)).map(move |number| CrashPoint { operator, number });
    Operator::ALL.into_iter().flat_map(of).collect()
}

/// The catalogs of a scenario, served to all clusters.
struct Catalogs {
    addresses: BTreeMap<&'static str, String>,
    /// Served until dropped.
    _served: Vec<(Running, CatalogDir)>,
}

impl Catalogs {
    fn serve(scenario: &dyn Scenario, stages: &[Setup]) -> Result<Self> {
        let (mut addresses, mut served) = (BTreeMap::new(), Vec::new());
        let binaries = &stages.first().context("there is no cluster")?.starter.binaries;
        for (name, packages) in scenario.catalogs() {
            let dir = CatalogDir::of(&packages)?;
            let unique = format!("{}-{name}", scenario.name());
            let (running, address) = binaries.registry(&unique, dir.path())?;
            addresses.insert(name, address);
            served.push((running, dir));
        }
        Ok(Self { addresses, _served: served })
    }

    fn ctx(&self, setup: &Setup) -> TestContext {
        let (client, binaries) = (setup.client.clone(), setup.starter.binaries.clone());
        let kubeconfig = setup.starter.kubeconfig.clone();
        let addresses = self.addresses.clone();
        TestContext { client, addresses, binaries, kubeconfig, servers: Mutex::default() }
    }
}
