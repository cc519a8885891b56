//! Bundles as messages of the protocol.

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::gvk::Gvk;

use super::csv_metadata;
use crate::fbc::{Bundle, ChannelEntry, Package, RawProperty};
use crate::registry::proto;

/// A bundle in a channel: shared content and the edges of this channel.
#[derive(Debug)]
pub(super) struct EntryRecord {
    pub(super) name: String,
    pub(super) replaces: String,
    pub(super) skips: Vec<String>,
    skip_range: String,
    body: Arc<proto::Bundle>,
}

impl EntryRecord {
    pub(super) fn new(entry: ChannelEntry, body: Arc<proto::Bundle>) -> Self {
        let ChannelEntry { name, replaces, skips, skip_range } = entry;
        Self { name, replaces, skips, skip_range, body }
    }

    /// Names of the entries that this one makes obsolete: what it replaces, then what it skips.
    pub(super) fn older(&self) -> impl Iterator<Item = &str> {
        let skips = self.skips.iter().filter(|name| **name != self.replaces);
        std::iter::once(&self.replaces).chain(skips).map(String::as_str)
    }

    /// Whether the bundle provides an API.
    pub(super) fn provides(&self, gvk: &Gvk) -> bool {
        self.body
            .provided_apis
            .iter()
            .any(|api| api.group == gvk.group && api.version == gvk.version && api.kind == gvk.kind)
    }

    /// With manifests and without edges.
    pub(super) fn whole(&self, channel: &str) -> proto::Bundle {
        proto::Bundle {
            channel_name: channel.to_owned(),
            skip_range: self.skip_range.clone(),
            ..(*self.body).clone()
        }
    }

    /// With edges; with manifests only when there is no image.
    pub(super) fn listed(&self, channel: &str) -> proto::Bundle {
        let body = &*self.body;
        let inline = body.bundle_path.is_empty();
        proto::Bundle {
            csv_name: body.csv_name.clone(),
            package_name: body.package_name.clone(),
            channel_name: channel.to_owned(),
            csv_json: if inline { body.csv_json.clone() } else { String::new() },
            object: if inline { body.object.clone() } else { Vec::new() },
            bundle_path: body.bundle_path.clone(),
            provided_apis: body.provided_apis.clone(),
            required_apis: body.required_apis.clone(),
            version: body.version.clone(),
            skip_range: self.skip_range.clone(),
            dependencies: body.dependencies.clone(),
            properties: body.properties.clone(),
            replaces: self.replaces.clone(),
            skips: self.skips.clone(),
            deprecation: body.deprecation.clone(),
        }
    }
}

/// The content of every bundle of a package, without anything that belongs to a channel.
pub(super) fn bodies(package: &mut Package) -> BTreeMap<String, Arc<proto::Bundle>> {
    let bundles = std::mem::take(&mut package.bundles);
    bundles.into_iter().map(|(name, bundle)| (name, Arc::new(body(package, bundle)))).collect()
}

/// The message of a deprecation.
pub(super) fn deprecation(message: Option<String>) -> Option<proto::Deprecation> {
    message.map(|message| proto::Deprecation { message })
}

fn body(package: &Package, bundle: Bundle) -> proto::Bundle {
    let synthetic = csv_metadata::csv(package, &bundle);
    let dependencies = dependencies(&bundle);
    let mut objects = bundle.content.objects;
    let csv_json = bundle.content.csv.or(synthetic).unwrap_or_default();
    if objects.is_empty() && !csv_json.is_empty() {
        objects.push(csv_json.clone());
    }
    proto::Bundle {
        csv_name: bundle.name,
        package_name: package.name.clone(),
        csv_json,
        object: objects,
        bundle_path: bundle.image,
        provided_apis: bundle.properties.provided.iter().map(api).collect(),
        required_apis: bundle.properties.required.iter().map(api).collect(),
        version: bundle.version,
        dependencies,
        properties: bundle.properties.all.iter().map(property).collect(),
        deprecation: deprecation(bundle.deprecation),
        ..proto::Bundle::default()
    }
}

fn api(gvk: &Gvk) -> proto::GroupVersionKind {
    proto::GroupVersionKind {
        group: gvk.group.clone(),
        version: gvk.version.clone(),
        kind: gvk.kind.clone(),
        plural: String::new(),
    }
}

fn property(property: &RawProperty) -> proto::Property {
    proto::Property { r#type: property.kind.clone(), value: property.value.to_string() }
}

/// Required APIs and packages in the older form, in catalog order.
fn dependencies(bundle: &Bundle) -> Vec<proto::Dependency> {
    let mut packages = bundle.properties.required_packages.iter();
    let mut dependencies = Vec::new();
    for property in &bundle.properties.all {
        let (kind, value) = match property.kind.as_str() {
            "olm.gvk.required" => ("olm.gvk", property.value.to_string()),
            "olm.package.required" => {
                let Some(required) = packages.next() else { continue };
                let value = serde_json::json!({
                    "packageName": required.package_name,
                    "version": required.version_range,
                });
                ("olm.package", value.to_string())
            }
            _ => continue,
        };
        dependencies.push(proto::Dependency { r#type: kind.to_owned(), value });
    }
    dependencies
}
