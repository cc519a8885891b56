//! What constraint sources can see: the request, the installed CSVs, and the catalogs through
//! indexes. Everything that is asked twice is remembered for the duration of one resolution.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, CatalogView, Entry, Property};
use thiserror::Error;

use crate::constraint::{ConstraintError, ConstraintKind, Lookup, Requirement};
use crate::installed::{Installed, VIRTUAL_CATALOG};
use crate::preference::{ChannelKey, ChannelOrderError, Preference, Standpoint};
use crate::problem::{Bundle, BundleId};
use crate::request::{ResolutionRequest, SubscriptionFacts};

/// The view of one resolution.
pub struct Scope<'a> {
    request: &'a ResolutionRequest<'a>,
    preference: &'a dyn Preference,
    installed: Installed,
    subscriptions: Vec<Arc<SubscriptionFacts>>,
    catalogs: Vec<CatalogView>,
    bundles: Vec<Arc<Bundle>>,
    known: HashMap<Place, BundleId>,
    channels: HashMap<ChannelPlace, OrderedChannel>,
    requirements: HashMap<Property, Result<Arc<dyn Requirement>, ConstraintError>>,
    candidates: HashMap<(Property, CatalogKey), Arc<[Arc<Bundle>]>>,
}

type Place = (CatalogKey, Arc<str>, Arc<str>, Arc<str>);
type ChannelPlace = (CatalogKey, Arc<str>, Arc<str>);
type OrderedChannel = Result<Arc<[Arc<Bundle>]>, ChannelOrderError>;

/// Why the candidates of a requirement cannot be listed.
#[derive(Clone, Debug, Error)]
pub enum CandidateError {
    /// The requirement cannot be tested.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// A channel with a candidate has no order.
    #[error(transparent)]
    Channel(#[from] ChannelOrderError),
}

impl<'a> Scope<'a> {
    /// The view of a request. Subscriptions are visited by name.
    pub(crate) fn new(
        request: &'a ResolutionRequest<'a>,
        preference: &'a dyn Preference,
        installed: Installed,
    ) -> Self {
        let mut subscriptions: Vec<_> =
            request.subscriptions.iter().cloned().map(Arc::new).collect();
        subscriptions.sort_by(|a, b| a.name.cmp(&b.name));
        let mut catalogs = request.universe.catalogs();
        let key = CatalogKey::new(request.namespace, VIRTUAL_CATALOG);
        catalogs.push(CatalogView { key, priority: 0, unavailable: None });
        Self {
            request,
            preference,
            installed,
            subscriptions,
            catalogs,
            bundles: Vec::new(),
            known: HashMap::new(),
            channels: HashMap::new(),
            requirements: HashMap::new(),
            candidates: HashMap::new(),
        }
    }

    /// The namespace that is resolved.
    pub fn namespace(&self) -> &'a str {
        self.request.namespace
    }

    /// The Subscriptions, sorted by name.
    pub fn subscriptions(&self) -> &[Arc<SubscriptionFacts>] {
        &self.subscriptions
    }

    /// The CSVs of the namespace.
    pub fn installed(&self) -> &Installed {
        &self.installed
    }

    /// The preferences of this resolution.
    pub fn preference(&self) -> &'a dyn Preference {
        self.preference
    }

    /// Key of the virtual catalog that holds the CSVs of the namespace.
    pub fn virtual_catalog(&self) -> CatalogKey {
        CatalogKey::new(self.request.namespace, VIRTUAL_CATALOG)
    }

    /// All catalogs, the virtual one included, most preferred first.
    pub fn catalogs_in_order(&self, from: &Standpoint<'_>) -> Vec<CatalogKey> {
        let mut views = self.catalogs.clone();
        self.preference.order_catalogs(from, &mut views);
        views.into_iter().map(|view| view.key).collect()
    }

    /// Whether the catalog is unknown or has no entries.
    pub fn is_empty(&self, catalog: &CatalogKey) -> bool {
        !self.request.universe.all().iter().any(|entry| entry.catalog == *catalog)
    }

    /// The entries of a package in one catalog, or in all of them and among the installed CSVs.
    pub fn package(&self, catalog: Option<&CatalogKey>, package: &str) -> Vec<Arc<Entry>> {
        let mut entries = self.request.universe.by_package(package);
        match catalog {
            Some(key) => entries.retain(|entry| entry.catalog == *key),
            None => {
                let installed = self.installed.bundles().iter().map(|bundle| &bundle.entry);
                entries.extend(installed.filter(|entry| *entry.package == *package).cloned());
            }
        }
        entries
    }

    /// The bundle of an entry; the same one for the same place.
    pub fn intern(&mut self, entry: &Arc<Entry>) -> Arc<Bundle> {
        let place = (
            entry.catalog.clone(),
            entry.package.clone(),
            entry.channel.clone(),
            entry.name.clone(),
        );
        if let Some(known) = self.known.get(&place).and_then(|id| self.bundles.get(id.index())) {
            return known.clone();
        }
        let id = BundleId(u32::try_from(self.bundles.len()).unwrap_or(u32::MAX));
        let bundle = Arc::new(Bundle::new(id, entry.clone()));
        self.known.insert(place, id);
        self.bundles.push(bundle.clone());
        bundle
    }

    /// Every entry of every catalog.
    pub fn all(&self) -> Vec<Arc<Entry>> {
        self.request.universe.all()
    }

    /// Reads a property as a requirement.
    pub fn requirement(
        &mut self,
        kind: &dyn ConstraintKind,
        property: &Property,
    ) -> Result<Arc<dyn Requirement>, ConstraintError> {
        if let Some(known) = self.requirements.get(property) {
            return known.clone();
        }
        let requirement = kind.read(property);
        self.requirements.insert(property.clone(), requirement.clone());
        requirement
    }

    /// The bundles that fit a requirement and may be chosen, most preferred first, as seen from a
    /// catalog. `property` is what the requirement was read from.
    pub fn candidates(
        &mut self,
        property: &Property,
        requirement: &dyn Requirement,
        from: &CatalogKey,
    ) -> Result<Arc<[Arc<Bundle>]>, CandidateError> {
        let key = (property.clone(), from.clone());
        if let Some(known) = self.candidates.get(&key) {
            return Ok(known.clone());
        }
        let candidates: Arc<[_]> = self.find(requirement, from)?.into();
        self.candidates.insert(key, candidates.clone());
        Ok(candidates)
    }

    /// Fitting bundles only count through their channel: skipped entries are never candidates, and
    /// a channel without order is an error as soon as one of its entries fits.
    fn find(
        &mut self,
        requirement: &dyn Requirement,
        from: &CatalogKey,
    ) -> Result<Vec<Arc<Bundle>>, CandidateError> {
        let mut fitting = BTreeSet::new();
        let mut channels: BTreeMap<CatalogKey, BTreeSet<ChannelKey>> = BTreeMap::new();
        for entry in self.look_up(&requirement.lookup()) {
            let bundle = self.intern(&entry);
            if !fitting.contains(&bundle.id) && requirement.holds(&bundle)? {
                fitting.insert(bundle.id);
                channels
                    .entry(entry.catalog.clone())
                    .or_default()
                    .insert(ChannelKey::from(&*entry));
            }
        }
        let mut found = Vec::new();
        let standpoint = Standpoint { namespace: self.request.namespace, catalog: Some(from) };
        for catalog in self.catalogs_in_order(&standpoint) {
            if catalog == self.virtual_catalog() {
                found.extend(self.find_installed(requirement)?);
                continue;
            }
            let mut keys: Vec<_> =
                channels.remove(&catalog).unwrap_or_default().into_iter().collect();
            self.preference.order_channels(&mut keys);
            for key in keys {
                let entries = self.ordered_channel(&catalog, &key)?;
                found.extend(entries.iter().filter(|bundle| fitting.contains(&bundle.id)).cloned());
            }
        }
        Ok(found)
    }

    /// Installed CSVs of one package without a Subscription count as one place, as in v0: only the
    /// first is looked at. With Subscriptions they look like entries of one channel.
    fn find_installed(
        &mut self,
        requirement: &dyn Requirement,
    ) -> Result<Vec<Arc<Bundle>>, CandidateError> {
        let mut places = BTreeSet::new();
        let mut channels: BTreeMap<Arc<str>, Vec<Arc<Entry>>> = BTreeMap::new();
        for installed in self.installed.bundles().to_vec() {
            let bundle = self.intern(&installed.entry);
            let place = (installed.entry.package.clone(), installed.subscription.clone());
            if requirement.holds(&bundle)? && places.insert(place) {
                channels.entry(installed.entry.package.clone()).or_default().push(installed.entry);
            }
        }
        let mut found = Vec::new();
        for entries in channels.values() {
            for entry in self.preference.order_entries(entries)? {
                found.push(self.intern(&entry));
            }
        }
        Ok(found)
    }

    fn ordered_channel(&mut self, catalog: &CatalogKey, key: &ChannelKey) -> OrderedChannel {
        let place = (catalog.clone(), key.package.clone(), key.channel.clone());
        if let Some(known) = self.channels.get(&place) {
            return known.clone();
        }
        let entries = self.request.universe.channel(catalog, &key.package, &key.channel);
        let ordered = match self.preference.order_entries(&entries) {
            Ok(entries) => Ok(entries.iter().map(|entry| self.intern(entry)).collect()),
            Err(error) => Err(error),
        };
        self.channels.insert(place, ordered.clone());
        ordered
    }

    fn look_up(&self, lookup: &Lookup) -> Vec<Arc<Entry>> {
        let universe = self.request.universe;
        match lookup {
            Lookup::Package(name) => universe.by_package(name),
            Lookup::Api(gvk) => universe.by_gvk(gvk),
            Lookup::Label(label) => universe.by_label(label),
            Lookup::AnyOf(lookups) if lookups.contains(&Lookup::Everything) => universe.all(),
            Lookup::AnyOf(lookups) => {
                lookups.iter().flat_map(|lookup| self.look_up(lookup)).collect()
            }
            Lookup::Everything => universe.all(),
        }
    }
}
