//! Who needs whom among what is installed: each requirement is tested as the resolver tests it.

use std::sync::Arc;

use olm_resolver::constraint::{ClassicConstraints, ConstraintKind, EvaluationBudget, Requirement};
use olm_resolver::problem::{Bundle, BundleId};
use olm_resolver::{Installed, ResolutionRequest};
use serde::Serialize;

use super::Why;

/// A CSV that needs the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NeededBy {
    /// Its name.
    pub csv: String,
    /// What it requires, in the resolver's words.
    pub requires: String,
    /// Other CSVs that provide it as well.
    pub also: Vec<String>,
}

/// Something that the operator needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Need {
    /// What it is, in the resolver's words.
    pub requires: String,
    /// CSVs of the namespace that provide it.
    pub provided_by: Vec<String>,
}

impl NeededBy {
    /// Who needs what, in one line, and who provides it as well.
    #[must_use]
    pub fn line(&self) -> String {
        let also = match self.also.as_slice() {
            [] => String::new(),
            names => format!(", which {} provides, too", names.join(", ")),
        };
        format!("{} requires an operator {}{also}", self.csv, self.requires)
    }
}

impl Need {
    /// What is needed, in one line, and who provides it.
    #[must_use]
    pub fn line(&self) -> String {
        let by = match self.provided_by.as_slice() {
            [] => "not here".to_owned(),
            names => names.join(", "),
        };
        format!("an operator {}: {by}", self.requires)
    }
}

/// Adds both.
pub(super) fn add(request: &ResolutionRequest<'_>, why: &mut Why) {
    let Some(own) = why.installed.clone() else { return };
    let installed = Installed::read(request);
    let bundle = |entry| Bundle::new(BundleId(0), Arc::clone(entry));
    let bundles: Vec<Bundle> = installed.bundles().iter().map(|one| bundle(&one.entry)).collect();
    let mut budget = EvaluationBudget::default();
    for needing in &bundles {
        for requirement in requirements(needing) {
            let providers = bundles.iter().filter(|other| {
                other.entry.name != needing.entry.name
                    && requirement.holds(other, &mut budget).unwrap_or_default()
            });
            let mut names: Vec<String> =
                providers.map(|other| other.entry.name.to_string()).collect();
            let requires = requirement.to_string();
            if *needing.entry.name == *own {
                let need = Need { requires, provided_by: names };
                // A bundle may require the same twice, for itself and for its CRDs.
                if !why.needs.contains(&need) {
                    why.needs.push(need);
                }
            } else if let Some(place) = names.iter().position(|name| *name == own) {
                names.remove(place);
                let csv = needing.entry.name.to_string();
                let needed = NeededBy { csv, requires, also: names };
                if !why.needed_by.contains(&needed) {
                    why.needed_by.push(needed);
                }
            }
        }
    }
}

fn requirements(bundle: &Bundle) -> Vec<Arc<dyn Requirement>> {
    let kinds = ClassicConstraints;
    let properties = bundle.entry.properties.iter();
    let needed = properties.filter(|one| kinds.property_types().contains(&&*one.kind));
    needed.filter_map(|property| kinds.read(property).ok()).collect()
}
