//! Which scenario begins when: the longest first, as many side by side as keep the processors busy, and those that
//! share something one after the other.
//!
//! The test runner gives every trial a thread of its own; here it waits for its place. So a scenario
//! that waits for its turn blocks no other.

mod processors;
mod times;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Trial};
use olm_tools::ALONE_BEGIN;

/// Places of scenarios that are under way. They wait most of their time, so there are more than processors.
const PLACES: usize = 12;

/// Places beyond those, each of which is given while processors rest.
const EXTRA: isize = 12;

/// Seconds from which on a scenario takes two places: it has a cluster, a browser or dozens of objects of its own,
/// and keeps processors busy that others leave to wait.
const LONG: u32 = 30;

/// Beginnings of names of scenarios that are played when all others are over: they count how many steps something is
/// written in, and a busy machine makes steps of what is one; or they compare seconds of a Lease. One of each lane
/// leaves processors at rest most of the time.
const ALONE: &[&str] = &["replicas::deposed", "slow::", "writes::"];

/// Scenarios that wait for a place, and places.
static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    free: 0,
    extra: 0,
    under_way: 0,
    are_alone: false,
    queue: BTreeSet::new(),
    lanes: BTreeSet::new(),
});

/// Something became free.
static FREE: Condvar = Condvar::new();

struct Waiting {
    /// Places that are free, without the extra ones: less than none while some of those are taken.
    free: isize,
    /// Places that there are because processors rest.
    extra: isize,
    /// Scenarios that are under way.
    under_way: usize,
    /// All are over but those that a busy machine disturbs.
    are_alone: bool,
    queue: BTreeSet<Entry>,
    /// Lanes in which a scenario is under way.
    lanes: BTreeSet<&'static str>,
}

/// A scenario that waits: whether a busy machine disturbs it, how long it and the rest of its lane take, its name, its
/// lane.
type Entry = (bool, Reverse<u32>, &'static str, Option<&'static str>);

/// A place among those that are under way; free again when this is dropped.
pub struct TrialSlot {
    name: &'static str,
    lane: Option<&'static str>,
    /// How many places it takes.
    places: isize,
    since: Instant,
}

/// Puts the trials in order, and has the test runner begin all of them: it learns here how many are
/// under way.
///
/// # Errors
///
/// When the table of times names a scenario that there is not.
pub fn prepare(arguments: &mut Arguments, trials: &mut [Trial]) -> Result<()> {
    for name in times::known() {
        ensure!(trials.iter().any(|trial| trial.name() == name), "there is no scenario {name}");
    }
    let places = arguments.test_threads.unwrap_or(PLACES).max(1);
    waiting().free = isize::try_from(places)?;
    if arguments.test_threads.is_none() {
        processors::watch(|is_at_rest| waiting().adapt(is_at_rest))?;
    }
    arguments.test_threads = Some(trials.len().max(2));
    trials.sort_by_key(|trial| Reverse(times::seconds_of_lane(trial.name())));
    Ok(())
}

/// Waits for a place.
pub fn enter(name: &'static str) -> TrialSlot {
    let lane = times::lane(name);
    let is_alone = ALONE.iter().any(|begin| name.starts_with(begin));
    let entry = (is_alone, Reverse(times::seconds_of_lane(name)), name, lane);
    let mut state = waiting();
    state.queue.insert(entry);
    while state.next() != Some(entry) {
        state = FREE.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.queue.remove(&entry);
    if is_alone && !std::mem::replace(&mut state.are_alone, true) {
        println!("{ALONE_BEGIN}");
    }
    let places = needed(&entry);
    state.free -= places;
    state.under_way += 1;
    state.lanes.extend(lane);
    // There may be a place for the next one, too.
    FREE.notify_all();
    TrialSlot { name, lane, places, since: Instant::now() }
}

impl Waiting {
    /// Who may begin now.
    fn next(&self) -> Option<Entry> {
        let first = self.queue.iter().find(|entry| self.may(entry)).copied();
        first.filter(|entry| self.under_way == 0 || self.free + self.extra >= needed(entry))
    }

    fn may(&self, (is_alone, _, _, lane): &Entry) -> bool {
        let waits_for_others = *is_alone && !self.are_alone && self.under_way > 0;
        !waits_for_others && lane.is_none_or(|lane| !self.lanes.contains(lane))
    }

    /// Gives one place more, or takes one back.
    fn adapt(&mut self, is_at_rest: bool) {
        let change = if is_at_rest { 1 } else { -1 };
        self.extra = (self.extra + change).clamp(0, EXTRA);
        if is_at_rest {
            FREE.notify_all();
        }
    }
}

/// How many places it takes.
fn needed((_, _, name, _): &Entry) -> isize {
    if times::seconds(name) >= LONG { 2 } else { 1 }
}

impl Drop for TrialSlot {
    fn drop(&mut self) {
        println!("{:6.1} s  {}", self.since.elapsed().as_secs_f64(), self.name);
        let mut state = waiting();
        state.free += self.places;
        state.under_way -= 1;
        if let Some(lane) = self.lane {
            state.lanes.remove(lane);
        }
        FREE.notify_all();
    }
}

fn waiting() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}
