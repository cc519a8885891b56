//! The properties of a bundle: those that files name, those that follow from the manifests, and
//! the manifests themselves.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use olm_types::gvk::Gvk;
use serde_json::{Value, json};

use super::{Csv, Parts, RenderError, apis};
use crate::fbc::{FieldError, Fields, MANIFESTS, RawProperty};

/// Every property in the order of `opm`: by type and value, manifests at the end.
///
/// # Errors
/// A property or dependency of a known type has a value of the wrong form.
pub(super) fn all(parts: &Parts, csv: &Csv<'_>) -> Result<Vec<RawProperty>, RenderError> {
    let wrong = |error| RenderError::Field(csv.name.to_owned(), error);
    let mut sorted = Sorted::default();
    sorted.provided.extend(apis::provided(&parts.objects, csv.object));
    sorted.required.extend(apis::required(csv.object)?);
    for (place, property) in parts.properties.iter().enumerate() {
        sorted.add_property(property, place).map_err(wrong)?;
    }
    for (place, dependency) in parts.dependencies.iter().enumerate() {
        sorted.add_dependency(dependency, place).map_err(wrong)?;
    }
    let package = sorted.package.take().unwrap_or_else(|| package_value(&parts.package, csv));
    let mut all = vec![property("olm.package", package)];
    all.extend(sorted.provided.iter().map(|api| property("olm.gvk", json!(api))));
    all.extend(sorted.required.iter().map(|api| property("olm.gvk.required", json!(api))));
    all.extend(sorted.others);
    all.extend(parts.objects.iter().map(manifest));
    all.sort_by_cached_key(|it| {
        let last = MANIFESTS.contains(&it.kind.as_str());
        (last, it.kind.clone(), go_json(&it.value))
    });
    Ok(all)
}

/// Properties by what they are for.
#[derive(Default)]
struct Sorted {
    /// Value of the last `olm.package`.
    package: Option<Value>,
    provided: BTreeSet<Gvk>,
    required: BTreeSet<Gvk>,
    others: Vec<RawProperty>,
}

impl Sorted {
    fn add_property(&mut self, given: &RawProperty, place: usize) -> Result<(), FieldError> {
        let path = format!("properties[{place}].value");
        match given.kind.as_str() {
            "olm.gvk" => drop(self.provided.insert(gvk(given, path)?)),
            "olm.package" => self.package = Some(package(given, path)?),
            _ => self.others.push(given.clone()),
        }
        Ok(())
    }

    /// Dependencies are properties of other types.
    fn add_dependency(&mut self, given: &RawProperty, place: usize) -> Result<(), FieldError> {
        let path = format!("dependencies[{place}].value");
        match given.kind.as_str() {
            "olm.gvk" => drop(self.required.insert(gvk(given, path)?)),
            "olm.package" => {
                let mut fields = Fields::nested(given.value.clone(), path)?;
                let value = json!({
                    "packageName": fields.text("packageName")?,
                    "versionRange": fields.text("version")?,
                });
                self.others.push(property("olm.package.required", value));
            }
            _ => self.others.push(given.clone()),
        }
        Ok(())
    }
}

fn gvk(given: &RawProperty, path: String) -> Result<Gvk, FieldError> {
    let mut fields = Fields::nested(given.value.clone(), path)?;
    Ok(Gvk::new(fields.text("group")?, fields.text("version")?, fields.text("kind")?))
}

fn package(given: &RawProperty, path: String) -> Result<Value, FieldError> {
    let mut fields = Fields::nested(given.value.clone(), path)?;
    let (name, version) = (fields.text("packageName")?, fields.text("version")?);
    Ok(released(&name, &version, fields.text("release")?))
}

fn package_value(package: &str, csv: &Csv<'_>) -> Value {
    released(package, csv.version, csv.release())
}

/// Value of `olm.package`; a release is there only when it is not empty.
pub(super) fn released(package: &str, version: &str, release: String) -> Value {
    let mut value = json!({ "packageName": package, "version": version });
    if let Some(fields) = value.as_object_mut().filter(|_| !release.is_empty()) {
        fields.insert("release".to_owned(), Value::String(release));
    }
    value
}

fn property(kind: &str, value: Value) -> RawProperty {
    RawProperty { kind: kind.to_owned(), value }
}

fn manifest(object: &Value) -> RawProperty {
    property("olm.bundle.object", json!({ "data": STANDARD.encode(go_json(object)) }))
}

/// JSON text as Go writes it: what means something to HTML or JavaScript is escaped.
fn go_json(value: &Value) -> String {
    let mut text = String::new();
    for letter in value.to_string().chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => text.push(letter),
        }
    }
    text
}
