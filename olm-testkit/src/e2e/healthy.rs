//! What `kubectl olm doctor` finds where a scenario has ended: nothing, or what the table says.
//!
//! So each healthy scenario is one in which the doctor must stay silent, and each other one says what is
//! left on purpose.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use super::TestContext;
use super::scenarios::Program;

/// Groups of scenarios that are looked at.
const GROUPS: [&str; 4] = ["doctor", "faults", "kubectl_olm", "replicas"];

/// Scenarios that end with findings, and the codes of those.
const FOUND: &[(&str, &[&str])] = &[
    ("doctor::image_not_pulled", &["OLM021"]),
    ("kubectl_olm::approve", &["OLM013"]),
    ("kubectl_olm::hostile_text", &["OLM002", "OLM006"]),
];

/// Looks at the namespace of a scenario that is over, if its group is looked at.
///
/// # Errors
/// Something else is found than the table says.
pub async fn check(ctx: &TestContext, name: &str) -> Result<()> {
    let group = name.split("::").next().unwrap_or_default();
    if !GROUPS.contains(&group) {
        return Ok(());
    }
    let expected = FOUND.iter().find(|(scenario, _)| *scenario == name);
    let expected: BTreeSet<&str> =
        expected.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
    let report = Program::new(ctx).await?.json(&["doctor"]).await?;
    let findings = report["findings"].as_array().context("the doctor reports no findings")?;
    let here = findings.iter().filter(|one| {
        one["namespace"] == ctx.namespace
            || one["kind"] == "Namespace" && one["name"] == ctx.namespace
    });
    let found: BTreeSet<&str> = here.filter_map(|one| one["code"].as_str()).collect();
    ensure!(found == expected, "{name} ends with {found:?}, not {expected:?}: {report:#}");
    Ok(())
}
