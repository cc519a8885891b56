//! What the table of all that is installed in a cluster is made of.
//!
//! Of each object no more is kept than a row shows: a thousand namespaces have as many CSVs, and InstallPlans hold the
//! manifests of everything.

use std::collections::BTreeSet;

use anyhow::Result;
use kube::api::Api;
use olm_plan::Observed;
use olm_plan::observed::Plural;
use olm_types::api::{
    ClusterServiceVersion, ClusterServiceVersionSpec, CsvDescription, InstallPlan, PackageManifest,
    Subscription, SubscriptionSpec,
};
use olm_types::labels::COPIED_FROM;

use crate::cluster::{Cluster, cause, slim_metadata, without_olm};
use crate::examined::pages::{FEW, MANY};

/// A catalog with its namespace, and a package of it.
type CatalogPackage = (String, String, String);

impl Cluster {
    /// Subscriptions of all namespaces and what came of them, for [`olm_plan::installed::installed`]. Copies of CSVs
    /// are left out, and so is what would say whose dependency an operator is.
    ///
    /// # Errors
    /// Subscriptions of the cluster cannot be read, or time runs out while they are. Every other kind that cannot be
    /// read is noted in the result and complained of.
    pub async fn observe_installed(&self) -> Result<Observed> {
        let mut observed = Observed::default();
        let subscriptions: Api<Subscription> = self.api(None);
        let read = self.kept(&subscriptions, (MANY, None), subscription).await;
        observed.subscriptions = read.map_err(without_olm)?;
        let originals = format!("!{COPIED_FROM}");
        let csvs: Api<ClusterServiceVersion> = self.api(None);
        let plans: Api<InstallPlan> = self.api(None);
        let (csvs, plans, packages) = tokio::join!(
            self.kept(&csvs, (FEW, Some(&originals)), csv),
            self.kept(&plans, (FEW, None), plan),
            self.asked_packages(None, &observed.subscriptions),
        );
        observed.csvs = self.or_unread(csvs, "clusterserviceversions", &mut observed);
        observed.install_plans = self.or_unread(plans, "installplans", &mut observed);
        observed.packages = self.or_unread(packages, "packagemanifests", &mut observed);
        Ok(observed)
    }

    /// The packages that Subscriptions ask for, as far as the packages API presents them: channels with versions.
    pub(crate) async fn asked_packages(
        &self,
        home: Option<&str>,
        subscriptions: &[Subscription],
    ) -> Result<Vec<PackageManifest>> {
        let asked: BTreeSet<CatalogPackage> = subscriptions.iter().map(of_subscription).collect();
        let all = self.package_manifests(home).await?;
        let is_asked =
            |one: &PackageManifest| of_package(one).is_some_and(|it| asked.contains(&it));
        Ok(all.into_iter().filter(is_asked).map(package).collect())
    }

    fn or_unread<T: Default>(&self, read: Result<T>, kind: Plural, observed: &mut Observed) -> T {
        read.unwrap_or_else(|error| {
            let cause = cause(&error);
            self.notices.say(&format!("warning: cannot read {kind}: {cause}"));
            observed.unread.insert(kind, cause);
            T::default()
        })
    }
}

fn of_subscription(one: &Subscription) -> CatalogPackage {
    let spec = &one.spec;
    (spec.source_namespace.clone(), spec.source.clone(), spec.name.clone())
}

fn of_package(one: &PackageManifest) -> Option<CatalogPackage> {
    let status = one.status.as_ref()?;
    let (home, catalog) = (&status.catalog_source_namespace, &status.catalog_source);
    Some((home.clone(), catalog.clone(), status.package_name.clone()))
}

fn subscription(one: Subscription, _: usize) -> Subscription {
    let status = one.status.map(|mut status| {
        status.catalog_health = Vec::new();
        status
    });
    let spec = SubscriptionSpec { config: None, ..one.spec };
    Subscription { metadata: slim_metadata(one.metadata), spec, status }
}

/// Its name, its version and how it is.
fn csv(one: ClusterServiceVersion, _: usize) -> ClusterServiceVersion {
    let mut metadata = slim_metadata(one.metadata);
    metadata.annotations = None;
    let status = one.status.map(|mut status| {
        status.conditions = Vec::new();
        status.requirement_status = Vec::new();
        status
    });
    let version = one.spec.version;
    let spec = ClusterServiceVersionSpec { version, ..ClusterServiceVersionSpec::default() };
    ClusterServiceVersion { metadata, spec, status }
}

/// Without its steps.
fn plan(one: InstallPlan, _: usize) -> InstallPlan {
    let mut metadata = slim_metadata(one.metadata);
    metadata.annotations = None;
    let status = one.status.map(|mut status| {
        status.plan = Vec::new();
        status.bundle_lookups = Vec::new();
        status
    });
    InstallPlan { metadata, spec: one.spec, status }
}

/// Its channels with versions, without texts.
fn package(mut one: PackageManifest) -> PackageManifest {
    one.metadata = slim_metadata(one.metadata);
    for channel in one.status.iter_mut().flat_map(|status| status.channels.iter_mut()) {
        let version = channel.current_csv_desc.take().and_then(|head| head.version);
        let head = |version| CsvDescription { version: Some(version), ..CsvDescription::default() };
        channel.current_csv_desc = version.map(head);
    }
    one
}

#[cfg(test)]
mod tests {
    use olm_plan::installed::installed;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn read<K: serde::de::DeserializeOwned>(value: Value) -> K {
        from_value(value).unwrap()
    }

    fn whole() -> Observed {
        let annotations = json!({"olm-rs.dev/pause": "true"});
        let metadata = |name: &str| {
            json!({"name": name, "namespace": "ns", "annotations": annotations,
                "managedFields": [{"manager": "m"}]})
        };
        let spec = json!({"name": "kettle", "source": "kitchen", "sourceNamespace": "olm"});
        let status = json!({"installedCSV": "kettle.v1", "currentCSV": "kettle.v2",
            "state": "UpgradePending", "installPlanRef": {"name": "p"},
            "conditions": [{"type": "Ready", "status": "False", "reason": "RequiresApproval"}]});
        let entries = json!([{"name": "kettle.v2", "version": "2.0.0"}, {"name": "kettle.v1"}]);
        let channel = json!({"name": "stable", "currentCSV": "kettle.v2", "entries": entries,
            "currentCSVDesc": {"version": "2.0.0", "description": "long"}});
        Observed {
            subscriptions: vec![read(
                json!({"metadata": metadata("s"), "spec": spec, "status": status}),
            )],
            csvs: vec![read(json!({"metadata": metadata("kettle.v1"),
                "spec": {"version": "1.0.0", "description": "long"},
                "status": {"phase": "Succeeded", "reason": "InstallSucceeded"}}))],
            install_plans: vec![read(json!({"metadata": metadata("p"),
                "spec": {"approval": "Manual", "clusterServiceVersionNames": ["kettle.v2"]},
                "status": {"phase": "RequiresApproval", "plan": [{"resolving": "kettle.v2"}]}}))],
            packages: vec![read(json!({"metadata": metadata("kettle"), "status": {
                "packageName": "kettle", "catalogSource": "kitchen",
                "catalogSourceNamespace": "olm", "defaultChannel": "stable",
                "channels": [channel]}}))],
            ..Observed::default()
        }
    }

    #[test]
    fn what_is_kept_makes_the_same_rows() {
        let whole = whole();
        let all = whole.clone();
        let kept = Observed {
            subscriptions: all.subscriptions.into_iter().map(|one| subscription(one, 0)).collect(),
            csvs: all.csvs.into_iter().map(|one| csv(one, 0)).collect(),
            install_plans: all.install_plans.into_iter().map(|one| plan(one, 0)).collect(),
            packages: all.packages.into_iter().map(package).collect(),
            ..Observed::default()
        };
        let rows = installed(&kept);
        assert_eq!(rows, installed(&whole));
        assert_eq!((rows[0].newest.as_deref(), rows[0].paused), (Some("2.0.0"), true));
        let json = serde_json::to_string(&(&kept.csvs, &kept.install_plans, &kept.packages));
        let json = json.unwrap();
        assert!(!["long", "resolving", "manager"].iter().any(|text| json.contains(text)), "{json}");
    }

    #[test]
    fn a_package_is_one_of_a_catalog() {
        let whole = whole();
        let asked = of_subscription(&whole.subscriptions[0]);
        assert_eq!(of_package(&whole.packages[0]), Some(asked));
        let mut other = whole.packages[0].clone();
        other.status.as_mut().unwrap().catalog_source_namespace = "elsewhere".to_owned();
        assert_ne!(of_package(&other), Some(of_subscription(&whole.subscriptions[0])));
    }
}
