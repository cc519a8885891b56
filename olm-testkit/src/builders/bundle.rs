//! One version of an operator in a catalog.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::{Crd, CsvBuilder};

/// A bundle whose manifests lie in the catalog itself, so that no image is needed, unless it is
/// [put into one](Bundle::in_image).
#[derive(Clone, Debug)]
pub struct Bundle {
    pub(super) name: String,
    version: String,
    properties: Vec<Value>,
    manifests: Vec<Value>,
    pub(super) replaces: Option<String>,
    pub(super) skips: Vec<String>,
    pub(super) skip_range: Option<String>,
    image: Option<String>,
}

impl Bundle {
    /// A bundle with a ClusterServiceVersion.
    pub fn new(version: &str, csv: &CsvBuilder) -> Self {
        let manifest = csv.manifest();
        let name = manifest.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            properties: Vec::new(),
            manifests: vec![manifest],
            replaces: None,
            skips: Vec::new(),
            skip_range: None,
            image: None,
        }
    }

    /// The name of its CSV.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The catalog names an image, and leaves the manifests to it.
    #[must_use]
    pub fn in_image(mut self, reference: &str) -> Self {
        self.image = Some(reference.to_owned());
        self
    }

    /// The files of the bundle, by path: what its image holds.
    pub fn files(&self, package: &str) -> Vec<(String, String)> {
        let keys = [("manifests", "manifests/"), ("metadata", "metadata/"), ("package", package)];
        let kind = ("mediatype", "registry+v1");
        let annotations: Map<String, Value> = keys
            .into_iter()
            .chain([kind, ("channels", "stable")])
            .map(|(key, value)| {
                (format!("operators.operatorframework.io.bundle.{key}.v1"), json!(value))
            })
            .collect();
        let annotations = json!({ "annotations": annotations }).to_string();
        let manifests = self.manifests.iter().enumerate();
        let manifests =
            manifests.map(|(place, text)| (format!("manifests/{place}.yaml"), text.to_string()));
        manifests.chain([("metadata/annotations.yaml".to_owned(), annotations)]).collect()
    }

    /// Ships a kind and announces it.
    #[must_use]
    pub fn provides(self, crd: &Crd) -> Self {
        let bundle = self.manifest(crd.manifest());
        crd.gvks().into_iter().fold(bundle, |bundle, gvk| bundle.property("olm.gvk", gvk))
    }

    /// Needs a kind that some other bundle provides.
    #[must_use]
    pub fn requires(self, crd: &Crd) -> Self {
        crd.gvks().into_iter().fold(self, |bundle, gvk| bundle.property("olm.gvk.required", gvk))
    }

    /// Needs a package in a range of versions.
    #[must_use]
    pub fn requires_package(self, package: &str, range: &str) -> Self {
        let value = json!({"packageName": package, "versionRange": range});
        self.property("olm.package.required", value)
    }

    /// Any property.
    #[must_use]
    pub fn property(mut self, kind: &str, value: Value) -> Self {
        self.properties.push(json!({"type": kind, "value": value}));
        self
    }

    /// One more object to install.
    #[must_use]
    pub fn manifest(mut self, object: Value) -> Self {
        self.manifests.push(object);
        self
    }

    /// The bundle that this one follows in its channel.
    #[must_use]
    pub fn replaces(mut self, name: &str) -> Self {
        self.replaces = Some(name.to_owned());
        self
    }

    /// Bundles that an update passes over.
    #[must_use]
    pub fn skips(mut self, names: &[&str]) -> Self {
        self.skips.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    /// Versions that this bundle can replace directly.
    #[must_use]
    pub fn skip_range(mut self, range: &str) -> Self {
        self.skip_range = Some(range.to_owned());
        self
    }

    /// Changes every manifest.
    pub(super) fn manifests(&mut self, change: impl FnMut(&mut Value)) {
        self.manifests.iter_mut().for_each(change);
    }

    /// The `olm.bundle` blob.
    pub(super) fn blob(&self, package: &str) -> Value {
        let own = json!({
            "type": "olm.package",
            "value": {"packageName": package, "version": self.version},
        });
        let objects = self.manifests.iter().map(|manifest| {
            let data = STANDARD.encode(manifest.to_string());
            json!({"type": "olm.bundle.object", "value": {"data": data}})
        });
        let objects = objects.filter(|_| self.image.is_none());
        let properties: Vec<Value> =
            [own].into_iter().chain(self.properties.iter().cloned()).chain(objects).collect();
        let mut blob = json!({
            "schema": "olm.bundle",
            "package": package,
            "name": self.name,
            "properties": properties,
        });
        if let Some(image) = &self.image {
            blob["image"] = json!(image);
        }
        blob
    }

    /// Its place in a channel.
    pub(super) fn channel_entry(&self) -> Value {
        let mut entry = json!({"name": self.name});
        if let Value::Object(fields) = &mut entry {
            fields.extend(self.replaces.iter().map(|name| ("replaces".to_owned(), json!(name))));
            fields.extend(self.skip_range.iter().map(|r| ("skipRange".to_owned(), json!(r))));
            if !self.skips.is_empty() {
                fields.insert("skips".to_owned(), json!(self.skips));
            }
        }
        entry
    }
}
