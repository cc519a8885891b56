//! Memory of earlier events: what repeats, and what is too much.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use olm_effect::{EventNote, Target};

/// Events that one object may cause at once.
const BURST: u32 = 10;

/// Afterwards one more per this time.
const REFILL: SignedDuration = SignedDuration::from_secs(60);

/// Topics and objects that are remembered; the oldest go first.
const REMEMBERED: usize = 4096;

/// What an event says about what. Equal topics share one event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EventKey {
    pub(super) target: Target,
    pub(super) note: EventNote,
}

/// An event that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedEvent {
    pub(super) name: String,
    pub(super) count: i32,
}

/// What to do with an event.
#[derive(Debug, PartialEq)]
pub(super) enum EventWrite {
    /// Write a new event.
    Create,
    /// Raise the count of this one.
    Raise(RecordedEvent),
    /// Write nothing.
    Suppress,
}

/// Earlier events and what each object may still cause.
#[derive(Debug, Default)]
pub(super) struct EventCorrelator {
    posted: Bounded<String, RecordedEvent>,
    buckets: Bounded<Target, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: u32,
    since: Timestamp,
}

impl EventCorrelator {
    /// Decides about an event, and counts it against its object.
    pub(super) fn decide(&mut self, topic: &EventKey, now: Timestamp) -> EventWrite {
        if !self.take_token(&topic.target, now) {
            return EventWrite::Suppress;
        }
        self.posted
            .get(&topic.key())
            .map_or(EventWrite::Create, |posted| EventWrite::Raise(posted.clone()))
    }

    /// Remembers that an event was written.
    pub(super) fn posted(&mut self, topic: EventKey, posted: RecordedEvent) {
        self.posted.put(topic.key(), posted);
    }

    fn take_token(&mut self, target: &Target, now: Timestamp) -> bool {
        let full = Bucket { left: BURST, since: now };
        let mut bucket = self.buckets.get(target).copied().unwrap_or(full).refilled(now);
        let taken = bucket.left > 0;
        bucket.left = bucket.left.saturating_sub(1);
        self.buckets.put(target.clone(), bucket);
        taken
    }
}

impl EventKey {
    fn key(&self) -> String {
        format!("{:?} {:?}", self.target, self.note)
    }
}

impl Bucket {
    fn refilled(self, now: Timestamp) -> Self {
        let periods = now.duration_since(self.since).as_secs() / REFILL.as_secs();
        let Ok(gained @ 1..) = u32::try_from(periods) else {
            return self;
        };
        let left = self.left.saturating_add(gained).min(BURST);
        let since = self.since + REFILL * i32::try_from(gained).unwrap_or(i32::MAX);
        Self { left, since }
    }
}

/// A map that forgets what was put first.
#[derive(Debug)]
struct Bounded<K, V> {
    values: BTreeMap<K, V>,
    order: VecDeque<K>,
}

impl<K: Ord + Clone, V> Bounded<K, V> {
    fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key)
    }

    fn put(&mut self, key: K, value: V) {
        if self.values.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Self { values: BTreeMap::new(), order: VecDeque::new() }
    }
}
