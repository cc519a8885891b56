//! What the packages API presents of a catalog that is out of reach: the heads of its channels, without edges,
//! dependencies and manifests. What InstallPlans record about bundles adds to that.

use std::collections::BTreeMap;

use olm_catalog::registry::proto;
use olm_catalog::snapshot::{CatalogSnapshot, SnapshotBuilder};
use olm_types::annotations::SKIP_RANGE;
use olm_types::api::{
    ApiServiceDescription, BundleLookup, CrdDescription, CsvDescription, InstallPlan,
    PackageChannel, PackageManifest, PackageManifestStatus,
};
use olm_types::bundle::CatalogKey;
use olm_types::properties::annotation;

use super::place;
use crate::cluster::{Cluster, cause};

/// What a namespace's user may read in place of its catalogs.
pub(super) struct Presented {
    packages: Result<Vec<PackageManifest>, String>,
    plans: Vec<InstallPlan>,
}

impl Presented {
    /// Reads it; what may not be read is missing.
    pub(super) async fn read(cluster: &Cluster, home: &str) -> Self {
        let packages = cluster.package_manifests(Some(home)).await;
        let plans = cluster.list(&cluster.api::<InstallPlan>(Some(home))).await;
        let because = |error: anyhow::Error| format!("the packages API: {}", cause(&error));
        Self { packages: packages.map_err(because), plans: plans.unwrap_or_default() }
    }

    /// The catalog as far as it is presented.
    ///
    /// # Errors
    /// It is not, or is larger than any catalog.
    pub(super) fn snapshot(&self, key: &CatalogKey) -> Result<CatalogSnapshot, String> {
        let of_catalog = |status: &&PackageManifestStatus| {
            status.catalog_source == *key.name && status.catalog_source_namespace == *key.namespace
        };
        let all = self.packages.as_ref().map_err(Clone::clone)?;
        let packages: Vec<&PackageManifestStatus> =
            all.iter().filter_map(|one| one.status.as_ref()).filter(of_catalog).collect();
        if packages.is_empty() {
            return Err("the packages API presents nothing of it".to_owned());
        }
        let lookups = self.lookups(key);
        let mut builder = SnapshotBuilder::new(key.clone(), place::options().snapshot);
        let too_large = |error: olm_catalog::snapshot::LimitExceeded| error.to_string();
        for package in &packages {
            let bundles = package.channels.iter().flat_map(|one| bundles(package, one, &lookups));
            for bundle in bundles {
                builder.add(&bundle).map_err(too_large)?;
            }
        }
        for package in packages {
            let name = package.package_name.as_str().into();
            builder.add_package(name, Ok(summary(package))).map_err(too_large)?;
        }
        Ok(builder.finish())
    }

    /// What plans record about bundles of a catalog, by name of the bundle.
    fn lookups(&self, key: &CatalogKey) -> BTreeMap<&str, &BundleLookup> {
        let plans = self.plans.iter().filter_map(|plan| plan.status.as_ref());
        let all = plans.flat_map(|status| &status.bundle_lookups);
        let of_catalog = all.filter(|lookup| {
            let source = &lookup.catalog_source_ref;
            source.name.as_deref() == Some(&*key.name)
                && source.namespace.as_deref() == Some(&*key.namespace)
        });
        of_catalog.map(|lookup| (lookup.identifier.as_str(), lookup)).collect()
    }
}

/// The head of a channel, and those of its entries that a plan says more about.
fn bundles(
    package: &PackageManifestStatus,
    channel: &PackageChannel,
    lookups: &BTreeMap<&str, &BundleLookup>,
) -> Vec<proto::Bundle> {
    let known = channel.entries.iter().filter(|entry| entry.name != channel.current_csv);
    let known = known.filter_map(|entry| {
        let lookup = lookups.get(entry.name.as_str())?;
        let mut bundle = named(package, channel, &entry.name, entry.version.as_deref());
        complete(&mut bundle, lookup);
        Some(bundle)
    });
    let version = channel.current_csv_desc.as_ref().and_then(|head| head.version.as_deref());
    let mut head = named(package, channel, &channel.current_csv, version);
    match lookups.get(channel.current_csv.as_str()) {
        Some(lookup) => complete(&mut head, lookup),
        None => channel.current_csv_desc.iter().for_each(|csv| describe(&mut head, csv)),
    }
    std::iter::once(head).chain(known).collect()
}

fn named(
    package: &PackageManifestStatus,
    channel: &PackageChannel,
    name: &str,
    version: Option<&str>,
) -> proto::Bundle {
    let entry = channel.entries.iter().find(|entry| entry.name == name);
    let deprecation = entry.and_then(|entry| entry.deprecation.as_ref());
    proto::Bundle {
        csv_name: name.to_owned(),
        package_name: package.package_name.clone(),
        channel_name: channel.name.clone(),
        version: version.unwrap_or_default().to_owned(),
        deprecation: deprecation.map(|found| proto::Deprecation { message: found.message.clone() }),
        ..proto::Bundle::default()
    }
}

/// What a plan records: image, edge and properties.
fn complete(bundle: &mut proto::Bundle, lookup: &BundleLookup) {
    bundle.bundle_path.clone_from(&lookup.path);
    bundle.replaces.clone_from(&lookup.replaces);
    let properties = lookup.properties.as_deref().and_then(|text| annotation::parse(text).ok());
    bundle.properties = properties
        .into_iter()
        .flatten()
        .map(|one| proto::Property { r#type: one.kind.to_string(), value: one.value.to_string() })
        .collect();
}

/// What the CSV of a head says: APIs, and versions that may be upgraded directly.
fn describe(bundle: &mut proto::Bundle, csv: &CsvDescription) {
    bundle.skip_range = csv.annotations.get(SKIP_RANGE).cloned().unwrap_or_default();
    let (crds, services) = (&csv.customresourcedefinitions, &csv.apiservicedefinitions);
    let (crds, services) = (crds.iter(), services.iter());
    bundle.provided_apis = crds.clone().flat_map(|all| &all.owned).map(of_crd).collect();
    bundle.provided_apis.extend(services.clone().flat_map(|all| &all.owned).map(of_service));
    bundle.required_apis = crds.flat_map(|all| &all.required).map(of_crd).collect();
    bundle.required_apis.extend(services.flat_map(|all| &all.required).map(of_service));
}

fn of_crd(crd: &CrdDescription) -> proto::GroupVersionKind {
    let (plural, group) = crd.name.split_once('.').unwrap_or((&crd.name, ""));
    proto::GroupVersionKind {
        group: group.to_owned(),
        version: crd.version.clone(),
        kind: crd.kind.clone(),
        plural: plural.to_owned(),
    }
}

fn of_service(service: &ApiServiceDescription) -> proto::GroupVersionKind {
    proto::GroupVersionKind {
        group: service.group.clone(),
        version: service.version.clone(),
        kind: service.kind.clone(),
        plural: service.name.clone(),
    }
}

fn summary(package: &PackageManifestStatus) -> proto::Package {
    let deprecated = |found: &Option<olm_types::api::Deprecation>| {
        found.as_ref().map(|one| proto::Deprecation { message: one.message.clone() })
    };
    let channel = |one: &PackageChannel| proto::Channel {
        name: one.name.clone(),
        csv_name: one.current_csv.clone(),
        deprecation: deprecated(&one.deprecation),
    };
    proto::Package {
        name: package.package_name.clone(),
        channels: package.channels.iter().map(channel).collect(),
        default_channel_name: package.default_channel.clone(),
        deprecation: deprecated(&package.deprecation),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn package(entries: &[&str]) -> PackageManifest {
        let entries = entries.iter().map(|name| json!({"name": name, "version": "1.0.0"}));
        let entries: Vec<Value> = entries.collect();
        let head = json!({"version": "2.0.0", "annotations": {"olm.skipRange": "<2.0.0"},
            "customresourcedefinitions": {"owned": [{"name": "as.x.io", "version": "v1", "kind": "A"}]}});
        let channel = json!({"name": "stable", "currentCSV": "a.v2", "currentCSVDesc": head,
            "entries": entries});
        from_value(json!({"metadata": {"name": "a"}, "spec": {}, "status": {
            "catalogSource": "c", "catalogSourceDisplayName": "", "catalogSourcePublisher": "",
            "catalogSourceNamespace": "ns", "packageName": "a", "channels": [channel],
            "defaultChannel": "stable", "provider": {}}}))
        .unwrap()
    }

    fn plan() -> InstallPlan {
        let properties = r#"{"properties":[{"type":"olm.package","value":{"packageName":"a",
            "version":"1.0.0"}}]}"#;
        from_value(json!({"metadata": {"name": "p"}, "spec": {"clusterServiceVersionNames": []},
            "status": {"phase": "RequiresApproval", "bundleLookups": [{"path": "image:1",
                "identifier": "a.v1", "replaces": "a.v0", "properties": properties,
                "catalogSourceRef": {"name": "c", "namespace": "ns"}}]}}))
        .unwrap()
    }

    fn shown(presented: &Presented) -> Vec<String> {
        let snapshot = presented.snapshot(&CatalogKey::new("ns", "c")).unwrap();
        let entries = snapshot.entries().iter();
        let entries = entries.map(|entry| {
            let replaces = entry.replaces.as_deref().unwrap_or("-");
            let apis = entry.provided_apis().count();
            let (name, content) = (&entry.name, &entry.content);
            format!("{name} replaces {replaces}, {apis} APIs, {content:?}")
        });
        entries.collect()
    }

    #[test]
    fn heads_are_presented_and_plans_say_more() {
        let packages = Ok(vec![package(&["a.v2", "a.v1"])]);
        let alone = Presented { packages: packages.clone(), plans: Vec::new() };
        assert_eq!(shown(&alone), ["a.v2 replaces -, 1 APIs, Inline"]);
        let with_plan = Presented { packages, plans: vec![plan()] };
        let expected =
            ["a.v2 replaces -, 1 APIs, Inline", "a.v1 replaces a.v0, 0 APIs, Image(\"image:1\")"];
        assert_eq!(shown(&with_plan), expected);
    }

    #[test]
    fn what_is_not_presented_is_an_error() {
        let none = Presented { packages: Ok(Vec::new()), plans: Vec::new() };
        let error = none.snapshot(&CatalogKey::new("ns", "c")).unwrap_err();
        assert_eq!(error, "the packages API presents nothing of it");
        let refused = Presented { packages: Err("no".to_owned()), plans: Vec::new() };
        assert_eq!(refused.snapshot(&CatalogKey::new("ns", "c")).unwrap_err(), "no");
    }
}
