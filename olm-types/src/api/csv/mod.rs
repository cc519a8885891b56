//! ClusterServiceVersion: one version of an operator, how it is installed, what it provides and
//! what it requires.

mod apis;
mod install;
mod install_mode;
mod presentation;
mod spec;
mod status;
mod webhook;

pub use apis::{
    ApiResourceReference, ApiServiceDefinitions, ApiServiceDescription, CrdDescription,
    CustomResourceDefinitions, Descriptor, NativeApi,
};
pub use install::{
    NamedInstallStrategy, STRATEGY_DEPLOYMENT, StrategyDeploymentPermissions,
    StrategyDeploymentSpec, StrategyDetailsDeployment,
};
pub use install_mode::{InstallMode, InstallModeSet, InstallModeType};
pub use presentation::{AppLink, Icon, Maintainer, RelatedImage};
pub use spec::{CleanupSpec, ClusterServiceVersionSpec};
pub use status::{
    CleanupStatus, ClusterServiceVersionCondition, ClusterServiceVersionStatus, CsvPhase,
    DependentStatus, RequirementStatus, ResourceInstance, ResourceList,
};
pub use webhook::{WebhookDescription, webhook_type};

use super::kind::kind;

kind! {
    /// One version of an operator.
    pub struct ClusterServiceVersion: "operators.coreos.com" / "v1alpha1",
        "clusterserviceversions", NamespaceResourceScope {
        spec: ClusterServiceVersionSpec,
        status: ClusterServiceVersionStatus,
    }
}
