//! From a CSV and the CRDs that it owns to a bundle.

use std::collections::BTreeSet;
use std::sync::Arc;

use olm_types::annotations::SKIP_RANGE;
use olm_types::document::{self, Budget, DocumentError, Meter};
use olm_types::gvk::Gvk;
use olm_types::hash::go_json;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::crds::{ApiKey, Crd, Crds};
use super::go;
use super::lists::Csv;

/// On CSVs: a list of further properties.
const PROPERTIES: &str = "olm.properties";
/// On CSVs: the CSV that this one stands for. v0 takes it behind a flag that its server does not have.
const SUBSTITUTES_FOR: &str = "olm.substitutesFor";
/// Type of a property: an API that is provided.
pub(super) const GVK: &str = "olm.gvk";

/// A CSV with what belongs to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bundle {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) skip_range: String,
    pub(super) replaces: String,
    pub(super) skips: Vec<String>,
    /// Texts of the CSV and of CRDs that it owns, one for each version that it owns.
    pub(super) objects: Vec<String>,
    /// Types and values.
    pub(super) properties: BTreeSet<(String, String)>,
    /// What it provides and requires.
    pub(super) provided: BTreeSet<ApiKey>,
    pub(super) required: BTreeSet<ApiKey>,
}

/// A property in an annotation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Property<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
}

/// The bundle of a CSV. An owned CRD that is not there is reported to `report`; the bundle lacks
/// it.
///
/// # Errors
/// The CSV is no bundle.
pub(super) fn read(csv: &Csv, crds: &Crds, report: impl FnMut(String)) -> Result<Bundle, String> {
    if !csv.has_spec {
        return Err("it has no spec".to_owned());
    }
    let spec = Spec::of(csv)?;
    let owned = owned(&spec, crds, report)?;
    let adding =
        |message: String| format!("error adding operator bundle {}: {message}", csv.name());
    bundle(csv, &spec, &owned).map_err(adding)
}

/// The `spec` of a CSV; its fields are found by their exact names.
struct Spec<'a>(&'a Value);

impl<'a> Spec<'a> {
    fn of(csv: &'a Csv) -> Result<Self, String> {
        match csv.object.get("spec") {
            None => Ok(Self(&Value::Null)),
            Some(spec @ (Value::Null | Value::Object(_))) => Ok(Self(spec)),
            Some(_) => Err("spec: there must be a map".to_owned()),
        }
    }

    /// A field as one of the types of [`go`].
    fn field(&self, name: &str, of: &'static str) -> Result<Value, String> {
        let value = self.0.get(name).unwrap_or(&Value::Null);
        go::typed(of, value).map_err(|error| format!("spec.{name}{error}"))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        Ok(self.field(name, "string")?.as_str().unwrap_or_default().to_owned())
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let list = self.field(name, "[]string")?;
        let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        Ok(texts.map(str::to_owned).collect())
    }

    /// What stands in one of the lists of `customresourcedefinitions` or `apiservicedefinitions`.
    fn definitions(&self, name: &str, list: &str) -> Result<Vec<ApiKey>, String> {
        let definitions = self.field(name, "Definitions")?;
        let definitions = definitions.get(list).and_then(Value::as_array);
        definitions.into_iter().flatten().map(definition).collect()
    }
}

/// An API by its definition, with its name as plural.
fn definition(value: &Value) -> Result<ApiKey, String> {
    if value.is_null() {
        return Err("an owned or required API is null".to_owned());
    }
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let gvk = Gvk::new(text("group"), text("version"), text("kind"));
    Ok(ApiKey { gvk, plural: text("name") })
}

/// The same with plural and group from the name of a CRD, if it has both.
fn of_crd(api: &ApiKey) -> Option<ApiKey> {
    let (plural, group) = api.plural.split_once('.')?;
    let gvk = Gvk::new(group, api.gvk.version.clone(), api.gvk.kind.clone());
    Some(ApiKey { gvk, plural: plural.to_owned() })
}

fn owned(
    spec: &Spec<'_>,
    crds: &Crds,
    mut report: impl FnMut(String),
) -> Result<Vec<Arc<Crd>>, String> {
    let mut found = Vec::new();
    for api in spec.definitions("customresourcedefinitions", "owned")? {
        let Some(key) = of_crd(&api) else {
            report(format!("error parsing owned name: {:?} is not PLURAL.GROUP", api.plural));
            continue;
        };
        match crds.get(&key) {
            Some(crd) => found.push(Arc::clone(crd)),
            None => report(format!("couldn't find owned CRD in crd list {key}")),
        }
    }
    Ok(found)
}

fn bundle(csv: &Csv, spec: &Spec<'_>, crds: &[Arc<Crd>]) -> Result<Bundle, String> {
    let kind = csv.object.get("kind").and_then(Value::as_str).unwrap_or_default();
    if kind != "ClusterServiceVersion" || csv.name().is_empty() {
        return Err(format!("csv name not found: kind {kind:?}, name {:?}", csv.name()));
    }
    let provided = provided(spec, crds)?;
    let version = spec.text("version")?;
    let (replaces, skips) = (spec.text("replaces")?, skips(spec)?);
    if csv.annotation(SUBSTITUTES_FOR).is_some_and(|name| !name.is_empty()) {
        return Err("SubstitutesFor is an alpha-only feature".to_owned());
    }
    check_images(spec)?;
    let texts = crds.iter().map(|crd| crd.text.clone());
    Ok(Bundle {
        name: csv.name().to_owned(),
        version,
        skip_range: csv.annotation(SKIP_RANGE).unwrap_or_default().to_owned(),
        replaces,
        skips,
        objects: std::iter::once(go::text(&csv.object)).chain(texts).collect(),
        properties: properties(csv, &provided)?,
        provided,
        required: required(spec)?,
    })
}

/// The list is kept as one text with commas, so a name with commas is several.
fn skips(spec: &Spec<'_>) -> Result<Vec<String>, String> {
    let joined = spec.texts("skips")?.join(",");
    let names = joined.split(',').filter(|_| !joined.is_empty());
    Ok(names.map(str::to_owned).collect())
}

fn provided(spec: &Spec<'_>, crds: &[Arc<Crd>]) -> Result<BTreeSet<ApiKey>, String> {
    let mut all = BTreeSet::new();
    for crd in crds {
        all.extend(crd.provides.clone()?);
    }
    all.extend(spec.definitions("apiservicedefinitions", "owned")?);
    Ok(all)
}

fn required(spec: &Spec<'_>) -> Result<BTreeSet<ApiKey>, String> {
    let mut all = BTreeSet::new();
    for api in spec.definitions("customresourcedefinitions", "required")? {
        let name = &api.plural;
        let key = of_crd(&api);
        all.insert(
            key.ok_or_else(|| format!("couldn't parse plural.group from crd name: {name}"))?,
        );
    }
    all.extend(spec.definitions("apiservicedefinitions", "required")?);
    Ok(all)
}

/// Images are not served, but what cannot be looked through for them is refused.
fn check_images(spec: &Spec<'_>) -> Result<(), String> {
    let images = |message| format!("unable to obtain images : {message}");
    spec.field("relatedImages", "[]RelatedImage").map_err(images)?;
    let install = go::typed("Installed", spec.0).map_err(images)?;
    let deployments = install.pointer("/Install/spec/Deployments").and_then(Value::as_array);
    for deployment in deployments.into_iter().flatten() {
        let spec = deployment.get("Spec").unwrap_or(&Value::Null);
        go_json::encode("apps/v1.DeploymentSpec", spec).map_err(|e| images(e.to_string()))?;
    }
    Ok(())
}

fn properties(
    csv: &Csv,
    provided: &BTreeSet<ApiKey>,
) -> Result<BTreeSet<(String, String)>, String> {
    let mut properties: BTreeSet<(String, String)> =
        provided.iter().map(|api| (GVK.to_owned(), gvk_text(&api.gvk))).collect();
    let Some(text) = csv.annotation(PROPERTIES) else { return Ok(properties) };
    let wrong = |error: String| format!("failed to add properties : {PROPERTIES}: {error}");
    let list: Option<Vec<Option<Property<'_>>>> =
        document::json_as(text, &Budget::PROPERTY).map_err(|error| wrong(error.to_string()))?;
    for property in list.unwrap_or_default().into_iter().map(Option::unwrap_or_default) {
        properties.insert(further(property).map_err(wrong)?);
    }
    Ok(properties)
}

/// A property of an annotation; those with a meaning must have the form for that.
fn further(property: Property<'_>) -> Result<(String, String), String> {
    let kind = property.kind.unwrap_or_default();
    let text = property.value.map_or("null", RawValue::get);
    let form = match kind.as_str() {
        "olm.label" => Some("Label"),
        "olm.package" => Some("PackageProperty"),
        GVK => Some("Gvk"),
        _ => None,
    };
    if let Some(form) = form {
        let value = property_value(text).map_err(|error| error.to_string())?;
        go::typed(form, &value).map_err(|error| format!("{kind}{error}"))?;
    }
    Ok((kind, go::compact(text)))
}

/// An API as the value of a property or a dependency.
pub(super) fn gvk_text(api: &Gvk) -> String {
    go::text(&json!({"group": api.group, "kind": api.kind, "version": api.version}))
}

/// The API in the value of a property, if it is one.
pub(super) fn gvk_of(text: &str) -> Option<Gvk> {
    let value = go::typed("Gvk", &property_value(text).ok()?).ok()?;
    let field = |name| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Gvk::new(field("group"), field("version"), field("kind")))
}

fn property_value(text: &str) -> Result<Value, DocumentError> {
    document::json(text.as_bytes(), &mut Meter::in_all(Budget::PROPERTY))
}
