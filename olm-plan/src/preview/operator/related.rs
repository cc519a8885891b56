//! What olm-operator makes around CSVs: labels of Namespaces, roles of OperatorGroups, OperatorConditions, and
//! Operators.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRole;
use olm_lifecycle::csv::is_copied;
use olm_lifecycle::operator_group::attenuation::named_account;
use olm_lifecycle::{operator, operator_condition, operator_group};
use olm_opgroup::oldest;
use olm_types::api::{ClusterServiceVersion, Operator, OperatorGroup, RichReference};
use olm_types::labels::component;
use serde_json::Value;

use super::Work;
use super::observe::{namespaces as live, present};
use crate::observed::name;
use crate::preview::world::World;

/// The labels of the Namespaces that groups of this one target.
pub(super) fn namespaces(world: &mut World<'_>, work: &Work<'_>) {
    let live = live(world, work);
    let groups: Vec<Arc<OperatorGroup>> = world.all(None);
    let home = work.asked.namespace.as_str();
    let own: Vec<&OperatorGroup> = groups
        .iter()
        .map(AsRef::as_ref)
        .filter(|group| group.metadata.namespace.as_deref() == Some(home))
        .collect();
    for namespace in world.all::<Namespace>(None) {
        let is_named = own.iter().any(|group| live.names(group, name(&namespace.metadata)));
        if !is_named {
            continue;
        }
        let groups = groups.iter().map(AsRef::as_ref);
        if let Some(effect) = operator_group::decide_namespace(&namespace, groups, &live) {
            world.execute(&[effect]);
        }
    }
}

/// The groups of the namespace: status, and roles for users of their APIs.
pub(super) fn groups(world: &mut World<'_>, work: &Work<'_>) {
    let home = work.asked.namespace.as_str();
    let groups: Vec<Arc<OperatorGroup>> = world.all(Some(home));
    let count = groups.len();
    let shown = oldest(groups.iter().map(AsRef::as_ref)).map(|group| group.metadata.name.clone());
    let shown: BTreeSet<Option<String>> = shown.collect();
    for group in groups {
        let members: Vec<Arc<ClusterServiceVersion>> = world.all(Some(home));
        let names = operator_group::role_names(home, name(&group.metadata));
        let roles: BTreeMap<String, Arc<ClusterRole>> = present(world, None, names);
        let account = named_account(&group).map(str::to_owned);
        let account = account.and_then(|one| world.named::<ServiceAccount>(Some(home), &one));
        let observed = operator_group::Observed {
            is_oldest: shown.contains(&group.metadata.name),
            groups_in_namespace: count,
            namespaces: live(world, work),
            members: members.into_iter().filter(|csv| !is_copied(csv)).collect(),
            roles: roles.into_values().collect(),
            service_account: account,
            group,
        };
        world.execute(&operator_group::decide(&observed, work.asked.now).effects);
    }
}

/// The OperatorConditions of the CSVs, with the rights to write them.
pub(super) fn conditions(world: &mut World<'_>, work: &Work<'_>) {
    let home = Some(work.asked.namespace.as_str());
    for csv in &work.csvs {
        let observed = operator_condition::Observed {
            csv: world.named(home, csv),
            condition: world.named(home, csv),
            role: world.named(home, csv),
            role_binding: world.named(home, csv),
        };
        if observed.csv.as_ref().is_some_and(|csv| csv.metadata.deletion_timestamp.is_some()) {
            continue;
        }
        world.execute(&operator_condition::decide(&observed, work.asked.now));
    }
}

/// The Operators of what was written. Their lists of components are status.
pub(super) fn operators(world: &mut World<'_>, _: &Work<'_>) {
    let mut components: BTreeMap<String, Vec<RichReference>> = BTreeMap::new();
    for (_, _, object) in world.changes() {
        let Some(object) = object else { continue };
        for name in names(object) {
            components.entry(name).or_default().push(RichReference::default());
        }
    }
    for (name, components) in components {
        let Ok(key) = component(&name) else { continue };
        let operator = world.named(None, &name);
        if operator.is_some() {
            continue;
        }
        let others: Vec<Arc<Operator>> = world.all(None);
        let is_alike =
            |other: &&Arc<Operator>| operator::have_one_home(self::name(&other.metadata), &name);
        let alike = others.iter().filter(is_alike).count();
        let observed = operator::Observed { name, operator, components, key, alike };
        world.execute(&operator::decide(&observed).into_iter().collect::<Vec<_>>());
    }
}

/// The Operators that an object is a component of.
fn names(object: &Value) -> BTreeSet<String> {
    let metadata = object.get("metadata").cloned().unwrap_or_default();
    let metadata = serde_json::from_value(metadata).unwrap_or_default();
    operator::operator_names(&metadata).map(str::to_owned).collect()
}
