//! The CSV of a bundle as it is put into a namespace.

use olm_types::api::{NamedInstallStrategy, StrategyDetailsDeployment};
use olm_types::bundle::Entry;
use olm_types::document::{self, Budget, Meter};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{BundleError, BundleInput, properties_text};

/// A CSV ready to become a step.
pub(super) struct Prepared {
    /// The manifest.
    pub(super) object: Value,
    /// Its deployment strategy, if it has one.
    pub(super) strategy: Option<StrategyDetailsDeployment>,
}

impl Prepared {
    /// The CSV's own name; a nameless CSV goes by the name of its bundle.
    pub(super) fn name<'a>(&'a self, entry: &'a Entry) -> &'a str {
        self.object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or(&entry.name)
    }
}

/// Puts namespace, `spec.replaces` and the properties annotation into the bundle's CSV.
///
/// `spec.replaces` becomes what the resolver found to be installed, even where the bundle names
/// another CSV: an upgrade over a skip range replaces what is there.
pub(super) fn prepare(bundle: &BundleInput, namespace: &str) -> Result<Prepared, BundleError> {
    let name = bundle.entry.name.to_string();
    let mut fields = parse(&name, &bundle.csv_json)?;
    require_type(&name, &fields)?;
    let properties = properties_text(&bundle.entry)?;
    let metadata =
        child(&mut fields, "metadata").ok_or_else(|| not_an_object(&name, "metadata"))?;
    metadata.insert("namespace".to_owned(), namespace.into());
    let annotations = child(metadata, "annotations")
        .ok_or_else(|| not_an_object(&name, "metadata.annotations"))?;
    annotations.insert(olm_types::annotations::PROPERTIES.to_owned(), properties.into());
    let spec = child(&mut fields, "spec").ok_or_else(|| not_an_object(&name, "spec"))?;
    match &bundle.replaces {
        Some(replaces) => spec.insert("replaces".to_owned(), replaces.as_str().into()),
        None => spec.remove("replaces"),
    };
    let strategy = strategy(&name, spec.get("install"))?;
    Ok(Prepared { object: Value::Object(fields), strategy })
}

fn parse(name: &str, json: &str) -> Result<Map<String, Value>, BundleError> {
    let problem = match document::json(json.as_bytes(), &mut Meter::in_all(Budget::OBJECT)) {
        Ok(Value::Object(fields)) => return Ok(fields),
        Ok(_) => "another JSON type".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(BundleError::CsvNotAnObject { name: name.to_owned(), problem })
}

fn not_an_object(name: &str, field: &str) -> BundleError {
    BundleError::CsvNotAnObject {
        name: name.to_owned(),
        problem: format!("{field} has another type"),
    }
}

fn require_type(name: &str, fields: &Map<String, Value>) -> Result<(), BundleError> {
    let present =
        |field| fields.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if !present("apiVersion") {
        return Err(BundleError::MissingApiVersion(name.to_owned()));
    }
    if !present("kind") {
        return Err(BundleError::MissingKind(name.to_owned()));
    }
    Ok(())
}

/// The object under `key`, made when absent or null; nothing when something else is there.
fn child<'a>(fields: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    let value = fields.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut()
}

/// Only the strategy `deployment` asks for rights; the olm-operator judges any other.
fn strategy(
    name: &str,
    install: Option<&Value>,
) -> Result<Option<StrategyDetailsDeployment>, BundleError> {
    let Some(install) = install.filter(|install| !install.is_null()) else { return Ok(None) };
    let problem = |error: serde_json::Error| BundleError::Strategy {
        name: name.to_owned(),
        problem: error.to_string(),
    };
    let install = NamedInstallStrategy::deserialize(install).map_err(problem)?;
    Ok(install.spec.filter(|_| install.strategy == "deployment"))
}
