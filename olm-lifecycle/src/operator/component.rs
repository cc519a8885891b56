//! Objects that can be components, and what an Operator reports of them.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube_core::{PartialObjectMeta, Resource as KubeResource};
use olm_effect::{Resource, Target};
use olm_types::api::{
    ClusterServiceVersion, ComponentCondition, OperatorCondition, RichReference, Subscription,
};
use olm_types::conditions::readiness;
use serde::Serialize;

use super::PlanSummary;
use crate::writes::resource_of;

/// An object of a kind that can belong to an Operator.
pub trait Component: Send + Sync {
    /// Its kind.
    fn resource(&self) -> Resource;

    /// Its metadata.
    fn metadata(&self) -> &ObjectMeta;

    /// What it says about itself; nothing for kinds of which only the metadata is known.
    fn conditions(&self) -> Vec<ComponentCondition> {
        Vec::new()
    }

    /// The object as the target of a write.
    fn target(&self) -> Target {
        let metadata = self.metadata();
        let name = metadata.name.clone().unwrap_or_default();
        Target { resource: self.resource(), namespace: metadata.namespace.clone(), name }
    }

    /// The entry in the status of an Operator.
    fn reference(&self) -> RichReference {
        let resource = self.resource();
        RichReference {
            api_version: Some(resource.api_version()),
            kind: Some(resource.kind),
            namespace: self.metadata().namespace.clone().filter(|name| !name.is_empty()),
            name: self.metadata().name.clone(),
            conditions: self.conditions(),
            ..RichReference::default()
        }
    }
}

impl<K: KubeResource<DynamicType = ()> + Send + Sync> Component for PartialObjectMeta<K> {
    fn resource(&self) -> Resource {
        resource_of::<K>()
    }

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }
}

/// A kind of which only the metadata counts.
macro_rules! plain {
    ($($kind:ty),*) => {$(
        impl Component for $kind {
            fn resource(&self) -> Resource {
                resource_of::<Self>()
            }

            fn metadata(&self) -> &ObjectMeta {
                &self.metadata
            }
        }
    )*};
}

plain!(Secret, ServiceAccount, Role, RoleBinding, ClusterRole, ClusterRoleBinding);

/// A kind whose `status.conditions` are reported.
macro_rules! reporting {
    ($($kind:ty => $conditions:expr),* $(,)?) => {$(
        impl Component for $kind {
            fn resource(&self) -> Resource {
                resource_of::<Self>()
            }

            fn metadata(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn conditions(&self) -> Vec<ComponentCondition> {
                reported(self.status.iter().flat_map($conditions))
            }
        }
    )*};
}

reporting! {
    Deployment => |status| status.conditions.iter().flatten(),
    Namespace => |status| status.conditions.iter().flatten(),
    Service => |status| status.conditions.iter().flatten(),
    APIService => |status| status.conditions.iter().flatten(),
    CustomResourceDefinition => |status| status.conditions.iter().flatten(),
    Subscription => |status| status.conditions.iter().filter(|one| !is_readiness(&one.type_)),
    PlanSummary => |status| &status.conditions,
    OperatorCondition => |status| &status.conditions,
}

/// A ClusterServiceVersion reports its phase as the type of one condition that is always true.
impl Component for ClusterServiceVersion {
    fn resource(&self) -> Resource {
        resource_of::<Self>()
    }

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn conditions(&self) -> Vec<ComponentCondition> {
        let status = self.status.clone().unwrap_or_default();
        vec![ComponentCondition {
            type_: status.phase.to_string(),
            status: "True".to_owned(),
            reason: status.reason,
            message: status.message,
            last_update_time: status.last_update_time,
            last_transition_time: status.last_transition_time,
        }]
    }
}

/// What all condition types have in common; fields that only some have are left out.
fn reported<'a, C: Serialize + 'a>(
    conditions: impl Iterator<Item = &'a C>,
) -> Vec<ComponentCondition> {
    let values = conditions.filter_map(|condition| serde_json::to_value(condition).ok());
    values.filter_map(|value| serde_json::from_value(value).ok()).collect()
}

/// An Operator shows what v0 shows: with readiness it would be written once more for each Subscription.
fn is_readiness(kind: &str) -> bool {
    readiness::ALL.contains(&kind)
}
