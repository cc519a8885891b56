//! Steps whose manifests stay in the ConfigMap that a bundle was unpacked into.
//!
//! An InstallPlan holds a reference in the place of each manifest, so that it stays small. When
//! the plan is executed, the bundle is read again and its steps are made again; the one of the same
//! kind and name has the manifest. Whoever writes a plan writes references, too, so only ConfigMaps
//! that were made for bundles are read (docs/security.md).

use std::fmt;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use olm_types::api::{BundleLookup, CatalogSource, Step};
use olm_types::bundle::{CatalogKey, Entry, Property};
use olm_types::document::{Budget, json_as};
use olm_types::properties::annotation;
use serde::{Deserialize, Serialize};

use super::lookup;
use crate::install_plan::steps::{self, BundleError, BundleInput};

/// What stands in a step in the place of a manifest. Fields are in Go's order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BundleReference {
    /// `ConfigMap`.
    pub kind: String,
    /// Name of the ConfigMap.
    pub name: String,
    /// Namespace of the ConfigMap.
    pub namespace: String,
    /// Name of the CatalogSource of the bundle.
    pub catalog_source_name: String,
    /// Namespace of the CatalogSource of the bundle.
    pub catalog_source_namespace: String,
    /// Name of the CSV that the bundle replaces; empty if none.
    pub replaces: String,
    /// Properties of the bundle as JSON text.
    pub properties: String,
}

/// What a ConfigMap says about the bundle in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnpackedBundle {
    /// Name of the CSV; empty when there is none.
    pub csv_name: String,
    /// The CSV as JSON text.
    pub csv_json: String,
    /// Every object as JSON text, the CSV among them.
    pub objects: Vec<String>,
}

/// A ConfigMap that no step may read its manifest from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "ConfigMap {namespace}/{name} is none that OLM unpacked a bundle into for this plan: {why}; delete the \
     plan, and let a Subscription make another one"
)]
pub struct ForeignConfigMap {
    namespace: String,
    name: String,
    why: String,
}

/// A bundle image that was unpacked for an InstallPlan.
#[derive(Clone, Debug)]
pub struct Unpacked {
    /// What the plan records about it.
    pub lookup: BundleLookup,
    /// Where the bundle is in its catalog, with its manifests.
    pub input: BundleInput,
}

impl UnpackedBundle {
    /// How many bytes its objects have.
    pub fn bytes(&self) -> usize {
        self.objects.iter().map(String::len).fold(self.csv_json.len(), usize::saturating_add)
    }
}

impl BundleReference {
    /// The reference in a step's manifest; nothing when that is a manifest. A ConfigMap that is one
    /// names no CatalogSource.
    pub fn parse(manifest: &str) -> Option<Self> {
        if !manifest.contains("catalogSourceNamespace") {
            return None;
        }
        let reference: Self = json_as(manifest, &Budget::OBJECT).ok()?;
        let named = [
            &reference.name,
            &reference.namespace,
            &reference.catalog_source_name,
            &reference.catalog_source_namespace,
        ];
        let complete = reference.kind == "ConfigMap" && named.iter().all(|text| !text.is_empty());
        complete.then_some(reference)
    }

    /// Whether a plan of `namespace` may read the ConfigMap: a bundle is unpacked beside its
    /// CatalogSource, which is in the plan's namespace or in that of global catalogs.
    ///
    /// # Errors
    /// It is somewhere else.
    pub fn check_place(&self, namespace: &str, global: &str) -> Result<(), ForeignConfigMap> {
        if [namespace, global].contains(&self.namespace.as_str()) {
            return Ok(());
        }
        Err(self.foreign(format!("it is in neither {namespace} nor {global}")))
    }

    /// Whether the ConfigMap, which has this metadata, was made for a bundle: the CatalogSource of
    /// the bundle owns it.
    ///
    /// # Errors
    /// It was not.
    pub fn check_origin(&self, metadata: &ObjectMeta) -> Result<(), ForeignConfigMap> {
        let mut owners = metadata.owner_references.iter().flatten();
        let is_catalog = |owner: &OwnerReference| {
            owner.kind == CatalogSource::KIND && owner.api_version == CatalogSource::API_VERSION
        };
        match owners.any(is_catalog) {
            true => Ok(()),
            false => Err(self.foreign("no CatalogSource owns it".to_owned())),
        }
    }

    fn foreign(&self, why: String) -> ForeignConfigMap {
        let (namespace, name) = (self.namespace.clone(), self.name.clone());
        ForeignConfigMap { namespace, name, why }
    }

    /// The reference as a step holds it.
    ///
    /// # Errors
    /// It cannot be printed, which text always can.
    pub fn print(&self) -> Result<String, serde_json::Error> {
        steps::compact(self)
    }

    /// The steps of the bundle that the ConfigMap holds, with manifests.
    ///
    /// # Errors
    /// The properties or the bundle cannot be read; the text says which, as v0's does.
    pub fn steps(&self, bundle: &UnpackedBundle, namespace: &str) -> Result<Vec<Step>, String> {
        let properties = match self.properties.as_str() {
            "" => Vec::new(),
            text => annotation::parse(text).map_err(|error| {
                format!("failed to load bundle properties for {:?}: {error}", bundle.csv_name)
            })?,
        };
        let catalog = CatalogKey::new(&self.catalog_source_namespace, &self.catalog_source_name);
        let input = BundleInput {
            entry: Arc::new(nameless(&bundle.csv_name, catalog, properties)),
            replaces: Some(self.replaces.clone()).filter(|name| !name.is_empty()),
            csv_json: bundle.csv_json.clone(),
            objects: bundle.objects.clone(),
        };
        steps::bundle_steps(&input, namespace)
            .map_err(|error| format!("error calculating steps for ref {self}: {error}"))
    }
}

impl Unpacked {
    /// The bundle of `lookup`, whose place in its catalog is `entry`. The lookup then says that it is unpacked
    /// and part of the plan.
    ///
    /// # Errors
    /// The image holds another bundle than the catalog says.
    pub fn new(
        mut lookup: BundleLookup,
        entry: Arc<Entry>,
        bundle: UnpackedBundle,
    ) -> Result<Self, BundleError> {
        if !bundle.csv_name.is_empty() && bundle.csv_name != lookup.identifier {
            return Err(BundleError::OtherBundle {
                name: lookup.identifier,
                image: lookup.path,
                found: bundle.csv_name,
            });
        }
        lookup::note_unpacked(&mut lookup);
        lookup::note_persisted(&mut lookup);
        let input = BundleInput {
            entry,
            replaces: Some(lookup.replaces.clone()).filter(|name| !name.is_empty()),
            csv_json: bundle.csv_json,
            objects: bundle.objects,
        };
        Ok(Self { lookup, input })
    }

    /// The steps of the bundle, each with a reference in the place of its manifest.
    ///
    /// # Errors
    /// The bundle cannot become steps.
    pub fn steps(&self, namespace: &str) -> Result<Vec<Step>, BundleError> {
        let steps = steps::bundle_steps(&self.input, namespace)?;
        steps::referring(steps, &self.reference().print()?)
    }

    fn reference(&self) -> BundleReference {
        let catalog = &self.lookup.catalog_source_ref;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        BundleReference {
            kind: "ConfigMap".to_owned(),
            name: olm_types::hash::unpack_name(&self.lookup.path),
            namespace: text(&catalog.namespace),
            catalog_source_name: text(&catalog.name),
            catalog_source_namespace: text(&catalog.namespace),
            replaces: self.lookup.replaces.clone(),
            properties: text(&self.lookup.properties),
        }
    }
}

impl fmt::Display for BundleReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{{} {} {} {} {} {} {}}}",
            self.kind,
            self.name,
            self.namespace,
            self.catalog_source_name,
            self.catalog_source_namespace,
            self.replaces,
            self.properties
        )
    }
}

/// An entry of which only that is known which steps are made of.
fn nameless(name: &str, catalog: CatalogKey, properties: Vec<Property>) -> Entry {
    Entry { properties: properties.into(), ..Entry::new(catalog, "", "", name) }
}
