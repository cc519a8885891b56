//! Observed objects by namespace and name, so that a check of thousands compares none with all others.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorGroup, PackageChannel,
    PackageManifest, PackageManifestStatus, Subscription,
};
use serde_json::Value;

use crate::observed::{Observed, name, namespace};

/// Namespace and name.
type NamespacedRef<'a> = (&'a str, &'a str);

/// What checks look at.
#[derive(Debug)]
pub struct View<'a> {
    /// The objects.
    pub observed: &'a Observed,
    /// What is overdue is so now.
    pub now: Timestamp,
    csvs: BTreeMap<NamespacedRef<'a>, &'a ClusterServiceVersion>,
    /// CSVs that `spec.replaces` of another one names.
    replaced: BTreeSet<NamespacedRef<'a>>,
    plans: BTreeMap<NamespacedRef<'a>, &'a InstallPlan>,
    sources: BTreeMap<NamespacedRef<'a>, &'a CatalogSource>,
    groups: BTreeMap<&'a str, Vec<&'a OperatorGroup>>,
    subscriptions: BTreeMap<&'a str, Vec<&'a Subscription>>,
    /// By namespace and name of the catalog, and the package.
    packages: BTreeMap<(&'a str, &'a str, &'a str), &'a PackageManifestStatus>,
}

impl<'a> View<'a> {
    /// Sorts what was observed.
    #[must_use]
    pub fn new(observed: &'a Observed, now: Timestamp) -> Self {
        let mut view = Self {
            observed,
            now,
            csvs: observed.own_csvs().map(|csv| (place(&csv.metadata), csv)).collect(),
            replaced: observed.own_csvs().filter_map(replaced).collect(),
            plans: observed.install_plans.iter().map(|it| (place(&it.metadata), it)).collect(),
            sources: observed.catalog_sources.iter().map(|it| (place(&it.metadata), it)).collect(),
            groups: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            packages: observed.packages.iter().filter_map(package).collect(),
        };
        for group in &observed.operator_groups {
            view.groups.entry(namespace(&group.metadata)).or_default().push(group);
        }
        for one in &observed.subscriptions {
            view.subscriptions.entry(namespace(&one.metadata)).or_default().push(one);
        }
        view
    }

    /// CSVs that were installed where they are, in the order of namespace and name.
    pub fn csvs(&self) -> impl Iterator<Item = &'a ClusterServiceVersion> {
        self.csvs.values().copied()
    }

    /// Those of a namespace.
    pub fn csvs_in(&self, home: &'a str) -> impl Iterator<Item = &'a ClusterServiceVersion> {
        let all = self.csvs.range((home, "")..);
        all.take_while(move |((place, _), _)| *place == home).map(|(_, csv)| *csv)
    }

    /// A CSV that was installed where it is.
    #[must_use]
    pub fn csv(&self, home: &str, name: &str) -> Option<&'a ClusterServiceVersion> {
        self.csvs.get(&(home, name)).copied()
    }

    /// Whether another CSV of the namespace replaces this one.
    #[must_use]
    pub fn is_replaced(&self, csv: &ClusterServiceVersion) -> bool {
        self.replaced.contains(&place(&csv.metadata))
    }

    /// The InstallPlan that a Subscription's status points at.
    #[must_use]
    pub fn plan_of(&self, one: &Subscription) -> Option<&'a InstallPlan> {
        let reference = one.status.as_ref()?.install_plan_ref.as_ref()?;
        self.plans.get(&(namespace(&one.metadata), reference.name.as_deref()?)).copied()
    }

    /// The catalog that a Subscription names.
    #[must_use]
    pub fn source_of(&self, one: &Subscription) -> Option<&'a CatalogSource> {
        let spec = &one.spec;
        self.sources.get(&(spec.source_namespace.as_str(), spec.source.as_str())).copied()
    }

    /// The package that a Subscription asks for, in the catalog that it names.
    #[must_use]
    pub fn package_of(&self, one: &Subscription) -> Option<&'a PackageManifestStatus> {
        let spec = &one.spec;
        let key = (spec.source_namespace.as_str(), spec.source.as_str(), spec.name.as_str());
        self.packages.get(&key).copied()
    }

    /// The channel that a Subscription follows: the one that it names, or the default of its package.
    #[must_use]
    pub fn channel_of(&self, one: &Subscription) -> Option<&'a PackageChannel> {
        let package = self.package_of(one)?;
        let named = one.spec.channel.as_deref().filter(|channel| !channel.is_empty());
        let wanted = named.unwrap_or(&package.default_channel);
        package.channels.iter().find(|channel| channel.name == wanted)
    }

    /// The OperatorGroups of a namespace.
    #[must_use]
    pub fn groups_in(&self, home: &str) -> &[&'a OperatorGroup] {
        self.groups.get(home).map_or(&[], Vec::as_slice)
    }

    /// The Subscriptions of a namespace.
    #[must_use]
    pub fn subscriptions_in(&self, home: &str) -> &[&'a Subscription] {
        self.subscriptions.get(home).map_or(&[], Vec::as_slice)
    }

    /// The Subscription that installed a CSV, or is about to.
    #[must_use]
    pub fn subscription_of(&self, csv: &ClusterServiceVersion) -> Option<&'a Subscription> {
        let own = Some(name(&csv.metadata));
        let mut here = self.subscriptions_in(namespace(&csv.metadata)).iter();
        let found = here.find(|one| {
            let status = one.status.as_ref();
            let installed = status.and_then(|status| status.installed_csv.as_deref());
            let current = status.and_then(|status| status.current_csv.as_deref());
            installed == own || current == own
        });
        found.copied()
    }

    /// Namespaces in which something is installed or shall be.
    #[must_use]
    pub fn homes(&self) -> BTreeSet<&'a str> {
        let of_csvs = self.csvs.keys().map(|(home, _)| *home);
        self.subscriptions.keys().copied().chain(of_csvs).collect()
    }

    /// Objects that were kept as they came, of a kind.
    pub fn others(&self, kind: &str) -> impl Iterator<Item = &'a Value> {
        self.observed.others.iter().filter(move |object| text(object, "/kind") == kind)
    }

    /// Whether a namespace is among those that are looked at.
    #[must_use]
    pub fn is_looked_at(&self, home: &str) -> bool {
        self.observed.home.as_deref().is_none_or(|looked_at| looked_at == home)
    }
}

/// A text of an object; empty where there is none.
pub(super) fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// The value of a label; empty where there is none.
pub(super) fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    let labels = object.pointer("/metadata/labels");
    labels.and_then(|labels| labels.get(key)).and_then(Value::as_str).unwrap_or_default()
}

fn place(
    metadata: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
) -> NamespacedRef<'_> {
    (namespace(metadata), name(metadata))
}

fn replaced(csv: &ClusterServiceVersion) -> Option<NamespacedRef<'_>> {
    Some((namespace(&csv.metadata), csv.spec.replaces.as_deref()?))
}

fn package(package: &PackageManifest) -> Option<((&str, &str, &str), &PackageManifestStatus)> {
    let status = package.status.as_ref()?;
    let catalog = (status.catalog_source_namespace.as_str(), status.catalog_source.as_str());
    Some(((catalog.0, catalog.1, status.package_name.as_str()), status))
}
