//! A resolver that works as OLM v0 does: no index, nothing remembered. For every dependency of
//! every candidate the whole catalog is filtered, and the properties of each entry are decoded anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use olm_resolver::constraint::{
    ClassicConstraints, ConstraintError, ConstraintKind, EvaluationBudget, PropertyLocation,
    Requirement,
};
use olm_resolver::preference::{CatalogViewpoint, ChannelKey};
use olm_resolver::problem::{Bundle, BundleId, BundleRef, Reason, Rule, VariableId};
use olm_resolver::source::{
    ClusterVersion, Deprecated, Existing, OnePerPackage, OneProvider, Subscriptions,
};
use olm_resolver::{ConstraintSource, Fault, Problem, ResolutionRequest, Resolver, Scope};
use olm_types::bundle::{CatalogKey, CatalogView, Entry, Property, Universe};
use olm_types::gvk::Gvk;
use olm_types::properties::value;

/// The default resolver with dependencies found by scanning.
pub fn resolver() -> Resolver {
    let sources: Vec<Box<dyn ConstraintSource>> = vec![
        Box::new(Existing),
        Box::new(Subscriptions),
        Box::new(Deprecated),
        Box::new(ClusterVersion),
        Box::new(ScanningDependencies),
        Box::new(OneProvider),
        Box::new(OnePerPackage),
    ];
    Resolver { sources, repairs: 0, ..Resolver::default() }
}

/// The same question over another universe.
pub fn over<'a>(
    request: &ResolutionRequest<'a>,
    universe: &'a dyn Universe,
) -> ResolutionRequest<'a> {
    ResolutionRequest {
        subscriptions: request.subscriptions.clone(),
        installed: request.installed.clone(),
        ..ResolutionRequest::new(request.namespace, universe)
    }
}

/// A universe whose every answer looks at every entry.
pub struct Scanning<'a>(pub &'a dyn Universe);

impl Scanning<'_> {
    fn filter(&self, fits: impl Fn(&Entry) -> bool) -> Vec<Arc<Entry>> {
        let mut all = self.0.all();
        all.retain(|entry| fits(entry));
        all
    }
}

impl Universe for Scanning<'_> {
    fn catalogs(&self) -> Vec<CatalogView> {
        self.0.catalogs()
    }

    fn by_package(&self, package: &str) -> Vec<Arc<Entry>> {
        self.filter(|entry| *entry.package == *package)
    }

    fn by_gvk(&self, gvk: &Gvk) -> Vec<Arc<Entry>> {
        self.filter(|entry| entry.provided_apis().any(|api| api == *gvk))
    }

    fn by_label(&self, label: &str) -> Vec<Arc<Entry>> {
        let labels = |entry: &Entry| {
            entry.properties.iter().filter_map(value::label).any(|own| own == label)
        };
        self.filter(labels)
    }

    fn channel(&self, catalog: &CatalogKey, package: &str, channel: &str) -> Vec<Arc<Entry>> {
        self.filter(|entry| {
            entry.catalog == *catalog && *entry.package == *package && *entry.channel == *channel
        })
    }

    fn all(&self) -> Vec<Arc<Entry>> {
        self.0.all()
    }
}

/// Dependencies, each looked for among all entries.
struct ScanningDependencies;

impl ConstraintSource for ScanningDependencies {
    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        scope: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        let known = ClassicConstraints.property_types();
        let mut faults = Vec::new();
        for property in bundle.entry.properties.iter() {
            if !known.contains(&&*property.kind) {
                continue;
            }
            match candidates(property, bundle, scope) {
                Ok((requirement, found)) => {
                    let choices = found.iter().map(|entry| problem.bundle(&scope.intern(entry)));
                    let rule = Rule::Dependency { of: variable, choices: choices.collect() };
                    problem.state(rule, Reason::BundleRequires(requirement));
                }
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

type Found = (Arc<dyn Requirement>, Vec<Arc<Entry>>);

fn candidates(property: &Property, of: &Bundle, scope: &Scope<'_>) -> Result<Found, Fault> {
    let fault = |source: ConstraintError| Fault::Property {
        bundle: Box::new(BundleRef::from(&*of.entry)),
        property: property.kind.to_string(),
        place: PropertyLocation::of(&source, 0, &property.value),
        source,
    };
    let requirement = ClassicConstraints.read(property).map_err(fault)?;
    let fits = |entry: &Arc<Entry>| {
        requirement
            .holds(&Bundle::new(BundleId(0), entry.clone()), &mut EvaluationBudget::default())
    };
    let mut places: BTreeSet<(CatalogKey, ChannelKey)> = BTreeSet::new();
    for entry in scope.universe().all() {
        if fits(&entry).map_err(fault)? {
            places.insert((entry.catalog.clone(), ChannelKey::from(&*entry)));
        }
    }
    let mut found = Vec::new();
    let from = CatalogViewpoint { namespace: scope.namespace(), catalog: Some(&of.entry.catalog) };
    for catalog in scope.catalogs_in_order(&from) {
        if catalog == scope.virtual_catalog() {
            found.extend(installed(requirement.as_ref(), scope).map_err(fault)??);
            continue;
        }
        let own = places.iter().filter(|(place, _)| *place == catalog);
        let mut channels: Vec<ChannelKey> = own.map(|(_, channel)| channel.clone()).collect();
        scope.preference().order_channels(&mut channels);
        for key in channels {
            let entries = scope.universe().channel(&catalog, &key.package, &key.channel);
            for entry in scope.preference().order_entries(&entries)? {
                if fits(&entry).map_err(fault)? {
                    found.push(entry);
                }
            }
        }
    }
    Ok((requirement, found))
}

type Installed = Result<Vec<Arc<Entry>>, Fault>;

/// The CSVs of the namespace that fit, package by package; without a Subscription the first only.
fn installed(
    requirement: &dyn Requirement,
    scope: &Scope<'_>,
) -> Result<Installed, ConstraintError> {
    let (mut places, mut packages) = (BTreeSet::new(), BTreeSet::new());
    let mut fitting: Vec<Arc<Entry>> = Vec::new();
    for csv in scope.installed().bundles() {
        let bundle = Bundle::new(BundleId(0), csv.entry.clone());
        let place = (csv.entry.package.clone(), csv.subscription.clone());
        if requirement.holds(&bundle, &mut EvaluationBudget::default())? && places.insert(place) {
            packages.insert(csv.entry.package.clone());
            fitting.push(csv.entry.clone());
        }
    }
    let mut found = Vec::new();
    for package in packages {
        let own: Vec<_> =
            fitting.iter().filter(|entry| entry.package == package).cloned().collect();
        match scope.preference().order_entries(&own) {
            Ok(ordered) => found.extend(ordered),
            Err(error) => return Ok(Err(Fault::Channel(error))),
        }
    }
    Ok(Ok(found))
}
