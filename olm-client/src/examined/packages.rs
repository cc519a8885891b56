//! Packages: those that Subscriptions ask for, and the names of others where one may be misspelt.

use anyhow::{Context, Result};
use futures::stream::{self, StreamExt};
use kube::api::{Api, ListParams};
use kube::core::Request;
use olm_plan::Observed;
use olm_plan::doctor::{PackageLookup, PackageReads, packages_api_away};
use olm_plan::observed::VisiblePackage;
use olm_types::api::PackageManifest;
use serde_json::Value;

use super::{AT_ONCE, Reading, slim};

/// The kind in its plural.
const PACKAGES: &str = "packagemanifests";

/// Namespaces for which names are read at most: each answer has hundreds of them.
const MOST: usize = 50;

/// A list as rows for people, with the metadata of each object.
const AS_TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// The labels by which a package names its catalog.
const CATALOG: &str = "catalog";
const CATALOG_NAMESPACE: &str = "catalog-namespace";

impl Reading<'_> {
    /// Adds them, as long as the packages API answers: what cannot be read is noted.
    pub(super) async fn packages(&self, wanted: &PackageReads, observed: &mut Observed) {
        if let Some(why) = packages_api_away(observed) {
            observed.unread.insert(PACKAGES, why);
            return;
        }
        let read = stream::iter(&wanted.packages).map(|asked| self.package(asked));
        let mut read = read.buffered(AT_ONCE);
        while let Some(found) = read.next().await {
            let found = self.noted(found, PACKAGES, observed);
            observed.packages.extend(found);
        }
        for home in wanted.visible_packages.iter().take(MOST) {
            if observed.unread.contains_key(PACKAGES) {
                return;
            }
            let read = self.visible_packages(home).await;
            let found = self.noted(read, PACKAGES, observed);
            observed.visible_packages.insert(home.clone(), found);
        }
        for home in wanted.providers.iter().take(MOST) {
            if observed.unread.contains_key(PACKAGES) {
                return;
            }
            let read = self.all(home).await;
            let found = self.noted(read, PACKAGES, observed);
            let packages = found.iter().filter_map(visible_package).collect();
            observed.visible_packages.insert(home.clone(), packages);
            observed.packages.extend(found);
        }
    }

    async fn package(&self, asked: &PackageLookup) -> Result<Vec<PackageManifest>> {
        let labels =
            format!("{CATALOG}={},{CATALOG_NAMESPACE}={}", asked.catalog, asked.catalog_namespace);
        let fields = format!("metadata.name={}", asked.package);
        let parameters = ListParams::default().labels(&labels).fields(&fields);
        self.list(&asked.home, &parameters).await
    }

    async fn all(&self, home: &str) -> Result<Vec<PackageManifest>> {
        self.list(home, &ListParams::default()).await
    }

    async fn list(&self, home: &str, parameters: &ListParams) -> Result<Vec<PackageManifest>> {
        let api: Api<PackageManifest> = self.cluster.api(Some(home));
        let found = self.cluster.answer(api.list(parameters)).await?;
        Ok(found.items.into_iter().map(slim::package).collect())
    }

    /// The names of all packages that a namespace sees.
    async fn visible_packages(&self, home: &str) -> Result<Vec<VisiblePackage>> {
        let api: Api<PackageManifest> = self.cluster.api(Some(home));
        let request = Request::new(api.resource_url()).list(&ListParams::default());
        let mut request = request.context("cannot make a request")?;
        let accept = AS_TABLE.parse().context("a malformed header")?;
        request.headers_mut().insert("accept", accept);
        let answer: Value = self.cluster.answer(self.cluster.client.request(request)).await?;
        let rows = answer.get("rows").or_else(|| answer.get("items")).and_then(Value::as_array);
        Ok(rows.into_iter().flatten().filter_map(row).collect())
    }
}

fn visible_package(package: &PackageManifest) -> Option<VisiblePackage> {
    let status = package.status.as_ref()?;
    Some(VisiblePackage {
        package: status.package_name.clone(),
        catalog: status.catalog_source.clone(),
        catalog_namespace: status.catalog_source_namespace.clone(),
    })
}

/// The package of a row of a table; of an object, where the server makes no tables.
fn row(row: &Value) -> Option<VisiblePackage> {
    let metadata = row.pointer("/object/metadata").or_else(|| row.get("metadata"))?;
    let label = |key: &str| metadata.get("labels")?.get(key)?.as_str().map(str::to_owned);
    Some(VisiblePackage {
        package: metadata.get("name")?.as_str()?.to_owned(),
        catalog: label(CATALOG)?,
        catalog_namespace: label(CATALOG_NAMESPACE)?,
    })
}
