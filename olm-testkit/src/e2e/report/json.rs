//! The report as JSON, for programs of our own.

use serde_json::{Value, json};

use super::Report;
use crate::e2e::{Outcome, ScenarioResult};

/// The file.
pub(super) fn render(report: &Report) -> String {
    let tally = report.tally();
    let scenarios: Vec<Value> = report.outcomes.iter().map(scenario).collect();
    let figures: Vec<Value> = report.figures.iter().map(|figure| json!(figure)).collect();
    let value = json!({
        "cluster": report.cluster,
        "kubernetes": report.kubernetes,
        "passed": tally.passed,
        "failed": tally.failed,
        "skipped": tally.skipped,
        "seconds": report.took.as_secs_f64(),
        "scenarios": scenarios,
        "figures": figures,
    });
    format!("{value:#}\n")
}

fn scenario(outcome: &Outcome) -> Value {
    let mut value = json!({"name": outcome.name, "seconds": outcome.took.as_secs_f64()});
    let more = match &outcome.verdict {
        ScenarioResult::Passed => json!({"verdict": "passed"}),
        ScenarioResult::Skipped { reason } => json!({"verdict": "skipped", "reason": reason}),
        ScenarioResult::Failed { message, evidence } => {
            json!({"verdict": "failed", "message": message, "evidence": evidence})
        }
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}
