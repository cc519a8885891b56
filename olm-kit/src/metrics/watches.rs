//! What watches count.

use std::collections::BTreeMap;

use prometheus::IntCounterVec;
use serde::Serialize;

use super::MetricsError;
use super::at_scrape::{Probes, Sample};
use super::catalogue::Catalogue;
use super::family::{Family, Type};

const OBJECTS: Family = Family::ours(
    "olm_kit_objects",
    "Objects in memory by kind and the label selector of their watch",
    &["kind", "selector"],
);
const MALFORMED: Family = Family::ours(
    "olm_kit_malformed_objects",
    "Objects that exist but cannot be read, by kind and selector",
    &["kind", "selector"],
);
const REJECTED: Family = Family::ours(
    "olm_kit_rejected_objects_total",
    "Versions of objects that could not be read, by kind",
    &["kind"],
);
const INTERRUPTIONS: Family = Family::ours(
    "olm_kit_watch_interruptions_total",
    "Errors that interrupted a watch, by kind; it goes on by itself",
    &["kind"],
);

/// What a watch holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WatchFigures {
    /// Objects in the store.
    pub objects: usize,
    /// Objects that exist but cannot be read.
    pub malformed: usize,
    /// Whether the first list is complete.
    pub synced: bool,
}

/// Kind and label selector of a watch.
type WatchLabels = (String, String);

/// What watches count. Clones share it.
#[derive(Clone)]
pub struct WatchMetrics {
    rejected: IntCounterVec,
    interruptions: IntCounterVec,
    watches: Probes<WatchLabels, WatchFigures>,
}

impl WatchMetrics {
    pub(super) fn register(catalogue: &Catalogue) -> Result<Self, MetricsError> {
        let watches: Probes<WatchLabels, WatchFigures> = Probes::default();
        let read = watches.clone();
        let families = [OBJECTS, MALFORMED].map(|family| family.described(Type::Gauge));
        catalogue.at_scrape(&families, move || {
            sums(read.read()).iter().flat_map(|(about, figures)| samples(about, figures)).collect()
        })?;
        let (rejected, interruptions) =
            (catalogue.counter(REJECTED)?, catalogue.counter(INTERRUPTIONS)?);
        Ok(Self { rejected, interruptions, watches })
    }

    /// Shows a watch from now on. Its counters begin at zero, so that the first error is an
    /// increase.
    pub fn watch(
        &self,
        kind: &str,
        selector: &str,
        read: impl Fn() -> WatchFigures + Send + Sync + 'static,
    ) {
        self.watches.add((kind.to_owned(), selector.to_owned()), read);
        self.rejected.with_label_values(&[kind]);
        self.interruptions.with_label_values(&[kind]);
    }

    /// Counts a version of an object that cannot be read.
    pub(crate) fn rejected(&self, kind: &str) {
        self.rejected.with_label_values(&[kind]).inc();
    }

    /// Counts an error of the watch on `kind`.
    pub fn interrupted(&self, kind: &str) {
        self.interruptions.with_label_values(&[kind]).inc();
    }

    /// What every watch holds, by kind and selector.
    pub(crate) fn figures(&self) -> BTreeMap<String, WatchFigures> {
        let sums = sums(self.watches.read()).into_iter();
        sums.map(|((kind, selector), sum)| (format!("{kind} {selector}").trim().to_owned(), sum))
            .collect()
    }
}

/// Several watches may look at the same objects, each for parts of them.
fn sums(figures: Vec<(WatchLabels, WatchFigures)>) -> BTreeMap<WatchLabels, WatchFigures> {
    let mut sums: BTreeMap<WatchLabels, WatchFigures> = BTreeMap::new();
    for (about, one) in figures {
        let sum = sums.entry(about).or_insert(WatchFigures { synced: true, ..Default::default() });
        sum.objects += one.objects;
        sum.malformed += one.malformed;
        sum.synced &= one.synced;
    }
    sums
}

fn samples((kind, selector): &WatchLabels, figures: &WatchFigures) -> [Sample; 2] {
    [(OBJECTS, figures.objects), (MALFORMED, figures.malformed)].map(|(family, count)| {
        let value = u32::try_from(count).map_or(f64::INFINITY, f64::from);
        Sample::new(family, &[kind, selector], value)
    })
}
