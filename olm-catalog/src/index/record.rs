//! Bundles as records of an index and as messages of the protocol.

use olm_types::gvk::Gvk;
use prost::Message;
use serde_json::{Value, json};

use super::csv_metadata;
use super::table::EntryRow;
use crate::fbc::{Bundle, BundleContent, PackageBlob, RawProperty};
use crate::registry::proto;

/// What a listing shows of a bundle with an image, without anything that belongs to a channel.
pub(super) fn listed(package: &str, bundle: &Bundle, content: &BundleContent) -> proto::Bundle {
    let properties = &content.properties;
    proto::Bundle {
        csv_name: bundle.name.clone(),
        package_name: package.to_owned(),
        bundle_path: bundle.image.clone(),
        provided_apis: properties.provided.iter().map(api).collect(),
        required_apis: properties.required.iter().map(api).collect(),
        version: bundle.version.clone(),
        dependencies: dependencies(content),
        properties: properties.all.iter().map(property).collect(),
        ..proto::Bundle::default()
    }
}

/// Description and icon of a package, for the CSVs that are made for its bundles.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Presentation {
    /// Field of a CSV's `spec`, with a comma behind it; may be empty.
    #[prost(string, tag = "1")]
    description: String,
    /// Likewise.
    #[prost(string, tag = "2")]
    icon: String,
}

impl Presentation {
    pub(super) fn new(package: &PackageBlob) -> Self {
        let field = |name: &str, value| format!("\"{name}\":{value},");
        let description = match package.description.as_str() {
            "" => String::new(),
            text => field("description", json!(text)),
        };
        let icon = package.icon.as_ref().map(|icon| {
            let icon = json!([{ "base64data": icon.base64data, "mediatype": icon.mediatype }]);
            field("icon", icon)
        });
        Self { description, icon: icon.unwrap_or_default() }
    }
}

/// The manifests of a bundle as far as the catalog has them.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Manifests {
    #[prost(string, repeated, tag = "1")]
    objects: Vec<String>,
    /// Place of the CSV in `objects`.
    #[prost(uint64, optional, tag = "2")]
    csv: Option<u64>,
    /// A CSV made from metadata, in front of and behind what comes from the package.
    #[prost(string, tag = "3")]
    made_front: String,
    #[prost(string, tag = "4")]
    made_back: String,
    /// The description comes from the package.
    #[prost(bool, tag = "5")]
    describe: bool,
}

impl Manifests {
    pub(super) fn new(bundle: &Bundle, content: BundleContent) -> Self {
        let made = csv_metadata::csv(bundle, &content).unwrap_or_default();
        let csv = content.csv.as_ref();
        let csv = csv.and_then(|csv| content.objects.iter().position(|object| object == csv));
        Self {
            csv: csv.and_then(|place| u64::try_from(place).ok()),
            objects: content.objects,
            made_front: made.front,
            made_back: made.back,
            describe: made.describe,
        }
    }

    /// Whether [`Self::give`] needs to know the package.
    pub(super) fn is_made(&self) -> bool {
        !self.made_front.is_empty()
    }

    /// Puts CSV and objects into a message.
    pub(super) fn give(self, package: &Presentation, message: &mut proto::Bundle) {
        let place = self.csv.and_then(|place| usize::try_from(place).ok());
        let csv = place.and_then(|place| self.objects.get(place)).cloned();
        message.csv_json = csv.unwrap_or_default();
        message.object = self.objects;
        if !self.made_front.is_empty() {
            let description = if self.describe { package.description.as_str() } else { "" };
            let parts = [&self.made_front, description, &package.icon, &self.made_back];
            message.csv_json = parts.concat();
            if message.object.is_empty() {
                message.object.push(message.csv_json.clone());
            }
        }
    }
}

impl EntryRow {
    /// Adds the edges of a channel.
    pub(super) fn add_edges(&self, message: &mut proto::Bundle) {
        message.replaces.clone_from(&self.replaces);
        message.skips.clone_from(&self.skips);
    }
}

/// The message of a deprecation.
pub(super) fn deprecation(message: Option<&String>) -> Option<proto::Deprecation> {
    message.map(|message| proto::Deprecation { message: message.clone() })
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
    proto::Property { r#type: property.kind.clone(), value: go_text(&property.value) }
}

/// JSON text as Go writes it, which escapes the line separators of Unicode.
fn go_text(value: &Value) -> String {
    value.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Required APIs and packages in the older form, in catalog order.
fn dependencies(content: &BundleContent) -> Vec<proto::Dependency> {
    let mut packages = content.properties.required_packages.iter();
    let mut dependencies = Vec::new();
    for property in &content.properties.all {
        let (kind, value) = match property.kind.as_str() {
            "olm.gvk.required" => ("olm.gvk", go_text(&property.value)),
            "olm.package.required" => {
                let Some(required) = packages.next() else { continue };
                let value = json!({
                    "packageName": required.package_name,
                    "version": required.version_range,
                });
                ("olm.package", go_text(&value))
            }
            _ => continue,
        };
        dependencies.push(proto::Dependency { r#type: kind.to_owned(), value });
    }
    dependencies
}
