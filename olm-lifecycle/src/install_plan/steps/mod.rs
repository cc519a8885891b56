//! From a chosen bundle to the steps of an InstallPlan (spec catalog-operator 3.9 and 3.10).
//!
//! A bundle gives its CSV, its other objects in catalog order, then the rights of its CSV. The
//! steps of all bundles together are ordered CSV, CRD, rest; otherwise they keep their order.
//! Manifests come from a catalog and are untrusted: what cannot become a step is a [`BundleError`]
//! that names bundle, object and field.

mod csv;
mod dependency;
mod lookup;
mod objects;
mod rbac;
mod shapes;
pub(crate) mod text;

use std::sync::Arc;

use olm_types::api::{Step, StepResource, StepStatus};
use olm_types::bundle::{CatalogKey, Entry};
use olm_types::document::Budget;
use olm_types::properties::annotation::{self, AnnotationError};

pub use dependency::subscription_name;
pub(crate) use dependency::subscription_step;
pub use lookup::bundle_lookup;
pub(crate) use objects::BUNDLE_SECRET;
pub use objects::object_kind;
pub(crate) use rbac::{binding_hash, rules_hash};
pub(crate) use text::compact;

/// Most bytes of the steps of one bundle, manifests and names: as much as its objects may have
/// ([`Budget::BUNDLE`]). Roles and bindings are made for it, and references put in the place of
/// manifests, so that steps may be many times as large as what they are made of.
const MOST_OF_BUNDLE: usize = Budget::BUNDLE.bytes;

/// Most bytes of the steps that a plan records: an API server takes no larger request.
const MOST_OF_PLAN: usize = 3 << 20;

/// Most bytes of the name of an object.
const LONGEST_NAME: usize = 253;

/// A bundle whose manifests are at hand.
#[derive(Clone, Debug)]
pub struct BundleInput {
    /// The place of the bundle in its catalog.
    pub entry: Arc<Entry>,
    /// Name of the CSV that it replaces in this namespace, if it replaces one.
    pub replaces: Option<String>,
    /// JSON text of the CSV.
    pub csv_json: String,
    /// JSON texts of all objects of the bundle, the CSV among them.
    pub objects: Vec<String>,
}

impl BundleInput {
    /// How many bytes its manifests have.
    pub fn bytes(&self) -> usize {
        self.objects.iter().map(String::len).fold(self.csv_json.len(), usize::saturating_add)
    }
}

/// Why a bundle cannot become steps. None of these goes away by trying again: the catalog has to
/// change.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The CSV is not a JSON object.
    #[error(
        "bundle CSV {name} is not a JSON object ({problem}); the catalog that holds it has to be repaired"
    )]
    CsvNotAnObject {
        /// Name of the bundle.
        name: String,
        /// What the parser said.
        problem: String,
    },
    /// A bundle image holds a bundle that its catalog calls otherwise.
    #[error(
        "bundle {name}: its image {image} holds {found}; the catalog that names the image has to be \
         repaired"
    )]
    OtherBundle {
        /// Name of the bundle in its catalog.
        name: String,
        /// The image.
        image: String,
        /// Name of the CSV in the image.
        found: String,
    },
    /// The CSV lacks `apiVersion`.
    #[error("bundle CSV {0} missing APIVersion")]
    MissingApiVersion(String),
    /// The CSV lacks `kind`.
    #[error("bundle CSV {0} missing Kind")]
    MissingKind(String),
    /// Another object of the bundle is unusable.
    #[error(
        "object {index} of bundle {name}: {problem}; the catalog that holds the bundle has to be repaired"
    )]
    Object {
        /// Name of the bundle.
        name: String,
        /// Place of the object in the bundle, from 0.
        index: usize,
        /// What is wrong, with the field where one is.
        problem: String,
    },
    /// The install strategy cannot be read.
    #[error(
        "bundle CSV {name}: spec.install: {problem}; the catalog that holds it has to be repaired"
    )]
    Strategy {
        /// Name of the bundle.
        name: String,
        /// What the parser said.
        problem: String,
    },
    /// The properties of the bundle cannot be recorded on its CSV.
    #[error("bundle {name}: {source}; the catalog that holds it has to be repaired")]
    Properties {
        /// Name of the bundle.
        name: String,
        /// What is wrong with them.
        source: AnnotationError,
    },
    /// A name is longer than an API server takes, or the steps are larger.
    #[error("bundle {name}: {problem}; the catalog that holds it has to be repaired")]
    Size {
        /// Name of the bundle.
        name: String,
        /// What is too large, and how large it may be.
        problem: String,
    },
    /// The steps of several bundles are too large for one plan.
    #[error(
        "the steps of {bundles} bundles take more than {MOST_OF_PLAN} bytes, which is the most that an API \
         server takes of an InstallPlan; create Subscriptions for fewer operators at a time"
    )]
    Plan {
        /// How many bundles the plan is for.
        bundles: usize,
    },
    /// A manifest could not be printed.
    #[error("step manifest cannot be printed")]
    Print(#[from] serde_json::Error),
}

/// The steps of one bundle in namespace `namespace`, in the order of spec catalog-operator 3.10.
pub fn bundle_steps(bundle: &BundleInput, namespace: &str) -> Result<Vec<Step>, BundleError> {
    let mut sink = StepSink::new(&bundle.entry.name, &bundle.entry.catalog);
    let csv = csv::prepare(bundle, namespace)?;
    sink.push_object("ClusterServiceVersion", &csv.object)?;
    objects::append(&mut sink, &bundle.entry.name, &bundle.objects)?;
    if let Some(strategy) = &csv.strategy {
        rbac::append(&mut sink, csv.name(&bundle.entry), namespace, strategy)?;
    }
    Ok(sink.steps)
}

/// Orders the steps of all bundles: CSVs, then CRDs, then the rest, each in the order given.
pub fn order(mut steps: Vec<Step>) -> Vec<Step> {
    steps.sort_by_key(|step| match step.resource.kind.as_str() {
        "ClusterServiceVersion" => 0,
        "CustomResourceDefinition" => 1,
        _ => 2,
    });
    steps
}

/// The properties annotation of a bundle's CSV.
fn properties_text(entry: &Entry) -> Result<String, BundleError> {
    annotation::print(&entry.properties)
        .map_err(|source| BundleError::Properties { name: entry.name.to_string(), source })
}

/// Checks that an API server can take these steps of so many bundles in one plan.
///
/// # Errors
/// They are too large.
pub fn check_plan(steps: &[Step], bundles: usize) -> Result<(), BundleError> {
    let bytes: usize = steps.iter().map(bytes_of).sum();
    if bytes <= MOST_OF_PLAN { Ok(()) } else { Err(BundleError::Plan { bundles }) }
}

/// The steps of a bundle, with the same text in the place of each manifest.
///
/// # Errors
/// They are too large for a plan.
pub(crate) fn referring(mut steps: Vec<Step>, reference: &str) -> Result<Vec<Step>, BundleError> {
    for step in &mut steps {
        step.resource.manifest = None;
    }
    let names: usize = steps.iter().map(bytes_of).sum();
    // Before any of them is made: properties of a catalog may be large.
    if names.saturating_add(steps.len().saturating_mul(reference.len())) > MOST_OF_PLAN {
        return Err(BundleError::Plan { bundles: 1 });
    }
    for step in &mut steps {
        step.resource.manifest = Some(reference.to_owned());
    }
    Ok(steps)
}

/// How many bytes of a step are kept.
pub(in crate::install_plan) fn bytes_of(step: &Step) -> usize {
    let Step { resolving, resource, .. } = step;
    let StepResource { source_name, source_namespace, group, version, kind, name, manifest } =
        resource;
    let names = [resolving, source_name, source_namespace, group, version, kind, name];
    let names: usize = names.into_iter().map(String::len).sum();
    names + manifest.as_deref().map_or(0, str::len)
}

/// Collects steps that share the bundle they resolve and the catalog they come from.
struct StepSink<'a> {
    resolving: &'a str,
    catalog: &'a CatalogKey,
    steps: Vec<Step>,
    /// Bytes of the steps.
    bytes: usize,
}

impl<'a> StepSink<'a> {
    fn new(resolving: &'a str, catalog: &'a CatalogKey) -> Self {
        Self { resolving, catalog, steps: Vec::new(), bytes: 0 }
    }

    fn push(
        &mut self,
        [group, version, kind, name]: [&str; 4],
        manifest: String,
    ) -> Result<(), BundleError> {
        let resource = StepResource {
            source_name: self.catalog.name.to_string(),
            source_namespace: self.catalog.namespace.to_string(),
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            manifest: Some(manifest),
        };
        let step = Step {
            resolving: self.resolving.to_owned(),
            resource,
            status: StepStatus::Unknown,
            ..Step::default()
        };
        self.bytes = self.bytes.saturating_add(bytes_of(&step));
        if self.bytes > MOST_OF_BUNDLE {
            let problem =
                format!("its steps, rights and references included, exceed {MOST_OF_BUNDLE} bytes");
            return Err(BundleError::Size { name: self.resolving.to_owned(), problem });
        }
        self.steps.push(step);
        Ok(())
    }

    /// Names become part of each Role and binding.
    fn check_name(&self, field: &str, name: &str) -> Result<(), BundleError> {
        if name.len() <= LONGEST_NAME {
            return Ok(());
        }
        let problem = format!("{field} is longer than {LONGEST_NAME} bytes");
        Err(BundleError::Size { name: self.resolving.to_owned(), problem })
    }

    /// A step for a free-form object; `kind` is the step's kind, which may differ from the object's.
    fn push_object(&mut self, kind: &str, object: &serde_json::Value) -> Result<(), BundleError> {
        let field = |pointer: &str| {
            object.pointer(pointer).and_then(|value| value.as_str()).unwrap_or_default()
        };
        let (group, version) =
            field("/apiVersion").rsplit_once('/').unwrap_or(("", field("/apiVersion")));
        let name = match field("/metadata/name") {
            "" => field("/metadata/generateName"),
            name => name,
        };
        self.push([group, version, kind, name], text::free_form(object))
    }
}

#[cfg(test)]
mod tests;
