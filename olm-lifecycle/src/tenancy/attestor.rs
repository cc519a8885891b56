//! Marks by which the operators know their own work again.
//!
//! A mark is an authentication code over what the object says, made with a key that lives in OLM's
//! namespace. Who changes the object, or takes the mark to another one, makes it void.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::annotations::{ATTESTATION, ATTESTED_PROPERTIES, PROPERTIES};
use olm_types::api::{
    ClusterServiceVersion, InstallPlan, InstallPlanCondition, InstallPlanStatus, Step,
};
use olm_types::conditions::install_plan::STEPS_ATTESTED;
use olm_types::hash::hex;
use olm_types::reasons::install_plan::RESOLVED;
use serde::Serialize;

use super::mac;
use super::reach::Reach;

/// Makes and checks marks; without a key it makes none, and none is good.
#[derive(Clone, Default)]
pub struct Attestor(Option<Arc<[u8]>>);

impl Attestor {
    /// With a key that only the operators can read.
    pub fn new(key: &[u8]) -> Self {
        Self((!key.is_empty()).then(|| key.into()))
    }

    /// The status of a plan, with the mark that its steps are ours.
    #[must_use]
    pub fn sign(
        &self,
        plan: &InstallPlan,
        mut status: InstallPlanStatus,
        now: Timestamp,
    ) -> InstallPlanStatus {
        if let Some(mark) = self.mark(&plan_payload(plan, &status.plan)) {
            status.conditions.push(InstallPlanCondition {
                type_: Some(STEPS_ATTESTED.to_owned()),
                status: Some("True".to_owned()),
                reason: Some(RESOLVED.to_owned()),
                message: Some(mark),
                last_update_time: Some(Time(now)),
                last_transition_time: Some(Time(now)),
            });
        }
        status
    }

    /// Whether the steps of a plan are those that we found for it.
    pub fn attests_plan(&self, plan: &InstallPlan) -> bool {
        let Some(status) = &plan.status else { return false };
        let shown = status
            .conditions
            .iter()
            .find(|condition| condition.type_.as_deref() == Some(STEPS_ATTESTED))
            .and_then(|condition| condition.message.as_deref());
        self.is_good(shown, &plan_payload(plan, &status.plan))
    }

    /// The annotation of a CSV that comes from a global catalog; none without a key.
    pub fn csv_mark(&self, namespace: &str, csv: &ClusterServiceVersion) -> Option<String> {
        self.mark(&csv_payload(namespace, csv))
    }

    /// Whether a CSV reaches as far as the one that a global catalog has, and no further.
    pub fn attests_csv(&self, csv: &ClusterServiceVersion) -> bool {
        let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
        let annotations = csv.metadata.annotations.as_ref();
        let shown = annotations.and_then(|all| ATTESTATION.value(all));
        self.is_good(shown, &csv_payload(namespace, csv))
    }

    /// The annotation that shows whose the properties of such a CSV are; none without properties or a key.
    pub fn properties_mark(&self, namespace: &str, csv: &ClusterServiceVersion) -> Option<String> {
        self.mark(&properties_payload(namespace, csv)?)
    }

    /// Whether the properties of a CSV are those that a global catalog has for it.
    pub fn attests_properties(&self, csv: &ClusterServiceVersion) -> bool {
        let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
        let shown = annotation(csv, ATTESTED_PROPERTIES);
        properties_payload(namespace, csv).is_some_and(|payload| self.is_good(shown, &payload))
    }

    fn mark(&self, payload: &impl Serialize) -> Option<String> {
        let message = serde_json::to_vec(payload).ok()?;
        let code = mac::code(self.0.as_deref()?, &message);
        Some(hex(&code))
    }

    fn is_good(&self, shown: Option<&str>, payload: &impl Serialize) -> bool {
        let parts = shown.and_then(bytes).zip(serde_json::to_vec(payload).ok());
        parts
            .zip(self.0.as_deref())
            .is_some_and(|((shown, message), key)| mac::is_code(key, &message, &shown))
    }
}

/// The bytes that a mark spells.
fn bytes(mark: &str) -> Option<Vec<u8>> {
    let digits = mark.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// The key is private.
impl fmt::Debug for Attestor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attestor").field("has_key", &self.0.is_some()).finish()
    }
}

/// Everything about the steps but how far they came; of this plan, not of one with the same name.
fn plan_payload<'a>(plan: &'a InstallPlan, steps: &'a [Step]) -> impl Serialize + 'a {
    let steps: Vec<_> = steps.iter().map(|step| (&step.resolving, &step.resource)).collect();
    let metadata = &plan.metadata;
    ("InstallPlan", &metadata.namespace, &metadata.name, &metadata.uid, steps)
}

fn csv_payload<'a>(namespace: &'a str, csv: &'a ClusterServiceVersion) -> impl Serialize + 'a {
    ("ClusterServiceVersion", namespace, &csv.metadata.name, Reach::of(&csv.spec))
}

/// What a catalog says about a CSV is no part of its reach: a mark of its own covers it.
fn properties_payload<'a>(
    namespace: &'a str,
    csv: &'a ClusterServiceVersion,
) -> Option<impl Serialize + 'a> {
    let properties = annotation(csv, PROPERTIES)?;
    Some(("ClusterServiceVersion properties", namespace, &csv.metadata.name, properties))
}

fn annotation<'a>(csv: &'a ClusterServiceVersion, key: &str) -> Option<&'a str> {
    csv.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn plan() -> InstallPlan {
        let steps = json!([{"resolving": "a.v1", "status": "Unknown", "resource": {
            "kind": "ClusterServiceVersion", "name": "a.v1", "manifest": "{}",
            "sourceName": "c", "sourceNamespace": "olm",
        }}]);
        let plan: InstallPlan = serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {},
        }))
        .unwrap();
        let status = serde_json::from_value(json!({"phase": "Installing", "plan": steps})).unwrap();
        let attestor = Attestor::new(b"key");
        InstallPlan { status: Some(attestor.sign(&plan, status, Timestamp::UNIX_EPOCH)), ..plan }
    }

    fn changed(pointer: &str, value: Value) -> InstallPlan {
        let mut plan = serde_json::to_value(plan()).unwrap();
        *plan.pointer_mut(pointer).unwrap() = value;
        serde_json::from_value(plan).unwrap()
    }

    #[rstest]
    #[case::as_it_was("/status/phase", json!("Installing"), true)]
    #[case::a_step_that_was_executed("/status/plan/0/status", json!("Created"), true)]
    #[case::another_manifest("/status/plan/0/resource/manifest", json!("{ }"), false)]
    #[case::another_catalog("/status/plan/0/resource/sourceNamespace", json!("ns"), false)]
    #[case::another_csv("/status/plan/0/resolving", json!("b.v1"), false)]
    #[case::no_steps("/status/plan", json!([]), false)]
    #[case::another_plan("/metadata/uid", json!("v"), false)]
    #[case::another_namespace("/metadata/namespace", json!("other"), false)]
    #[case::another_mark("/status/conditions/0/message", json!("00"), false)]
    fn a_plan_is_ours_while_its_steps_are(
        #[case] pointer: &str,
        #[case] value: Value,
        #[case] ours: bool,
    ) {
        let plan = changed(pointer, value);
        assert_eq!(Attestor::new(b"key").attests_plan(&plan), ours);
        assert!(!Attestor::new(b"other").attests_plan(&plan), "with another key");
        assert!(!Attestor::default().attests_plan(&plan), "without a key");
    }

    fn csv(metadata: Value, owned: &str) -> ClusterServiceVersion {
        let crds = json!({"owned": [{"name": owned, "version": "v1", "kind": "A"}]});
        serde_json::from_value(json!({
            "metadata": metadata,
            "spec": {"displayName": "x", "customresourcedefinitions": crds},
        }))
        .unwrap()
    }

    #[test]
    fn a_csv_is_ours_while_it_reaches_no_further() {
        let attestor = Attestor::new(b"key");
        let mark = attestor.csv_mark("ns", &csv(json!({"name": "a.v1"}), "as.g.io")).unwrap();
        let shown_by = |key: &str, name: &str, namespace: &str, owned: &str| {
            let annotations = json!({key: mark});
            let metadata =
                json!({"name": name, "namespace": namespace, "annotations": annotations});
            attestor.attests_csv(&csv(metadata, owned))
        };
        let shown = |name: &str, namespace: &str, owned: &str| {
            shown_by(ATTESTATION.name, name, namespace, owned)
        };
        assert!(shown("a.v1", "ns", "as.g.io"));
        assert!(
            shown_by(ATTESTATION.old, "a.v1", "ns", "as.g.io"),
            "installed by an older version"
        );
        assert!(!shown("a.v1", "ns", "bs.g.io"), "it owns something else");
        assert!(!shown_by(ATTESTATION.old, "a.v1", "ns", "bs.g.io"), "likewise");
        assert!(!shown("a.v1", "other", "as.g.io"), "in another namespace");
        assert!(!shown("b.v1", "ns", "as.g.io"), "under another name");
        assert!(!attestor.attests_csv(&csv(json!({"name": "a.v1"}), "as.g.io")), "without a mark");
        assert_eq!(Attestor::default().csv_mark("ns", &csv(json!({}), "as.g.io")), None);
    }

    /// Users get roles for the resource that a CSV names: with another name these would be for any resource
    /// of the group.
    #[test]
    fn a_csv_is_ours_while_its_api_services_have_their_resources() {
        let served = |resource: &str| -> ClusterServiceVersion {
            let owned = json!([{
                "group": "g.io", "version": "v1", "kind": "A", "name": resource,
                "deploymentName": "server",
            }]);
            serde_json::from_value(json!({
                "metadata": {"name": "a.v1", "namespace": "ns"},
                "spec": {"displayName": "x", "apiservicedefinitions": {"owned": owned}},
            }))
            .unwrap()
        };
        let attestor = Attestor::new(b"key");
        let mark = attestor.csv_mark("ns", &served("as")).unwrap();
        let is_ours = |resource: &str| {
            let mut csv = served(resource);
            csv.metadata.annotations = Some([(ATTESTATION.name.to_owned(), mark.clone())].into());
            attestor.attests_csv(&csv)
        };
        assert!(is_ours("as"));
        assert!(!is_ours("*"), "all resources of the group");
    }

    #[rstest]
    #[case::as_installed("a.v1", "ns", "[]", true)]
    #[case::other_properties("a.v1", "ns", "[ ]", false)]
    #[case::another_csv("b.v1", "ns", "[]", false)]
    #[case::another_namespace("a.v1", "other", "[]", false)]
    fn properties_are_ours_while_they_are_as_installed(
        #[case] name: &str,
        #[case] namespace: &str,
        #[case] properties: &str,
        #[case] ours: bool,
    ) {
        let with = |name: &str, namespace: &str, annotations: Value| {
            let metadata =
                json!({"name": name, "namespace": namespace, "annotations": annotations});
            csv(metadata, "as.g.io")
        };
        let attestor = Attestor::new(b"key");
        let installed = with("a.v1", "ns", json!({PROPERTIES: "[]"}));
        let mark = attestor.properties_mark("ns", &installed).unwrap();
        assert!(!attestor.attests_properties(&installed), "without a mark");
        let annotations = json!({PROPERTIES: properties, ATTESTED_PROPERTIES: mark});
        assert_eq!(attestor.attests_properties(&with(name, namespace, annotations)), ours);
        let reach = attestor.csv_mark("ns", &installed).unwrap();
        let annotations = json!({PROPERTIES: "[]", ATTESTED_PROPERTIES: reach});
        assert!(!attestor.attests_properties(&with("a.v1", "ns", annotations)), "the other mark");
    }

    #[test]
    fn without_properties_there_is_nothing_to_mark() {
        let csv = csv(json!({"name": "a.v1", "namespace": "ns"}), "as.g.io");
        assert_eq!(Attestor::new(b"key").properties_mark("ns", &csv), None);
    }

    #[test]
    fn the_key_is_not_printed() {
        assert_eq!(format!("{:?}", Attestor::new(b"key")), "Attestor { has_key: true }");
    }
}
