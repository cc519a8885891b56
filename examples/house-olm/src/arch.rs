//! A kind of constraint: a bundle asks for another one that is built for an architecture.

use std::fmt;
use std::sync::Arc;

use olm_resolver::constraint::{
    ConstraintError, ConstraintKind, EvaluationBudget, Lookup, Requirement, Wanted,
};
use olm_resolver::problem::Bundle;
use olm_types::bundle::Property;

/// What a bundle is built for; the value is a JSON string such as `"arm64"`.
const ARCH: &str = "example.arch";

/// What it asks of another bundle.
const ARCH_REQUIRED: &str = "example.arch.required";

/// Reads `example.arch.required`.
pub(crate) struct ArchKind;

impl ConstraintKind for ArchKind {
    fn property_types(&self) -> &[&str] {
        &[ARCH_REQUIRED]
    }

    fn read(&self, property: &Property) -> Result<Arc<dyn Requirement>, ConstraintError> {
        let arch = text(property).map_err(|error| ConstraintError::Other(error.to_string()))?;
        Ok(Arc::new(BuiltFor(arch)))
    }
}

/// A bundle is built for this architecture.
#[derive(Debug)]
struct BuiltFor(String);

impl Requirement for BuiltFor {
    fn holds(&self, bundle: &Bundle, _: &mut EvaluationBudget) -> Result<bool, ConstraintError> {
        let mut architectures = bundle.entry.properties.iter().filter(|own| &*own.kind == ARCH);
        Ok(architectures.any(|own| text(own).is_ok_and(|arch| arch == self.0)))
    }

    fn lookup(&self) -> Lookup {
        Lookup::Everything
    }

    fn wanted(&self) -> Wanted {
        Wanted::Other
    }
}

impl fmt::Display for BuiltFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "built for {}", self.0)
    }
}

fn text(property: &Property) -> Result<String, serde_json::Error> {
    serde_json::from_str(&property.value)
}

#[cfg(test)]
mod tests {
    use olm_resolver::Policy;
    use olm_resolver::cases::{Case, Outcome};

    use super::*;
    use crate::resolver;

    /// A camera that asks for arm64, and a driver that is built for `arch`.
    fn outcome(arch: &str) -> Outcome {
        let bundle = |package: &str, kind: &str, arch: &str| {
            format!(
                r#"{{"schema":"olm.package","name":"{package}","defaultChannel":"stable"}},
                {{"schema":"olm.channel","package":"{package}","name":"stable","entries":[{{"name":"{package}.v1"}}]}},
                {{"schema":"olm.bundle","package":"{package}","name":"{package}.v1","image":"example.com/{package}","properties":[
                    {{"type":"olm.package","value":{{"packageName":"{package}","version":"1.0.0"}}}},
                    {{"type":"{kind}","value":"{arch}"}}]}}"#
            )
        };
        let (camera, driver) =
            (bundle("camera", ARCH_REQUIRED, "arm64"), bundle("driver", ARCH, arch));
        let case = format!(
            r#"{{"name":"c","namespace":"n","catalogs":[{{"name":"c","namespace":"n","fbc":[{camera},{driver}]}}],
            "subscriptions":[{{"name":"camera","package":"camera"}}]}}"#
        );
        Case::parse(&case).unwrap().run(&resolver(), Policy::V0).unwrap()
    }

    #[test]
    fn a_driver_of_the_architecture_comes_along() {
        let Outcome::Install(placements) = outcome("arm64") else { panic!() };
        let names: Vec<_> = placements.iter().map(|one| one.bundle.as_str()).collect();
        assert_eq!(names, ["camera.v1", "driver.v1"]);
    }

    #[test]
    fn another_one_does_not_do() {
        let Outcome::Unsatisfiable(facts) = outcome("amd64") else { panic!() };
        assert!(facts.iter().any(|fact| fact.contains("built for arm64")), "{facts:?}");
    }
}
