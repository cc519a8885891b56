//! What can go wrong between the operators and the API server: an install and an upgrade end as if
//! nothing had, and neither operator was started again.
//!
//! The scenarios share two operators, so each waits for its turn.

mod outages;
mod story;

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, ensure};
use libtest_mimic::{Failed, Trial};
use olm_testkit::e2e::Scene;
use olm_testkit::e2e::stage::local::{Flags, Local};
use olm_testkit::faults::{Fault, Plan};

use crate::environment::Environment;

/// Something stands between them.
pub const FLAGS: Flags<'static> = Flags { both: &[], catalog: &[], faults: true };

/// Whose turn it is.
static TURN: Mutex<()> = Mutex::new(());

/// Each kind of fault alone.
const ALONE: [(&str, Fault); 8] = [
    ("faults::too_many_requests", Fault::TooManyRequests),
    ("faults::server_errors", Fault::ServerError),
    ("faults::cut_before", Fault::CutBefore),
    ("faults::cut_after", Fault::CutAfter),
    ("faults::cut_watches", Fault::CutWatch),
    ("faults::gone", Fault::Gone),
    ("faults::unauthorized", Fault::Unauthorized),
    ("faults::slow", Fault::Slow),
];

/// The scenarios of this folder.
pub fn all(environment: &Arc<Environment>) -> Vec<Trial> {
    let mut all: Vec<Trial> =
        ALONE.iter().map(|(name, fault)| faulty(environment, name, plan(*fault))).collect();
    all.extend([
        faulty(environment, "faults::mixed", Plan { percent: 30, ..Plan::of(&Fault::ALL) }),
        trial(environment, "faults::api_server_killed", outages::killed),
        trial(environment, "faults::api_server_frozen", outages::frozen),
        trial(environment, "faults::terminated", outages::terminated),
    ]);
    all
}

/// A plan in which a kind of fault happens often, and comes to an end within seconds.
fn plan(fault: Fault) -> Plan {
    match fault {
        // Watches wait longer after each interruption.
        Fault::CutWatch => Plan { percent: 40, most: 2, ..Plan::of(&[fault]) },
        // Only those that begin anew are told so.
        Fault::Gone => Plan { percent: 60, most: 1, ..Plan::of(&[Fault::CutWatch, Fault::Gone]) },
        // As a server does that protects itself.
        Fault::TooManyRequests => Plan { percent: 10, burst: 2, ..Plan::of(&[fault]) },
        _ => Plan::of(&[fault]),
    }
}

fn faulty(environment: &Arc<Environment>, name: &'static str, plan: Plan) -> Trial {
    trial(environment, name, async move |local, scene| under(&local, &scene, plan).await)
}

/// The story under a plan of faults, some of which happen.
async fn under(local: &Local, scene: &Scene, plan: Plan) -> Result<()> {
    let (injector, kinds) = (local.injector()?, plan.faults.clone());
    injector.follow(plan);
    let told = story::play(scene).await;
    let injected = injector.follow(Plan::calm());
    println!("faults: {}: {injected:?}", scene.namespace);
    told?;
    let quiet = kinds.iter().find(|kind| !injected.contains_key(*kind));
    ensure!(quiet.is_none(), "this never went wrong: {quiet:?}");
    story::check_end(scene).await
}

fn trial<S>(environment: &Arc<Environment>, name: &'static str, scenario: S) -> Trial
where
    S: AsyncFnOnce(Arc<Local>, Arc<Scene>) -> Result<()> + Send + 'static,
{
    let environment = Arc::clone(environment);
    Trial::test(name, move || {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let run =
            environment.run_local(name, async move |local, scene| scenario(local, scene).await);
        run.map_err(|error| Failed::from(format!("{error:#}")))
    })
}
