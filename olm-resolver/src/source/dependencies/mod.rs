//! Dependencies of bundles: each property of a known constraint kind needs one of its candidates.
//!
//! Properties of unknown types are ignored. No candidate at all is legal: the bundle just cannot be
//! chosen. The candidates may include the bundle itself.

mod known;

use std::collections::BTreeMap;
use std::sync::Arc;

use known::Known;
use olm_types::bundle::Property;

use crate::constraint::{
    ClassicConstraints, ConstraintError, ConstraintKind, PropertyLocation, Requirement,
};
use crate::error::Fault;
use crate::problem::{Bundle, BundleRef, Problem, Reason, Rule, VariableId};
use crate::source::{CandidateError, ConstraintSource, Scope};

/// States the dependencies of every reachable bundle. Remembers what it has read.
pub struct Dependencies {
    kinds: BTreeMap<String, Arc<dyn ConstraintKind>>,
    known: Known,
}

impl Dependencies {
    /// Knows these kinds; a later kind of the same property type replaces an earlier one.
    pub fn new(kinds: impl IntoIterator<Item = Arc<dyn ConstraintKind>>) -> Self {
        let by_type = |kind: Arc<dyn ConstraintKind>| {
            let types: Vec<String> =
                kind.property_types().iter().map(ToString::to_string).collect();
            types.into_iter().map(move |name| (name, kind.clone()))
        };
        Self { kinds: kinds.into_iter().flat_map(by_type).collect(), known: Known::default() }
    }
}

impl Default for Dependencies {
    /// The kinds of OLM v0.
    fn default() -> Self {
        Self::new([Arc::new(ClassicConstraints) as Arc<dyn ConstraintKind>])
    }
}

impl ConstraintSource for Dependencies {
    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        scope: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        let mut faults = Vec::new();
        for (index, property) in bundle.entry.properties.iter().enumerate() {
            let Some(kind) = self.kinds.get(&*property.kind) else { continue };
            let read = self.known.requirement(kind.as_ref(), property);
            match choices(read, (index, property), bundle, scope) {
                Ok((requirement, candidates)) => {
                    let choices = problem.choices(&candidates);
                    let rule = Rule::Dependency { of: variable, choices };
                    problem.state(rule, Reason::BundleRequires(requirement));
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

type Choices = (Arc<dyn Requirement>, Arc<[Arc<Bundle>]>);

fn choices(
    read: Result<Arc<dyn Requirement>, ConstraintError>,
    (index, property): (usize, &Property),
    bundle: &Bundle,
    scope: &mut Scope<'_>,
) -> Result<Choices, Fault> {
    let fault = |source: ConstraintError| Fault::Property {
        bundle: Box::new(BundleRef::from(&*bundle.entry)),
        property: property.kind.to_string(),
        place: PropertyLocation::of(&source, index, &property.value),
        source,
    };
    let requirement = read.map_err(fault)?;
    match scope.candidates(property, requirement.as_ref(), &bundle.entry.catalog) {
        Ok(candidates) => Ok((requirement, candidates)),
        Err(CandidateError::Constraint(source)) => Err(fault(source)),
        Err(CandidateError::Channel(source)) => Err(Fault::Channel(source)),
    }
}
