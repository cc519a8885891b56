//! CRDs of operators that are gone: who converts their objects, and which objects do not go.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use olm_effect::Resource;
use olm_plan::Observed;
use olm_plan::doctor::servers;
use olm_plan::observed::{HeldResource, name, namespace};
use serde_json::{Value, json};

use super::Reading;
use crate::cluster::slim_metadata;

impl Reading<'_> {
    /// Adds them. What cannot be read is noted.
    pub(super) async fn orphaned_crds(&self, crds: &BTreeSet<String>, observed: &mut Observed) {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.cluster.client.clone());
        for crd in crds {
            let read = self.cluster.answer(definitions.get_opt(crd)).await;
            let read = self.noted(read, "customresourcedefinitions", observed);
            let Some(definition) = read else { continue };
            let summary = summary(&definition);
            for server in servers(&summary) {
                self.service(&server.namespace, &server.service, observed).await;
            }
            observed.others.push(summary);
            self.held(&definition, observed).await;
        }
    }

    async fn service(&self, home: &str, service: &str, observed: &mut Observed) {
        let api: Api<Service> = self.cluster.api(Some(home));
        let read = self.cluster.answer(api.get_metadata_opt(service)).await;
        let found = self.noted(read, "services", observed);
        observed
            .others
            .extend(found.map(|found| json!({"kind": "Service", "metadata": found.metadata})));
    }

    /// The custom resources of a CRD that are being deleted.
    async fn held(&self, crd: &CustomResourceDefinition, observed: &mut Observed) {
        let Some(stored) = crd.spec.versions.iter().find(|version| version.storage) else {
            return;
        };
        let (group, names) = (&crd.spec.group, &crd.spec.names);
        // Objects of the cluster are no concern of one namespace.
        if self.home.is_some() && crd.spec.scope != "Namespaced" {
            return;
        }
        let kind = Resource::new(group, &stored.name, &names.kind, &names.plural);
        let api = self.cluster.objects(&kind, self.home);
        let read = self.cluster.metadata(&api, None).await;
        let objects = self.noted(read, "custom resources", observed);
        let held = objects.iter().filter(|object| object.deletion_timestamp.is_some());
        let held = held.map(|object| HeldResource {
            crd: name(&crd.metadata).to_owned(),
            kind: names.kind.clone(),
            namespace: namespace(object).to_owned(),
            name: name(object).to_owned(),
            finalizers: object.finalizers.clone().unwrap_or_default(),
        });
        observed.held.extend(held);
    }
}

/// Name and conversion of a CRD.
fn summary(crd: &CustomResourceDefinition) -> Value {
    let metadata: ObjectMeta = slim_metadata(crd.metadata.clone());
    json!({"kind": "CustomResourceDefinition", "metadata": metadata,
        "spec": {"conversion": crd.spec.conversion}})
}
