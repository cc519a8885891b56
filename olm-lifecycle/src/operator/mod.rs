//! Operators: everything that belongs to one operator, found by label (spec olm-operator 6.1, 6.2).
//!
//! [`decide`] keeps the list of components in an Operator's status, and brings an Operator back
//! whose components are there. A [`ComponentOwner`] puts the label on what is made for a CSV;
//! [`adopt_by_subscription`] and [`adopt_by_csv`] put it on what was there before. Only a newer
//! InstallPlan removes it.

mod adoption;
mod component;
mod names;
mod owner;
mod status;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::{NamespaceResourceScope, Resource};
use olm_types::api::{InstallPlan, InstallPlanCondition, InstallPlanPhase};
use serde::Deserialize;

pub use adoption::{InstallPlanLabels, Owned, adopt_by_csv, adopt_by_subscription};
pub use component::Component;
pub use names::{component_keys, have_one_home, is_cut, operator_name, operator_names};
pub use owner::ComponentOwner;
pub(crate) use owner::{is_kind_of_component, put as put_labels};
pub use status::{Observed, decide};

/// An InstallPlan without what it installs: the manifests of a plan can be megabytes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PlanSummary {
    /// Name, labels, owners.
    pub metadata: ObjectMeta,
    /// What it installs.
    pub spec: PlanSummarySpec,
    /// How it goes.
    pub status: Option<PlanSummaryStatus>,
}

/// What an InstallPlan installs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PlanSummarySpec {
    /// Names of CSVs.
    pub cluster_service_version_names: Vec<String>,
}

/// How an InstallPlan goes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PlanSummaryStatus {
    /// How far it is.
    pub phase: InstallPlanPhase,
    /// Its conditions.
    pub conditions: Vec<InstallPlanCondition>,
}

impl PlanSummary {
    /// The CSVs whose objects are being created and updated.
    pub fn installing(&self) -> &[String] {
        let phase = self.status.as_ref().map(|status| status.phase);
        match phase {
            Some(InstallPlanPhase::Installing) => &self.spec.cluster_service_version_names,
            _ => &[],
        }
    }
}

impl Resource for PlanSummary {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        InstallPlan::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        InstallPlan::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        InstallPlan::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        InstallPlan::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
