//! What is in the cluster of stores, and what should be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::ResourceExt;
use olm_kit::ObjectKey;
use olm_opgroup::SHOWN;
use olm_types::api::{ClusterServiceVersion, OperatorGroup};
use proptest::prelude::*;

use super::world::World;

/// Prefix of the labels that groups put on namespaces.
const UID_LABEL: &str = "olm.operatorgroup.uid/";

impl World {
    /// What a look at everything would do.
    pub(super) fn fresh_look(&self) -> Vec<String> {
        let stores = &self.triggers.stores;
        let groups = stores.groups.list();
        let groups = groups.iter().flat_map(|it| self.group(&ObjectKey::of(it.as_ref())));
        let namespaces = stores.namespaces.list();
        let namespaces = namespaces.iter().filter_map(|it| self.namespace(&it.name_any()));
        let csvs = stores.csvs.list();
        let csvs = csvs.iter().flat_map(|it| self.csv(&ObjectKey::of(it.as_ref())));
        let all = groups.chain(namespaces).chain(csvs);
        all.map(|effect| format!("{} {:?}", effect.target, effect.action)).collect()
    }

    /// What the groups' status lists.
    pub(super) fn targets(&self) -> BTreeMap<(String, String), BTreeSet<String>> {
        let groups = self.triggers.stores.groups.list();
        let key = |it: &OperatorGroup| (it.namespace().unwrap_or_default(), it.name_any());
        let listed = |it: &OperatorGroup| {
            it.status.iter().flat_map(|status| status.namespaces.clone()).collect()
        };
        groups.iter().map(|group| (key(group), listed(group))).collect()
    }

    /// The groups that each namespace shows, by their names.
    pub(super) fn labels(&self) -> BTreeMap<String, BTreeSet<String>> {
        let groups = self.triggers.stores.groups.list();
        let name = |uid: &str| {
            let found = groups.iter().find(|group| group.uid().as_deref() == Some(uid));
            found.map_or_else(|| format!("{uid} is gone"), |group| key_of(group))
        };
        let shown = |it: &Arc<Namespace>| {
            it.labels().keys().filter_map(|key| key.strip_prefix(UID_LABEL)).map(name).collect()
        };
        let namespaces = self.triggers.stores.namespaces.list();
        namespaces.iter().map(|it| (it.name_any(), shown(it))).collect()
    }

    /// The groups that each namespace should show: those that list it by name, and whose selection
    /// can be read.
    pub(super) fn expected_labels(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut targets = self.targets();
        targets.retain(|(namespace, name), _| {
            let groups = self.triggers.stores.groups.list_in(namespace);
            // They are all of one age.
            let before = groups.iter().filter(|group| group.name_any() < *name).count();
            let group = groups.iter().find(|group| group.name_any() == *name);
            before < SHOWN && group.is_some_and(|group| self.is_readable(group))
        });
        let listing = |name: &str| {
            let groups = targets.iter().filter(|(_, listed)| listed.contains(name));
            groups.map(|((namespace, group), _)| format!("{namespace}/{group}")).collect()
        };
        let namespaces = self.triggers.stores.namespaces.list();
        namespaces.iter().map(|it| (it.name_any(), listing(&it.name_any()))).collect()
    }

    fn is_readable(&self, group: &OperatorGroup) -> bool {
        self.triggers.stores.live_namespaces().selected(&group.spec).is_ok()
    }

    /// The ClusterRoles that there are.
    pub(super) fn roles(&self) -> BTreeSet<String> {
        let roles: Vec<Arc<ClusterRole>> = self.triggers.stores.cluster_roles.list();
        roles.iter().map(|role| role.name_any()).collect()
    }

    /// Each copy belongs to a CSV that is there, and each member of a single group that can be read
    /// and has no quarrel is copied to all of the group's targets, and nowhere else.
    pub(super) fn check_copies(&self) -> Result<(), TestCaseError> {
        let stores = &self.triggers.stores;
        for copy in stores.copies.list() {
            let origin = stores.csvs.get(Some(copy.origin()), copy.name());
            prop_assert!(origin.is_some(), "a copy of nothing: {:?}", copy);
        }
        for csv in stores.csvs.list() {
            let home = csv.namespace().unwrap_or_default();
            let groups = stores.groups.list_in(&home);
            let ([group], Some("InstallSucceeded")) = (groups.as_slice(), reason(&csv)) else {
                continue;
            };
            let listed: BTreeSet<String> =
                group.status.iter().flat_map(|status| status.namespaces.clone()).collect();
            if listed.is_empty() || !self.is_readable(group) {
                continue;
            }
            let targets = stores.namespaces.list().into_iter().map(|it| it.name_any());
            let targets = targets.filter(|it| listed.contains("") || listed.contains(it));
            let expected: BTreeSet<String> = targets.filter(|it| *it != home).collect();
            let name = csv.name_any();
            let copies = stores.copies.list_where(|it| it.name() == name);
            let found: BTreeSet<String> =
                copies.iter().map(|it| it.namespace().to_owned()).collect();
            prop_assert_eq!(found, expected, "copies of {}/{}", home, name);
        }
        Ok(())
    }
}

fn key_of(group: &OperatorGroup) -> String {
    format!("{}/{}", group.namespace().unwrap_or_default(), group.name_any())
}

fn reason(csv: &ClusterServiceVersion) -> Option<&str> {
    csv.status.as_ref().and_then(|status| status.reason.as_deref())
}
