//! Which steps of an InstallPlan may be executed with OLM's own rights.

use olm_types::annotations::{ATTESTATION, ATTESTED_PROPERTIES};
use olm_types::api::{ClusterServiceVersion, InstallPlan, Step};

use super::{Attestor, TenantPolicy};

/// The steps of one plan that OLM's own rights may serve.
#[derive(Clone, Debug, Default)]
pub enum StepTrust {
    /// All, as in v0.
    #[default]
    All,
    /// Those that come from the catalogs of one namespace, which an administrator fills.
    From {
        /// The namespace of global catalogs.
        namespace: String,
        /// Marks the CSVs of these steps.
        attestor: Attestor,
    },
    /// None: they are not those that we found for the plan.
    Nothing,
}

impl StepTrust {
    /// What is trusted in a plan of a namespace that an administrator trusts, or does not.
    pub fn judge(
        policy: TenantPolicy,
        trusted: bool,
        plan: &InstallPlan,
        attestor: &Attestor,
        global_namespace: &str,
    ) -> Self {
        if policy == TenantPolicy::V0 || trusted {
            return Self::All;
        }
        match attestor.attests_plan(plan) {
            true => {
                Self::From { namespace: global_namespace.to_owned(), attestor: attestor.clone() }
            }
            false => Self::Nothing,
        }
    }

    /// Whether OLM's own rights may serve the step.
    pub fn includes(&self, step: &Step) -> bool {
        match self {
            Self::All => true,
            Self::From { namespace, .. } => step.resource.source_namespace == *namespace,
            Self::Nothing => false,
        }
    }

    /// The annotations that mark the CSV of a step, if it gets any.
    pub fn marks(
        &self,
        namespace: &str,
        step: &Step,
        csv: &ClusterServiceVersion,
    ) -> Vec<(&'static str, String)> {
        let Self::From { attestor, .. } = self else { return Vec::new() };
        if !self.includes(step) {
            return Vec::new();
        }
        let marks = [
            (ATTESTATION.name, attestor.csv_mark(namespace, csv)),
            (ATTESTED_PROPERTIES, attestor.properties_mark(namespace, csv)),
        ];
        marks.into_iter().filter_map(|(key, mark)| Some((key, mark?))).collect()
    }

    /// Why steps cannot be executed without an account, if some cannot.
    pub fn refusal(&self, steps: &[Step], namespace: &str) -> Option<String> {
        let mut refused = steps.iter().filter(|step| !self.includes(step));
        let first = &refused.next()?.resource;
        let origin = match self {
            Self::Nothing => "are not those that a resolution found for this plan".to_owned(),
            Self::All | Self::From { .. } => format!(
                "come from catalog {}/{}, which is not global",
                first.source_namespace, first.source_name
            ),
        };
        let more = match refused.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "{} {}{more} {origin}: under the strict tenant policy such steps are executed with the rights of a \
             service account; name one that may create these objects in spec.serviceAccountName of the \
             OperatorGroup in {namespace}, or let an administrator install from a global catalog",
            first.kind, first.name
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use rstest::rstest;
    use serde_json::json;

    fn step(catalog_namespace: &str) -> Step {
        let resource = json!({
            "kind": "Role", "name": "r", "sourceName": "c", "sourceNamespace": catalog_namespace,
        });
        let step = json!({"resolving": "a.v1", "status": "Unknown", "resource": resource});
        serde_json::from_value(step).unwrap()
    }

    fn plan(signed: bool) -> InstallPlan {
        let mut plan = InstallPlan::new("p", Default::default());
        let status = olm_types::api::InstallPlanStatus {
            plan: vec![step("olm"), step("ns")],
            ..Default::default()
        };
        let attestor = if signed { Attestor::new(b"key") } else { Attestor::default() };
        plan.status = Some(attestor.sign(&plan, status, Timestamp::UNIX_EPOCH));
        plan
    }

    #[rstest]
    #[case::v0(TenantPolicy::V0, false, false, [true, true])]
    #[case::a_trusted_namespace(TenantPolicy::Strict, true, false, [true, true])]
    #[case::made_by_hand(TenantPolicy::Strict, false, false, [false, false])]
    #[case::ours(TenantPolicy::Strict, false, true, [true, false])]
    fn trusted_steps(
        #[case] policy: TenantPolicy,
        #[case] trusted: bool,
        #[case] signed: bool,
        #[case] expected: [bool; 2],
    ) {
        let plan = plan(signed);
        let trust = StepTrust::judge(policy, trusted, &plan, &Attestor::new(b"key"), "olm");
        assert_eq!([step("olm"), step("ns")].map(|step| trust.includes(&step)), expected);
        let steps = &plan.status.as_ref().unwrap().plan;
        assert_eq!(trust.refusal(steps, "ns").is_some(), expected.contains(&false));
    }

    #[test]
    fn a_refusal_says_what_would_help() {
        let steps = [step("ns"), step("ns")];
        let text = StepTrust::Nothing.refusal(&steps, "ns").unwrap();
        assert!(
            text.starts_with("Role r and 1 more are not those that a resolution found"),
            "{text}"
        );
        assert!(text.contains("spec.serviceAccountName of the OperatorGroup in ns"), "{text}");
    }

    #[test]
    fn only_csvs_from_global_catalogs_are_marked() {
        let attestor = Attestor::new(b"key");
        let trust = StepTrust::From { namespace: "olm".to_owned(), attestor };
        let csv = |metadata: serde_json::Value| -> ClusterServiceVersion {
            serde_json::from_value(json!({"metadata": metadata, "spec": {}})).unwrap()
        };
        let plain = csv(json!({"name": "a.v1"}));
        let keys = |trust: &StepTrust, from: &str, csv: &ClusterServiceVersion| {
            trust.marks("ns", &step(from), csv).into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        let annotations = json!({"operatorframework.io/properties": "[]"});
        let with_properties = csv(json!({"name": "a.v1", "annotations": annotations}));
        assert_eq!(keys(&trust, "olm", &plain), [ATTESTATION.name]);
        assert_eq!(keys(&trust, "olm", &with_properties), [ATTESTATION.name, ATTESTED_PROPERTIES]);
        assert!(keys(&trust, "ns", &with_properties).is_empty());
        assert!(keys(&StepTrust::All, "olm", &with_properties).is_empty());
    }
}
