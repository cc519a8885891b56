//! OperatorGroups: none, several, and those that do not fit.

use std::collections::BTreeSet;

use jiff::Timestamp;
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup};
use olm_types::reasons::csv as reasons;

use super::Found;
use crate::observed::{Observed, name, namespace};

/// Namespaces with operators and without an OperatorGroup.
pub fn none(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let without = homes(observed).into_iter().filter(|home| groups(observed, home).is_empty());
    let found = without.map(|home| {
        let manifest = format!(
            "printf '{{\"apiVersion\":\"operators.coreos.com/v1\",\"kind\":\"OperatorGroup\",\
             \"metadata\":{{\"name\":\"{home}\",\"namespace\":\"{home}\"}},\
             \"spec\":{{\"targetNamespaces\":[\"{home}\"]}}}}' | kubectl create -f -"
        );
        let evidence = "it has Subscriptions or CSVs, and no OperatorGroup".to_owned();
        of_namespace(home, evidence, manifest)
    });
    found.collect()
}

/// Namespaces with operators and more than one OperatorGroup.
pub fn several(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let found = homes(observed).into_iter().filter_map(|home| {
        let names = groups(observed, home);
        let (_, others) = names.split_first().filter(|(_, others)| !others.is_empty())?;
        let fix = format!("kubectl -n {home} delete operatorgroup {}", others.join(" "));
        Some(of_namespace(home, format!("OperatorGroups {}", names.join(", ")), fix))
    });
    found.collect()
}

/// CSVs that do not support the namespaces of their group.
pub fn unfitting(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let failed = failed_for(observed, &[reasons::UNSUPPORTED_OPERATOR_GROUP]);
    let found = failed.map(|csv| {
        let home = namespace(&csv.metadata);
        let groups = groups(observed, home).join(" ");
        let fix = format!("kubectl -n {home} edit operatorgroup {groups}");
        Found::of(ClusterServiceVersion::KIND, &csv.metadata, message(csv), fix)
    });
    found.collect()
}

/// CSVs whose APIs another operator owns.
pub fn owner_conflict(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let both = [reasons::OWNER_CONFLICT, reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT];
    let found = failed_for(observed, &both).map(|csv| {
        let fix = "uninstall this operator or the other owner of the API".to_owned();
        Found::of(ClusterServiceVersion::KIND, &csv.metadata, message(csv), fix)
    });
    found.collect()
}

/// Reasons of failed CSVs that these checks explain.
pub(super) const EXPLAINED: [&str; 5] = [
    reasons::UNSUPPORTED_OPERATOR_GROUP,
    reasons::OWNER_CONFLICT,
    reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT,
    reasons::NO_OPERATOR_GROUP,
    reasons::TOO_MANY_OPERATOR_GROUPS,
];

fn failed_for<'a>(
    observed: &'a Observed,
    reasons: &[&str],
) -> impl Iterator<Item = &'a ClusterServiceVersion> {
    observed.own_csvs().filter(move |csv| {
        let status = csv.status.as_ref().filter(|status| status.phase == CsvPhase::Failed);
        let reason = status.and_then(|status| status.reason.as_deref());
        reason.is_some_and(|reason| reasons.contains(&reason))
    })
}

/// What a CSV's status says.
pub(super) fn message(csv: &ClusterServiceVersion) -> String {
    csv.status.as_ref().and_then(|status| status.message.clone()).unwrap_or_default()
}

/// Namespaces in which something is installed or shall be.
fn homes(observed: &Observed) -> BTreeSet<&str> {
    let subscriptions = observed.subscriptions.iter().map(|one| namespace(&one.metadata));
    subscriptions.chain(observed.own_csvs().map(|csv| namespace(&csv.metadata))).collect()
}

/// Names of a namespace's groups, sorted.
fn groups<'a>(observed: &'a Observed, home: &str) -> Vec<&'a str> {
    let here = |group: &&OperatorGroup| namespace(&group.metadata) == home;
    let groups = observed.operator_groups.iter().filter(here);
    let names: BTreeSet<&str> = groups.map(|group| name(&group.metadata)).collect();
    names.into_iter().collect()
}

fn of_namespace(home: &str, evidence: String, fix: String) -> Found {
    Found { kind: "Namespace", namespace: String::new(), name: home.to_owned(), evidence, fix }
}
