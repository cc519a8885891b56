//! OperatorGroups: none, several, those that do not fit, and those that share an API.

use olm_types::annotations::OPERATOR_GROUP;
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallModeSet, InstallModeType, OperatorGroup,
};
use olm_types::reasons::csv as reasons;
use serde_json::{Value, json};

use super::fix::{create, kubectl, patch, removal};
use super::{Fix, Found, View};
use crate::observed::{name, namespace};

/// Install modes for which a choice of namespaces follows from the namespace of the operator.
const ALONE: [InstallModeType; 2] = [InstallModeType::OwnNamespace, InstallModeType::AllNamespaces];

/// Namespaces with operators and without an OperatorGroup.
pub(super) fn none(view: &View<'_>) -> Vec<Found> {
    let without = view.homes().into_iter().filter(|home| view.groups_in(home).is_empty());
    let found = without.map(|home| {
        let manifest = json!({
            "apiVersion": OperatorGroup::API_VERSION, "kind": OperatorGroup::KIND,
            "metadata": {"name": home, "namespace": home}, "spec": fitting(home, |mode| is_supported(view, home, mode)),
        });
        let evidence = "it has Subscriptions or CSVs, and no OperatorGroup".to_owned();
        Found::of_cluster("Namespace", home, evidence, create(&manifest))
    });
    found.collect()
}

/// Namespaces with operators and more than one OperatorGroup. The one stays of which the CSVs are members,
/// otherwise the oldest.
pub(super) fn several(view: &View<'_>) -> Vec<Found> {
    let found = view.homes().into_iter().filter_map(|home| {
        let mut groups = view.groups_in(home).to_vec();
        groups.sort_by_key(|group| {
            let created = group.metadata.creation_timestamp.as_ref().map(|time| time.0);
            (!has_members(view, home, name(&group.metadata)), created, name(&group.metadata))
        });
        let names: Vec<&str> = groups.iter().map(|group| name(&group.metadata)).collect();
        let (kept, others) = names.split_first().filter(|(_, others)| !others.is_empty())?;
        let fix = kubectl(home, &[&["delete", "operatorgroup"], others].concat());
        let evidence = format!("OperatorGroup {kept}, and beside it {}", others.join(", "));
        Some(Found::of_cluster("Namespace", home, evidence, fix))
    });
    found.collect()
}

/// CSVs that do not support the namespaces of their group.
pub(super) fn unfitting(view: &View<'_>) -> Vec<Found> {
    let failed = failed_for(view, &[reasons::UNSUPPORTED_OPERATOR_GROUP]);
    let found = failed.map(|csv| {
        let home = namespace(&csv.metadata);
        let modes = InstallModeSet::of(&csv.spec.install_modes);
        let fix = match view.groups_in(home) {
            [group] if ALONE.into_iter().any(|mode| modes.supports(mode)) => {
                let spec = cleared(fitting(home, |mode| modes.supports(mode)));
                patch(home, "operatorgroup", name(&group.metadata), &json!({ "spec": spec }))
            }
            _ => Fix::AskTheAuthor(format!(
                "choose namespaces that the operator supports: {}; or ask the author for another mode",
                modes.iter().map(InstallModeType::as_str).collect::<Vec<_>>().join(", ")
            )),
        };
        Found::of(ClusterServiceVersion::KIND, &csv.metadata, message(csv), fix)
    });
    found.collect()
}

/// CSVs whose APIs another operator owns.
pub(super) fn owner_conflict(view: &View<'_>) -> Vec<Found> {
    let both = [reasons::OWNER_CONFLICT, reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT];
    let found = failed_for(view, &both).map(|csv| {
        let fix = removal(view, csv);
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

/// What a CSV's status says: its reason, and the message where there is one.
pub(super) fn message(csv: &ClusterServiceVersion) -> String {
    csv.status.as_ref().map_or_else(String::new, |status| {
        let reason = status.reason.as_deref().unwrap_or_default();
        reason_and_message(reason, status.message.as_deref().unwrap_or_default())
    })
}

/// A reason and a message in one line, without what is empty.
pub(super) fn reason_and_message(reason: &str, message: &str) -> String {
    let parts = [reason, message].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(": ")
}

fn failed_for<'a>(
    view: &View<'a>,
    reasons: &[&str],
) -> impl Iterator<Item = &'a ClusterServiceVersion> {
    view.csvs().filter(move |csv| {
        let status = csv.status.as_ref().filter(|status| status.phase == CsvPhase::Failed);
        let reason = status.and_then(|status| status.reason.as_deref());
        reason.is_some_and(|reason| reasons.contains(&reason))
    })
}

fn has_members(view: &View<'_>, home: &str, group: &str) -> bool {
    let mut csvs = view.csvs_in(home);
    csvs.any(|csv| {
        let annotations = csv.metadata.annotations.as_ref();
        annotations.and_then(|all| all.get(OPERATOR_GROUP)).is_some_and(|name| name == group)
    })
}

/// Whether every operator of a namespace, installed or asked for, supports an install mode; so do those of
/// which nothing is known.
fn is_supported(view: &View<'_>, home: &str, mode: InstallModeType) -> bool {
    let mut csvs = view.csvs_in(home);
    let mut heads = view.subscriptions_in(home).iter().filter_map(|one| {
        let head = view.channel_of(one)?.current_csv_desc.as_ref()?;
        Some(&head.install_modes).filter(|modes| !modes.is_empty())
    });
    csvs.all(|csv| InstallModeSet::of(&csv.spec.install_modes).supports(mode))
        && heads.all(|modes| InstallModeSet::of(modes).supports(mode))
}

/// The namespace alone, unless only all of them are supported.
fn fitting(home: &str, is_supported: impl Fn(InstallModeType) -> bool) -> Value {
    let is_global = !is_supported(InstallModeType::OwnNamespace)
        && is_supported(InstallModeType::AllNamespaces);
    if is_global { json!({}) } else { json!({"targetNamespaces": [home]}) }
}

/// A choice of namespaces as a patch: what it does not name goes.
fn cleared(mut spec: Value) -> Value {
    for field in ["selector", "targetNamespaces"] {
        if spec.get(field).is_none() {
            spec[field] = Value::Null;
        }
    }
    spec
}
