//! Passes of the controllers, and of those that wrote nothing what asked for them: work for nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Counts all passes, in the operators' metrics.
const ALL: &str = "olm_kit_reconciles_total{";

/// Counts those that wrote nothing, by controller and by what asked for them.
const WITHOUT_EFFECT: &str = "olm_kit_reconciles_without_effect_total{";

/// How many of what asked are shown.
const SHOWN: usize = 10;

/// How many passes there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Passes {
    all: u64,
    /// Those that wrote nothing, by controller and what asked for them.
    idle: BTreeMap<String, u64>,
}

impl Passes {
    /// Counts them in the metrics of both operators, in text form.
    pub(super) fn of(metrics: &[String]) -> Self {
        let mut passes = Self::default();
        for line in metrics.iter().flat_map(|text| text.lines()) {
            if let Some((_, count)) = line.strip_prefix(ALL).and_then(sample) {
                passes.all += count;
            }
            if let Some((what, count)) = line.strip_prefix(WITHOUT_EFFECT).and_then(sample) {
                *passes.idle.entry(what).or_default() += count;
            }
        }
        passes
    }

    /// Those that came after `earlier` was counted.
    pub(super) fn since(mut self, earlier: &Self) -> Self {
        self.all = self.all.saturating_sub(earlier.all);
        for (what, count) in &mut self.idle {
            let before = earlier.idle.get(what).copied().unwrap_or_default();
            *count = count.saturating_sub(before);
        }
        self.idle.retain(|_, count| *count > 0);
        self
    }

    /// How many there were, and what asked most often for those that wrote nothing.
    pub(super) fn table(&self) -> String {
        let without: u64 = self.idle.values().sum();
        let mut text = format!("passes: {}, of which {without} wrote nothing:\n", self.all);
        let mut idle: Vec<(&String, &u64)> = self.idle.iter().collect();
        idle.sort_by_key(|(what, count)| (Reverse(**count), *what));
        for (what, count) in idle.into_iter().take(SHOWN) {
            let _ = writeln!(text, "{count:>6}  {what}");
        }
        text
    }
}

/// The values of the labels of a sample, and its value.
fn sample(line: &str) -> Option<(String, u64)> {
    let (labels, count) = line.split_once("} ")?;
    let values: Vec<&str> = labels.split('"').skip(1).step_by(2).collect();
    Some((values.join(", asked for by "), count.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(csv: u64, for_deployments: u64, for_time: u64) -> Vec<String> {
        vec![format!(
            "# TYPE olm_kit_reconciles_total counter\n\
             olm_kit_reconciles_total{{controller=\"csv\",result=\"success\"}} {csv}\n\
             olm_kit_reconciles_without_effect_total{{controller=\"csv\",trigger=\"Deployment\"}} \
             {for_deployments}\n\
             olm_kit_reconciles_without_effect_total{{controller=\"csv\",trigger=\"time\"}} {for_time}\n"
        )]
    }

    #[test]
    fn what_asks_most_often_for_nothing_comes_first() {
        let before = Passes::of(&metrics(10, 3, 2));
        let passes = Passes::of(&[metrics(20, 4, 2), metrics(5, 3, 0)].concat()).since(&before);
        let expected =
            "passes: 15, of which 4 wrote nothing:\n     4  csv, asked for by Deployment\n";
        assert_eq!(passes.table(), expected);
    }
}
