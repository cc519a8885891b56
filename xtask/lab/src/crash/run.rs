//! One run of a scenario, undisturbed or with a crash.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use olm_testkit::audit::Write;
use olm_testkit::dump::{Difference, Dump, Key, diff};
use olm_testkit::operators::Operator;
use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;
use serde_json::Value;
use tokio::time::Instant;

use super::context::TestContext;
use super::effects::{self, Effect};
use super::operators::{CrashPoint, Pair};
use super::scenario::Scenario;
use super::setup::Setup;

/// Rest after which the undisturbed run is over: far more than any wait of an operator that
/// makes progress.
const LONG_QUIET: Duration = Duration::from_secs(5);

/// Rest after which the objects of a crashed run are looked at.
const QUIET: Duration = Duration::from_secs(1);

/// How long a crashed run may go on to differ after its steps.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What became of a step that needs nothing more.
const DONE: [&str; 2] = ["Created", "Present"];

/// The undisturbed run.
pub(super) struct ReferenceRun {
    /// What the cluster holds in the end, as far as it did not before.
    pub objects: Dump,
    /// What both operators did, by their own account.
    pub effects: Vec<(Operator, Effect)>,
    /// What they did by the account of the API server.
    pub audited: Vec<Write>,
    /// What they wrote when they were started again over the end state, but for one status of each
    /// CatalogSource.
    pub again: Vec<Write>,
}

/// A run with a crash.
pub(super) struct Crashed {
    /// The write after which the operator ended; none when it wrote less than that.
    pub after: Option<Effect>,
    /// What differs from the undisturbed run; an error when the steps did not come to their end.
    pub differences: Result<Vec<Difference>>,
}

/// Runs a scenario undisturbed.
pub(super) async fn undisturbed(
    scenario: &dyn Scenario,
    ctx: &TestContext,
    setup: &mut Setup,
) -> Result<ReferenceRun> {
    let mut pair = set(scenario, ctx, setup, None).await?;
    supervised(&mut pair, scenario.steps(ctx)).await?;
    let audited = setup.writes_until_idle(LONG_QUIET).await?;
    let objects = objects(setup).await?;
    let mut all = Vec::new();
    for operator in Operator::ALL {
        let effects = effects::read(pair.log(operator)?)?;
        all.extend(effects.into_iter().map(|effect| (operator, effect)));
    }
    pair.stop();
    let pair = setup.starter.start(None).await?;
    let again = beyond_connections(setup.writes_until_idle(LONG_QUIET).await?);
    pair.stop();
    Ok(ReferenceRun { objects, effects: all, audited, again })
}

/// Runs a scenario with a crash and compares the end with that of the undisturbed run.
pub(super) async fn crashed(
    scenario: &dyn Scenario,
    ctx: &TestContext,
    setup: &mut Setup,
    point: CrashPoint,
    expected: &Dump,
) -> Result<Crashed> {
    let mut pair = set(scenario, ctx, setup, Some(point)).await?;
    let steps = async {
        scenario.steps(ctx).await?;
        until_converged(setup, expected).await
    };
    let differences = supervised(&mut pair, steps).await;
    let after = pair.has_crashed().then(|| pair.crashed_after().cloned());
    pair.stop();
    Ok(Crashed { after: after.map(|effect| effect.unwrap_or_default()), differences })
}

/// Brings a cluster to where the steps of a scenario begin.
async fn set(
    scenario: &dyn Scenario,
    ctx: &TestContext,
    setup: &mut Setup,
    point: Option<CrashPoint>,
) -> Result<Pair> {
    ctx.clear();
    setup.baseline.wipe(&setup.client).await?;
    if let Some(before) = scenario.before(ctx) {
        let mut pair = setup.starter.start(None).await?;
        supervised(&mut pair, before).await.context("before the steps")?;
        setup.writes_until_idle(QUIET).await?;
        pair.stop();
    }
    setup.skip_writes()?;
    setup.starter.start(point).await
}

/// Waits until nothing differs from the undisturbed run, or the time is over.
async fn until_converged(setup: &mut Setup, expected: &Dump) -> Result<Vec<Difference>> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        setup.writes_until_idle(QUIET).await?;
        let differences = diff(expected, &objects(setup).await?);
        if differences.is_empty() || Instant::now() > deadline {
            return Ok(differences);
        }
    }
}

/// What a run has made of a cluster, without the memory of the way there.
async fn objects(setup: &Setup) -> Result<Dump> {
    let mut objects = setup.baseline.changes(&setup.client).await?;
    let csvs = objects.keys().filter(|key| key.kind == "ClusterServiceVersion");
    let csvs = csvs.map(|key| format!("{}/{}", key.namespace, key.name)).collect();
    objects.iter_mut().for_each(|(key, object)| forget_history(key, object, &csvs));
    Ok(objects)
}

/// The conditions of a CSV are a list of the phases it went through, of which only the last one
/// is about the present: how many states of a Deployment in between are seen is a matter of
/// luck. A step of an InstallPlan finds what it was about to create when a crash came between
/// the object and the plan's status: it is done either way. A CRD names the CSVs that it came
/// with, and those that are gone until it is written for the next time.
fn forget_history(key: &Key, object: &mut Value, csvs: &BTreeSet<String>) {
    match key.kind.as_str() {
        "ClusterServiceVersion" => {
            let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
            if let Some(conditions) = conditions {
                conditions.drain(..conditions.len().saturating_sub(1));
            }
        }
        "InstallPlan" => {
            let steps = object.pointer_mut("/status/plan").and_then(Value::as_array_mut);
            let statuses = steps.into_iter().flatten().filter_map(|step| step.get_mut("status"));
            statuses
                .filter(|status| DONE.contains(&status.as_str().unwrap_or_default()))
                .for_each(|status| *status = DONE.join(" or ").into());
        }
        "CustomResourceDefinition" => {
            let annotations = object.pointer_mut("/metadata/annotations");
            if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
                annotations.retain(|name, csv| {
                    let exists = csv.as_str().is_some_and(|csv| csvs.contains(csv));
                    exists || !name.starts_with(INSTALLED_ALONGSIDE_PREFIX)
                });
            }
        }
        _ => {}
    }
}

/// What a start over the end state wrote beyond one status of each CatalogSource, which says when this
/// process connected, as with v0 (docs/differences.md).
fn beyond_connections(writes: Vec<Write>) -> Vec<Write> {
    let mut connected = BTreeSet::new();
    let is_more = |write: &Write| {
        write.resource() != "catalogsources/status" || !connected.insert(write.object.clone())
    };
    writes.into_iter().filter(is_more).collect()
}

/// Does something while both operators are looked after.
async fn supervised<T>(pair: &mut Pair, what: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        done = what => done,
        Err(error) = pair.supervise() => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Key, Write, beyond_connections, forget_history};

    fn write(object: &str) -> Write {
        Write::example("catalog-operator", "update", object)
    }

    #[test]
    fn a_start_may_say_once_of_each_catalog_when_it_connected() {
        let [a, b] = ["catalogsources/status ns/a", "catalogsources/status ns/b"];
        let all = [a, b, a, "subscriptions/status ns/a"].map(write).into();
        let more: Vec<_> = beyond_connections(all).into_iter().map(|write| write.object).collect();
        assert_eq!(more, [a, "subscriptions/status ns/a"]);
    }

    #[rstest::rstest]
    #[case::last_phase_stays(
        "ClusterServiceVersion",
        json!({"status": {"phase": "Succeeded", "conditions": [{"phase": "Pending"}, {"phase": "Succeeded"}]}}),
        json!({"status": {"phase": "Succeeded", "conditions": [{"phase": "Succeeded"}]}}),
    )]
    #[case::done_is_done(
        "InstallPlan",
        json!({"status": {"plan": [{"status": "Present"}, {"status": "Created"}, {"status": "NotPresent"}]}}),
        json!({"status": {"plan": [
            {"status": "Created or Present"}, {"status": "Created or Present"}, {"status": "NotPresent"},
        ]}}),
    )]
    #[case::conditions_of_others_stay(
        "Subscription",
        json!({"status": {"conditions": [{"type": "A"}, {"type": "B"}]}}),
        json!({"status": {"conditions": [{"type": "A"}, {"type": "B"}]}}),
    )]
    #[case::definitions_name_csvs_that_exist(
        "CustomResourceDefinition",
        json!({"metadata": {"annotations": {
            "operatorframework.io/installed-alongside-1": "n/here",
            "operatorframework.io/installed-alongside-2": "n/gone", "other": "n/gone",
        }}}),
        json!({"metadata": {"annotations": {
            "operatorframework.io/installed-alongside-1": "n/here", "other": "n/gone",
        }}}),
    )]
    fn the_way_is_forgotten(
        #[case] kind: &str,
        #[case] mut object: serde_json::Value,
        #[case] expected: serde_json::Value,
    ) {
        let key = Key { kind: kind.to_owned(), namespace: String::new(), name: String::new() };
        forget_history(&key, &mut object, &["n/here".to_owned()].into());
        assert_eq!(object, expected);
    }
}
