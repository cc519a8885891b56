//! What the operators ask of the API server.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use olm_testkit::audit::{AuditLog, Write};
use olm_testkit::operators::{Admin, Operator};
use tokio::time::sleep;

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(10);

/// Between two looks at counters.
const LOOK: Duration = Duration::from_secs(1);

/// How clients written in Go count requests.
const GO_REQUESTS: &str = "rest_client_requests_total{";

/// Counts requests from some point on.
pub(super) enum Requests {
    /// All that the API server answered, by program.
    Audit {
        /// The log.
        log: Box<AuditLog>,
        /// The programs under test.
        programs: Vec<&'static str>,
    },
    /// What the operators themselves count.
    Metrics {
        /// Where.
        endpoints: Vec<Admin>,
        /// The sum at the last look.
        seen: f64,
    },
}

impl Requests {
    /// Those in an audit log, from its beginning.
    pub(super) fn audited(log: AuditLog, operators: &[Operator]) -> Self {
        let programs = operators.iter().map(|operator| operator.name()).collect();
        Self::Audit { log: Box::new(log), programs }
    }

    /// Those that operators count, from their start.
    pub(super) fn counted(endpoints: Vec<Admin>) -> Self {
        Self::Metrics { endpoints, seen: 0.0 }
    }

    /// How many writes there were since the last call, and the last of them where it is known.
    pub(super) async fn writes(&mut self) -> Result<(f64, Option<String>)> {
        match self {
            Self::Audit { log, programs } => {
                let writes = log.writes(programs)?;
                let count = u32::try_from(writes.len())?;
                Ok((f64::from(count), writes.last().map(ToString::to_string)))
            }
            Self::Metrics { endpoints, seen } => {
                let mut sum = 0.0;
                for endpoint in &*endpoints {
                    sum += written(&endpoint.metrics().await?);
                }
                let before = std::mem::replace(seen, sum);
                Ok((sum - before, None))
            }
        }
    }

    /// Waits as [`Self::until_idle`] does; the writes themselves, where they are known.
    pub(super) async fn writes_until_idle(
        &mut self,
        time_limit: Duration,
    ) -> Result<(f64, Option<Vec<Write>>)> {
        let Self::Audit { log, programs } = self else {
            return Ok((self.until_idle(time_limit).await?, None));
        };
        let writes = log.until_idle(programs, QUIET, time_limit).await?;
        Ok((f64::from(u32::try_from(writes.len())?), Some(writes)))
    }

    /// How often what was listed since the last call; none when it is unknown.
    pub(super) fn lists(&mut self) -> Result<Option<BTreeMap<String, usize>>> {
        match self {
            Self::Audit { log, programs } => Ok(Some(log.lists(programs)?)),
            Self::Metrics { .. } => Ok(None),
        }
    }

    /// Waits until nothing is written any more; how many writes there were since the last call of
    /// this or [`Self::writes`].
    pub(super) async fn until_idle(&mut self, time_limit: Duration) -> Result<f64> {
        if let Self::Audit { log, programs } = self {
            let writes = log.until_idle(programs, QUIET, time_limit).await?;
            return Ok(f64::from(u32::try_from(writes.len())?));
        }
        let started = tokio::time::Instant::now();
        let (mut since, mut sum) = (started, 0.0);
        while since.elapsed() < QUIET {
            if started.elapsed() > time_limit {
                anyhow::bail!("there is no end of writes after {time_limit:?}");
            }
            sleep(LOOK).await;
            let (writes, _) = self.writes().await?;
            sum += writes;
            if writes > 0.0 {
                since = tokio::time::Instant::now();
            }
        }
        Ok(sum)
    }
}

/// All requests, of metrics in text form: ours, or those of Go's client.
pub(super) fn asked(metrics: &str) -> Result<f64> {
    let own = values(metrics, "olm_kit_requests_total{", |_| true);
    let all = own.chain(values(metrics, GO_REQUESTS, |_| true)).collect::<Vec<_>>();
    ensure!(!all.is_empty(), "the metrics do not report how many requests there were");
    Ok(all.into_iter().sum())
}

/// Effects that changed something, of metrics in text form. Of an operator that does not count
/// them: requests that are no reads.
fn written(metrics: &str) -> f64 {
    let one_of = |line: &str, label: &str, values: &[&str]| {
        values.iter().any(|value| line.contains(&format!("{label}=\"{value}\"")))
    };
    let own = values(metrics, "olm_kit_effects_total{", |line| {
        one_of(line, "outcome", &["created", "changed", "deleted"])
    });
    let other = values(metrics, GO_REQUESTS, |line| {
        one_of(line, "method", &["POST", "PUT", "PATCH", "DELETE"])
    });
    own.chain(other).sum()
}

/// The values of a metric, of lines that count.
fn values<'a>(
    metrics: &'a str,
    metric: &'a str,
    counts: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = f64> + 'a {
    let lines = metrics.lines().filter(move |line| line.starts_with(metric) && counts(line));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{asked, written};

    #[test]
    fn requests_are_counted_in_either_form() {
        let text = "\
            olm_kit_requests_total{code=\"200\",method=\"GET\"} 3\n\
            rest_client_requests_total{code=\"200\",host=\"h\",method=\"GET\"} 4\n\
            rest_client_requests_total{code=\"201\",host=\"h\",method=\"POST\"} 5\n";
        assert!((asked(text).unwrap() - 12.0).abs() < f64::EPSILON);
        assert!((written(text) - 5.0).abs() < f64::EPSILON);
        assert!(asked("other_total 9\n").is_err());
    }

    #[test]
    fn unchanged_objects_are_no_writes() {
        let text = "\
            olm_kit_effects_total{action=\"create\",kind=\"Role\",outcome=\"created\"} 3\n\
            olm_kit_effects_total{action=\"merge\",kind=\"Role\",outcome=\"unchanged\"} 8\n\
            olm_kit_effects_total{action=\"status\",kind=\"Role\",outcome=\"changed\"} 2\n\
            other_total 9\n";
        assert!((written(text) - 5.0).abs() < f64::EPSILON);
    }
}
