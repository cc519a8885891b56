//! Changes of ServiceAccounts and of rights.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, Role, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_lifecycle::operator_group::names_account;
use olm_rbac::Account;
use olm_types::api::OperatorGroup;
use olm_types::owner::owner_by_label;

use super::Triggers;
use crate::dependents::Dependency;

impl Triggers {
    pub(super) fn account(&self, change: &Change<ServiceAccount>) {
        let Some(account) = change.latest() else { return };
        let namespace = account.metadata.namespace.as_deref().unwrap_or_default();
        let name = account.metadata.name.as_deref().unwrap_or_default();
        self.wake_dependents(&Dependency::Account(Account::new(namespace, name)));
        self.mark_failed_installs(namespace);
        for group in self.stores.groups.list_in(namespace) {
            if names_account(&group, name) {
                self.queues.add_group(ObjectKey::of(group.as_ref()));
            }
        }
    }

    pub(super) fn role(&self, change: &Change<Role>) {
        let Some(role) = change.latest() else { return };
        let namespace = role.metadata.namespace.as_deref().unwrap_or_default();
        let name = role.metadata.name.as_deref().unwrap_or_default();
        self.wake_owner(&role.metadata);
        self.wake_referenced(role.as_ref());
        self.copies_of_rights(&role.metadata);
        for binding in self.stores.role_bindings.list_in(namespace) {
            if refers_to(&binding.role_ref, "Role", name) {
                self.wake_subjects(&binding.subjects, Some(namespace));
            }
        }
        self.mark_failed_installs(namespace);
    }

    pub(super) fn role_binding(&self, change: &Change<RoleBinding>) {
        let Some(latest) = change.latest() else { return };
        let namespace = latest.metadata.namespace.as_deref().unwrap_or_default();
        for binding in change.versions() {
            self.wake_owner(&binding.metadata);
            self.wake_referenced(binding.as_ref());
            self.copies_of_rights(&binding.metadata);
            self.wake_subjects(&binding.subjects, Some(namespace));
            self.requeue_callers(binding.as_ref());
        }
        self.mark_failed_installs(namespace);
    }

    pub(super) fn cluster_role(&self, change: &Change<ClusterRole>) {
        let Some(role) = change.latest() else { return };
        let name = role.metadata.name.as_deref().unwrap_or_default();
        for role in change.versions() {
            self.wake_owner(&role.metadata);
            self.wake_providers(&role.metadata);
        }
        let unchanged = change.old.as_ref().zip(change.new.as_ref());
        if unchanged.is_some_and(|(old, new)| old.rules == new.rules) {
            return;
        }
        let refers = |role_ref: &RoleRef| refers_to(role_ref, "ClusterRole", name);
        for binding in self.stores.cluster_role_bindings.list_where(|found| refers(&found.role_ref))
        {
            self.wake_subjects(&binding.subjects, None);
        }
        for binding in self.stores.role_bindings.list_where(|found| refers(&found.role_ref)) {
            self.wake_subjects(&binding.subjects, binding.metadata.namespace.as_deref());
        }
    }

    pub(super) fn cluster_role_binding(&self, change: &Change<ClusterRoleBinding>) {
        for binding in change.versions() {
            self.wake_owner(&binding.metadata);
            self.wake_subjects(&binding.subjects, None);
        }
    }

    /// Wakes the CSVs that provide the API that owns a role, and the group that a role is of.
    fn wake_providers(&self, metadata: &ObjectMeta) {
        for owner in metadata.owner_references.iter().flatten() {
            match owner.kind.as_str() {
                "CustomResourceDefinition" => {
                    self.wake_dependents(&Dependency::Crd(owner.name.clone()));
                }
                "APIService" => {
                    self.wake_dependents(&Dependency::ApiService(owner.name.clone()));
                }
                _ => {}
            }
        }
        let labels = metadata.labels.as_ref();
        let group = labels.and_then(|labels| owner_by_label(labels, OperatorGroup::KIND));
        if let Some(group) = group {
            self.queues.add_group(ObjectKey::namespaced(group.namespace, group.name));
        }
    }

    fn wake_subjects(&self, subjects: &Option<Vec<Subject>>, namespace: Option<&str>) {
        let accounts: BTreeSet<Account> = subjects
            .iter()
            .flatten()
            .filter_map(|subject| Account::of_subject(subject, namespace))
            .collect();
        for account in accounts {
            self.wake_dependents(&Dependency::Account(account));
        }
    }
}

fn refers_to(role_ref: &RoleRef, kind: &str, name: &str) -> bool {
    role_ref.kind == kind && role_ref.name == name
}
