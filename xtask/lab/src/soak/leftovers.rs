//! What is left of a package: nothing in its namespace after it was uninstalled, and nothing in the
//! cluster after its definitions went, too.
//!
//! Uninstalling leaves CustomResourceDefinitions, since objects of users may exist, and the
//! Operator that lists them; as in v0, it leaves what a bundle ships as manifests of its own where
//! no owner reference reaches or none is set: ServiceAccounts, ClusterRoles and their bindings, and
//! other objects of the whole cluster. A person deletes all of these.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams};
use olm_testkit::dump::{Dump, Key, Kinds, diff, normalise};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::nodes::Nodes;
use super::plan::{Shipped, Version};
use super::subscriptions::PackageNamespaces;

/// What garbage collection may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);

/// What Kubernetes puts into every namespace.
const OF_KUBERNETES: [(&str, &str); 2] =
    [("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")];

/// Kinds that a person deletes after uninstalling.
const FOR_PEOPLE: [&str; 2] = ["CustomResourceDefinition", "Operator"];

/// Kind and name of what bundles ship.
type Names = BTreeSet<(String, String)>;

/// A cluster before a package came.
pub(super) struct ClusterBaseline {
    client: Client,
    kinds: Kinds,
    nodes: Nodes,
    objects: Dump,
}

impl ClusterBaseline {
    /// The cluster as it is now.
    pub(super) async fn look(client: &Client) -> Result<Self> {
        let kinds = Kinds::discover(client).await?;
        let objects = normalise(kinds.objects(client).await?);
        let nodes = Nodes::look(client).await?;
        Ok(Self { client: client.clone(), kinds, nodes, objects })
    }

    /// What of a bundle cannot be here: an object whose kind the cluster does not serve, or Pods that
    /// ask for a node that there is not.
    pub(super) fn impossible(&self, version: &Version) -> Option<String> {
        self.unserved(version).or_else(|| self.nodes.unmet(&version.pods))
    }

    fn unserved(&self, version: &Version) -> Option<String> {
        let is_served = |one: &Shipped| {
            let kinds = self.kinds.get(&one.kind);
            kinds.is_some_and(|known| known.api_version == one.api_version)
        };
        let object = version.objects.iter().find(|one| !is_served(one))?;
        let Shipped { api_version, kind, name } = object;
        Some(format!("object {kind} {name}, apiVersion: {api_version} is not served here"))
    }

    /// What is in the namespaces of an uninstalled package, once nothing goes away any more.
    pub(super) async fn uninstalled(
        &self,
        home: &PackageNamespaces,
        shipped: &Names,
    ) -> Result<Vec<String>> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let mut left = Vec::new();
            for namespace in home.namespaces() {
                let objects = self.kinds.objects_in(&self.client, &namespace).await?;
                let left_here = objects
                    .iter()
                    .filter(|object| !is_of_kubernetes(object) && !stays(object, shipped));
                left.extend(left_here.map(described));
            }
            if left.is_empty() || Instant::now() > deadline {
                return Ok(left);
            }
            sleep(LOOK).await;
        }
    }

    /// Deletes what a person deletes after uninstalling, and waits until definitions are gone.
    pub(super) async fn clear(&self, shipped: &Names) -> Result<()> {
        for definition in self.new_of("CustomResourceDefinition").await? {
            self.list_once(&definition).await;
        }
        for kind in FOR_PEOPLE {
            self.delete_new(kind, |_| true).await?;
        }
        let kinds: BTreeSet<&String> = shipped.iter().map(|(kind, _)| kind).collect();
        for kind in kinds {
            let is_shipped = |name: &str| shipped.contains(&(kind.clone(), name.to_owned()));
            self.delete_new(kind, is_shipped).await?;
        }
        let deadline = Instant::now() + TIMEOUT;
        while !self.new_of("CustomResourceDefinition").await?.is_empty() {
            ensure!(Instant::now() < deadline, "definitions are not gone after {TIMEOUT:?}");
            sleep(LOOK).await;
        }
        Ok(())
    }

    /// Deletes what a person deletes after uninstalling, and the namespaces; what differs then.
    pub(super) async fn removed(
        &self,
        home: &PackageNamespaces,
        shipped: &Names,
    ) -> Result<Vec<String>> {
        self.clear(shipped).await?;
        home.delete_namespaces().await?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let now = normalise(self.kinds.objects(&self.client).await?);
            let differences = diff(&self.objects, &now);
            if differences.is_empty() || Instant::now() > deadline {
                return Ok(differences.iter().map(ToString::to_string).collect());
            }
            // An Operator comes back as long as a definition is on its way out.
            self.delete_new("Operator", |_| true).await?;
            sleep(LOOK).await;
        }
    }

    /// kube-apiserver takes a minute and more to delete a definition whose kind was never listed.
    async fn list_once(&self, definition: &Value) {
        let text = |pointer: &str| {
            definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (group, version) = (text("/spec/group"), text("/spec/versions/0/name"));
        let resource = ApiResource {
            api_version: format!("{group}/{version}"),
            group,
            version,
            kind: text("/spec/names/kind"),
            plural: text("/spec/names/plural"),
        };
        let objects: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        // One that cannot be listed is deleted nevertheless, only later.
        let _ = objects.list(&ListParams::default().limit(1)).await;
    }

    /// Objects of a kind that were not there before.
    async fn new_of(&self, kind: &str) -> Result<Vec<Value>> {
        let all = self.kinds.objects_of(&self.client, kind).await?;
        Ok(all.into_iter().filter(|one| !self.objects.contains_key(&Key::of(one))).collect())
    }

    /// Deletes new objects of the whole cluster; those of namespaces go with these.
    async fn delete_new(&self, kind: &str, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        let Some(resource) = self.kinds.get(kind) else { return Ok(()) };
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), resource);
        let new = self.new_of(kind).await?;
        for key in
            new.iter().map(Key::of).filter(|key| key.namespace.is_empty() && is_wanted(&key.name))
        {
            let deleted = api.delete(&key.name, &DeleteParams::background()).await;
            if !matches!(&deleted, Err(kube::Error::Api(status)) if status.code == 404) {
                deleted.with_context(|| format!("cannot delete {key}"))?;
            }
        }
        Ok(())
    }
}

/// The object and who keeps it: owners that are gone are a hint, and so is their absence.
fn described(object: &Value) -> String {
    let text = |owner: &Value, field: &str| owner[field].as_str().unwrap_or_default().to_owned();
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let owners = owners.into_iter().flatten();
    let owners: Vec<String> =
        owners.map(|owner| format!("{} {}", text(owner, "kind"), text(owner, "name"))).collect();
    let kept = if owners.is_empty() { "no owner".to_owned() } else { owners.join(", ") };
    format!("{}: should not exist; owned by {kept}", Key::of(object))
}

fn is_of_kubernetes(object: &Value) -> bool {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    OF_KUBERNETES.contains(&(text("/kind"), text("/metadata/name")))
}

/// Whether a bundle ships the object and it has no owner.
fn stays(object: &Value, shipped: &Names) -> bool {
    let key = Key::of(object);
    let owned = object.pointer("/metadata/ownerReferences").is_some();
    !owned && shipped.contains(&(key.kind, key.name))
}
