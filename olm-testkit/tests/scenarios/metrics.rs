//! Metrics in Prometheus' text format.

/// The sum of the samples whose lines begin so.
pub fn sum(metrics: &str, start: &str) -> f64 {
    let lines = metrics.lines().filter(|line| line.starts_with(start));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}
