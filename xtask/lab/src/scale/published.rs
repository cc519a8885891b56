//! A catalog for the operators under test.
//!
//! Where they are ours, our registry server serves it at an address. Somewhere else it is a
//! ConfigMap, which needs nothing but the API.

use std::fmt::Debug;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource, ResourceExt};
use olm_testkit::builders::{self, Bundle, CatalogDir, CsvBuilder, Package};
use olm_testkit::registry::Registry;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, Subscription};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::setup::Setup;

/// The channel of every package.
const CHANNEL: &str = "stable";

/// One version of a package, in a catalog of its own.
pub(super) struct Published {
    pub package: &'static str,
    pub csv: CsvBuilder,
    /// CRDs, as they lie in the bundle.
    pub crds: Vec<Value>,
}

/// a published package that operators can see.
pub(super) struct Catalog {
    package: &'static str,
    source: CatalogSource,
    client: Client,
    /// Ends with the catalog.
    _registry: Option<Registry>,
}

impl Published {
    /// Makes the catalog and waits until it is connected.
    pub(super) async fn put(&self, setup: &Setup, namespace: &str, name: &str) -> Result<Catalog> {
        let (client, registry) = (setup.client.clone(), setup.serve(name, self.folder()?)?);
        let source = match &registry {
            Some(registry) => builders::catalog_source(namespace, name, &registry.address()),
            None => {
                create(&client, &self.config_map(namespace, name)?).await?;
                of_config_map(namespace, name)
            }
        };
        create(&client, &source).await?;
        let catalogs: Api<CatalogSource> = Api::namespaced(client.clone(), namespace);
        wait::until(&catalogs, name, "be READY", |catalog: &CatalogSource| {
            let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
            state.is_some_and(|state| state.last_observed_state == "READY")
        })
        .await?;
        Ok(Catalog { package: self.package, source, client, _registry: registry })
    }

    fn folder(&self) -> Result<CatalogDir> {
        let csv = self.csv.clone().build();
        let version = csv.spec.version.as_deref().unwrap_or_default();
        let bundle = self.crds.iter().fold(Bundle::new(version, &self.csv), |bundle, crd| {
            let bundle = bundle.manifest(crd.clone());
            gvks(crd).into_iter().fold(bundle, |bundle, gvk| bundle.property("olm.gvk", gvk))
        });
        let bundle = csv.spec.replaces.iter().fold(bundle, |bundle, old| bundle.replaces(old));
        CatalogDir::of(&[Package::new(self.package).channel(CHANNEL, vec![bundle])])
    }

    /// The lists of a ConfigMap catalog; JSON is YAML.
    fn config_map(&self, namespace: &str, name: &str) -> Result<ConfigMap> {
        let csv = self.csv.manifest();
        let head = csv.pointer("/metadata/name");
        let packages = json!([{
            "packageName": self.package,
            "defaultChannel": CHANNEL,
            "channels": [{"name": CHANNEL, "currentCSV": head}],
        }]);
        let config_map = json!({
            "metadata": {"name": name, "namespace": namespace},
            "data": {
                "packages": packages.to_string(),
                "clusterServiceVersions": json!([csv]).to_string(),
                "customResourceDefinitions": json!(self.crds).to_string(),
            },
        });
        serde_json::from_value(config_map).context("the ConfigMap of a catalog is malformed")
    }
}

impl Catalog {
    /// A Subscription to the package.
    pub(super) fn subscription(&self, namespace: &str) -> Subscription {
        let name = self.source.name_any();
        let mut subscription = builders::subscription(namespace, self.package, CHANNEL, &name);
        subscription.spec.source_namespace = self.source.namespace().unwrap_or_default();
        subscription
    }

    /// Removes the catalog from the cluster.
    pub(super) async fn withdraw(self) -> Result<()> {
        let (name, namespace) = (self.source.name_any(), self.source.namespace());
        let namespace = namespace.unwrap_or_default();
        let sources: Api<CatalogSource> = Api::namespaced(self.client.clone(), &namespace);
        let deleted = sources.delete(&name, &DeleteParams::default()).await;
        deleted.with_context(|| format!("cannot delete catalog {name}"))?;
        if self.source.spec.config_map.is_some() {
            let config_maps: Api<ConfigMap> = Api::namespaced(self.client, &namespace);
            let deleted = config_maps.delete(&name, &DeleteParams::default()).await;
            deleted.with_context(|| format!("cannot delete the ConfigMap of catalog {name}"))?;
        }
        Ok(())
    }
}

fn of_config_map(namespace: &str, name: &str) -> CatalogSource {
    let mut source = builders::catalog_source(namespace, name, "");
    source.spec.address = None;
    source.spec.source_type = "internal".to_owned();
    source.spec.config_map = Some(name.to_owned());
    source
}

/// How a catalog mentions each version of a kind.
fn gvks(crd: &Value) -> Vec<Value> {
    let text = |path: &str| crd.pointer(path).cloned().unwrap_or_default();
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
    let of = |version: &Value| {
        let version = version.get("name").cloned();
        json!({"group": text("/spec/group"), "version": version, "kind": text("/spec/names/kind")})
    };
    versions.into_iter().flatten().map(of).collect()
}

async fn create<K>(client: &Client, object: &K) -> Result<()>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    let namespace = object.namespace().unwrap_or_default();
    let api: Api<K> = Api::namespaced(client.clone(), &namespace);
    let made = api.create(&PostParams::default(), object).await;
    made.map(drop).with_context(|| format!("cannot create a {} in {namespace}", K::kind(&())))
}

#[cfg(test)]
mod tests {
    use olm_testkit::builders::{Crd, csv};

    use super::*;

    #[test]
    fn both_forms_of_a_catalog_hold_the_same() {
        let kind = Crd::new("scale.example.com", "v1", "Job");
        let published = Published {
            package: "worker",
            csv: csv("worker.v2.0.0", "2.0.0").owns(&kind).replaces("worker.v1.0.0"),
            crds: vec![kind.manifest()],
        };
        let folder = published.folder().unwrap();
        let text = std::fs::read_to_string(folder.path().join("worker/catalog.json")).unwrap();
        let data = published.config_map("n", "c").unwrap().data.unwrap();
        assert!(text.contains(r#""replaces":"worker.v1.0.0""#), "{text}");
        assert!(text.contains(r#"{"group":"scale.example.com","kind":"Job","version":"v1"}"#));
        assert!(data["packages"].contains(r#""currentCSV":"worker.v2.0.0""#));
        assert!(data["clusterServiceVersions"].contains(r#""replaces":"worker.v1.0.0""#));
        assert!(data["customResourceDefinitions"].contains("jobs.scale.example.com"));
    }
}
