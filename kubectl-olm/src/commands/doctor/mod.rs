//! `doctor` finds what is wrong; `explain` says what a code means, without a cluster.

mod print;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use olm_client::Cluster;
use olm_client::examined::examination;
use olm_plan::doctor::{Code, Report, code, codes};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::act::NotInTime;
use crate::Outcome;
use crate::args::Format;
use crate::connection::duration;
use crate::output::{Kind, Output};

pub use print::line;

/// Between two looks, while findings are waited for to go.
const LOOK: Duration = Duration::from_secs(2);

/// An examination.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Exit with 2 when there are findings
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Look at all namespaces, and at what matters before OLM is installed or takes over from another
    #[arg(long)]
    pub pre: bool,
    /// Look again until nothing is found; exit with 4 when time runs out before
    #[arg(long)]
    pub wait: bool,
    /// How long --wait looks, such as 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub timeout: Duration,
}

/// Prints the findings of a namespace, or of all.
pub async fn run(
    cluster: &Cluster,
    home: Option<&str>,
    asked: &Doctor,
    output: Output,
) -> Result<Outcome> {
    let home = home.filter(|_| !asked.pre);
    let deadline = Instant::now() + asked.timeout;
    let examining = match home {
        Some(home) => format!("examining namespace {home}"),
        None => "examining all namespaces".to_owned(),
    };
    let mut report =
        cluster.notices.slow(&examining, examination(cluster, home, asked.pre)).await?;
    while asked.wait && !report.findings.is_empty() && Instant::now() < deadline {
        sleep(LOOK).await;
        let again = examination(cluster, home, asked.pre).await?;
        if again.findings.len() != report.findings.len() {
            Output::complain(&again.counted());
        }
        report = again;
    }
    print_report(&report, output)?;
    if asked.wait && !report.findings.is_empty() {
        let what = format!("{} did not go", report.counted());
        return Err(NotInTime::new(&what, asked.timeout).into());
    }
    let has_findings = asked.detailed_exitcode && !report.findings.is_empty();
    Ok(if has_findings { Outcome::Findings } else { Outcome::Fine })
}

/// Prints a row of the table of codes, or all of them.
pub fn explain(id: Option<&str>, output: Output) -> Result<Outcome> {
    let rows =
        match id {
            Some(id) => vec![code(id).with_context(|| {
                format!("there is no code {id}; `kubectl olm explain` lists them")
            })?],
            None => codes(),
        };
    if !matches!(output.format(), Format::Table | Format::Wide) {
        output.object(Kind::CodeList, &code_list(&rows))?;
        return Ok(Outcome::Fine);
    }
    output.print(&rows.into_iter().map(print::explained).collect::<String>())?;
    Ok(Outcome::Fine)
}

fn code_list(rows: &[&Code]) -> Value {
    let items = rows.iter().map(|row| {
        json!({"code": row.id, "title": row.title, "trigger": row.trigger, "fix": row.fix,
            "class": row.class, "before": row.is_before, "needs": row.needs})
    });
    json!({"items": items.collect::<Vec<_>>()})
}

fn print_report(report: &Report, output: Output) -> Result<()> {
    match output.format() {
        Format::Table | Format::Wide => output.print(&print::text(report))?,
        Format::Name => output.print(&print::names(report))?,
        Format::Junit => output.print(&print::junit(report))?,
        _ => output.object(Kind::DoctorReport, report)?,
    }
    for skipped in &report.skipped {
        Output::complain(&format!("skipped {}: {}", skipped.code, skipped.cause));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use olm_plan::Observed;
    use olm_plan::doctor::examine;

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_codes_and_findings() {
        assert_described(Kind::CodeList, &code_list(&codes()));
        let subscription = json!({"metadata": {"name": "s", "namespace": "ns"},
            "spec": {"name": "a", "source": "c", "sourceNamespace": "olm"}});
        let observed = Observed {
            subscriptions: vec![serde_json::from_value(subscription).unwrap()],
            unread: [("pods", "forbidden".to_owned())].into(),
            ..Observed::default()
        };
        let report = examine(&observed, true, Timestamp::UNIX_EPOCH);
        assert!(!report.findings.is_empty() && !report.skipped.is_empty(), "{report:?}");
        assert_described(Kind::DoctorReport, &report);
    }
}
