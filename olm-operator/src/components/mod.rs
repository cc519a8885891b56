//! Objects that can belong to an Operator, whatever their kind.
//!
//! [`ComponentKind`] names the kinds and finds their objects in the stores; [`ComponentIndex`] knows
//! which objects carry a component label and which belong to a CSV, so that no reconcile searches
//! all stores for them.

mod index;

use std::sync::Arc;

use olm_kit::ObjectKey;
use olm_lifecycle::operator::Component;

use crate::stores::Stores;

pub use index::{ComponentId, ComponentIndex, owners};

/// A kind whose objects can belong to an Operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentKind {
    /// apiregistration.k8s.io
    ApiService,
    /// rbac.authorization.k8s.io
    ClusterRole,
    /// rbac.authorization.k8s.io
    ClusterRoleBinding,
    /// operators.coreos.com
    ClusterServiceVersion,
    /// The core group; those that OLM made
    ConfigMap,
    /// apiextensions.k8s.io
    CustomResourceDefinition,
    /// apps
    Deployment,
    /// operators.coreos.com
    InstallPlan,
    /// The core group
    Namespace,
    /// operators.coreos.com
    OperatorCondition,
    /// rbac.authorization.k8s.io
    Role,
    /// rbac.authorization.k8s.io
    RoleBinding,
    /// The core group
    Secret,
    /// The core group
    Service,
    /// The core group
    ServiceAccount,
    /// operators.coreos.com
    Subscription,
}

impl ComponentKind {
    /// The object of this key, if it exists.
    pub fn get(self, stores: &Stores, key: &ObjectKey) -> Option<Arc<dyn Component>> {
        match self {
            Self::ApiService => any(stores.api_services.get_key(key)),
            Self::ClusterRole => any(stores.cluster_roles.get_key(key)),
            Self::ClusterRoleBinding => any(stores.cluster_role_bindings.get_key(key)),
            Self::ClusterServiceVersion => any(stores.csvs.get_key(key)),
            Self::ConfigMap => any(stores.config_maps.get_key(key)),
            Self::CustomResourceDefinition => any(stores.crds.get_key(key)),
            Self::Deployment => any(stores.deployments.get_key(key)),
            Self::InstallPlan => any(stores.plans.get_key(key)),
            Self::Namespace => any(stores.namespaces.get_key(key)),
            Self::OperatorCondition => any(stores.conditions.get_key(key)),
            Self::Role => any(stores.roles.get_key(key)),
            Self::RoleBinding => any(stores.role_bindings.get_key(key)),
            Self::Secret => any(stores.serving.secrets.get_key(key)),
            Self::Service => any(stores.serving.services.get_key(key)),
            Self::ServiceAccount => any(stores.accounts.get_key(key)),
            Self::Subscription => any(stores.subscriptions.get_key(key)),
        }
    }
}

fn any<K: Component + 'static>(object: Option<Arc<K>>) -> Option<Arc<dyn Component>> {
    object.map(|object| object as Arc<dyn Component>)
}
