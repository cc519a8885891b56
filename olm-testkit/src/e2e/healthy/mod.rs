//! What `kubectl olm doctor` finds where a scenario has ended: nothing, or what the table says.
//!
//! So each healthy scenario is one in which the doctor must stay silent, and each other one says what is
//! left on purpose.

mod expected_findings;

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::TestContext;
use super::scenarios::Program;
use expected_findings::LEFT;

/// Groups of scenarios that end with all that the table says. Elsewhere a status may be repaired, or a connection
/// be tried again, in the moment in which the doctor looks.
const EXACT: [&str; 2] = ["doctor", "kubectl_olm"];

/// Looks at the namespace of a scenario that is over.
///
/// # Errors
/// Something else is found than the table says.
pub async fn check(ctx: &TestContext, name: &str) -> Result<()> {
    let expected = LEFT.iter().find(|(scenario, _)| *scenario == name);
    let expected: BTreeSet<&str> =
        expected.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
    let report = Program::new(ctx).await?.json(&["doctor"]).await?;
    let found = codes(ctx, &report)?;
    let group = name.split("::").next().unwrap_or_default();
    let is_right = match EXACT.contains(&group) {
        true => found == expected,
        false => found.is_subset(&expected),
    };
    ensure!(is_right, "{name} ends with {found:?}, not {expected:?}: {report:#}");
    Ok(())
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
