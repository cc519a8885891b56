//! Which scenario begins when: the longest first, as many side by side as is fastest, and those that
//! share something one after the other.
//!
//! The test runner gives every trial a thread of its own; here it waits for its place. So a scenario
//! that waits for its turn blocks no other.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Trial};
use olm_tools::ALONE_BEGIN;

/// Places of scenarios that are under way. They wait most of their time, so there are more than processors.
const PLACES: usize = 12;

/// Seconds from which on a scenario takes two places: it has a cluster, a browser or dozens of objects of its own,
/// and keeps processors busy that others leave to wait.
const LONG: u32 = 30;

/// Beginnings of names of scenarios that are played by themselves, when all others are over: they count how many
/// steps something is written in, and a busy machine makes steps of what is one; or they compare seconds of a Lease.
const ALONE: &[&str] = &["replicas::deposed", "slow::", "writes::"];

/// Beginnings of names, and what those scenarios share: of each lane one is played at a time.
const LANES: &[(&str, &str)] = &[
    // Two operators, between which and the API server something goes wrong.
    ("faults::", "faults"),
    // Two operators that are replaced, or get a second program beside them.
    ("rolling::", "replaced operators"),
    // A browser, which takes as many processors as there are.
    ("console::", "browser"),
    // What takes much memory of catalog-operator, which each of them looks at.
    ("hostile::", "memory"),
    // Catalogs that all namespaces of a cluster see, or the lack of any, or of any change of them: the statuses
    // of all Subscriptions of the cluster list them.
    ("catalogs::the_only_one_is_missing", "global catalogs"),
    ("escalation_v0::changed_plan", "global catalogs"),
    ("escalation_v0::cleared_targets", "global catalogs"),
    ("escalation_v0::excluded_catalogs", "global catalogs"),
    ("escalation_v0::forged_certificates", "global catalogs"),
    ("escalation_v0::global_catalog", "global catalogs"),
    ("escalation_v0::lost_certificate", "global catalogs"),
    ("escalation_v0::older_definition", "global catalogs"),
    ("escalation_v0::shared_bundle", "global catalogs"),
    ("escalation_v0::shared_names", "global catalogs"),
    ("gitops::", "global catalogs"),
    ("packages::nothing_is_known", "global catalogs"),
];

/// Seconds that scenarios take on two cores, of those that take much longer than most.
const SECONDS: &[(&str, u32)] = &[
    ("kubectl_olm::install", 200),
    ("kubectl_olm::plan", 120),
    ("kubectl_olm::console_acts", 100),
    ("doctor::findings", 130),
    ("console::attacks", 100),
    ("console::look", 60),
    ("console::whole_way", 100),
    ("approval::each_its_own", 60),
    ("approval::malformed", 60),
    ("approval::paused", 40),
    ("approval::pairs", 90),
    ("approval::pairs_fail_forward", 45),
    ("approval::pairs_dead_catalog", 30),
    ("approval::taken_back", 45),
    ("approval::pairs_in_common", 90),
    ("approval::of_a_range", 30),
    ("approval::in_common", 30),
    ("gitops::applied_again", 30),
    ("gitops::one_apply", 20),
    ("gitops::helm_chart", 30),
    ("catalogs::the_only_one_is_missing", 15),
    ("escalation_v0::changed_plan", 15),
    ("escalation_v0::cleared_targets", 25),
    ("escalation_v0::excluded_catalogs", 10),
    ("escalation_v0::forged_certificates", 25),
    ("escalation_v0::forged_marks", 25),
    ("escalation_v0::global_catalog", 15),
    ("escalation_v0::lost_certificate", 15),
    ("escalation_v0::older_definition", 15),
    ("escalation_v0::shared_bundle", 15),
    ("escalation_v0::shared_names", 15),
    ("uninstall::namespace", 40),
    ("hostile::accepted", 80),
    ("idle::no_writes", 250),
    ("idle::as_v0", 110),
    ("idle::waits", 20),
    ("silence::idle_callers", 120),
    ("replicas::deposed", 45),
    ("hostile::multiplying_aliases", 25),
    ("hostile::many", 40),
    ("hostile::one_by_one", 30),
    ("hostile::registries", 15),
    ("hostile::references", 15),
    ("hostile::definitions", 40),
    ("hostile::deployments", 60),
    ("rolling::nested_objects", 60),
    ("rolling::heavy_objects", 300),
    ("rolling::idle_callers_over_tls", 70),
    ("rolling::openshift", 30),
    ("faults::api_server_away", 25),
    ("faults::api_server_frozen", 15),
    ("faults::api_server_killed", 25),
    ("faults::busy_server", 20),
    ("faults::cut_and_expired_watches", 15),
    ("faults::cut_connections", 15),
    ("faults::expired_token", 15),
    ("faults::mixed", 10),
    ("faults::slow_answers", 15),
    ("faults::terminated", 10),
    ("tools::kubectl_operator", 55),
    ("tools::kubectl_operator_twice", 55),
    ("tools::operator_sdk", 55),
    ("rolling::update", 50),
    ("replicas::hosted", 60),
    ("replicas::take_over", 45),
    ("take_over::from_v0", 90),
    ("deploy::kubectl_applies_the_files", 80),
    ("side_by_side::no_foreign_writes", 30),
    ("writes::for_all_namespaces", 30),
    ("writes::each_object_once", 30),
    ("tenancy::selector", 30),
    ("tenancy::targets", 30),
    ("packages::rotation", 25),
    ("image_tools::serve_jobs_and_pods", 25),
    ("flags::hosted_faults", 90),
    ("flags::hosted_mirror_set", 70),
    ("flags::hosted_limits", 45),
    ("flags::block", 20),
    ("flags::follower", 20),
    ("servers::conversion_on_its_own", 20),
    ("servers::upgrade_on_its_own", 20),
    ("servers::rotation", 20),
    ("install_plans::objects_that_do_not_fit", 20),
    ("upgrades::a_missing_api", 20),
    ("upgrades::absent_names", 20),
    ("upgrades::edited_by_users", 20),
    ("upgrades::from_every_version", 20),
    ("upgrades::from_the_starting_csv", 20),
    ("tenancy::everywhere", 20),
    ("rbac::escalation", 20),
    ("schema::agrees", 15),
    ("rbac::agrees", 15),
    ("upgrades::two_versions_with_a_crd_change", 15),
    ("lifecycle::a_missed_deadline", 15),
    ("lifecycle::hundreds_of_deployments", 15),
    ("lifecycle::predecessors", 15),
    ("alone::no_catalog_operator", 15),
    ("packages::nothing_is_known", 15),
];

/// Scenarios that wait for a place, and places.
static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    all: 0,
    places: 0,
    are_alone: false,
    queue: BTreeSet::new(),
    lanes: BTreeSet::new(),
});

/// Something became free.
static FREE: Condvar = Condvar::new();

struct Waiting {
    /// Places that there are.
    all: usize,
    /// Those of them that are free.
    places: usize,
    /// All are over but those that are played by themselves.
    are_alone: bool,
    queue: BTreeSet<Entry>,
    /// Lanes in which a scenario is under way.
    lanes: BTreeSet<&'static str>,
}

/// A scenario that waits: whether it is played by itself, how long it takes, its name, its lane.
type Entry = (bool, Reverse<u32>, &'static str, Option<&'static str>);

/// A place among those that are under way; free again when this is dropped.
pub struct TrialSlot {
    name: &'static str,
    lane: Option<&'static str>,
    /// How many places it takes.
    places: usize,
    since: Instant,
}

/// Puts the trials in order, and has the test runner begin all of them: it learns here how many are
/// under way.
///
/// # Errors
///
/// When the table of times names a scenario that there is not.
pub fn prepare(arguments: &mut Arguments, trials: &mut [Trial]) -> Result<()> {
    for (name, _) in SECONDS {
        ensure!(trials.iter().any(|trial| trial.name() == *name), "there is no scenario {name}");
    }
    let places = arguments.test_threads.unwrap_or(PLACES).max(1);
    let mut state = waiting();
    (state.all, state.places) = (places, places);
    drop(state);
    arguments.test_threads = Some(trials.len().max(2));
    trials.sort_by_key(|trial| Reverse(seconds(trial.name())));
    Ok(())
}

/// Waits for a place.
pub fn enter(name: &'static str) -> TrialSlot {
    let lane = lane(name);
    let is_alone = ALONE.iter().any(|begin| name.starts_with(begin));
    let entry = (is_alone, Reverse(seconds(name)), name, lane);
    let mut state = waiting();
    state.queue.insert(entry);
    while state.next() != Some(entry) {
        state = FREE.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.queue.remove(&entry);
    if is_alone && !std::mem::replace(&mut state.are_alone, true) {
        println!("{ALONE_BEGIN}");
    }
    let places = state.needed(&entry);
    state.places -= places;
    state.lanes.extend(lane);
    // There may be a place for the next one, too.
    FREE.notify_all();
    TrialSlot { name, lane, places, since: Instant::now() }
}

impl Waiting {
    /// Who may begin now.
    fn next(&self) -> Option<Entry> {
        let may = |(_, _, _, lane): &&Entry| lane.is_none_or(|lane| !self.lanes.contains(lane));
        let first = self.queue.iter().find(may).copied();
        first.filter(|entry| self.places >= self.needed(entry))
    }

    fn needed(&self, (is_alone, Reverse(seconds), ..): &Entry) -> usize {
        match is_alone {
            true => self.all,
            false if *seconds >= LONG => self.all.min(2),
            false => 1,
        }
    }
}

impl Drop for TrialSlot {
    fn drop(&mut self) {
        println!("{:6.1} s  {}", self.since.elapsed().as_secs_f64(), self.name);
        let mut state = waiting();
        state.places += self.places;
        if let Some(lane) = self.lane {
            state.lanes.remove(lane);
        }
        FREE.notify_all();
    }
}

fn lane(name: &str) -> Option<&'static str> {
    LANES.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, lane)| *lane)
}

/// What is known of how long a scenario takes, or all of its lane together.
fn seconds(name: &str) -> u32 {
    let mine = lane(name);
    let counts = |known: &str| known == name || mine.is_some() && lane(known) == mine;
    SECONDS.iter().filter(|(known, _)| counts(known)).map(|(_, seconds)| seconds).sum()
}

fn waiting() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}
