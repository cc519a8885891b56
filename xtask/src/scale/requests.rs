//! What the operators ask of the API server.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use olm_testkit::audit::AuditLog;
use olm_testkit::operators::{Admin, Operator};
use tokio::time::sleep;

/// Rest after which everything has settled.
const QUIET: Duration = Duration::from_secs(10);

/// Between two looks at counters.
const LOOK: Duration = Duration::from_secs(1);

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

    /// How often what was listed since the last call; none when nobody knows.
    pub(super) fn lists(&mut self) -> Result<Option<BTreeMap<String, usize>>> {
        match self {
            Self::Audit { log, programs } => Ok(Some(log.lists(programs)?)),
            Self::Metrics { .. } => Ok(None),
        }
    }

    /// Waits until nothing is written any more.
    pub(super) async fn until_quiet(&mut self, patience: Duration) -> Result<()> {
        if let Self::Audit { log, programs } = self {
            return log.until_quiet(programs, QUIET, patience).await.map(drop);
        }
        let started = tokio::time::Instant::now();
        let mut since = started;
        while since.elapsed() < QUIET {
            if started.elapsed() > patience {
                anyhow::bail!("there is no end of writes after {patience:?}");
            }
            sleep(LOOK).await;
            if self.writes().await?.0 > 0.0 {
                since = tokio::time::Instant::now();
            }
        }
        Ok(())
    }
}

/// Effects that changed something, of metrics in text form.
fn written(metrics: &str) -> f64 {
    let effects = metrics.lines().filter(|line| line.starts_with("olm_kit_effects_total{"));
    let wrote = effects.filter(|line| {
        ["created", "changed", "deleted"]
            .iter()
            .any(|outcome| line.contains(&format!("outcome=\"{outcome}\"")))
    });
    wrote.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::written;

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
