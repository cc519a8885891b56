//! A small cluster that does what plans say.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube_core::ResourceExt;
use olm_effect::{Action, Refusal, Subresource};
use olm_types::labels;
use serde_json::{Value, json};

use super::super::super::observed::{Content, Present};
use super::super::super::ready::without;
use super::super::super::{Conclusion, conclude, include};
use super::super::*;

/// The time at which everything begins.
pub(super) const NOW: &str = "2026-01-01T12:00:00Z";
/// The image of catalogs that have one.
pub(super) const IMAGE: &str = "quay.io/a/catalog:v1";

/// A catalog and what there is of its server.
pub(super) struct World {
    pub(super) observed: Observed,
    pub(super) settings: Settings,
    pub(super) now: Timestamp,
    pub(super) refuse: Option<(&'static str, &'static str)>,
    made: usize,
}

pub(super) fn world(spec: Value) -> World {
    let catalog = json!({
        "metadata": {"name": "img-catalog", "namespace": "ns", "uid": "u-1", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": spec,
    });
    World {
        observed: Observed {
            catalog: Arc::new(serde_json::from_value(catalog).unwrap()),
            server: Present::default(),
            config_map: ConfigMapFound::NotNeeded,
            connection: Ok(None),
            acting_since: NOW.parse().unwrap(),
            content: Content::default(),
            digest: None,
            server_version: None,
            hosting: None,
        },
        settings: Settings {
            opm_image: "opm".to_owned(),
            util_image: "util".to_owned(),
            config_map_server_image: "cm-server".to_owned(),
            user: None,
        },
        now: NOW.parse().unwrap(),
        refuse: None,
        made: 0,
    }
}

pub(super) fn of_image() -> World {
    world(json!({"sourceType": "grpc", "image": IMAGE}))
}

pub(super) fn polled() -> World {
    world(json!({
        "sourceType": "grpc", "image": IMAGE,
        "updateStrategy": {"registryPoll": {"interval": "10m"}},
    }))
}

pub(super) fn of_config_map() -> World {
    let mut world = world(json!({"sourceType": "configmap", "configMap": "lists"}));
    world.observed.config_map = ConfigMapFound::Watched(
        serde_json::from_value(json!({
            "uid": "cm", "resourceVersion": "7",
            "ownerReferences": [{"apiVersion": "v", "kind": "CatalogSource", "name": "img-catalog", "uid": "u-1"}],
        }))
        .unwrap(),
    );
    world
}

impl World {
    /// One look; gives the writes, shortly.
    pub(super) fn look(&mut self) -> (Vec<String>, Conclusion) {
        let plan = plan(&self.observed, &self.settings, self.now);
        let outcomes: Vec<_> = plan.steps.iter().map(|step| self.apply(&step.effect)).collect();
        let conclusion = conclude(&self.observed, &plan, &outcomes, self.now);
        if let Some(Effect { action: Action::Status { object, .. }, .. }) = &conclusion.status {
            self.observed.catalog = Arc::new(serde_json::from_value(object.clone()).unwrap());
        }
        (plan.steps.iter().map(|step| short(&step.effect)).collect(), conclusion)
    }

    pub(super) fn writes(&mut self) -> Vec<String> {
        self.look().0
    }

    /// Looks until nothing is written any more.
    pub(super) fn converge(&mut self) -> Vec<String> {
        let writes = self.writes();
        let (again, conclusion) = self.look();
        assert_eq!((again, conclusion.status), (Vec::new(), None), "at rest");
        writes
    }

    pub(super) fn apply(&mut self, effect: &Effect) -> Outcome {
        let kind = effect.target.resource.kind.as_str();
        if let Some((refused, message)) = self.refuse
            && refused == kind
        {
            let message = message.to_owned();
            return Outcome::Refused(Refusal {
                code: 403,
                reason: "Forbidden".to_owned(),
                message,
            });
        }
        match &effect.action {
            Action::Create(object) => {
                let mut object = object.clone();
                self.made += 1;
                object["metadata"]["uid"] = json!(format!("uid-{}", self.made));
                object["metadata"]["creationTimestamp"] = json!(self.now.to_string());
                if kind == "Pod" {
                    object["metadata"]["name"] = json!(format!("img-catalog-{}", self.made));
                }
                self.put(kind, object.clone());
                Outcome::Created(object)
            }
            Action::Delete { .. } => {
                self.delete(kind, &effect.target.name);
                Outcome::Deleted
            }
            Action::MergePatch { patch, subresource: Subresource::Main, .. } => {
                let mut object = self.get(kind, &effect.target.name);
                merge(&mut object, patch);
                self.put(kind, object.clone());
                Outcome::Changed(object)
            }
            Action::Apply { object: patch, .. } => {
                let mut object = self.get(kind, &effect.target.name);
                merge(&mut object, patch);
                self.put(kind, object.clone());
                Outcome::Changed(object)
            }
            other => panic!("{other:?} is nothing that a catalog needs"),
        }
    }

    fn delete(&mut self, kind: &str, name: &str) {
        match (kind, self.observed.hosting.as_mut()) {
            ("EndpointSlice", Some(hosting)) => {
                hosting.slice.take_if(|slice| slice.name_any() == name);
                hosting.foreign.retain(|slice| slice.name_any() != name);
            }
            ("Pod", _) => self.observed.server.pods.retain(|pod| pod.name_any() != name),
            _ => {}
        }
    }

    pub(super) fn get(&self, kind: &str, name: &str) -> Value {
        let server = &self.observed.server;
        let slice = || self.observed.hosting.as_ref().and_then(|hosting| hosting.slice.clone());
        let policy = |found: &&Arc<NetworkPolicy>| found.name_any() == name;
        let pod = |found: &&Arc<Pod>| found.name_any() == name;
        match kind {
            "Service" => json!(server.service),
            "ServiceAccount" => json!(server.account),
            "Role" => json!(server.role),
            "RoleBinding" => json!(server.binding),
            "NetworkPolicy" => json!(server.policies.iter().find(policy)),
            "Pod" => json!(server.pods.iter().find(pod)),
            "EndpointSlice" => json!(slice()),
            other => panic!("no {other} is kept"),
        }
    }

    pub(super) fn put(&mut self, kind: &str, mut object: Value) {
        object["kind"] = json!(kind);
        let server = &mut self.observed.server;
        match kind {
            "Pod" => {
                let pod: Pod = serde_json::from_value(object).unwrap();
                server.pods.retain(|known| known.name_any() != pod.name_any());
                server.pods.push(Arc::new(pod));
            }
            "EndpointSlice" => {
                let hosting = self.observed.hosting.as_mut().unwrap();
                hosting.slice = Some(Arc::new(serde_json::from_value(object).unwrap()));
            }
            "ServiceAccount" => {
                server.account = Some(Arc::new(serde_json::from_value(object).unwrap()));
            }
            _ => {
                let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                server.policies.retain(|known| known.name_any() != name);
                include(server, object);
            }
        }
    }

    pub(super) fn change(&mut self, kind: &str, name: &str, patch: Value) {
        let mut object = self.get(kind, name);
        merge(&mut object, &patch);
        self.put(kind, object);
    }

    /// What is reported, besides readiness.
    pub(super) fn status(&self) -> CatalogSourceStatus {
        without(self.observed.catalog.status.clone().unwrap_or_default())
    }

    pub(super) fn set_spec(&mut self, patch: Value) {
        let mut catalog = json!(*self.observed.catalog);
        merge(&mut catalog, &json!({ "spec": patch }));
        self.observed.catalog = Arc::new(serde_json::from_value(catalog).unwrap());
    }

    /// The names of Pods, and what they are there for.
    pub(super) fn pods(&self) -> Vec<String> {
        let mut pods = self.observed.server.pods.clone();
        pods.sort_by_key(|pod| pod.name_any());
        pods.iter()
            .map(|pod| {
                let label = |key: &str| pod.labels().get(key).cloned().unwrap_or_default();
                format!(
                    "{} {}/{}",
                    pod.name_any(),
                    label(labels::CATALOG_SOURCE),
                    label(labels::CATALOG_SOURCE_UPDATE)
                )
            })
            .collect()
    }

    pub(super) fn runs(&mut self, pod: &str, image: &str) {
        let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "registry-server", "image": "", "imageID": image, "ready": true, "restartCount": 0}]});
        self.change("Pod", pod, json!({ "status": status }));
    }

    pub(super) fn wait(&mut self, minutes: u64) {
        self.now += Duration::from_secs(minutes * 60);
    }
}

pub(super) fn short(effect: &Effect) -> String {
    let verb = match &effect.action {
        Action::Create(_) => "create",
        Action::Delete { grace_seconds: Some(0), .. } => "force delete",
        Action::Delete { .. } => "delete",
        Action::MergePatch { .. } => "patch",
        Action::Apply { .. } => "apply",
        _ => "write",
    };
    format!("{verb} {} {}", effect.target.resource.kind, effect.target.name)
}

pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return *target = patch.clone() };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in patch {
        match value {
            Value::Null => drop(target.as_object_mut().unwrap().remove(key)),
            value => merge(&mut target[key], value),
        }
    }
}
