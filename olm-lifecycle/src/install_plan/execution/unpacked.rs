//! Steps whose manifests are in the ConfigMap of an unpacked bundle (spec catalog-operator 4.4).

use std::collections::{BTreeMap, BTreeSet};

use olm_types::api::{Step, StepStatus};

use super::Execution;
use crate::install_plan::steps::bytes_of;
use crate::unpack::{BundleReference, UnpackedBundle};

/// Most bytes of the steps of all bundles that one plan refers to. What a bundle holds is bounded
/// ([`olm_types::document::Budget::BUNDLE`]); how many bundles a plan names is up to whoever wrote its
/// status.
const ALL_BUNDLES: usize = 64 << 20;

/// What a bundle counts for at least, in bytes: reading it takes a request and a processor.
const ONE_BUNDLE: usize = 256 << 10;

/// The manifests of bundles, by what stands in their place.
#[derive(Clone, Debug, Default)]
pub(in crate::install_plan) struct UnpackedSteps {
    bundles: BTreeMap<BundleReference, Result<Manifests, String>>,
    /// Bytes of all manifests.
    bytes: usize,
}

/// Manifests by kind, name, group and version of their objects; of two, the first one.
type Manifests = BTreeMap<[String; 4], String>;

impl UnpackedSteps {
    /// The manifest of a step: its own, or the one of the same object of its bundle.
    pub(super) fn manifest<'a>(&'a self, step: &'a Step) -> Result<&'a str, String> {
        let own = step.resource.manifest.as_deref().unwrap_or_default();
        let Some(reference) = BundleReference::parse(own) else { return Ok(own) };
        let lost = || format!("couldn't find unpacked step for {}", described(step));
        let manifests = self.bundles.get(&reference).ok_or_else(lost)?;
        let manifests = manifests.as_ref().map_err(Clone::clone)?;
        manifests.get(&object_of(step)).map(String::as_str).ok_or_else(lost)
    }

    /// Keeps the steps of a bundle, or the reason why there are none.
    fn keep(&mut self, reference: &BundleReference, steps: Result<Vec<Step>, String>) {
        let kept = steps.and_then(|steps| {
            let bytes: usize = steps.iter().map(bytes_of).sum();
            self.bytes = self.bytes.saturating_add(bytes.max(ONE_BUNDLE));
            self.check_limit(reference)?;
            let mut manifests = Manifests::new();
            for step in steps {
                let manifest = step.resource.manifest.clone().unwrap_or_default();
                manifests.entry(object_of(&step)).or_insert(manifest);
            }
            Ok(manifests)
        });
        self.bundles.insert(reference.clone(), kept);
    }

    /// How many bundles are kept.
    #[cfg(test)]
    pub(in crate::install_plan) fn kept(&self) -> usize {
        self.bundles.values().filter(|bundle| bundle.is_ok()).count()
    }

    fn check_limit(&self, reference: &BundleReference) -> Result<(), String> {
        if self.bytes <= ALL_BUNDLES {
            return Ok(());
        }
        Err(format!(
            "the bundles of the plan have more than {ALL_BUNDLES} bytes of manifests together, as of \
             ConfigMap {}/{}: delete the plan, and create Subscriptions for fewer operators at a time",
            reference.namespace, reference.name
        ))
    }
}

impl Execution {
    /// The bundles that steps which are not done refer to; each has to be
    /// [provided](Self::provide) before the first request.
    pub fn bundles(&self) -> BTreeSet<BundleReference> {
        let open = self.steps.iter().filter(|step| !is_done(step));
        open.filter_map(|step| BundleReference::parse(step.resource.manifest.as_deref()?)).collect()
    }

    /// Whether a bundle is worth reading.
    ///
    /// # Errors
    /// Those that were provided are all that one plan may have; the text says so.
    pub fn check_limit(&self, reference: &BundleReference) -> Result<(), String> {
        self.scope.bundles.check_limit(reference)
    }

    /// Takes in what the ConfigMap of a bundle holds, or why it cannot be read.
    pub fn provide(&mut self, reference: &BundleReference, bundle: Result<UnpackedBundle, String>) {
        let steps = bundle.and_then(|bundle| reference.steps(&bundle, &self.scope.namespace));
        self.scope.bundles.keep(reference, steps);
    }
}

fn is_done(step: &Step) -> bool {
    matches!(step.status, StepStatus::Present | StepStatus::Created)
}

/// What says that two steps are about the same object.
fn object_of(step: &Step) -> [String; 4] {
    let resource = &step.resource;
    [&resource.kind, &resource.name, &resource.group, &resource.version].map(String::clone)
}

fn described(step: &Step) -> String {
    let resource = &step.resource;
    format!("{} {} of {}", resource.kind, resource.name, step.resolving)
}
