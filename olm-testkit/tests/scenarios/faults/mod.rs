//! What can go wrong between the operators and the API server: an install and an upgrade end as if
//! nothing had, and neither operator was started again.
//!
//! The scenarios share two operators, so each waits for its turn.

pub mod install_and_upgrade;
mod outages;

use std::sync::Arc;

use anyhow::{Result, ensure};
use libtest_mimic::{Failed, Trial};
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::{Flags, Local};
use olm_testkit::faults::{Fault, Plan};
use olm_testkit::operators::Operator;

use crate::environment::Environment;
use crate::metrics::sum;
use crate::only;
use crate::schedule;

/// Something stands between them.
pub const FLAGS: Flags<'static> = Flags { both: &[], catalog: &[], faults: true };

/// The one that waits for the longest pauses there are.
const FOR_MINUTES: &str = "faults::api_server_away_for_minutes";

/// Kinds of faults that have a cause in common.
const TOGETHER: [(&str, &[Fault]); 5] = [
    ("faults::busy_server", &[Fault::TooManyRequests, Fault::ServerError]),
    ("faults::cut_connections", &[Fault::CutBefore, Fault::CutAfter]),
    ("faults::cut_and_expired_watches", &[Fault::CutWatch, Fault::Gone]),
    ("faults::expired_token", &[Fault::Unauthorized]),
    ("faults::slow_answers", &[Fault::Slow]),
];

/// The scenarios of this folder.
pub fn all(environment: &Arc<Environment>) -> Vec<Trial> {
    let together = TOGETHER.iter().map(|(name, faults)| faulty(environment, name, plan(faults)));
    let mixed = Plan { percent: 15, ..plan(&Fault::ALL) };
    let asked = only::names(FOR_MINUTES);
    if !asked {
        println!("ignored: {FOR_MINUTES}: it takes minutes; cargo xtask test --scenarios plays it");
    }
    let minutes = trial(environment, FOR_MINUTES, outages::away_for_minutes);
    let mut all: Vec<Trial> = together.collect();
    all.extend([
        faulty(environment, "faults::mixed", mixed),
        trial(environment, "faults::api_server_killed", outages::killed),
        trial(environment, "faults::api_server_frozen", outages::frozen),
        trial(environment, "faults::api_server_away", outages::away),
        minutes.with_ignored_flag(!asked),
        trial(environment, "faults::terminated", outages::terminated),
    ]);
    all
}

/// A plan in which faults are frequent, and come to an end within seconds.
fn plan(faults: &[Fault]) -> Plan {
    match faults {
        // Only watches that begin anew learn that they are too late, so most are cut.
        [Fault::CutWatch, ..] => Plan { percent: 50, most: 2, ..Plan::of(faults) },
        _ => Plan { percent: 25, most: 2, ..Plan::of(faults) },
    }
}

fn faulty(environment: &Arc<Environment>, name: &'static str, plan: Plan) -> Trial {
    trial(environment, name, async move |local, ctx| under(&local, &ctx, plan).await)
}

/// The scenario under a plan of faults, some of which happen.
async fn under(local: &Local, ctx: &TestContext, plan: Plan) -> Result<()> {
    let (injector, kinds) = (&local.proxy()?.injector, plan.faults.clone());
    injector.follow(plan);
    let reported = install_and_upgrade::play(ctx).await;
    let injected = injector.follow(Plan::calm());
    println!("faults: {}: {injected:?}", ctx.namespace);
    reported?;
    // Of many kinds, chance may leave one out.
    let quiet = kinds.iter().filter(|kind| !injected.contains_key(*kind)).count();
    ensure!(quiet == 0 || kinds.len() > 2, "of {kinds:?} only {injected:?} went wrong");
    ensure!(!injected.is_empty(), "nothing went wrong");
    install_and_upgrade::check_end(ctx).await
}

fn trial<S>(environment: &Arc<Environment>, name: &'static str, scenario: S) -> Trial
where
    S: AsyncFnOnce(Arc<Local>, Arc<TestContext>) -> Result<()> + Send + 'static,
{
    let environment = Arc::clone(environment);
    let scenario = async move |local: Arc<Local>, ctx| {
        scenario(Arc::clone(&local), ctx).await?;
        nothing_fails(&local).await
    };
    Trial::test(name, move || {
        let _place = schedule::enter(name);
        let run = environment.run_local(name, scenario);
        run.map_err(|error| Failed::from(format!("{error:#}")))
    })
}

/// Waits until whatever failed was tried again: after an outage the next try may be seconds away.
async fn nothing_fails(local: &Local) -> Result<()> {
    for operator in Operator::ALL {
        let admin = local.admin(operator)?;
        admin.until_metrics("count no failing key", |metrics| failing(metrics) == 0.0).await?;
    }
    Ok(())
}

fn failing(metrics: &str) -> f64 {
    sum(metrics, "olm_kit_queue_failing_keys{")
}
