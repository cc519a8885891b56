//! Steps whose manifests are in the ConfigMap of an unpacked bundle (spec catalog-operator 4.4).

use std::collections::{BTreeMap, BTreeSet};

use olm_types::api::{Step, StepStatus};

use super::Execution;
use crate::unpack::{BundleReference, UnpackedBundle};

/// The steps of bundles, by the text that stands in the place of their manifests.
#[derive(Clone, Debug, Default)]
pub(in crate::install_plan) struct UnpackedSteps(BTreeMap<String, Result<Vec<Step>, String>>);

impl UnpackedSteps {
    /// The manifest of a step: its own, or the one of the same object of its bundle.
    pub(super) fn manifest<'a>(&'a self, step: &'a Step) -> Result<&'a str, String> {
        let own = step.resource.manifest.as_deref().unwrap_or_default();
        if BundleReference::parse(own).is_none() {
            return Ok(own);
        }
        let lost = || format!("couldn't find unpacked step for {}", described(step));
        let steps = self.0.get(own).ok_or_else(lost)?.as_ref().map_err(Clone::clone)?;
        let found = steps.iter().find(|other| is_same_object(step, other));
        found.and_then(|found| found.resource.manifest.as_deref()).ok_or_else(lost)
    }
}

impl Execution {
    /// The bundles that steps which are not done refer to; each has to be
    /// [provided](Self::provide) before the first request.
    pub fn bundles(&self) -> BTreeSet<BundleReference> {
        let open = self.steps.iter().filter(|step| !is_done(step));
        open.filter_map(|step| BundleReference::parse(step.resource.manifest.as_deref()?)).collect()
    }

    /// Takes in what the ConfigMap of a bundle holds, or why it cannot be read.
    pub fn provide(&mut self, reference: &BundleReference, bundle: Result<UnpackedBundle, String>) {
        let namespace = self.scope.namespace.clone();
        let steps = bundle.and_then(|bundle| reference.steps(&bundle, &namespace));
        let texts = self.steps.iter().filter_map(|step| step.resource.manifest.as_ref());
        let texts: BTreeSet<_> = texts
            .filter(|text| BundleReference::parse(text).as_ref() == Some(reference))
            .cloned()
            .collect();
        self.scope.bundles.0.extend(texts.into_iter().map(|text| (text, steps.clone())));
    }
}

fn is_done(step: &Step) -> bool {
    matches!(step.status, StepStatus::Present | StepStatus::Created)
}

fn is_same_object(a: &Step, b: &Step) -> bool {
    let key = |step: &Step| {
        let resource = &step.resource;
        (
            resource.kind.clone(),
            resource.name.clone(),
            resource.group.clone(),
            resource.version.clone(),
        )
    };
    key(a) == key(b)
}

fn described(step: &Step) -> String {
    let resource = &step.resource;
    format!("{} {} of {}", resource.kind, resource.name, step.resolving)
}
