//! Places of callers that are not the front proxy.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Limits;

/// Between two lines of the log about the same.
const SAID: Duration = Duration::from_secs(60);

/// All places of a server.
pub(super) struct ConnectionSlots {
    limit: usize,
    grace: Duration,
    state: Mutex<State>,
    /// A place became free.
    left: Notify,
}

#[derive(Default)]
struct State {
    next: u64,
    taken: BTreeMap<u64, Taken>,
    said: Option<Instant>,
}

/// A place that is taken.
struct Taken {
    address: IpAddr,
    /// When the caller came, or its last request began or was answered.
    since: Instant,
    /// Requests that are being answered.
    requests: usize,
    /// Whether it sent a request already.
    spoke: bool,
    closed: CancellationToken,
}

/// The place of one caller, free again when this is dropped.
pub(super) struct CallerSlot {
    number: u64,
    places: Arc<ConnectionSlots>,
    closed: CancellationToken,
}

/// A request that is being answered, until this is dropped.
pub(super) struct Busy {
    number: u64,
    places: Arc<ConnectionSlots>,
}

impl ConnectionSlots {
    /// As many as the limits say, all free.
    pub(super) fn new(limits: Limits) -> Self {
        let Limits { callers: limit, grace, .. } = limits;
        Self { limit, grace, state: Mutex::default(), left: Notify::new() }
    }

    /// Takes a place. When there is none, the oldest idle caller of the address that holds most goes;
    /// while all of them are new, this waits, at most for the grace that a new one has.
    pub(super) async fn enter(self: &Arc<Self>, address: IpAddr) -> CallerSlot {
        loop {
            let until = match self.try_enter(address) {
                Ok(place) => return place,
                Err(until) => until,
            };
            tokio::select! {
                () = sleep_until(until) => {}
                () = self.left.notified() => {}
            }
        }
    }

    fn try_enter(self: &Arc<Self>, address: IpAddr) -> Result<CallerSlot, Instant> {
        let mut state = self.state.lock();
        if state.taken.len() >= self.limit {
            let victim = state.victim(self.grace)?;
            if let Some(victim) = state.taken.remove(&victim) {
                victim.closed.cancel();
            }
            state.say(self.limit);
        }
        let (number, closed) = (state.next, CancellationToken::new());
        state.next += 1;
        let (since, closing) = (Instant::now(), closed.clone());
        let taken = Taken { address, since, requests: 0, spoke: false, closed: closing };
        state.taken.insert(number, taken);
        Ok(CallerSlot { number, places: Arc::clone(self), closed })
    }

    fn free(&self, number: u64) {
        if self.state.lock().taken.remove(&number).is_some() {
            self.left.notify_one();
        }
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Taken)) {
        if let Some(taken) = self.state.lock().taken.get_mut(&number) {
            change(taken);
            taken.since = Instant::now();
        }
    }
}

impl State {
    /// Who has to go; as an error, when some may go.
    fn victim(&self, grace: Duration) -> Result<u64, Instant> {
        let now = Instant::now();
        let mut holds: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for taken in self.taken.values() {
            *holds.entry(taken.address).or_default() += 1;
        }
        let may_go = self.taken.iter().filter(|(_, taken)| taken.may_go_from(grace) <= now);
        let victim = may_go.max_by_key(|(number, taken)| {
            let held = holds.get(&taken.address).copied();
            (taken.requests == 0, held, Reverse((taken.since, **number)))
        });
        let soonest = || self.taken.values().map(|taken| taken.may_go_from(grace)).min();
        victim.map(|(number, _)| *number).ok_or_else(|| soonest().unwrap_or(now))
    }

    /// The log gets a line in a minute, not one for each caller.
    fn say(&mut self, limit: usize) {
        if self.said.is_none_or(|said| said.elapsed() >= SAID) {
            self.said = Some(Instant::now());
            tracing::warn!(limit, "all places of callers are taken, idle ones are closed");
        }
    }
}

impl Taken {
    /// Whoever has had an answer may go at once.
    fn may_go_from(&self, grace: Duration) -> Instant {
        let idle_again = self.spoke && self.requests == 0;
        if idle_again { self.since } else { self.since + grace }
    }
}

impl CallerSlot {
    /// Cancelled when the place is needed for another caller.
    pub(super) fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// The caller is not counted any more, and is never closed for another one.
    pub(super) fn give_back(&self) {
        self.places.free(self.number);
    }

    /// A request begins.
    pub(super) fn busy(&self) -> Busy {
        self.places.change(self.number, |taken| {
            taken.requests += 1;
            taken.spoke = true;
        });
        Busy { number: self.number, places: Arc::clone(&self.places) }
    }
}

impl Drop for CallerSlot {
    fn drop(&mut self) {
        self.places.free(self.number);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.places.change(self.number, |taken| taken.requests -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const MINE: &str = "192.0.2.1";
    const OTHER: &str = "192.0.2.2";

    fn places(callers: usize) -> Arc<ConnectionSlots> {
        Arc::new(ConnectionSlots::new(Limits { callers, ..Limits::default() }))
    }

    /// Callers that came one second after the other; those of `busy` are being answered.
    async fn callers(
        places: &Arc<ConnectionSlots>,
        addresses: &[&str],
        busy: &[usize],
    ) -> (Vec<CallerSlot>, Vec<Busy>) {
        let mut all = Vec::new();
        for address in addresses {
            all.push(places.enter(address.parse().unwrap()).await);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let busy = busy.iter().map(|number| all[*number].busy()).collect();
        tokio::time::advance(Duration::from_secs(1)).await;
        (all, busy)
    }

    #[rstest]
    #[case::the_oldest(&[MINE, MINE, MINE], &[], 0)]
    #[case::not_one_that_is_answered(&[MINE, MINE, MINE], &[0], 1)]
    #[case::of_the_address_with_most(&[OTHER, MINE, MINE], &[], 1)]
    #[case::idle_before_most(&[OTHER, MINE, MINE], &[1, 2], 0)]
    #[case::of_those_that_are_answered_the_oldest(&[MINE, MINE, MINE], &[0, 1, 2], 0)]
    #[tokio::test(start_paused = true)]
    async fn who_goes(#[case] addresses: &[&str], #[case] busy: &[usize], #[case] goes: usize) {
        let places = places(addresses.len());
        let (all, _busy) = callers(&places, addresses, busy).await;
        let _new = places.enter("192.0.2.3".parse().unwrap()).await;
        let closed: Vec<_> = all.iter().map(|place| place.closed.is_cancelled()).collect();
        let expected: Vec<_> = (0..all.len()).map(|number| number == goes).collect();
        assert_eq!(closed, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_caller_has_time_for_a_request() {
        let places = places(2);
        let address = MINE.parse().unwrap();
        let _both = (places.enter(address).await, places.enter(address).await);
        let begun = Instant::now();
        let _third = places.enter(address).await;
        assert_eq!(begun.elapsed(), Limits::default().grace);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_leaves_or_is_not_counted_frees_a_place_at_once() {
        let places = places(1);
        let address = MINE.parse().unwrap();
        let begun = Instant::now();
        drop(places.enter(address).await);
        let front_proxy = places.enter(address).await;
        front_proxy.give_back();
        drop(front_proxy.busy());
        let _other = places.enter(address).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        assert!(!front_proxy.closed.is_cancelled());
        assert_eq!(places.state.lock().taken.len(), 1);
        drop(front_proxy);
        assert_eq!(places.state.lock().taken.len(), 1, "the other one stays");
    }
}
