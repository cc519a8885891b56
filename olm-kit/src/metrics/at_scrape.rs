//! Figures that are read from where they are at each scrape, so that none of them is stale.

use std::sync::Arc;

use parking_lot::Mutex;
use prometheus::core::{Collector, Desc};
use prometheus::proto;

use super::family::{Described, Family, Type};

/// One value of a family.
pub(super) struct Sample {
    family: &'static str,
    labels: Vec<String>,
    value: f64,
}

impl Sample {
    /// Values of labels are in the order of their names in `family`.
    pub(super) fn new(family: Family, labels: &[&str], value: f64) -> Self {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Self { family: family.name, labels, value }
    }
}

/// Reads when it is asked to. Families without a value are left out, as all empty ones are.
pub(super) struct AtScrape<F> {
    families: Vec<(Described, Desc)>,
    read: F,
}

impl<F: Fn() -> Vec<Sample>> AtScrape<F> {
    pub(super) fn new(families: &[Described], read: F) -> prometheus::Result<Self> {
        let families = families.iter().map(|one| Ok((*one, desc(one.family)?)));
        Ok(Self { families: families.collect::<prometheus::Result<_>>()?, read })
    }
}

pub(super) fn desc(family: Family) -> prometheus::Result<Desc> {
    let labels = family.labels.iter().map(|label| (*label).to_owned()).collect();
    Desc::new(family.name.to_owned(), family.help.to_owned(), labels, Default::default())
}

impl<F: Fn() -> Vec<Sample> + Send + Sync> Collector for AtScrape<F> {
    fn desc(&self) -> Vec<&Desc> {
        self.families.iter().map(|(_, desc)| desc).collect()
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let samples = (self.read)();
        let families = self.families.iter().map(|(described, _)| family(*described, &samples));
        families.filter(|family| !family.get_metric().is_empty()).collect()
    }
}

fn family(described: Described, samples: &[Sample]) -> proto::MetricFamily {
    let Described { family, kind } = described;
    let own = samples.iter().filter(|sample| sample.family == family.name);
    let metrics = own.map(|sample| metric(family, kind, sample)).collect();
    let mut message = proto::MetricFamily::default();
    message.set_name(family.name.to_owned());
    message.set_help(family.help.to_owned());
    message.set_field_type(match kind {
        Type::Counter => proto::MetricType::COUNTER,
        _ => proto::MetricType::GAUGE,
    });
    message.set_metric(metrics);
    message
}

fn metric(family: Family, kind: Type, sample: &Sample) -> proto::Metric {
    let mut metric = proto::Metric::from_label(pairs(family.labels, &sample.labels));
    if kind == Type::Counter {
        let mut counter = proto::Counter::default();
        counter.set_value(sample.value);
        metric.set_counter(counter);
    } else {
        let mut gauge = proto::Gauge::default();
        gauge.set_value(sample.value);
        metric.set_gauge(gauge);
    }
    metric
}

/// Labels by name, as the library writes those of its own metrics.
pub(super) fn pairs(names: &[&str], values: &[String]) -> Vec<proto::LabelPair> {
    let mut labels: Vec<_> = names.iter().zip(values).collect();
    labels.sort();
    let pair = |(name, value): (&&str, &String)| {
        let mut pair = proto::LabelPair::default();
        pair.set_name((*name).to_owned());
        pair.set_value(value.clone());
        pair
    };
    labels.into_iter().map(pair).collect()
}

/// Where to read figures, by what they are about. Clones share the list.
pub(super) struct Probes<K, T>(Arc<Mutex<List<K, T>>>);

type List<K, T> = Vec<(K, Probe<T>)>;

type Probe<T> = Arc<dyn Fn() -> T + Send + Sync>;

impl<K: Clone, T> Probes<K, T> {
    pub(super) fn add(&self, about: K, read: impl Fn() -> T + Send + Sync + 'static) {
        self.0.lock().push((about, Arc::new(read)));
    }

    /// The figures now, in the order in which they were added.
    pub(super) fn read(&self) -> Vec<(K, T)> {
        let probes = self.0.lock().clone();
        probes.into_iter().map(|(about, probe)| (about, probe())).collect()
    }
}

impl<K, T> Clone for Probes<K, T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, T> Default for Probes<K, T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}
