//! Resolution problems as text: one JSON object per line, with the outcome that is expected.
//!
//! The format is that of the crate's test data (`tests/data`); members that are not known are
//! ignored. A case holds every catalog of a cluster as file-based catalog objects, so that a real
//! problem can be written down and resolved again elsewhere.

mod catalog;
mod outcome;

use olm_types::bundle::{CatalogKey, CatalogView, Property};
use olm_types::gvk::Gvk;
use olm_types::version::Version;
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

pub use outcome::{Difference, Expectation, Outcome, Placement};

use crate::error::ResolveError;
use crate::memory::MemoryUniverse;
use crate::policy::Policy;
use crate::request::{InstalledCsv, InstalledProperties, ResolutionRequest, SubscriptionFacts};
use crate::resolution::Resolution;
use crate::resolver::Resolver;

/// One resolution problem.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// Unique within its file.
    pub name: String,
    /// The rule that the case isolates.
    #[serde(default)]
    pub why: String,
    /// Outcome that is expected.
    #[serde(default)]
    pub expect: Expectation,
    namespace: String,
    global_namespace: Option<String>,
    catalogs: Vec<CaseCatalog>,
    subscriptions: Vec<CaseSubscription>,
    #[serde(default)]
    installed: Vec<CaseCsv>,
}

/// Why a line is not a case.
#[derive(Debug, Error)]
pub enum CaseError {
    /// Not JSON, or a member has the wrong type.
    #[error("case does not parse: {0}")]
    Json(#[from] serde_json::Error),
    /// A version does not parse.
    #[error("version {text:?} of {what} does not parse: {reason}")]
    Version {
        /// What has the version.
        what: String,
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Case {
    /// Reads one line.
    pub fn parse(line: &str) -> Result<Self, CaseError> {
        Ok(serde_json::from_str(line)?)
    }

    /// Resolves the case under a policy. Of several refusals the first one counts.
    pub fn run(&self, resolver: &Resolver, policy: Policy) -> Result<Outcome, CaseError> {
        let universe = self.universe()?;
        let answer = resolver.outcome(&self.request(&universe)?, policy);
        Ok(Outcome::from(answer.into_resolution()))
    }

    /// The most preferred answer, all or nothing. The outer error is one of the case.
    pub fn resolve(
        &self,
        resolver: &Resolver,
    ) -> Result<Result<Resolution, ResolveError>, CaseError> {
        let universe = self.universe()?;
        Ok(resolver.resolve(&self.request(&universe)?))
    }

    /// The question of the case, about its own catalogs.
    pub fn request<'a>(
        &'a self,
        universe: &'a MemoryUniverse,
    ) -> Result<ResolutionRequest<'a>, CaseError> {
        Ok(ResolutionRequest {
            subscriptions: self.subscriptions.iter().map(CaseSubscription::facts).collect(),
            installed: self.installed.iter().map(CaseCsv::facts).collect::<Result<_, _>>()?,
            ..ResolutionRequest::new(&self.namespace, universe)
        })
    }

    /// The catalogs that are visible in the namespace.
    pub fn universe(&self) -> Result<MemoryUniverse, CaseError> {
        let mut universe = MemoryUniverse::default();
        for catalog in &self.catalogs {
            let visible = catalog.namespace == self.namespace
                || self.global_namespace.as_ref() == Some(&catalog.namespace);
            if visible {
                universe.add_catalog(catalog.view());
                catalog::load(&catalog.view().key, &catalog.fbc, &mut universe)?;
            }
        }
        Ok(universe)
    }
}

#[derive(Debug, Deserialize)]
struct CaseCatalog {
    name: String,
    namespace: String,
    #[serde(default)]
    priority: i64,
    #[serde(default)]
    unavailable: bool,
    #[serde(default)]
    fbc: Vec<Box<RawValue>>,
}

impl CaseCatalog {
    fn view(&self) -> CatalogView {
        let key = CatalogKey::new(&self.namespace, &self.name);
        let reason = || format!("no registry client established for catalogsource {key}");
        let unavailable = self.unavailable.then(reason);
        CatalogView { key, priority: self.priority, unavailable }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CaseSubscription {
    name: String,
    package: String,
    channel: Option<String>,
    #[serde(default)]
    catalog: String,
    #[serde(default)]
    catalog_namespace: String,
    #[serde(rename = "startingCSV")]
    starting_csv: Option<String>,
    #[serde(rename = "installedCSV")]
    installed_csv: Option<String>,
    #[serde(rename = "currentCSV")]
    current_csv: Option<String>,
}

impl CaseSubscription {
    fn facts(&self) -> SubscriptionFacts {
        let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let anywhere = self.catalog.is_empty() && self.catalog_namespace.is_empty();
        SubscriptionFacts {
            name: self.name.clone(),
            package: self.package.clone(),
            channel: some(&self.channel),
            catalog: (!anywhere).then(|| CatalogKey::new(&self.catalog_namespace, &self.catalog)),
            starting_csv: some(&self.starting_csv),
            installed_csv: some(&self.installed_csv),
            current_csv: some(&self.current_csv),
            ..SubscriptionFacts::default()
        }
    }
}

#[derive(Debug, Deserialize)]
struct CaseCsv {
    name: String,
    version: Option<String>,
    #[serde(default)]
    provided: Vec<Gvk>,
    #[serde(default)]
    required: Vec<Gvk>,
    properties: Option<Vec<CaseProperty>>,
}

impl CaseCsv {
    fn facts(&self) -> Result<InstalledCsv, CaseError> {
        let version = self.version.as_deref().filter(|text| !text.is_empty());
        let version = version.map(|text| {
            Version::parse(text).map_err(|error| CaseError::Version {
                what: self.name.clone(),
                text: text.to_owned(),
                reason: error.to_string(),
            })
        });
        let properties = match &self.properties {
            Some(list) => {
                InstalledProperties::Annotated(list.iter().map(CaseProperty::property).collect())
            }
            None => InstalledProperties::Apis {
                provided: self.provided.clone(),
                required: self.required.clone(),
            },
        };
        Ok(InstalledCsv {
            version: version.transpose()?,
            properties,
            ..InstalledCsv::new(&self.name)
        })
    }
}

/// A property with its value as written.
#[derive(Debug, Deserialize)]
struct CaseProperty {
    #[serde(rename = "type")]
    kind: String,
    value: Box<RawValue>,
}

impl CaseProperty {
    fn property(&self) -> Property {
        Property { kind: self.kind.as_str().into(), value: self.value.get().into() }
    }
}
