//! Every object of a cluster, apart from those that Kubernetes makes for itself.

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::discovery::{Discovery, Scope, verbs};
use serde_json::Value;

/// Kinds whose objects come and go by themselves, or have random names.
const RESTLESS: [&str; 11] = [
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
    "ServiceCIDR",
];

/// The kinds that a cluster serves.
#[derive(Clone, Debug)]
pub struct Kinds(Vec<(ApiResource, Scope)>);

impl Kinds {
    /// Asks the API server. Kinds that are defined later are not among them.
    pub async fn discover(client: &Client) -> Result<Self> {
        Self::discover_apart_from(client, &[]).await
    }

    /// The same without the kinds of some groups, whose servers need not answer.
    pub async fn discover_apart_from(client: &Client, groups: &[&str]) -> Result<Self> {
        let discovery = Discovery::new(client.clone()).exclude(groups).run().await;
        let discovery = discovery.context("cannot discover the kinds")?;
        let all = discovery.groups().flat_map(|group| group.resources_by_stability());
        let kept = all.filter(|(resource, capabilities)| {
            let listed = capabilities.supports_operation(verbs::LIST);
            let deleted = capabilities.supports_operation(verbs::DELETE);
            listed && deleted && !RESTLESS.contains(&resource.kind.as_str())
        });
        Ok(Self(kept.map(|(resource, capabilities)| (resource, capabilities.scope)).collect()))
    }

    /// These kinds. Whether their objects have namespaces is not known, so that
    /// [`Self::objects_in`] finds none of them.
    pub fn of(kinds: Vec<ApiResource>) -> Self {
        Self(kinds.into_iter().map(|resource| (resource, Scope::Cluster)).collect())
    }

    /// Every object of these kinds, with its kind.
    pub async fn objects(&self, client: &Client) -> Result<Vec<Value>> {
        let everywhere = |resource: &_| Api::all_with(client.clone(), resource);
        Self::list(self.0.iter().map(|(resource, _)| resource), everywhere).await
    }

    /// Every object of one of these kinds, with its kind.
    pub async fn objects_of(&self, client: &Client, kind: &str) -> Result<Vec<Value>> {
        let everywhere = |resource: &_| Api::all_with(client.clone(), resource);
        Self::list(self.get(kind).into_iter(), everywhere).await
    }

    /// Every object of these kinds in one namespace, with its kind.
    pub async fn objects_in(&self, client: &Client, namespace: &str) -> Result<Vec<Value>> {
        let namespaced = self.0.iter().filter(|(_, scope)| *scope == Scope::Namespaced);
        let there = |resource: &_| Api::namespaced_with(client.clone(), namespace, resource);
        Self::list(namespaced.map(|(resource, _)| resource), there).await
    }

    async fn list(
        kinds: impl Iterator<Item = &ApiResource>,
        api: impl Fn(&ApiResource) -> Api<DynamicObject>,
    ) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for resource in kinds {
            let api = api(resource);
            let list = match api.list(&ListParams::default()).await {
                // Its definition went since the kinds were looked up, and the objects with it.
                Err(kube::Error::Api(status)) if status.code == 404 => continue,
                list => list.with_context(|| format!("cannot list {}", resource.plural))?,
            };
            for object in list.into_iter().filter(|object| !is_automatic(object)) {
                all.push(with_kind(resource, &object)?);
            }
        }
        Ok(all)
    }

    /// The kind with a name.
    pub fn get(&self, kind: &str) -> Option<&ApiResource> {
        self.0.iter().map(|(resource, _)| resource).find(|resource| resource.kind == kind)
    }
}

/// Whether Kubernetes makes the object for itself: the APIServices of its own and custom kinds.
fn is_automatic(object: &DynamicObject) -> bool {
    let labels = object.metadata.labels.as_ref();
    labels.is_some_and(|labels| labels.contains_key("kube-aggregator.kubernetes.io/automanaged"))
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
