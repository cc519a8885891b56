//! Under the strict tenant policy a CSV reaches beyond its namespace only if that was allowed
//! (docs/security.md).

use olm_effect::Identity;
use olm_types::annotations::ATTESTATION;
use olm_types::api::CsvPhase;
use olm_types::reasons::csv as reasons;

use super::install::installer;
use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;
use crate::tenancy::Reach;

/// What is added about a CSV that has a mark all the same.
const VOID: &str = ". Its annotation olm-rs.dev/attestation does not hold here: the CSV was changed \
    after it was installed, or the operators run with different --namespace and have different keys";

/// Stops a CSV that would have webhooks or API services installed with OLM's own rights, unless it
/// comes from a global catalog or its namespace is trusted.
pub struct Tenants;

impl Stage for Tenants {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let makes_way = matches!(observed.phase(), CsvPhase::Replacing | CsvPhase::Deleting);
        if makes_way || observed.trust.csv(&observed.csv) {
            return Verdict::Continue;
        }
        let installed = Reach::of(&observed.csv.spec).installed();
        // With an account the API server says what may be installed.
        let alone = !matches!(installer(observed), Ok(Identity::ServiceAccount { .. }));
        if installed.is_empty() || !alone {
            return Verdict::Continue;
        }
        let mut message = refusal(&installed, observed.namespace());
        let annotations = observed.csv.metadata.annotations.as_ref();
        if annotations.is_some_and(|all| ATTESTATION.value(all).is_some()) {
            message.push_str(VOID);
        }
        let reason = reasons::NOT_ALLOWED_BY_TENANT_POLICY;
        Verdict::Stop(Decision::enter(CsvPhase::Pending, reason, message))
    }
}

fn refusal(installed: &[String], namespace: &str) -> String {
    format!(
        "{} would be called for the whole cluster: under the strict tenant policy this takes a CSV that was \
         installed from a global catalog, or a service account with these rights in \
         spec.serviceAccountName of the OperatorGroup in {namespace}",
        installed.join(", ")
    )
}
