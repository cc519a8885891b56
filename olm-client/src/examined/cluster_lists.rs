//! Lists of the cluster: what the API server calls, every OLM, Pods of catalogs, certificates and CRDs.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::Api;
use olm_plan::Observed;
use olm_types::labels::{CATALOG_SOURCE, MANAGED, OWNER};
use serde::Serialize;
use serde_json::{Value, json};

use super::pages::{FEW, MANY};
use super::{Reading, slim};
use crate::acts::rights::{self, Action};
use crate::cluster::slim_metadata;

/// The label of the program of ClusterServiceVersions.
const OF_OLM: &str = "app=olm-operator";

/// A right that OLM's manifests need, as only those who may do everything can give it away.
const EVERYTHING: &str = "*";

impl Reading<'_> {
    /// Adds what concerns the whole cluster.
    pub(super) async fn cluster_lists(&self, observed: &mut Observed) {
        let managed = format!("{MANAGED}=true");
        let client = || self.cluster.client.clone();
        let (validating, mutating) = (Api::all(client()), Api::all(client()));
        let (services, olm, secrets) = (Api::all(client()), Api::all(client()), self.secrets());
        let crds: Api<CustomResourceDefinition> = Api::all(client());
        let (of_csvs, of_olm) = ((FEW, Some(OWNER)), (MANY, Some(OF_OLM)));
        let (v, m) = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration");
        let read = tokio::join!(
            self.cluster
                .kept(&validating, of_csvs, |it: ValidatingWebhookConfiguration, _| value(v, it)),
            self.cluster
                .kept(&mutating, of_csvs, |it: MutatingWebhookConfiguration, _| value(m, it)),
            self.cluster.kept(&services, (MANY, None), |it: APIService, _| value("APIService", it)),
            self.cluster.kept(&olm, of_olm, |it: Deployment, _| deployment(it)),
            self.cluster.metadata(&secrets, Some(&managed)),
            self.cluster.metadata(&crds, Some(&managed)),
            self.catalog_pods(observed),
        );
        let (validating, mutating, services, olm, secrets, crds, pods) = read;
        let hooks = "webhookconfigurations";
        let validating = self.noted(validating, hooks, observed);
        let mutating = self.noted(mutating, hooks, observed);
        let services = self.noted(services, "apiservices", observed);
        observed.others.extend(validating.into_iter().chain(mutating).chain(services));
        observed.olm_deployments = self.noted(olm, "olm deployments", observed);
        let secrets = self.noted(secrets, "secrets", observed);
        observed.others.extend(secrets.into_iter().map(secret));
        observed.crds = self.noted(crds, "customresourcedefinitions", observed);
        observed.pods = self.noted(pods, "pods", observed);
    }

    /// Asks what the user may do, and notes what not.
    pub(super) async fn rights(&self, observed: &mut Observed) {
        let everything = Action {
            verb: EVERYTHING,
            group: EVERYTHING.to_owned(),
            resource: EVERYTHING.to_owned(),
            namespace: None,
        };
        let read = rights::review(self.cluster, &everything).await.map(|is_allowed| {
            if is_allowed { Vec::new() } else { vec!["do everything in the cluster".to_owned()] }
        });
        observed.denied = self.noted(read, "selfsubjectaccessreviews", observed);
    }

    /// The Pods of catalogs: of the namespace and of those that its Subscriptions name, or of all.
    async fn catalog_pods(&self, observed: &Observed) -> Result<Vec<Pod>> {
        let label = (MANY, Some(CATALOG_SOURCE));
        let Some(home) = self.home else {
            return self
                .cluster
                .kept(&self.cluster.api(None), label, |pod, _| slim::pod(pod))
                .await;
        };
        let named = observed.subscriptions.iter().map(|one| one.spec.source_namespace.as_str());
        let homes: BTreeSet<&str> = named.chain([home]).filter(|home| !home.is_empty()).collect();
        let mut found = Vec::new();
        for home in homes {
            let api: Api<Pod> = self.cluster.api(Some(home));
            found.extend(self.cluster.kept(&api, label, |pod, _| slim::pod(pod)).await?);
        }
        Ok(found)
    }

    fn secrets(&self) -> Api<Secret> {
        self.cluster.api(self.home)
    }
}

/// The metadata of a Secret; its data are not read.
fn secret(metadata: ObjectMeta) -> Value {
    json!({"kind": "Secret", "metadata": metadata})
}

fn deployment(deployment: Deployment) -> Deployment {
    Deployment { metadata: slim_metadata(deployment.metadata), ..Deployment::default() }
}

/// An object as JSON; lists of the API server leave out what kind their items are.
fn value(kind: &str, object: impl Serialize) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    value["kind"] = kind.into();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    value
}
