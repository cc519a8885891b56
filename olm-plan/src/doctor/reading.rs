//! What has to be read after the lists: of what is healthy, nothing.
//!
//! InstallPlans, Deployments and Pods of a thousand namespaces are hundreds of megabytes, and packages come
//! with descriptions. So the lists are of Subscriptions, CSVs and metadata, and say here what else matters.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;
use olm_types::api::{CsvPhase, RequirementStatus, Subscription, SubscriptionState};
use olm_types::conditions::subscription as conditions;

use super::csvs::missing;
use crate::health::true_condition;
use crate::observed::{Observed, name, namespace};

/// A package of a catalog, and a namespace that sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageLookup {
    /// Namespace of the catalog.
    pub catalog_namespace: String,
    /// Name of the catalog.
    pub catalog: String,
    /// Name of the package.
    pub package: String,
    /// Namespace of a Subscription that asks for it.
    pub home: String,
}

/// What is read next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageReads {
    /// Namespaces whose InstallPlans matter.
    pub plans: BTreeSet<String>,
    /// Namespaces whose Deployments and Pods matter.
    pub workloads: BTreeSet<String>,
    /// Packages that Subscriptions ask for, each once.
    pub packages: BTreeSet<PackageLookup>,
    /// Namespaces for which the names of all packages matter.
    pub visible_packages: BTreeSet<String>,
    /// Namespaces for which the APIs of all packages matter, too.
    pub providers: BTreeSet<String>,
    /// CRDs that CSVs have brought of which none is there any more.
    pub orphaned_crds: BTreeSet<String>,
}

/// What the lists say has to be read. `plans` are the metadata of the InstallPlans.
#[must_use]
pub fn wanted(observed: &Observed, plans: &[ObjectMeta]) -> PackageReads {
    let mut wanted = PackageReads::default();
    let mut known = BTreeSet::new();
    let sources: BTreeSet<(&str, &str)> = observed
        .catalog_sources
        .iter()
        .map(|source| (namespace(&source.metadata), name(&source.metadata)))
        .collect();
    for one in &observed.subscriptions {
        let (home, spec) = (namespace(&one.metadata), &one.spec);
        if !is_at_rest(one) {
            wanted.plans.insert(home.to_owned());
        }
        let has_source = sources.contains(&(&spec.source_namespace, &spec.source));
        if !has_source || true_condition(one, conditions::RESOLUTION_FAILED).is_some() {
            wanted.visible_packages.insert(home.to_owned());
        }
        let package = (&spec.source_namespace, &spec.source, &spec.name);
        if has_source && is_name(&spec.name) && known.insert(package) {
            wanted.packages.insert(asked(one));
        }
    }
    for csv in observed.own_csvs() {
        let home = namespace(&csv.metadata).to_owned();
        if missing(csv).any(is_absent_kind) {
            wanted.providers.insert(home.clone());
        }
        if csv.phase() != CsvPhase::Succeeded {
            wanted.workloads.insert(home);
        }
    }
    wanted.plans.extend(unowned(observed, plans));
    wanted.orphaned_crds = orphaned_crds(observed);
    wanted
}

/// Whether an InstallPlan of a Subscription need not be looked at.
fn is_at_rest(one: &Subscription) -> bool {
    let Some(status) = &one.status else { return false };
    let is_problem = [conditions::INSTALL_PLAN_FAILED, conditions::INSTALL_PLAN_PENDING]
        .iter()
        .any(|type_| true_condition(one, type_).is_some());
    status.state == SubscriptionState::AtLatestKnown && !is_problem
}

fn asked(one: &Subscription) -> PackageLookup {
    PackageLookup {
        catalog_namespace: one.spec.source_namespace.clone(),
        catalog: one.spec.source.clone(),
        package: one.spec.name.clone(),
        home: namespace(&one.metadata).to_owned(),
    }
}

/// Whether a text may name an object. Others name nothing that is there.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    !text.is_empty() && text.len() <= 253 && text.chars().all(fits)
}

fn is_absent_kind(one: &RequirementStatus) -> bool {
    one.kind == "CustomResourceDefinition"
}

/// Namespaces with an InstallPlan that belongs to no Subscription which is there.
fn unowned<'a>(
    observed: &'a Observed,
    plans: &'a [ObjectMeta],
) -> impl Iterator<Item = String> + 'a {
    let uids: BTreeSet<&str> =
        observed.subscriptions.iter().filter_map(|one| one.metadata.uid.as_deref()).collect();
    let is_unowned = move |plan: &&ObjectMeta| {
        let mut owners = plan.owner_references.iter().flatten();
        !owners.any(|owner| uids.contains(owner.uid.as_str()))
    };
    plans.iter().filter(is_unowned).map(|plan| namespace(plan).to_owned())
}

/// CRDs that were installed with CSVs of which none is left. In one namespace these are those whose CSVs
/// were all there.
fn orphaned_crds(observed: &Observed) -> BTreeSet<String> {
    let csvs: BTreeSet<(&str, &str)> =
        observed.own_csvs().map(|csv| (namespace(&csv.metadata), name(&csv.metadata))).collect();
    let owned: BTreeSet<&str> = observed
        .own_csvs()
        .flat_map(|csv| csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned))
        .map(|crd| crd.name.as_str())
        .collect();
    let is_gone = |record: &str| {
        record.split_once('/').is_some_and(|(home, csv)| {
            let is_looked_at = observed.home.as_deref().is_none_or(|looked_at| looked_at == home);
            is_looked_at && !csvs.contains(&(home, csv))
        })
    };
    let crds = observed.crds.iter().filter(|crd| {
        let annotations = crd.annotations.iter().flatten();
        let records: Vec<&String> = annotations
            .filter(|(key, _)| key.starts_with(INSTALLED_ALONGSIDE_PREFIX))
            .map(|(_, record)| record)
            .collect();
        !records.is_empty()
            && records.iter().all(|record| is_gone(record))
            && !owned.contains(name(crd))
    });
    crds.map(|crd| name(crd).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn meta(value: Value) -> ObjectMeta {
        from_value(value).unwrap()
    }

    fn observed(status: Value, phase: &str) -> Observed {
        let subscription = json!({"metadata": {"name": "s", "namespace": "ns", "uid": "1"},
            "spec": {"name": "kettle", "source": "kitchen", "sourceNamespace": "olm"}, "status": status});
        let csv = json!({"metadata": {"name": "kettle.v1", "namespace": "ns"}, "spec":
            {"customresourcedefinitions": {"owned": [{"name": "cups.a.io", "kind": "", "version": ""}]}},
            "status": {"phase": phase}});
        let source = json!({"metadata": {"name": "kitchen", "namespace": "olm"}, "spec": {}});
        Observed {
            subscriptions: vec![from_value(subscription).unwrap()],
            csvs: vec![from_value(csv).unwrap()],
            catalog_sources: vec![from_value(source).unwrap()],
            ..Observed::default()
        }
    }

    fn failed() -> Value {
        json!({"state": "", "conditions": [{"type": "ResolutionFailed", "status": "True"}]})
    }

    #[rstest]
    #[case::at_rest(json!({"state": "AtLatestKnown"}), "Succeeded", "")]
    #[case::upgrading(json!({"state": "UpgradePending"}), "Succeeded", "plans")]
    #[case::failed(json!({"state": "AtLatestKnown"}), "Failed", "workloads")]
    #[case::unresolved(failed(), "Succeeded", "plans visible packages")]
    fn what_is_healthy_is_not_read(
        #[case] status: Value,
        #[case] phase: &str,
        #[case] expected: &str,
    ) {
        let plan = meta(json!({"namespace": "ns", "ownerReferences":
            [{"apiVersion": "", "kind": "Subscription", "name": "s", "uid": "1"}]}));
        let found = wanted(&observed(status, phase), &[plan]);
        let parts = [
            ("plans", &found.plans),
            ("workloads", &found.workloads),
            ("visible packages", &found.visible_packages),
            ("providers", &found.providers),
            ("orphaned CRDs", &found.orphaned_crds),
        ];
        let named: Vec<&str> =
            parts.iter().filter(|(_, it)| !it.is_empty()).map(|(name, _)| *name).collect();
        assert_eq!(named.join(" "), expected);
        assert_eq!(found.packages.first().unwrap().package, "kettle");
    }

    #[test]
    fn a_plan_of_no_subscription_is_read() {
        let plan = meta(json!({"name": "p", "namespace": "elsewhere"}));
        let found = wanted(&observed(json!({"state": "AtLatestKnown"}), "Succeeded"), &[plan]);
        assert_eq!(found.plans, BTreeSet::from(["elsewhere".to_owned()]));
    }

    #[rstest]
    #[case::there("cups.a.io", "ns/kettle.v1", None, false)]
    #[case::owned_all_the_same("cups.a.io", "ns/kettle.v0", None, false)]
    #[case::gone("pots.a.io", "ns/pot.v1", None, true)]
    #[case::of_another_namespace("pots.a.io", "other/pot.v1", Some("ns"), false)]
    #[case::malformed("pots.a.io", "pot.v1", None, false)]
    fn a_crd_is_orphaned_when_all_its_csvs_are_gone(
        #[case] crd: &str,
        #[case] record: &str,
        #[case] home: Option<&str>,
        #[case] expected: bool,
    ) {
        let key = format!("{INSTALLED_ALONGSIDE_PREFIX}1");
        let mut observed = observed(json!({}), "Succeeded");
        observed.home = home.map(str::to_owned);
        observed.crds = vec![meta(json!({"name": crd, "annotations": {key: record}}))];
        assert_eq!(orphaned_crds(&observed).contains(crd), expected);
    }
}
