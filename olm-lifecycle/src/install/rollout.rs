//! How far a Deployment's rollout is (the second half of spec olm-operator 3.5).

use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition};
use olm_types::conditions::kubernetes::{AVAILABLE, PROGRESSING};

/// State of a rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollout {
    /// The wanted state is running.
    Ready,
    /// Not there yet; the text says what is waited for.
    Waiting(String),
    /// The Deployment controller gave up; the text says why.
    Failed(String),
}

/// Judges a Deployment by its status. The progress deadline counts even when the Deployment is
/// available; zero wanted replicas are ready once the controller says "available".
pub fn rollout(deployment: &Deployment) -> Rollout {
    let name = deployment.metadata.name.as_deref().unwrap_or_default();
    let status = deployment.status.as_ref();
    let observed = status.and_then(|status| status.observed_generation).unwrap_or_default();
    if deployment.metadata.generation.unwrap_or_default() > observed {
        let text = format!("waiting for spec update of deployment \"{name}\" to be observed...");
        return Rollout::Waiting(text);
    }
    let progressing = condition(deployment, PROGRESSING);
    if progressing.and_then(|found| found.reason.as_deref()) == Some("ProgressDeadlineExceeded") {
        return Rollout::Failed(format!("deployment \"{name}\" exceeded its progress deadline"));
    }
    let replicas = status.and_then(|status| status.replicas).unwrap_or_default();
    let updated = status.and_then(|status| status.updated_replicas).unwrap_or_default();
    if replicas > updated {
        let outdated = replicas.saturating_sub(updated);
        return Rollout::Waiting(format!(
            "deployment \"{name}\" waiting for {outdated} outdated replica(s) to be terminated"
        ));
    }
    available(name, condition(deployment, AVAILABLE))
}

fn available(name: &str, condition: Option<&DeploymentCondition>) -> Rollout {
    let why = match condition {
        Some(condition) if condition.status == "True" => return Rollout::Ready,
        Some(condition) => condition.message.clone().unwrap_or_default(),
        None => "missing condition \"Available\"".to_owned(),
    };
    Rollout::Waiting(format!("deployment \"{name}\" not available: {why}"))
}

fn condition<'a>(deployment: &'a Deployment, wanted: &str) -> Option<&'a DeploymentCondition> {
    let conditions = deployment.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().find(|condition| condition.type_ == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn mk_status(conditions: Value) -> Value {
        json!({"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "conditions": conditions})
    }

    #[rstest]
    #[case::deadline(
        mk_status(json!([
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
            {"type": "Available", "status": "True"},
        ])),
        Rollout::Failed("deployment \"dep\" exceeded its progress deadline".to_owned()))]
    #[case::available_and_progressing(
        mk_status(json!([
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
            {"type": "Available", "status": "True"},
        ])),
        Rollout::Ready)]
    #[case::available(mk_status(json!([{"type": "Available", "status": "True"}])), Rollout::Ready)]
    #[case::not_observed(
        json!({"observedGeneration": 0}),
        Rollout::Waiting(
            "waiting for spec update of deployment \"dep\" to be observed...".to_owned()))]
    #[case::outdated(
        json!({"observedGeneration": 1, "replicas": 5, "updatedReplicas": 3}),
        Rollout::Waiting(
            "deployment \"dep\" waiting for 2 outdated replica(s) to be terminated".to_owned()))]
    #[case::no_conditions(
        json!({"observedGeneration": 1}),
        Rollout::Waiting(
            "deployment \"dep\" not available: missing condition \"Available\"".to_owned()))]
    #[case::unavailable(
        mk_status(json!([{"type": "Available", "status": "False", "message": "boom"}])),
        Rollout::Waiting("deployment \"dep\" not available: boom".to_owned()))]
    #[case::unknown(
        mk_status(json!([{"type": "Available", "status": "Unknown", "message": "hm"}])),
        Rollout::Waiting("deployment \"dep\" not available: hm".to_owned()))]
    #[case::zero_replicas(
        json!({"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]}),
        Rollout::Ready)]
    fn states(#[case] status: Value, #[case] expected: Rollout) {
        let deployment = json!({"metadata": {"name": "dep", "generation": 1}, "status": status});
        assert_eq!(rollout(&serde_json::from_value(deployment).unwrap()), expected);
    }
}
