//! What a preview reads of a cluster. What may not be read is noted, and then unknown.

use anyhow::{Result, anyhow};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ApiResource, DynamicObject};
use olm_catalog::bundle::config_map;
use olm_effect::Resource;
use olm_lifecycle::install_plan::execution::Served;
use olm_lifecycle::unpack::UnpackedBundle;
use olm_plan::preview::{Asked, Key, Known, Need};
use olm_types::bundle::Entry;
use olm_types::gvk::Gvk;
use olm_types::hash::unpack_name;
use serde_json::{Value, json};

use crate::cluster::{Cluster, TimedOut, cause};

/// Kinds of the namespace of which all objects are read: what an operator may own there.
const OF_NAMESPACE: [[&str; 4]; 8] = [
    ["operators.coreos.com", "v1alpha1", "Subscription", "subscriptions"],
    ["operators.coreos.com", "v1alpha1", "InstallPlan", "installplans"],
    ["operators.coreos.com", "v1", "OperatorGroup", "operatorgroups"],
    ["operators.coreos.com", "v1alpha1", "CatalogSource", "catalogsources"],
    ["rbac.authorization.k8s.io", "v1", "Role", "roles"],
    ["rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"],
    ["", "v1", "ServiceAccount", "serviceaccounts"],
    ["", "v1", "Service", "services"],
];

/// Kinds of the cluster of which those objects are read that a CSV owns.
const OF_CLUSTER: [[&str; 4]; 2] = [
    ["rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles"],
    ["rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings"],
];

/// Reads a cluster for one preview.
pub struct Reader<'a> {
    cluster: &'a Cluster,
    home: String,
    global: String,
    /// What could not be read, and why.
    pub unread: Vec<String>,
}

impl<'a> Reader<'a> {
    /// A reader that has read nothing yet.
    pub fn new(cluster: &'a Cluster, asked: &Asked) -> Self {
        let (home, global) = (asked.namespace.clone(), asked.global_namespace.clone());
        Self { cluster, home, global, unread: Vec::new() }
    }

    /// What every preview needs.
    ///
    /// # Errors
    /// Subscriptions cannot be read, or time runs out.
    pub async fn begin(&mut self) -> Result<Known> {
        let mut known = Known::default();
        for [group, version, kind, plural] in OF_NAMESPACE {
            let resource = Resource::new(group, version, kind, plural);
            let home = self.home.clone();
            let found = self.list(&resource, Some(&home)).await;
            if kind == "Subscription" {
                found?.into_iter().for_each(|object| known.add(object));
                continue;
            }
            self.keep(found, plural, &mut known)?;
        }
        let catalogs = resource_of(OF_NAMESPACE[3]);
        let global = self.global.clone();
        if global != self.home {
            let found = self.list(&catalogs, Some(&global)).await;
            self.keep(found, "catalogsources of global catalogs", &mut known)?;
        }
        self.csvs(&mut known).await?;
        for parts in OF_CLUSTER {
            let found = self.list(&resource_of(parts), None).await;
            self.keep(found, parts[3], &mut known)?;
        }
        self.namespace(&mut known).await?;
        Ok(known)
    }

    /// The CSVs of all namespaces, or at least those of this one.
    async fn csvs(&mut self, known: &mut Known) -> Result<()> {
        let [group, version] = ["operators.coreos.com", "v1alpha1"];
        let resource =
            Resource::new(group, version, "ClusterServiceVersion", "clusterserviceversions");
        match self.list(&resource, None).await {
            Ok(found) => found.into_iter().for_each(|object| known.add(object)),
            Err(error) => {
                let home = self.home.clone();
                self.keep(Err(error), "clusterserviceversions of other namespaces", known)?;
                let found = self.list(&resource, Some(&home)).await;
                self.keep(found, "clusterserviceversions", known)?;
            }
        }
        Ok(())
    }

    /// The namespace itself; another one stands for all when it is not there.
    async fn namespace(&mut self, known: &mut Known) -> Result<()> {
        let target = olm_effect::Target::cluster(
            Resource::new("", "v1", "Namespace", "namespaces"),
            &self.home,
        );
        self.object(&target, known).await?;
        if known.absent.contains(&Key::of_target(&target)) {
            known.add(json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": "kube-system"}}));
        }
        Ok(())
    }

    /// Reads what a preview asks for.
    ///
    /// # Errors
    /// Time runs out.
    pub async fn read(&mut self, need: Need, known: &mut Known) -> Result<()> {
        match need {
            Need::Object(target) => self.object(&target, known).await,
            Need::Kind(kind) => {
                let served = self.served(&kind).await?;
                known.kinds.insert(kind, served);
                Ok(())
            }
            Need::Objects(resource) => {
                let place = (resource.group.clone(), resource.kind.clone());
                let found = self.list(&resource, None).await;
                match found {
                    Ok(found) => {
                        found.into_iter().for_each(|object| known.add(object));
                        known.listed.insert(place, None);
                    }
                    Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
                    Err(error) => drop(known.listed.insert(place, Some(cause(&error)))),
                }
                Ok(())
            }
            Need::Bundle(_) => Ok(()),
        }
    }

    async fn object(&mut self, target: &olm_effect::Target, known: &mut Known) -> Result<()> {
        let api = self.api(&target.resource, target.namespace.as_deref());
        let key = Key::of_target(target);
        match self.cluster.answer(api.get_opt(&target.name)).await {
            Ok(Some(found)) => {
                let object = typed(found, &target.resource)?;
                known.objects.insert(key, object);
            }
            Ok(None) => drop(known.absent.insert(key)),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) => {
                self.unread.push(format!("{target} ({})", cause(&error)));
                known.absent.insert(key);
            }
        }
        Ok(())
    }

    /// How the API server serves a kind.
    async fn served(&self, kind: &Gvk) -> Result<Served> {
        let asked = match kind.group.as_str() {
            "" => {
                self.cluster
                    .answer(self.cluster.client.list_core_api_resources(&kind.version))
                    .await
            }
            _ => {
                let version = kind.api_version();
                self.cluster.answer(self.cluster.client.list_api_group_resources(&version)).await
            }
        };
        match asked {
            Ok(list) => {
                let found = list
                    .resources
                    .iter()
                    .find(|one| one.kind == kind.kind && !one.name.contains('/'));
                Ok(found.map_or(Served::NoKind, |one| Served::Kind {
                    resource: Resource::new(&kind.group, &kind.version, &kind.kind, &one.name),
                    namespaced: one.namespaced,
                }))
            }
            Err(error) => match error.downcast_ref::<kube::Error>() {
                Some(kube::Error::Api(status)) if status.code == 404 => Ok(Served::NoGroup),
                _ => Err(error),
            },
        }
    }

    /// The bundle in the ConfigMap that its image was unpacked into.
    pub async fn unpacked(&self, entry: &Entry, image: &str) -> Option<UnpackedBundle> {
        let api: Api<ConfigMap> = self.cluster.api(Some(&entry.catalog.namespace));
        let found = self.cluster.answer(api.get_opt(&unpack_name(image))).await.ok()??;
        bundle_in(&found)
    }

    fn api(&self, resource: &Resource, namespace: Option<&str>) -> Api<DynamicObject> {
        let kind = ApiResource {
            group: resource.group.clone(),
            version: resource.version.clone(),
            api_version: resource.api_version(),
            kind: resource.kind.clone(),
            plural: resource.plural.clone(),
        };
        match namespace {
            Some(namespace) => Api::namespaced_with(self.cluster.client.clone(), namespace, &kind),
            None => Api::all_with(self.cluster.client.clone(), &kind),
        }
    }

    async fn list(&self, resource: &Resource, namespace: Option<&str>) -> Result<Vec<Value>> {
        let found = self.cluster.list(&self.api(resource, namespace)).await?;
        found.into_iter().map(|object| typed(object, resource)).collect()
    }

    fn keep(&mut self, read: Result<Vec<Value>>, what: &str, known: &mut Known) -> Result<()> {
        match read {
            Ok(found) => found.into_iter().for_each(|object| known.add(object)),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) => self.unread.push(format!("{what} ({})", cause(&error))),
        }
        Ok(())
    }
}

fn resource_of([group, version, kind, plural]: [&str; 4]) -> Resource {
    Resource::new(group, version, kind, plural)
}

/// An object with its kind, which lists of an API server leave out.
fn typed(object: DynamicObject, resource: &Resource) -> Result<Value> {
    let mut value = serde_json::to_value(object).map_err(|error| anyhow!(error))?;
    value["apiVersion"] = resource.api_version().into();
    value["kind"] = resource.kind.as_str().into();
    Ok(value)
}

/// The bundle in a ConfigMap of a state from files.
pub fn unpacked_in(known: &Known, entry: &Entry, image: &str) -> Option<UnpackedBundle> {
    let key = Key {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: entry.catalog.namespace.to_string(),
        name: unpack_name(image),
    };
    let object = known.objects.get(&key)?;
    bundle_in(&serde_json::from_value(object.clone()).ok()?)
}

fn bundle_in(found: &ConfigMap) -> Option<UnpackedBundle> {
    let bundle = config_map::read(found).ok().filter(|bundle| !bundle.csv_json.is_empty())?;
    Some(UnpackedBundle {
        csv_name: bundle.csv_name,
        csv_json: bundle.csv_json,
        objects: bundle.objects.iter().map(|object| object.value.to_string()).collect(),
    })
}
