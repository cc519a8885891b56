//! The operators' rights are what they use: compared with the audit logs of all clusters of a run,
//! on which the operators acted as their ServiceAccounts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use olm_testkit::audit::Usage;
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use olm_testkit::rights;

/// What was used so far, on clusters that are gone.
static USED: Mutex<BTreeMap<Operator, Usage>> = Mutex::new(BTreeMap::new());

/// Adds what the operators used on a cluster. To be called when they have ended.
pub fn note(audit_log: &Path) -> Result<()> {
    for operator in Operator::ALL {
        let user = format!("system:serviceaccount:{OLM_NAMESPACE}:{}", operator.account());
        let usage = Usage::of(&user, audit_log)?;
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        used.entry(operator).or_default().extend(usage);
    }
    Ok(())
}

/// After all scenarios: nothing used is missing. Whether everything granted was used is known only after
/// a `complete` run.
pub fn conclude(arguments: &Arguments, complete: bool) -> Conclusion {
    let name =
        if complete { "rights::nothing_missing_nothing_unused" } else { "rights::nothing_missing" };
    let arguments = Arguments { filter: None, exact: false, ..arguments.clone() };
    let trial = Trial::test(name, move || {
        examine(complete).map_err(|error| Failed::from(format!("{error:#}")))
    });
    libtest_mimic::run(&arguments, vec![trial])
}

fn examine(complete: bool) -> Result<()> {
    let used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut complaint = String::new();
    for (operator, usage) in used.iter() {
        let findings = rights::compare(*operator, usage);
        let wrong = if complete { !findings.is_empty() } else { findings.is_short() };
        if wrong {
            complaint.push_str(&format!("{operator}, olm-testkit/src/rights:\n{findings}"));
        }
    }
    ensure!(complaint.is_empty(), "{complaint}");
    Ok(())
}
