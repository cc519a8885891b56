//! What `kubectl olm doctor` finds where a scenario has ended: nothing, or what the table says.
//!
//! So each healthy scenario is one in which the doctor must stay silent, and each other one says what is
//! left on purpose.

mod left;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::TestContext;
use super::scenarios::Program;
use crate::wait;
use left::LEFT;

/// Pause before the doctor looks again for what is left.
const LOOK: Duration = Duration::from_secs(1);

/// Looks at the namespace of a scenario that is over. What is left on purpose is waited for: a catalog that
/// cannot be reached is found once its status says so.
///
/// # Errors
/// Something else is found than the table says.
pub async fn check(ctx: &TestContext, name: &str) -> Result<()> {
    let expected = LEFT.iter().find(|(scenario, _)| *scenario == name);
    let expected: BTreeSet<&str> =
        expected.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        let report = Program::new(ctx).await?.json(&["doctor"]).await?;
        let found = codes(ctx, &report)?;
        if found == expected {
            return Ok(());
        }
        let may_come = found.is_subset(&expected) && Instant::now() < deadline;
        ensure!(may_come, "{name} ends with {found:?}, not {expected:?}: {report:#}");
        sleep(LOOK).await;
    }
}

/// The codes of what is found in the namespace of the scenario.
fn codes<'a>(ctx: &TestContext, report: &'a Value) -> Result<BTreeSet<&'a str>> {
    let findings = report["findings"].as_array().context("the doctor reports no findings")?;
    let here = findings.iter().filter(|one| {
        one["namespace"] == ctx.namespace
            || one["kind"] == "Namespace" && one["name"] == ctx.namespace
    });
    Ok(here.filter_map(|one| one["code"].as_str()).collect())
}
