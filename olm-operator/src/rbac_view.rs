//! The RBAC objects of the stores, as `olm-rbac` asks for them.

use std::sync::Arc;

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use olm_rbac::RbacView;

use crate::stores::Stores;

impl RbacView for Stores {
    fn role(&self, namespace: &str, name: &str) -> Option<Arc<Role>> {
        self.roles.get(Some(namespace), name)
    }

    fn cluster_role(&self, name: &str) -> Option<Arc<ClusterRole>> {
        self.cluster_roles.get(None, name)
    }

    fn role_bindings(&self, namespace: &str) -> Vec<Arc<RoleBinding>> {
        self.role_bindings.list_in(namespace)
    }

    fn cluster_role_bindings(&self) -> Vec<Arc<ClusterRoleBinding>> {
        self.cluster_role_bindings.list()
    }
}
