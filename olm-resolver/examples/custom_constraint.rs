//! A constraint kind and a constraint source of one's own.
//!
//! `example.arch.required` lets a bundle ask for another one that is built for an architecture. And
//! the cluster's owner admits packages from a list only.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use olm_resolver::constraint::{
    ConstraintError, ConstraintKind, EvaluationBudget, Lookup, Requirement, Wanted,
};
use olm_resolver::memory::MemoryUniverse;
use olm_resolver::problem::{Bundle, Reason, Rule, VariableId};
use olm_resolver::source::Dependencies;
use olm_resolver::{
    ConstraintSource, Fault, Problem, ResolutionRequest, Resolver, Scope, SubscriptionFacts,
};
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};

/// Reads `example.arch.required`, whose value is a JSON string such as `"arm64"`.
struct ArchKind;

impl ConstraintKind for ArchKind {
    fn property_types(&self) -> &[&str] {
        &["example.arch.required"]
    }

    fn read(&self, property: &Property) -> Result<Arc<dyn Requirement>, ConstraintError> {
        let arch: String = serde_json::from_str(&property.value)
            .map_err(|error| ConstraintError::Other(error.to_string()))?;
        Ok(Arc::new(ArchRequirement(arch)))
    }
}

/// Another bundle has an equal `example.arch` property.
#[derive(Debug)]
struct ArchRequirement(String);

impl Requirement for ArchRequirement {
    fn holds(&self, bundle: &Bundle, _: &mut EvaluationBudget) -> Result<bool, ConstraintError> {
        let wanted = format!("{:?}", self.0);
        let mut properties = bundle.entry.properties.iter();
        Ok(properties.any(|own| &*own.kind == "example.arch" && *own.value == *wanted))
    }

    fn lookup(&self) -> Lookup {
        Lookup::Everything
    }

    fn wanted(&self) -> Wanted {
        Wanted::Other
    }
}

impl fmt::Display for ArchRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "built for {}", self.0)
    }
}

/// Admits bundles of these packages only.
struct AllowedPackages(Vec<&'static str>);

impl ConstraintSource for AllowedPackages {
    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        _: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        if !self.0.iter().any(|package| bundle.is_of_package(package)) {
            let text = format!("package {} is not admitted here", bundle.entry.package);
            problem.state(Rule::Prohibited(variable), Reason::Other(text));
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let universe: MemoryUniverse = [
        entry("camera.v1", "camera", &[("example.arch.required", "\"arm64\"")]),
        entry("driver.v1", "driver", &[("example.arch", "\"arm64\"")]),
        entry("driver-intel.v1", "driver-intel", &[("example.arch", "\"amd64\"")]),
    ]
    .into_iter()
    .collect();
    let subscription = SubscriptionFacts {
        name: "camera".to_owned(),
        package: "camera".to_owned(),
        ..SubscriptionFacts::default()
    };
    let request = ResolutionRequest {
        subscriptions: vec![subscription],
        ..ResolutionRequest::new("team", &universe)
    };

    let own: [Arc<dyn ConstraintKind>; 1] = [Arc::new(ArchKind)];
    let resolver = Resolver::default().with_source(Dependencies::new(own));
    for chosen in resolver.resolve(&request)?.chosen {
        println!("install {}", chosen.entry.name);
    }

    let strict = resolver.with_source(AllowedPackages(vec!["camera"]));
    match strict.resolve(&request) {
        Ok(_) => Err("the driver was not to be admitted".into()),
        Err(error) => {
            println!("refused: {error}");
            Ok(())
        }
    }
}

fn entry(name: &str, package: &str, properties: &[(&str, &str)]) -> Entry {
    let properties = properties.iter().map(|(kind, value)| Property::new(kind, value));
    Entry {
        name: name.into(),
        package: package.into(),
        channel: "stable".into(),
        catalog: CatalogKey::new("team", "devices"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: properties.collect(),
        content: BundleContent::Inline,
        deprecations: Deprecations::default(),
    }
}
