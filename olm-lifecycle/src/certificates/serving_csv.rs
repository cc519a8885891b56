//! What the rules about servers look at: a CSV whose Deployments serve APIs or webhooks, and what exists of that.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::Target;
use olm_opgroup::LiveNamespaces;
use olm_types::api::{ClusterServiceVersion, OperatorGroup};
use olm_types::gvk::Gvk;
use serde_json::Value;

use super::ServingObjects;
use crate::install::Overrides;
use crate::tenancy::Trust;

/// The part of what a pass of a CSV observes that API services and webhooks follow from; each field is that of
/// [`crate::csv::Observed`].
#[derive(Clone, Copy, Debug)]
pub struct ServingCsv<'a> {
    /// The CSV.
    pub csv: &'a ClusterServiceVersion,
    /// The other CSVs of its namespace.
    pub siblings: &'a [Arc<ClusterServiceVersion>],
    /// All OperatorGroups of the cluster.
    pub operator_groups: &'a [Arc<OperatorGroup>],
    /// The Namespaces, from which it follows what groups give.
    pub namespaces: &'a LiveNamespaces,
    /// What is changed in everything that is installed.
    pub overrides: &'a Overrides,
    /// Deployments of the namespace, by name.
    pub deployments: &'a BTreeMap<String, Arc<Deployment>>,
    /// CustomResourceDefinitions that the CSV owns or requires, by name.
    pub crds: &'a BTreeMap<String, Arc<CustomResourceDefinition>>,
    /// API services that the CSV owns or requires, by name.
    pub api_services: &'a BTreeMap<String, Arc<APIService>>,
    /// What exists of the objects that serving takes.
    pub serving: &'a ServingObjects,
    /// Whether the API server serves an API, of those that were asked for.
    pub served: &'a BTreeMap<Gvk, bool>,
    /// Objects that no store holds, of those that were asked for.
    pub live: &'a BTreeMap<Target, Option<Value>>,
    /// Who may have something done beyond his namespace.
    pub trust: &'a Trust,
}

impl<'a> ServingCsv<'a> {
    /// Name of the CSV.
    pub fn name(&self) -> &'a str {
        self.csv.metadata.name.as_deref().unwrap_or_default()
    }

    /// Namespace of the CSV.
    pub fn namespace(&self) -> &'a str {
        self.csv.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// The OperatorGroups of the CSV's namespace.
    pub fn own_groups(&self) -> Vec<&'a OperatorGroup> {
        let own = self.csv.metadata.namespace.as_ref();
        let groups = self.operator_groups.iter().map(AsRef::as_ref);
        groups.filter(|group: &&OperatorGroup| group.metadata.namespace.as_ref() == own).collect()
    }
}
