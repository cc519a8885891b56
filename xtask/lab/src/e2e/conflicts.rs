//! Whether an operator met, with status 409, a write that it had made itself, in all that was played.

use std::time::Instant;

use anyhow::Result;
use olm_testkit::audit::own_conflicts;
use olm_testkit::e2e::provider::Facts;
use olm_testkit::e2e::{Outcome, ScenarioResult};
use olm_testkit::operators::Operator;

/// What it is called among the scenarios, here as where they are played on a simulated node alone.
const NAME: &str = "conflicts::none_with_oneself";

/// What several processes of one program write to at the same time: the API server answers the later one with a conflict.
const SHARED: &str = "leases";

/// What the audit log says against a run; none where it says nothing, or there is no log.
///
/// # Errors
/// It cannot be read.
pub(super) fn outcome(facts: &Facts) -> Result<Option<Outcome>> {
    let Some(log) = &facts.audit_log else { return Ok(None) };
    let begun = Instant::now();
    let mut found = own_conflicts(&Operator::NAMES, log)?;
    found.retain(|conflict| conflict.refused.resource() != SHARED);
    if found.is_empty() {
        return Ok(None);
    }
    let lines: String = found.iter().map(|conflict| format!("\n{conflict}")).collect();
    let message = format!("{} conflicts with own writes:{lines}", found.len());
    let verdict = ScenarioResult::Failed { message, evidence: None };
    Ok(Some(Outcome { name: NAME, took: begun.elapsed(), verdict }))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::json;

    use super::*;

    fn log(resource: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for (second, code) in [(1, 200), (2, 409)] {
            let time = format!("2026-01-01T00:00:0{second}.000000Z");
            let line = json!({
                "stage": "ResponseComplete", "requestURI": "/x", "verb": "update",
                "userAgent": "olm-operator/0.1.0", "responseStatus": {"code": code},
                "objectRef": {"resource": resource, "namespace": "n", "name": "o"},
                "requestReceivedTimestamp": time, "stageTimestamp": time,
            });
            writeln!(file, "{line}").unwrap();
        }
        file
    }

    #[test]
    fn a_conflict_with_oneself_fails_a_run_and_one_about_a_lease_does_not() {
        let judged = |resource| {
            let log = log(resource);
            let facts = Facts { audit_log: Some(log.path().to_owned()), ..Facts::default() };
            outcome(&facts).unwrap().map(|outcome| outcome.verdict)
        };
        let Some(ScenarioResult::Failed { message, .. }) = judged("subscriptions") else {
            panic!("it does not fail")
        };
        assert!(message.starts_with("1 conflicts with own writes:\n"), "{message}");
        assert_eq!(judged("leases"), None);
        assert!(outcome(&Facts::default()).unwrap().is_none(), "there is no log");
    }
}
