//! What constraint sources can see: the request, the installed CSVs, and the catalogs through
//! indexes. Everything that is asked twice is remembered for the duration of one resolution.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, CatalogView, Entry, Property, Universe};
use olm_types::version::Version;
use thiserror::Error;

use crate::answer::Refusal;
use crate::constraint::{ConstraintError, ConstraintKind, Lookup, Requirement};
use crate::error::{CatalogFault, Fault, ResolveError};
use crate::installed::{Installed, VIRTUAL_CATALOG};
use crate::policy::Policy;
use crate::preference::{ChannelKey, ChannelOrderError, Preference, Standpoint};
use crate::problem::{Bundle, BundleId};
use crate::request::{ResolutionRequest, SubscriptionFacts};

/// Steps that all CEL rules of a resolution may take together; about a second.
const EFFORT: u64 = 20_000_000;

/// The view of one resolution.
pub struct Scope<'a> {
    request: &'a ResolutionRequest<'a>,
    preference: &'a dyn Preference,
    policy: Policy,
    installed: Installed,
    subscriptions: Vec<Arc<SubscriptionFacts>>,
    catalogs: Vec<CatalogView>,
    bundles: Vec<Arc<Bundle>>,
    known: HashMap<Place, BundleId>,
    channels: HashMap<ChannelPlace, OrderedChannel>,
    requirements: HashMap<Property, Result<Arc<dyn Requirement>, ConstraintError>>,
    candidates: HashMap<(Property, CatalogKey), Arc<[Arc<Bundle>]>>,
    fitting: HashMap<Property, Arc<Fitting>>,
    effort: u64,
    set_aside: Vec<Refusal>,
    left_out: BTreeMap<String, Fault>,
}

type Place = (CatalogKey, Arc<str>, Arc<str>, Arc<str>);
type ChannelPlace = (CatalogKey, Arc<str>, Arc<str>);
/// Catalog, package and bundle.
type Name = (CatalogKey, Arc<str>, Arc<str>);

/// What fits a requirement.
#[derive(Default)]
struct Fitting {
    bundles: BTreeSet<BundleId>,
    channels: BTreeMap<CatalogKey, BTreeSet<ChannelKey>>,
}

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
        policy: Policy,
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
            policy,
            installed,
            subscriptions,
            catalogs,
            bundles: Vec::new(),
            known: HashMap::new(),
            channels: HashMap::new(),
            requirements: HashMap::new(),
            candidates: HashMap::new(),
            fitting: HashMap::new(),
            effort: 0,
            set_aside: Vec::new(),
            left_out: BTreeMap::new(),
        }
    }

    /// The namespace that is resolved.
    pub fn namespace(&self) -> &'a str {
        self.request.namespace
    }

    /// What is resolved.
    pub(crate) fn request(&self) -> &'a ResolutionRequest<'a> {
        self.request
    }

    /// The catalogs.
    pub fn universe(&self) -> &'a dyn Universe {
        self.request.universe
    }

    /// How far a failure reaches.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// The version of the cluster, if bundles are to be checked against it.
    pub fn cluster_version(&self) -> Option<&'a Version> {
        self.request.cluster_version.as_ref()
    }

    /// Records something malformed that is left out under [`Policy::Isolated`].
    pub fn leave_out(&mut self, fault: Fault) {
        self.left_out.insert(fault.to_string(), fault);
    }

    /// What was left out, sorted by its text.
    pub(crate) fn left_out(&self) -> Vec<Fault> {
        self.left_out.values().cloned().collect()
    }

    /// Refuses a Subscription without stopping any other.
    pub(crate) fn put_aside(&mut self, subscription: &SubscriptionFacts, error: ResolveError) {
        let subscriptions = vec![subscription.name.clone()];
        self.set_aside.push(Refusal { subscriptions, csvs: Vec::new(), error });
    }

    /// The Subscriptions that were refused by themselves.
    pub(crate) fn set_aside(&self) -> &[Refusal] {
        &self.set_aside
    }

    /// Whether there is a CSV of this name that no Subscription refers to.
    pub(crate) fn is_orphan(&self, csv: &str) -> bool {
        self.installed.named(csv).is_some_and(|bundle| bundle.subscription.is_none())
    }

    /// Why a catalog cannot be used, if so.
    pub(crate) fn unavailable(&self, catalog: &CatalogKey) -> Option<CatalogFault> {
        let view = self.catalogs.iter().find(|view| view.key == *catalog)?;
        Some(CatalogFault { catalog: catalog.clone(), reason: view.unavailable.clone()? })
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
        !self.request.universe.has_entries(catalog)
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

    /// The entries of the same catalog with this name, in channels of this name.
    pub(crate) fn named(&self, entry: &Entry) -> Vec<Arc<Entry>> {
        self.request.universe.named(&entry.catalog, &entry.channel, &entry.name)
    }

    /// Whether the bundle fits. What all such tests of a resolution may take is bounded.
    fn holds(
        &mut self,
        requirement: &dyn Requirement,
        bundle: &Bundle,
    ) -> Result<bool, ConstraintError> {
        self.effort = self.effort.saturating_add(requirement.effort(bundle));
        if self.effort > EFFORT {
            return Err(ConstraintError::TooMuch { limit: EFFORT });
        }
        requirement.holds(bundle)
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
        let candidates: Arc<[_]> = self.find(property, requirement, from)?.into();
        self.candidates.insert(key, candidates.clone());
        Ok(candidates)
    }

    /// The bundles of catalogs that fit a requirement, with their channels. A bundle in several
    /// channels is tested once.
    fn fitting(
        &mut self,
        property: &Property,
        requirement: &dyn Requirement,
    ) -> Result<Arc<Fitting>, ConstraintError> {
        if let Some(known) = self.fitting.get(property) {
            return Ok(known.clone());
        }
        let mut fitting = Fitting::default();
        let mut tested: HashMap<Name, (Arc<Entry>, bool)> = HashMap::new();
        for entry in self.look_up(&requirement.lookup()) {
            let name = (entry.catalog.clone(), entry.package.clone(), entry.name.clone());
            let twin = tested.get(&name).filter(|(twin, _)| twin.properties == entry.properties);
            let fits = match twin.filter(|(twin, _)| twin.version == entry.version) {
                Some((_, fits)) => *fits,
                None => {
                    let bundle = self.intern(&entry);
                    let fits = self.holds(requirement, &bundle)?;
                    tested.insert(name, (entry.clone(), fits));
                    fits
                }
            };
            if fits {
                fitting.bundles.insert(self.intern(&entry).id);
                let channels = fitting.channels.entry(entry.catalog.clone()).or_default();
                channels.insert(ChannelKey::from(&*entry));
            }
        }
        let fitting = Arc::new(fitting);
        self.fitting.insert(property.clone(), fitting.clone());
        Ok(fitting)
    }

    /// Fitting bundles only count through their channel: skipped entries are never candidates, and
    /// a channel without order is an error as soon as one of its entries fits.
    fn find(
        &mut self,
        property: &Property,
        requirement: &dyn Requirement,
        from: &CatalogKey,
    ) -> Result<Vec<Arc<Bundle>>, CandidateError> {
        let fitting = self.fitting(property, requirement)?;
        let mut found = Vec::new();
        let standpoint = Standpoint { namespace: self.request.namespace, catalog: Some(from) };
        for catalog in self.catalogs_in_order(&standpoint) {
            if catalog == self.virtual_catalog() {
                found.extend(self.find_installed(requirement)?);
                continue;
            }
            let mut keys: Vec<ChannelKey> =
                fitting.channels.get(&catalog).into_iter().flatten().cloned().collect();
            self.preference.order_channels(&mut keys);
            for key in keys {
                let entries = match self.ordered_channel(&catalog, &key) {
                    Err(error) if self.policy == Policy::Isolated => {
                        self.leave_out(Fault::Channel(error));
                        continue;
                    }
                    entries => entries?,
                };
                found.extend(
                    entries.iter().filter(|bundle| fitting.bundles.contains(&bundle.id)).cloned(),
                );
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
            if self.holds(requirement, &bundle)? && places.insert(place) {
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
