//! Registers families, and remembers what was registered.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus::core::Collector;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
};

use super::at_scrape::{AtScrape, Sample};
use super::family::{Described, Family, Type};
use super::{MetricsError, SummaryVec};

/// All families of a process. Clones share them.
#[derive(Clone)]
pub(super) struct Catalogue {
    registry: Registry,
    families: Arc<Mutex<BTreeMap<&'static str, Described>>>,
}

impl Catalogue {
    pub(super) fn new() -> Self {
        Self { registry: Registry::new(), families: Arc::default() }
    }

    /// Counters. One without labels is there from the start, at zero.
    pub(super) fn counter(&self, family: Family) -> Result<IntCounterVec, MetricsError> {
        let made = IntCounterVec::new(options(family), family.labels);
        let counters = self.add(family.described(Type::Counter), made)?;
        if family.labels.is_empty() {
            counters.with_label_values::<&str>(&[]);
        }
        Ok(counters)
    }

    /// Gauges. One without labels is there from the start, at zero.
    pub(super) fn gauge(&self, family: Family) -> Result<IntGaugeVec, MetricsError> {
        let made = IntGaugeVec::new(options(family), family.labels);
        let gauges = self.add(family.described(Type::Gauge), made)?;
        if family.labels.is_empty() {
            gauges.with_label_values::<&str>(&[]);
        }
        Ok(gauges)
    }

    pub(super) fn histogram(
        &self,
        family: Family,
        buckets: &[f64],
    ) -> Result<HistogramVec, MetricsError> {
        let options = HistogramOpts::from(options(family)).buckets(buckets.to_vec());
        self.add(family.described(Type::Histogram), HistogramVec::new(options, family.labels))
    }

    pub(super) fn summary(&self, family: Family) -> Result<SummaryVec, MetricsError> {
        self.add(family.described(Type::Summary), SummaryVec::new(family))
    }

    /// Families whose values are read at each scrape.
    pub(super) fn at_scrape(
        &self,
        families: &[Described],
        read: impl Fn() -> Vec<Sample> + Send + Sync + 'static,
    ) -> Result<(), MetricsError> {
        let name = families.first().map_or("", |one| one.family.name);
        let collector = named(name, AtScrape::new(families, read))?;
        named(name, self.registry.register(Box::new(collector)))?;
        self.families.lock().extend(families.iter().map(|one| (one.family.name, *one)));
        Ok(())
    }

    /// Every family, by name.
    pub(super) fn families(&self) -> Vec<Described> {
        self.families.lock().values().copied().collect()
    }

    pub(super) fn encode(&self) -> Result<String, MetricsError> {
        let families = self.registry.gather();
        TextEncoder::new().encode_to_string(&families).map_err(MetricsError::Encode)
    }

    fn add<C: Collector + Clone + 'static>(
        &self,
        described: Described,
        made: prometheus::Result<C>,
    ) -> Result<C, MetricsError> {
        let name = described.family.name;
        let collector = named(name, made)?;
        named(name, self.registry.register(Box::new(collector.clone())))?;
        self.families.lock().insert(name, described);
        Ok(collector)
    }
}

fn options(family: Family) -> Opts {
    Opts::new(family.name, family.help)
}

fn named<T>(name: &str, result: prometheus::Result<T>) -> Result<T, MetricsError> {
    result.map_err(|source| MetricsError::Register { name: name.to_owned(), source })
}
