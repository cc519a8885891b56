//! Bundles as records of an index and as messages of the protocol.

use olm_types::gvk::Gvk;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct};
use serde_json::{Value, json};

use super::csv_metadata;
use super::table::EntryRow;
use crate::fbc::{self, Bundle, BundleBlob, BundleContent, Located, Problems, RawProperty};
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

impl EntryRow {
    /// The edges of a channel, as fields of a bundle.
    pub(super) fn edges(&self) -> proto::Bundle {
        proto::Bundle {
            replaces: self.replaces.clone(),
            skips: self.skips.clone(),
            ..proto::Bundle::default()
        }
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

/// A blob as a message; what is no object is empty. Its depth is bounded by the parser it came
/// from.
pub(super) fn struct_message(blob: Value) -> Struct {
    match value(blob).kind {
        Some(Kind::StructValue(message)) => message,
        _ => Struct::default(),
    }
}

fn value(json: Value) -> prost_types::Value {
    let kind = match json {
        Value::Null => Kind::NullValue(0),
        Value::Bool(flag) => Kind::BoolValue(flag),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text),
        Value::Array(items) => {
            Kind::ListValue(ListValue { values: items.into_iter().map(value).collect() })
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (name, value(field))).collect();
            Kind::StructValue(Struct { fields })
        }
    };
    prost_types::Value { kind: Some(kind) }
}

/// The message of a bundle that is in no channel: without the fields that a channel gives it, with
/// its manifests.
///
/// # Errors
/// Something is wrong with the bundle; all of it is reported.
pub fn single_bundle(blob: Located<BundleBlob>) -> Result<proto::Bundle, Problems> {
    let package = blob.item.package.clone();
    let mut problems = Problems::default();
    let read = fbc::read_bundle(blob, &mut problems);
    let Some((bundle, content)) = read.filter(|_| problems.is_empty()) else {
        return Err(problems);
    };
    let mut message = listed(&package, &bundle, &content);
    let made = csv_metadata::csv(&bundle, &content).map(|made| made.front + &made.back);
    message.object = content.objects;
    if let (Some(csv), true) = (&made, message.object.is_empty()) {
        message.object.push(csv.clone());
    }
    message.csv_json = made.or(content.csv).unwrap_or_default();
    Ok(message)
}
