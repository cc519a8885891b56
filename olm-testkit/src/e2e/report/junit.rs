//! The report as JUnit XML, the form that CI systems read.

use std::time::Duration;

use super::Report;
use crate::e2e::{Outcome, ScenarioResult};

/// The file.
pub(super) fn render(report: &Report) -> String {
    let tally = report.tally();
    let (failed, skipped) = (tally.failed, tally.skipped);
    let counts = format!("tests=\"{}\" failures=\"{failed}\"", report.outcomes.len());
    let (name, time) = (escape(&format!("e2e on {}", report.cluster)), seconds(report.took));
    let cases: String = report.outcomes.iter().map(case).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites {counts} time=\"{time}\">\n\
         <testsuite name=\"{name}\" {counts} skipped=\"{skipped}\" time=\"{time}\">\n\
         {cases}</testsuite>\n</testsuites>\n"
    )
}

fn case(outcome: &Outcome) -> String {
    let (class, name) = outcome.name.rsplit_once("::").unwrap_or(("", outcome.name));
    let head = format!(
        "<testcase classname=\"{}\" name=\"{}\" time=\"{}\"",
        escape(class),
        escape(name),
        seconds(outcome.took)
    );
    match &outcome.verdict {
        ScenarioResult::Passed => format!("{head}/>\n"),
        ScenarioResult::Skipped { reason } => {
            format!("{head}><skipped message=\"{}\"/></testcase>\n", escape(reason))
        }
        ScenarioResult::Failed { message, evidence } => {
            let first = message.lines().next().unwrap_or_default();
            let kept = evidence.as_ref().map(|folder| format!("\nsee {}", folder.display()));
            let text = format!("{message}{}", kept.unwrap_or_default());
            format!(
                "{head}><failure message=\"{}\">{}</failure></testcase>\n",
                escape(first),
                escape(&text)
            )
        }
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.3}", duration.as_secs_f64())
}

/// Text as it may stand in an attribute or an element. XML knows no way to write most control
/// characters.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
