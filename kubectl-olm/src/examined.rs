//! What only the doctor reads: Pods of catalogs elsewhere, every OLM of the cluster, the packages API and
//! webhooks.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{Api, ListParams};
use olm_plan::Observed;
use olm_plan::observed::Plural;
use olm_types::labels::{CATALOG_SOURCE, OWNER};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cluster::{Cluster, TimedOut, cause};

/// The label of the program of ClusterServiceVersions.
const OF_OLM: &str = "app=olm-operator";

impl Cluster {
    /// Adds what the doctor needs beside [`Cluster::observe`].
    ///
    /// # Errors
    /// Time runs out. What cannot be read is noted.
    pub async fn observe_for_doctor(&self, home: Option<&str>, all: &mut Observed) -> Result<()> {
        if let Some(home) = home {
            self.pods_of_catalogs(home, all).await?;
        }
        all.olm_deployments =
            self.labelled::<Deployment>("olm deployments", Some(OF_OLM), all).await?;
        let validating = "webhookconfigurations";
        let found = self.labelled::<ValidatingWebhookConfiguration>(validating, Some(OWNER), all);
        let found = found.await?;
        keep("ValidatingWebhookConfiguration", found, all);
        let found = self.labelled::<MutatingWebhookConfiguration>(validating, Some(OWNER), all);
        let found = found.await?;
        keep("MutatingWebhookConfiguration", found, all);
        let found = self.labelled::<APIService>("apiservices", None, all).await?;
        keep("APIService", found, all);
        Ok(())
    }

    /// Catalogs that Subscriptions name have their Pods in other namespaces.
    async fn pods_of_catalogs(&self, home: &str, all: &mut Observed) -> Result<()> {
        let named = all.subscriptions.iter().map(|one| one.spec.source_namespace.clone());
        let elsewhere: BTreeSet<String> =
            named.filter(|namespace| namespace != home && !namespace.is_empty()).collect();
        for namespace in elsewhere {
            let api: Api<Pod> = self.api(Some(&namespace));
            let found = self.answer(api.list(&ListParams::default().labels(CATALOG_SOURCE))).await;
            let found = note(found.map(|list| list.items), "pods", all)?;
            all.pods.extend(found);
        }
        Ok(())
    }

    /// The objects of a kind in the whole cluster that have a label.
    async fn labelled<K>(
        &self,
        kind: Plural,
        labels: Option<&str>,
        all: &mut Observed,
    ) -> Result<Vec<K>>
    where
        K: kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
    {
        let api: Api<K> = Api::all(self.client.clone());
        let label_selector = labels.map(str::to_owned);
        let parameters = ListParams { label_selector, ..ListParams::default() };
        let found = self.answer(api.list(&parameters)).await;
        note(found.map(|list| list.items), kind, all)
    }
}

/// What was read, or nothing and a note of why.
fn note<T>(read: Result<Vec<T>>, kind: Plural, all: &mut Observed) -> Result<Vec<T>> {
    match read {
        Ok(items) => Ok(items),
        Err(error) if error.downcast_ref::<TimedOut>().is_some() => Err(error),
        Err(error) => {
            all.unread.insert(kind, cause(&error));
            Ok(Vec::new())
        }
    }
}

/// Keeps objects as JSON; lists of the API server leave out what kind their items are.
fn keep(kind: &str, objects: Vec<impl Serialize>, all: &mut Observed) {
    for object in objects {
        if let Ok(mut value) = serde_json::to_value(object) {
            value["kind"] = kind.into();
            all.others.push(value);
        }
    }
}
