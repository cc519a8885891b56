//! What constraint sources can see: the request, the installed CSVs, and the catalogs through
//! indexes. Everything that is asked twice is remembered for the duration of one resolution.

mod bundles;
mod candidates;

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, CatalogView, Entry, Universe};
use olm_types::version::Version;

use bundles::Bundles;
pub use candidates::CandidateError;
use candidates::Known;

use crate::error::{CatalogFault, Fault, ResolveError};
use crate::installed::{Installed, VIRTUAL_CATALOG};
use crate::outcome::Refusal;
use crate::policy::Policy;
use crate::preference::{CatalogViewpoint, Preference};
use crate::problem::{Bundle, ClaimsCache};
use crate::request::{ResolutionRequest, SubscriptionFacts};
use crate::source::versions::Accepted;

/// The view of one resolution.
pub struct Scope<'a> {
    request: &'a ResolutionRequest<'a>,
    preference: &'a dyn Preference,
    claims: &'a ClaimsCache,
    policy: Policy,
    installed: Installed,
    subscriptions: Vec<Arc<SubscriptionFacts>>,
    held: Vec<Arc<SubscriptionFacts>>,
    catalogs: Vec<CatalogView>,
    bundles: Bundles,
    known: Known,
    accepted: Vec<Accepted>,
    set_aside: Vec<Refusal>,
    left_out: BTreeMap<String, Fault>,
}

impl<'a> Scope<'a> {
    /// The view of a request. Subscriptions are visited by name.
    pub(crate) fn new(
        request: &'a ResolutionRequest<'a>,
        preference: &'a dyn Preference,
        claims: &'a ClaimsCache,
        installed: Installed,
        policy: Policy,
    ) -> Self {
        let sorted = |all: &[SubscriptionFacts]| {
            let mut all: Vec<_> = all.iter().cloned().map(Arc::new).collect();
            all.sort_by(|a, b| a.name.cmp(&b.name));
            all
        };
        let (subscriptions, held) = (sorted(&request.subscriptions), sorted(&request.held));
        let mut catalogs = request.universe.catalogs();
        let key = CatalogKey::new(request.namespace, VIRTUAL_CATALOG);
        catalogs.push(CatalogView { key, priority: 0, unavailable: None });
        Self {
            request,
            preference,
            claims,
            policy,
            installed,
            subscriptions,
            held,
            catalogs,
            bundles: Bundles::default(),
            known: Known::default(),
            accepted: Vec::new(),
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

    /// Records what a Subscription accepts of its package.
    pub(super) fn accept_only(&mut self, accepted: Accepted) {
        self.accepted.push(accepted);
    }

    /// What Subscriptions accept that declare something about versions.
    pub(super) fn accepted(&self) -> &[Accepted] {
        &self.accepted
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

    /// The Subscriptions for which nothing new is resolved, sorted by name.
    pub fn held(&self) -> &[Arc<SubscriptionFacts>] {
        &self.held
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
    pub fn catalogs_in_order(&self, from: &CatalogViewpoint<'_>) -> Vec<CatalogKey> {
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
        self.bundles.intern(entry, self.claims)
    }

    /// The entries of the same catalog with this name, in channels of this name.
    pub(crate) fn named(&self, entry: &Entry) -> Vec<Arc<Entry>> {
        self.request.universe.named(&entry.catalog, &entry.channel, &entry.name)
    }
}
