//! Every object of a cluster, apart from those that Kubernetes makes for itself.

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::discovery::{Discovery, verbs};
use serde_json::Value;

/// Kinds whose objects come and go by themselves, or have random names.
const RESTLESS: [&str; 12] = [
    "CSINode",
    "Endpoints",
    "EndpointSlice",
    "Event",
    "FlowSchema",
    "IPAddress",
    "Lease",
    "Node",
    "Pod",
    "PriorityLevelConfiguration",
    "APIService",
    "ServiceCIDR",
];

/// The kinds that a cluster serves.
#[derive(Clone, Debug)]
pub struct Kinds(Vec<ApiResource>);

impl Kinds {
    /// Asks the API server. Kinds that are defined later are not among them.
    pub async fn discover(client: &Client) -> Result<Self> {
        let discovery =
            Discovery::new(client.clone()).run().await.context("cannot discover the kinds")?;
        let all = discovery.groups().flat_map(|group| group.resources_by_stability());
        let kept = all.filter(|(resource, capabilities)| {
            let listed = capabilities.supports_operation(verbs::LIST);
            let deleted = capabilities.supports_operation(verbs::DELETE);
            listed && deleted && !RESTLESS.contains(&resource.kind.as_str())
        });
        Ok(Self(kept.map(|(resource, _)| resource).collect()))
    }

    /// Every object of these kinds, with its kind.
    pub async fn objects(&self, client: &Client) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for resource in &self.0 {
            let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
            let list = api.list(&ListParams::default()).await;
            let list = list.with_context(|| format!("cannot list {}", resource.plural))?;
            for object in list {
                all.push(with_kind(resource, &object)?);
            }
        }
        Ok(all)
    }

    /// The kind with a name.
    pub fn get(&self, kind: &str) -> Option<&ApiResource> {
        self.0.iter().find(|resource| resource.kind == kind)
    }
}

/// Elements of a list do not say what they are.
fn with_kind(resource: &ApiResource, object: &DynamicObject) -> Result<Value> {
    let mut value = serde_json::to_value(object).context("an object cannot be shown as JSON")?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("apiVersion".to_owned(), resource.api_version.as_str().into());
        fields.insert("kind".to_owned(), resource.kind.as_str().into());
    }
    Ok(value)
}
