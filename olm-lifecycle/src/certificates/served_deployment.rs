//! Which Deployments of a CSV serve APIs or webhooks, and on which ports.

use olm_types::api::{
    ApiServiceDescription, ClusterServiceVersion, StrategyDeploymentSpec, WebhookDescription,
};
use serde_json::{Value, json};

use super::names::ServingNames;

/// The port of a server that names none; v0's value.
const DEFAULT_PORT: i32 = 443;

/// A Deployment that needs a certificate, because the API server calls it.
#[derive(Clone, Debug)]
pub struct ServedDeployment<'a> {
    /// The Deployment as the strategy describes it.
    pub entry: &'a StrategyDeploymentSpec,
    /// What its objects are called.
    pub names: ServingNames,
    /// The ports of its Service, each once.
    pub ports: Vec<Value>,
}

impl ServedDeployment<'_> {
    /// The ServiceAccount of its pods.
    pub fn account(&self) -> String {
        let named = self.entry.spec.at("/template/spec/serviceAccountName");
        let named = named.as_ref().and_then(Value::as_str).filter(|name| !name.is_empty());
        named.unwrap_or("default").to_owned()
    }

    /// The labels by which its Service finds its pods.
    pub fn selector(&self) -> Value {
        self.entry.spec.at("/selector/matchLabels").unwrap_or_else(|| json!({}))
    }
}

/// The Deployments of the strategy that an owned API service or a webhook names, in the order of
/// the strategy. Names of Deployments that the strategy lacks are reported by another stage.
pub fn served_deployments(csv: &ClusterServiceVersion) -> Vec<ServedDeployment<'_>> {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let strategy = csv.spec.install.spec.iter().flat_map(|strategy| &strategy.deployments);
    let mut found: Vec<ServedDeployment<'_>> = Vec::new();
    for entry in strategy {
        let ports = ports(csv, &entry.name);
        let is_known = found.iter().any(|known| known.entry.name == entry.name);
        if !ports.is_empty() && !is_known {
            found.push(ServedDeployment {
                entry,
                names: ServingNames::new(namespace, &entry.name),
                ports,
            });
        }
    }
    found
}

/// The API services that the CSV owns.
pub fn owned_api_services(
    csv: &ClusterServiceVersion,
) -> impl Iterator<Item = &ApiServiceDescription> {
    csv.spec.apiservicedefinitions.iter().flat_map(|all| &all.owned)
}

/// The port of the Service for an API service.
pub(crate) fn api_service_port(description: &ApiServiceDescription) -> i32 {
    port(description.container_port)
}

/// The port of the Service for a webhook.
pub(crate) fn webhook_port(description: &WebhookDescription) -> i32 {
    port(description.container_port)
}

fn port(container_port: Option<i32>) -> i32 {
    container_port.filter(|port| *port != 0).unwrap_or(DEFAULT_PORT)
}

fn ports(csv: &ClusterServiceVersion, deployment: &str) -> Vec<Value> {
    let is_meant = |name: &Option<String>| name.as_deref() == Some(deployment);
    let services = owned_api_services(csv)
        .filter(|api| is_meant(&api.deployment_name))
        .map(|api| service_port(api_service_port(api), json!(api_service_port(api))));
    let webhooks = csv.spec.webhookdefinitions.iter();
    let webhooks = webhooks.filter(|webhook| is_meant(&webhook.deployment_name)).map(|webhook| {
        let port = webhook_port(webhook);
        let target = webhook.target_port.as_ref().map(|target| json!(target));
        service_port(port, target.unwrap_or_else(|| json!(port)))
    });
    let mut ports: Vec<Value> = Vec::new();
    for port in services.chain(webhooks) {
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}

fn service_port(port: i32, target: Value) -> Value {
    json!({"name": port.to_string(), "port": port, "targetPort": target})
}
