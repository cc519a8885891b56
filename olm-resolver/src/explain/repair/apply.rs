//! A request with a change made, without touching the original.

use std::sync::Arc;

use olm_types::annotations::{PIN, VERSION_RANGE};
use olm_types::bundle::{CatalogKey, CatalogView, Entry, Property, Universe};
use olm_types::gvk::Gvk;
use olm_types::properties::value;
use olm_types::version::{Range, Version};
use serde_json::json;

use super::{MissingContent, Repair};
use crate::request::{InstalledCsv, ResolutionRequest, SubscriptionFacts};

/// A request that owns what was changed.
pub(super) struct Changed<'a> {
    original: &'a ResolutionRequest<'a>,
    universe: Overlay<'a>,
    subscriptions: Vec<SubscriptionFacts>,
    held: Vec<SubscriptionFacts>,
    installed: Vec<InstalledCsv>,
    cluster_version: Option<Version>,
}

impl Changed<'_> {
    /// The request to resolve.
    pub(super) fn request(&self) -> ResolutionRequest<'_> {
        ResolutionRequest {
            namespace: self.original.namespace,
            universe: &self.universe,
            subscriptions: self.subscriptions.clone(),
            held: self.held.clone(),
            installed: self.installed.clone(),
            fail_forward: self.original.fail_forward,
            cluster_version: self.cluster_version.clone(),
        }
    }

    fn subscription(&mut self, name: &str) -> Option<&mut SubscriptionFacts> {
        self.subscriptions.iter_mut().find(|subscription| subscription.name == name)
    }
}

/// The request after a change; nothing if the change cannot be made.
pub(super) fn to<'a>(request: &'a ResolutionRequest<'a>, repair: &Repair) -> Option<Changed<'a>> {
    let mut changed = Changed {
        original: request,
        universe: Overlay { below: request.universe, extra: None },
        subscriptions: request.subscriptions.clone(),
        held: request.held.clone(),
        installed: request.installed.clone(),
        cluster_version: request.cluster_version.clone(),
    };
    match repair {
        Repair::UseChannel { subscription, channel, .. } => {
            changed.subscription(subscription)?.channel = Some(channel.clone());
        }
        Repair::UseCatalog { subscription, catalog, .. } => {
            changed.subscription(subscription)?.catalog = Some(catalog.clone());
        }
        Repair::DropStartingCsv { subscription, .. } => {
            let subscription = changed.subscription(subscription)?;
            (subscription.starting_csv, subscription.pinned) = (None, false);
        }
        Repair::AcceptAnyVersion { subscription } => {
            let subscription = changed.subscription(subscription)?;
            (subscription.pinned, subscription.version_range) = (false, None);
        }
        Repair::Resume { subscription, annotation } => {
            let at = changed.held.iter().position(|held| held.name == *subscription)?;
            changed.subscriptions.push(resumed(changed.held.remove(at), annotation));
        }
        Repair::DeleteCsv { csv } => changed.installed.retain(|installed| installed.name != *csv),
        Repair::AddCatalog(content) => {
            changed.universe.extra = Some(Arc::new(entry(request, content)?))
        }
        Repair::UpgradeCluster { version } => changed.cluster_version = Some(version.clone()),
        Repair::MoveSubscription { subscription, installed } => {
            changed.subscriptions.retain(|other| other.name != *subscription);
            changed.installed.retain(|csv| Some(&csv.name) != installed.as_ref());
        }
    }
    Some(changed)
}

/// The Subscription without the annotation.
fn resumed(held: SubscriptionFacts, annotation: &str) -> SubscriptionFacts {
    let (pinned, version_range) = match annotation {
        PIN => (false, held.version_range.clone()),
        VERSION_RANGE => (held.pinned, None),
        _ => (held.pinned, held.version_range.clone()),
    };
    SubscriptionFacts { pinned, version_range, held_by: None, ..held }
}

/// A catalog entry that offers just this.
fn entry(request: &ResolutionRequest<'_>, content: &MissingContent) -> Option<Entry> {
    let (package, version) = match content {
        MissingContent::Package { name, range } => (name.as_str(), version_in(range)?),
        MissingContent::Api(_) | MissingContent::Label(_) => {
            ("another-package", Version::new(1, 0, 0))
        }
    };
    let own = json!({"packageName": package, "version": version.to_string()});
    let mut properties = vec![Property::new("olm.package", &own.to_string())];
    match content {
        MissingContent::Package { .. } => {}
        MissingContent::Api(api) => {
            let Gvk { group, version, kind } = api;
            let value = json!({"group": group, "kind": kind, "version": version});
            properties.push(Property::new("olm.gvk", &value.to_string()));
        }
        MissingContent::Label(label) => {
            properties.push(Property::new("olm.label", &json!({"label": label}).to_string()));
        }
    }
    let catalog = CatalogKey::new(request.namespace, "another-catalog");
    Some(Entry {
        version: Some(version),
        in_default_channel: true,
        properties: properties.into(),
        ..Entry::new(catalog, package, "another-channel", "another-bundle")
    })
}

/// A version in a range: one that the range names, or one right after it.
fn version_in(range: &str) -> Option<Version> {
    let parsed = Range::parse(range).ok()?;
    let named = range.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let named = named.filter_map(|text| Version::parse(text).ok());
    let around = named.flat_map(|version| {
        let (major, minor, patch) = (version.major(), version.minor(), version.patch());
        [
            (major, minor, patch),
            (major, minor, patch.saturating_add(1)),
            (major, minor.saturating_add(1), 0),
        ]
    });
    around
        .chain([(0, 0, 0), (1, 0, 0)])
        .map(|(major, minor, patch)| Version::new(major, minor, patch))
        .find(|version| parsed.contains(version))
}

/// A universe with one more entry, in a catalog of its own.
struct Overlay<'a> {
    below: &'a dyn Universe,
    extra: Option<Arc<Entry>>,
}

impl Overlay<'_> {
    fn with(&self, mut found: Vec<Arc<Entry>>, fits: impl Fn(&Entry) -> bool) -> Vec<Arc<Entry>> {
        found.extend(self.extra.iter().filter(|entry| fits(entry)).cloned());
        found
    }
}

impl Universe for Overlay<'_> {
    fn catalogs(&self) -> Vec<CatalogView> {
        let mut catalogs = self.below.catalogs();
        catalogs.extend(self.extra.iter().map(|entry| CatalogView {
            key: entry.catalog.clone(),
            priority: 0,
            unavailable: None,
        }));
        catalogs
    }

    fn by_package(&self, package: &str) -> Vec<Arc<Entry>> {
        self.with(self.below.by_package(package), |entry| *entry.package == *package)
    }

    fn by_gvk(&self, gvk: &Gvk) -> Vec<Arc<Entry>> {
        self.with(self.below.by_gvk(gvk), |entry| entry.provided_apis().any(|api| api == *gvk))
    }

    fn by_label(&self, label: &str) -> Vec<Arc<Entry>> {
        self.with(self.below.by_label(label), |entry| {
            entry.properties.iter().filter_map(value::label).any(|own| own == label)
        })
    }

    fn channel(&self, catalog: &CatalogKey, package: &str, channel: &str) -> Vec<Arc<Entry>> {
        self.with(self.below.channel(catalog, package, channel), |entry| {
            entry.catalog == *catalog && *entry.package == *package && *entry.channel == *channel
        })
    }

    fn all(&self) -> Vec<Arc<Entry>> {
        self.with(self.below.all(), |_| true)
    }

    fn named(&self, catalog: &CatalogKey, channel: &str, name: &str) -> Vec<Arc<Entry>> {
        self.with(self.below.named(catalog, channel, name), |entry| {
            entry.catalog == *catalog && *entry.channel == *channel && *entry.name == *name
        })
    }

    fn has_entries(&self, catalog: &CatalogKey) -> bool {
        self.below.has_entries(catalog) || self.extra.iter().any(|entry| entry.catalog == *catalog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(">=1.2.3", Some("1.2.3"))]
    #[case(">1.2.3 <2.0.0", Some("1.2.4"))]
    #[case("<1.0.0", Some("0.0.0"))]
    #[case("!=1.0.0 >=1.0.0", Some("1.0.1"))]
    #[case(">1.0.0 <1.0.0", None)]
    #[case("nonsense", None)]
    fn versions_in_ranges(#[case] range: &str, #[case] wanted: Option<&str>) {
        assert_eq!(version_in(range).map(|version| version.to_string()).as_deref(), wanted);
    }
}
