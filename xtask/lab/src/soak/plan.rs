//! What a catalog offers, and in which order it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use olm_catalog::fbc::{
    self, Bundle, BundleContent, Catalog, Channel, Contents, Meta, PackageBlob,
};
use olm_catalog::fbc::{Package, ReadLimits};
use olm_types::api::InstallModeType;
use olm_types::gvk::Gvk;
use serde_json::Value;

/// A package with everything that is to be installed of it.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub package: String,
    pub channels: Vec<Route>,
    /// All versions, by name of their CSV.
    pub versions: BTreeMap<String, Version>,
    /// Kind and name of what bundles ship besides CSVs and definitions.
    pub shipped: BTreeSet<(String, String)>,
}

/// The way through a channel.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub channel: String,
    /// The entry at the end of the chain of replacements.
    pub first: String,
    /// The head.
    pub last: String,
    /// Every entry.
    pub entries: BTreeSet<String>,
    /// The chain of replacements, from the first to the head.
    pub chain: Vec<String>,
}

/// One version.
#[derive(Clone, Debug, Default)]
pub(super) struct Version {
    /// What its CSV supports.
    pub modes: BTreeSet<InstallModeType>,
    /// What it requires and no bundle of the catalog provides: the property that says so.
    pub missing: Option<String>,
    /// What it ships besides its CSV, of kinds that no bundle of the catalog provides.
    pub objects: Vec<Shipped>,
    /// Where the Pods of its Deployments may run.
    pub pods: Vec<Pods>,
}

/// Where the Pods of a Deployment may run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pods {
    pub deployment: String,
    /// `nodeSelector`.
    pub selector: Value,
    /// `affinity.nodeAffinity`.
    pub affinity: Value,
}

/// An object of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shipped {
    /// `group/version`, or the bare version for the core group.
    pub api_version: String,
    pub kind: String,
    pub name: String,
}

/// Reads a catalog.
pub(super) fn read(dir: &Path) -> Result<Vec<Subject>> {
    let mut offer = Listed::default();
    let read = fbc::load_into(dir, &ReadLimits::default(), &mut offer);
    let (catalog, _) = read.with_context(|| format!("cannot read {}", dir.display()))?;
    for (name, content) in &offer.contents {
        ensure!(
            content.has_csv,
            "bundle {name} has no manifests in the catalog: its image would have to be unpacked"
        );
    }
    Ok(catalog.packages.values().map(|package| subject(&catalog, package, &offer)).collect())
}

/// What the bundles of a catalog say, by name of the bundle.
#[derive(Default)]
struct Listed {
    contents: BTreeMap<String, Content>,
    provided: BTreeSet<Gvk>,
}

#[derive(Default)]
struct Content {
    has_csv: bool,
    modes: BTreeSet<InstallModeType>,
    pods: Vec<Pods>,
    shipped: Vec<Shipped>,
    required: Vec<Gvk>,
    required_packages: Vec<String>,
}

impl Contents for Listed {
    fn package(&mut self, _: PackageBlob) -> io::Result<()> {
        Ok(())
    }

    fn bundle(&mut self, _: &str, bundle: &Bundle, content: BundleContent) -> io::Result<()> {
        self.provided.extend(content.properties.provided.iter().cloned());
        let packages = content.properties.required_packages.into_iter();
        let csv = content.csv.as_deref().map(serde_json::from_str::<Value>);
        let csv = csv.and_then(Result::ok).unwrap_or_default();
        let content = Content {
            has_csv: content.csv.is_some(),
            modes: modes(&csv),
            pods: pods(&csv),
            shipped: content.objects.iter().map(|object| Shipped::read(object)).collect(),
            required: content.properties.required,
            required_packages: packages.map(|package| package.package_name).collect(),
        };
        self.contents.insert(bundle.name.clone(), content);
        Ok(())
    }

    fn meta(&mut self, _: Meta) -> io::Result<()> {
        Ok(())
    }
}

fn modes(csv: &Value) -> BTreeSet<InstallModeType> {
    let listed = csv.pointer("/spec/installModes").and_then(Value::as_array);
    let supported = listed.into_iter().flatten().filter(|mode| mode["supported"] == true);
    let names: Vec<&str> = supported.filter_map(|mode| mode["type"].as_str()).collect();
    InstallModeType::ALL.into_iter().filter(|mode| names.contains(&mode.as_str())).collect()
}

fn pods(csv: &Value) -> Vec<Pods> {
    let deployments = csv.pointer("/spec/install/spec/deployments").and_then(Value::as_array);
    let pods = deployments.into_iter().flatten().map(|deployment| {
        let spec = &deployment["spec"]["template"]["spec"];
        Pods {
            deployment: deployment["name"].as_str().unwrap_or_default().to_owned(),
            selector: spec["nodeSelector"].clone(),
            affinity: spec["affinity"]["nodeAffinity"].clone(),
        }
    });
    pods.collect()
}

impl Shipped {
    fn read(object: &str) -> Self {
        let object: Value = serde_json::from_str(object).unwrap_or_default();
        let text = |pointer| {
            object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Self { api_version: text("/apiVersion"), kind: text("/kind"), name: text("/metadata/name") }
    }

    fn gvk(&self) -> Gvk {
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", &self.api_version));
        Gvk::new(group, version, &self.kind)
    }
}

fn subject(catalog: &Catalog, package: &Package, offer: &Listed) -> Subject {
    let mut channels: Vec<&Channel> = package.channels.values().collect();
    // The default channel first.
    channels.sort_by_key(|channel| channel.name != package.default_channel);
    let version = |name: &String| {
        let content = offer.contents.get(name);
        let modes = content.map(|content| content.modes.clone()).unwrap_or_default();
        let missing = content.and_then(|content| missing(catalog, content, offer));
        let objects = content.map(|content| unprovided(content, offer)).unwrap_or_default();
        let pods = content.map(|content| content.pods.clone()).unwrap_or_default();
        (name.clone(), Version { modes, missing, objects, pods })
    };
    Subject {
        package: package.name.clone(),
        channels: channels.into_iter().map(route).collect(),
        versions: package.bundles.keys().map(version).collect(),
        shipped: shipped(package, offer),
    }
}

fn shipped(package: &Package, offer: &Listed) -> BTreeSet<(String, String)> {
    let contents = package.bundles.keys().filter_map(|name| offer.contents.get(name));
    let all = contents.flat_map(|content| &content.shipped);
    all.filter(|one| !["ClusterServiceVersion", "CustomResourceDefinition"].contains(&&*one.kind))
        .map(|one| (one.kind.clone(), one.name.clone()))
        .collect()
}

fn unprovided(content: &Content, offer: &Listed) -> Vec<Shipped> {
    let objects = content.shipped.iter().filter(|one| !offer.provided.contains(&one.gvk()));
    objects.cloned().collect()
}

fn missing(catalog: &Catalog, content: &Content, offer: &Listed) -> Option<String> {
    let kind = content.required.iter().find(|gvk| !offer.provided.contains(gvk));
    let kind = kind.map(|gvk| format!("property olm.gvk.required: nothing provides {gvk}"));
    let packages = &content.required_packages;
    let package = packages.iter().find(|name| !catalog.packages.contains_key(*name));
    let package =
        package.map(|name| format!("property olm.package.required: there is no package {name}"));
    kind.or(package)
}

fn route(channel: &Channel) -> Route {
    let mut chain = vec![channel.head.clone()];
    let mut met = BTreeSet::from([channel.head.as_str()]);
    let mut older = channel.entries.get(&channel.head);
    while let Some(entry) = older {
        let name = entry.replaces.as_str();
        older = channel.entries.get(name).filter(|_| met.insert(name));
        chain.extend(older.map(|_| name.to_owned()));
    }
    chain.reverse();
    Route {
        channel: channel.name.clone(),
        first: chain.first().cloned().unwrap_or_default(),
        last: channel.head.clone(),
        entries: channel.entries.keys().cloned().collect(),
        chain,
    }
}
