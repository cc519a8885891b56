//! Which bundles fit a requirement, and in which order they are preferred.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry, Property};
use thiserror::Error;

use super::Scope;
use crate::constraint::{ConstraintError, EvaluationBudget, Lookup, Requirement};
use crate::error::Fault;
use crate::policy::Policy;
use crate::preference::{CatalogViewpoint, ChannelKey, ChannelOrderError};
use crate::problem::{Bundle, BundleId};

/// What a bundle in a list takes, in steps: with its place in the problem and for the solver.
const LISTED: u64 = 2;

/// What was found out about requirements so far.
#[derive(Default)]
pub(super) struct Known {
    channels: HashMap<ChannelPlace, OrderedChannel>,
    candidates: HashMap<(Property, CatalogKey), Arc<[Arc<Bundle>]>>,
    fitting: HashMap<Property, Arc<Fitting>>,
    found: HashMap<Lookup, Arc<[IdenticalBundles]>>,
    budget: EvaluationBudget,
}

/// Catalog, package and channel.
type ChannelPlace = (CatalogKey, Arc<str>, Arc<str>);

type OrderedChannel = Result<Arc<[Arc<Bundle>]>, ChannelOrderError>;

/// One bundle in all channels that hold it unchanged. Requirements do not depend on the channel.
type IdenticalBundles = Vec<Arc<Bundle>>;

/// What fits a requirement.
#[derive(Default)]
struct Fitting {
    bundles: HashSet<BundleId>,
    channels: BTreeMap<CatalogKey, BTreeSet<ChannelKey>>,
}

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

impl Scope<'_> {
    /// The bundles that fit a requirement and may be chosen, most preferred first, as seen from a
    /// catalog. `property` is what the requirement was read from.
    pub fn candidates(
        &mut self,
        property: &Property,
        requirement: &dyn Requirement,
        from: &CatalogKey,
    ) -> Result<Arc<[Arc<Bundle>]>, CandidateError> {
        let key = (property.clone(), from.clone());
        if let Some(known) = self.known.candidates.get(&key) {
            return Ok(known.clone());
        }
        let candidates: Arc<[_]> = self.find(property, requirement, from)?.into();
        self.known.candidates.insert(key, candidates.clone());
        Ok(candidates)
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
        self.known.budget.spend(LISTED * fitting.bundles.len() as u64)?;
        let standpoint =
            CatalogViewpoint { namespace: self.request.namespace, catalog: Some(from) };
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
                self.known.budget.spend(entries.len() as u64)?;
                found.extend(
                    entries.iter().filter(|bundle| fitting.bundles.contains(&bundle.id)).cloned(),
                );
            }
        }
        Ok(found)
    }

    /// The bundles of catalogs that fit a requirement, with their channels.
    fn fitting(
        &mut self,
        property: &Property,
        requirement: &dyn Requirement,
    ) -> Result<Arc<Fitting>, ConstraintError> {
        if let Some(known) = self.known.fitting.get(property) {
            return Ok(known.clone());
        }
        let mut fitting = Fitting::default();
        let found = self.look_up(&requirement.lookup())?;
        self.known.budget.spend(found.len() as u64)?;
        for twins in found.iter() {
            let Some(bundle) = twins.first() else { continue };
            if !requirement.holds(bundle, &mut self.known.budget)? {
                continue;
            }
            self.known.budget.spend(LISTED * twins.len() as u64)?;
            let channels = fitting.channels.entry(bundle.entry.catalog.clone()).or_default();
            channels.extend(twins.iter().map(|twin| ChannelKey::from(&*twin.entry)));
            fitting.bundles.extend(twins.iter().map(|twin| twin.id));
        }
        let fitting = Arc::new(fitting);
        self.known.fitting.insert(property.clone(), fitting.clone());
        Ok(fitting)
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
            if requirement.holds(&bundle, &mut self.known.budget)? && places.insert(place) {
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
        if let Some(known) = self.known.channels.get(&place) {
            return known.clone();
        }
        let entries = self.request.universe.channel(catalog, &key.package, &key.channel);
        let ordered = match self.preference.order_entries(&entries) {
            Ok(entries) => Ok(entries.iter().map(|entry| self.intern(entry)).collect()),
            Err(error) => Err(error),
        };
        self.known.channels.insert(place, ordered.clone());
        ordered
    }

    /// Takes steps of what the resolution may take.
    ///
    /// # Errors
    /// Fewer are left.
    pub fn spend(&mut self, steps: u64) -> Result<(), Fault> {
        self.known.budget.spend(steps).map_err(Fault::TooMuch)
    }

    /// What an index finds, looked up once.
    fn look_up(&mut self, lookup: &Lookup) -> Result<Arc<[IdenticalBundles]>, ConstraintError> {
        let lookup = if finds_everything(lookup) { &Lookup::Everything } else { lookup };
        if let Some(known) = self.known.found.get(lookup) {
            return Ok(known.clone());
        }
        let universe = self.request.universe;
        let found = match lookup {
            Lookup::Package(name) => self.twins(&universe.by_package(name)),
            Lookup::Api(gvk) => self.twins(&universe.by_gvk(gvk)),
            Lookup::Label(label) => self.twins(&universe.by_label(label)),
            Lookup::AnyOf(lookups) => self.any_of(lookups)?,
            Lookup::Everything => self.twins(&universe.all()),
        };
        self.known.found.insert(lookup.clone(), found.clone());
        Ok(found)
    }

    /// What any of these finds, once.
    fn any_of(&mut self, lookups: &[Lookup]) -> Result<Arc<[IdenticalBundles]>, ConstraintError> {
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        for lookup in lookups {
            let found = self.look_up(lookup)?;
            self.known.budget.spend(1 + found.len() as u64)?;
            let new = found
                .iter()
                .filter(|twins| twins.first().is_some_and(|twin| known.insert(twin.id)));
            all.extend(new.cloned());
        }
        Ok(all.into())
    }

    /// The bundles of entries, those together that differ in their channel only.
    fn twins(&mut self, entries: &[Arc<Entry>]) -> Arc<[IdenticalBundles]> {
        let mut twins: Vec<IdenticalBundles> = Vec::new();
        let mut known: HashMap<(&CatalogKey, &str, &str), usize> = HashMap::new();
        for entry in entries {
            let bundle = self.intern(entry);
            let name = (&entry.catalog, &*entry.package, &*entry.name);
            let own = known.get(&name).and_then(|position| twins.get_mut(*position));
            match own.filter(|own| own.first().is_some_and(|twin| twin.is_identical_to(&bundle))) {
                Some(own) => own.push(bundle),
                None => {
                    known.insert(name, twins.len());
                    twins.push(vec![bundle]);
                }
            }
        }
        twins.into()
    }
}

fn finds_everything(lookup: &Lookup) -> bool {
    match lookup {
        Lookup::Everything => true,
        Lookup::AnyOf(lookups) => lookups.iter().any(finds_everything),
        Lookup::Package(_) | Lookup::Api(_) | Lookup::Label(_) => false,
    }
}
