//! What happened in a namespace, and what must be true at every moment of it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, Subscription,
    SubscriptionCondition,
};
use olm_types::conditions::subscription::RESOLUTION_FAILED;

use crate::e2e::context::{TestContext, conditions};
use crate::history::{Change, History, states};

/// The life of a version that is installed and stays.
const INSTALLED: [&str; 5] = ["", "Pending", "InstallReady", "Installing", "Succeeded"];

/// How the life of a version goes on that is replaced.
const REPLACED: [&str; 3] = ["Replacing", "Deleting", "gone"];

/// The CSVs and Subscriptions of a namespace, as they were and are.
pub struct Recorded {
    csvs: History<ClusterServiceVersion>,
    subscriptions: History<Subscription>,
}

impl Recorded {
    /// Begins before anything happens.
    pub async fn begin(ctx: &TestContext) -> Result<Self> {
        Ok(Self {
            csvs: History::of(ctx.api()).await?,
            subscriptions: History::of(ctx.api()).await?,
        })
    }

    /// Waits until only the last of these versions is left, and checks that each took its turn:
    /// it was installed when the one before made way, and that one went when it had succeeded.
    pub async fn check_replacements(&self, versions: &[&str]) -> Result<()> {
        let Some((last, replaced)) = versions.split_last() else { return Ok(()) };
        let recorded = self.until_gone(replaced).await?;
        let seen: BTreeSet<String> = recorded.iter().map(Change::name).collect();
        ensure!(seen == versions.iter().map(|name| (*name).to_owned()).collect(), "{seen:?}");
        versions.windows(2).try_for_each(|pair| check_replacement(&recorded, pair))?;
        equal(last, &phases(&recorded, last), &INSTALLED)?;
        check_one_active(&recorded)
    }

    /// The same for the versions of one operator among others.
    pub async fn check_chain(&self, versions: &[&str]) -> Result<()> {
        let Some((last, replaced)) = versions.split_last() else { return Ok(()) };
        let recorded = self.until_gone(replaced).await?;
        versions.windows(2).try_for_each(|pair| check_replacement(&recorded, pair))?;
        equal(last, &phases(&recorded, last), &INSTALLED)
    }

    /// Checks that no two versions were ever active at once, whatever else happened.
    pub fn check_one_at_a_time(&self) -> Result<()> {
        check_one_active(&self.csvs.so_far())
    }

    async fn until_gone(&self, names: &[&str]) -> Result<Vec<Change<ClusterServiceVersion>>> {
        let is_gone = |recorded: &[Change<_>], name: &&str| {
            phases(recorded, name).last().is_some_and(|phase| phase == "gone")
        };
        let all_gone = |recorded: &[Change<_>]| names.iter().all(|name| is_gone(recorded, name));
        self.csvs.until(&format!("end without {names:?}"), all_gone).await
    }

    /// Checks what a Subscription said one after the other: state, `currentCSV`, `installedCSV`
    /// and generation of the InstallPlan; `-` where it says nothing. It never had a failure to
    /// report.
    ///
    /// That a version is on the way need not be seen: the write conflicts with that of its catalogs'
    /// health now and then, and when it is tried again the version may be installed already.
    pub async fn check_subscription(&self, name: &str, expected: &[&str]) -> Result<()> {
        let end = |recorded: &[Change<_>]| states(recorded, name, summary).last().cloned();
        let last = expected.last().map(|line| (*line).to_owned());
        let recorded =
            self.subscriptions.until("come to its end", |recorded| end(recorded) == last).await?;
        let failure = recorded.iter().find_map(failure);
        ensure!(failure.is_none(), "{name} reported a failed resolution: {failure:?}");
        let (found, expected) = (states(&recorded, name, summary), expected.iter().copied());
        let found: Vec<_> = found.into_iter().filter(|state| !is_first_pending(state)).collect();
        let is_seen = |state: &&str| !is_pending(state) || found.iter().any(|one| one == state);
        let expected: Vec<_> =
            expected.filter(|state| !is_first_pending(state)).filter(is_seen).collect();
        equal(name, &found, &expected)
    }

    /// Checks that there is one completed InstallPlan for each of these versions, and that the
    /// Subscription pointed at each while it had that plan's generation.
    pub async fn check_plans(&self, ctx: &TestContext, versions: &[&str]) -> Result<()> {
        let mut plans = ctx.api::<InstallPlan>().list(&ListParams::default()).await?.items;
        plans.sort_by_key(|plan| plan.spec.generation);
        let mut named = self.named_plans();
        ensure!(plans.len() == versions.len(), "{} plans for {versions:?}", plans.len());
        for ((plan, version), generation) in plans.iter().zip(versions).zip(1..) {
            let phase = plan.status.as_ref().map(|status| status.phase);
            ensure!(phase == Some(InstallPlanPhase::Complete), "{} is {phase:?}", plan.name_any());
            ensure!(plan.spec.generation == Some(generation), "{:?}", plan.spec);
            ensure!(plan.spec.cluster_service_version_names == [*version], "{:?}", plan.spec);
            let names = named.remove(&generation).unwrap_or_default();
            ensure!(names == BTreeSet::from([plan.name_any()]), "{generation}: {names:?}");
        }
        Ok(())
    }

    /// The plans that Subscriptions pointed at, by the generation that they had then.
    fn named_plans(&self) -> BTreeMap<i64, BTreeSet<String>> {
        let mut named: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for change in self.subscriptions.so_far() {
            let Change::Is(subscription) = change else { continue };
            let Some(status) = subscription.status else { continue };
            let plan = status.install_plan_ref.and_then(|reference| reference.name);
            if let (Some(generation), Some(plan)) = (status.install_plan_generation, plan) {
                named.entry(generation).or_default().insert(plan);
            }
        }
        named
    }
}

/// Whether a version is on its way.
fn is_pending(state: &str) -> bool {
    state.starts_with("UpgradePending ")
}

/// Whether nothing is installed yet and something is on its way.
fn is_first_pending(state: &str) -> bool {
    is_pending(state) && state.contains(" - ")
}

/// The old version made way before the new one was installed, and went after that had succeeded.
fn check_replacement(recorded: &[Change<ClusterServiceVersion>], pair: &[&str]) -> Result<()> {
    let [old, new] = pair else { return Ok(()) };
    equal(old, &phases(recorded, old), &[&INSTALLED[..], &REPLACED].concat())?;
    let at = |name: &str, phase: CsvPhase| {
        recorded.iter().position(|change| change.name() == name && is_in(change, &[phase]))
    };
    let order = [
        (old, CsvPhase::Replacing),
        (new, CsvPhase::InstallReady),
        (new, CsvPhase::Succeeded),
        (old, CsvPhase::Deleting),
    ];
    let positions: Vec<_> = order.iter().map(|(name, phase)| at(name, *phase)).collect();
    ensure!(positions.is_sorted(), "{order:?} happened at {positions:?}");
    Ok(())
}

/// At no moment were two versions at work or about to be.
fn check_one_active(recorded: &[Change<ClusterServiceVersion>]) -> Result<()> {
    let mut active = BTreeSet::new();
    for change in recorded {
        if is_in(change, &[CsvPhase::InstallReady, CsvPhase::Installing, CsvPhase::Succeeded]) {
            active.insert(change.name());
        } else {
            active.remove(&change.name());
        }
        ensure!(active.len() <= 1, "{active:?} are active at once");
    }
    Ok(())
}

fn is_in(change: &Change<ClusterServiceVersion>, phases: &[CsvPhase]) -> bool {
    match change {
        Change::Is(csv) => phases.contains(&phase(csv)),
        Change::Gone(_) => false,
    }
}

fn phases(recorded: &[Change<ClusterServiceVersion>], name: &str) -> Vec<String> {
    states(recorded, name, |csv| phase(csv).to_string())
}

fn phase(csv: &ClusterServiceVersion) -> CsvPhase {
    csv.status.as_ref().map_or(CsvPhase::None, |status| status.phase)
}

/// What a Subscription says of a resolution that failed.
fn failure(change: &Change<Subscription>) -> Option<SubscriptionCondition> {
    let failed = |condition: &&SubscriptionCondition| {
        condition.type_ == RESOLUTION_FAILED && condition.status == "True"
    };
    match change {
        Change::Is(subscription) => conditions(subscription).iter().find(failed).cloned(),
        Change::Gone(_) => None,
    }
}

fn summary(subscription: &Subscription) -> String {
    let status = subscription.status.clone().unwrap_or_default();
    let generation = status.install_plan_generation.map(|number| number.to_string());
    let fields =
        [Some(status.state.to_string()), status.current_csv, status.installed_csv, generation];
    let shown = fields.map(|field| field.filter(|text| !text.is_empty()));
    shown.map(|field| field.unwrap_or_else(|| "-".to_owned())).join(" ")
}

fn equal(name: &str, found: &[String], expected: &[&str]) -> Result<()> {
    ensure!(found == expected, "{name} went through\n  {found:#?}\nnot through\n  {expected:#?}");
    Ok(())
}
