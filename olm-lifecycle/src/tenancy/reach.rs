//! What a CSV asks of the cluster beyond its own namespace.
//!
//! Rights are no part of it: OLM gives none for a CSV, but checks those of its accounts, or lifts
//! them for groups that an administrator let target all namespaces.

use olm_types::api::{ClusterServiceVersionSpec, WebhookDescription};
use serde::Serialize;

/// Objects of the cluster that a CSV describes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reach<'a> {
    /// Group, version, kind, resource and Deployment of the API services that it serves; users get roles
    /// for the resource.
    api_services: Vec<[&'a str; 5]>,
    /// Its webhooks; they are called for objects of any namespace that their configuration selects,
    /// and for those of none.
    webhooks: Vec<WebhookDescription>,
    /// Name, version and kind of the definitions that it owns; users get roles for them.
    definitions: Vec<[&'a str; 3]>,
}

impl<'a> Reach<'a> {
    /// The reach of a CSV.
    pub fn of(spec: &'a ClusterServiceVersionSpec) -> Self {
        let apis = spec.apiservicedefinitions.iter().flat_map(|all| &all.owned);
        let crds = spec.customresourcedefinitions.iter().flat_map(|all| &all.owned);
        Self {
            api_services: apis
                .map(|api| {
                    let deployment = api.deployment_name.as_deref().unwrap_or_default();
                    let [group, version, kind, name] =
                        [&api.group, &api.version, &api.kind, &api.name].map(String::as_str);
                    [group, version, kind, name, deployment]
                })
                .collect(),
            webhooks: spec.webhookdefinitions.iter().map(without_port).collect(),
            definitions: crds
                .map(|crd| [crd.name.as_str(), crd.version.as_str(), crd.kind.as_str()])
                .collect(),
        }
    }

    /// The objects that an installation of the CSV creates outside its namespace, as text.
    pub fn installed(&self) -> Vec<String> {
        let services = self
            .api_services
            .iter()
            .map(|[group, version, ..]| format!("APIService {version}.{group}"));
        let webhooks =
            self.webhooks.iter().map(|hook| format!("{} {}", hook.type_, hook.generate_name));
        services.chain(webhooks).collect()
    }
}

/// The API server fills in the port, which reaches no other service.
fn without_port(webhook: &WebhookDescription) -> WebhookDescription {
    WebhookDescription { container_port: None, ..webhook.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec(value: serde_json::Value) -> ClusterServiceVersionSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_installed_beyond_the_namespace_is_named() {
        let spec = spec(json!({
            "apiservicedefinitions": {"owned": [
                {"group": "g.io", "version": "v1", "kind": "A", "name": "as", "deploymentName": "d"},
            ]},
            "webhookdefinitions": [{"type": "ValidatingAdmissionWebhook", "generateName": "v.g.io"}],
            "customresourcedefinitions": {"owned": [{"name": "bs.g.io", "version": "v1", "kind": "B"}]},
        }));
        let installed = Reach::of(&spec).installed();
        assert_eq!(installed, ["APIService v1.g.io", "ValidatingAdmissionWebhook v.g.io"]);
    }

    #[test]
    fn defaults_of_the_api_server_change_nothing() {
        let hook = |port| {
            spec(json!({"webhookdefinitions": [{"generateName": "v", "containerPort": port}]}))
        };
        assert_eq!(Reach::of(&hook(json!(null))), Reach::of(&hook(json!(443))));
    }
}
