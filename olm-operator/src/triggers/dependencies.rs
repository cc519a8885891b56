//! Changes of the APIs that CSVs own or require.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_kit::watch::Change;

use super::Triggers;
use crate::dependents::Dependency;

impl Triggers {
    pub(super) fn crd(&self, change: &Change<CustomResourceDefinition>) {
        let Some(crd) = change.latest() else { return };
        let name = crd.metadata.name.clone().unwrap_or_default();
        self.wake_dependents(&Dependency::Crd(name));
        for version in &crd.spec.versions {
            self.wake_dependents(&Dependency::served(&crd.spec.group, &version.name));
        }
    }

    pub(super) fn api_service(&self, change: &Change<APIService>) {
        change.versions().for_each(|service| self.wake_owner(&service.metadata));
        let Some(service) = change.latest() else { return };
        let name = service.metadata.name.clone().unwrap_or_default();
        if let Some((version, group)) = name.split_once('.') {
            self.wake_dependents(&Dependency::served(group, version));
        }
        self.wake_dependents(&Dependency::ApiService(name));
    }
}
