//! What is remembered of an InstallPlan.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::{NamespaceResourceScope, Resource};
use olm_types::api::{InstallPlan, InstallPlanCondition};
use serde::Deserialize;

/// An InstallPlan without what it installs: the manifests of a plan can be megabytes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PlanSummary {
    /// Name, labels, owners.
    pub metadata: ObjectMeta,
    /// How it goes.
    pub status: Option<PlanSummaryStatus>,
}

/// How an InstallPlan goes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PlanSummaryStatus {
    /// Its conditions.
    pub conditions: Vec<InstallPlanCondition>,
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
