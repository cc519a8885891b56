//! Changes of the APIs that CSVs own or require.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_kit::ObjectKey;
use olm_kit::watch::Change;
use olm_lifecycle::install::is_ours;
use olm_types::api::ClusterServiceVersion;
use olm_types::conditions::kubernetes::{ESTABLISHED, NAMES_ACCEPTED};
use olm_types::owner::owner_by_label;

use super::Triggers;
use crate::dependents::Dependency;

impl Triggers {
    pub(super) fn crd(&self, change: &Change<CustomResourceDefinition>) {
        let Some(crd) = change.latest() else { return };
        if let (Some(old), Some(new)) = (&change.old, &change.new)
            && same_requirement(old, new)
        {
            return;
        }
        let name = crd.metadata.name.clone().unwrap_or_default();
        self.wake_dependents(&Dependency::Crd(name));
        for version in &crd.spec.versions {
            self.wake_dependents(&Dependency::served(&crd.spec.group, &version.name));
        }
    }

    pub(super) fn api_service(&self, change: &Change<APIService>) {
        change.versions().for_each(|service| self.wake_owner(&service.metadata));
        let Some(service) = change.latest() else { return };
        self.recheck(service);
        let name = service.metadata.name.clone().unwrap_or_default();
        if let Some((version, group)) = name.split_once('.') {
            self.wake_dependents(&Dependency::served(group, version));
        }
        self.wake_dependents(&Dependency::ApiService(name));
    }

    /// A CSV is gone: what it served may have no owner now.
    pub(super) fn recheck_services_of(&self, csv: &ClusterServiceVersion) {
        let services = self.stores.api_services.list_where(|found| is_ours(csv, &found.metadata));
        services.iter().for_each(|service| self.recheck(service));
    }

    /// Has it looked up whether the CSV that an API service names exists.
    fn recheck(&self, service: &APIService) {
        let labels = service.metadata.labels.as_ref();
        let owner = labels.and_then(|labels| owner_by_label(labels, ClusterServiceVersion::KIND));
        if let (Some(owner), Some(name)) = (owner, &service.metadata.name) {
            let owner = ObjectKey::namespaced(owner.namespace, owner.name);
            self.queues.add_api_service(name.clone(), &owner);
        }
    }
}

/// Whether two states of a definition are the same to the CSVs that own or require it. The API server
/// writes its status several times until it is served.
fn same_requirement(old: &CustomResourceDefinition, new: &CustomResourceDefinition) -> bool {
    let (before, after) = (&old.metadata, &new.metadata);
    before.uid == after.uid
        && before.deletion_timestamp == after.deletion_timestamp
        && before.annotations == after.annotations
        && old.spec == new.spec
        && serving(old) == serving(new)
}

/// Whether the definition is established, and then whether its names are accepted.
fn serving(crd: &CustomResourceDefinition) -> (bool, bool) {
    let is_true = |kind: &str| {
        let conditions = crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.into_iter().any(|found| found.type_ == kind && found.status == "True")
    };
    let established = is_true(ESTABLISHED);
    (established, established && is_true(NAMES_ACCEPTED))
}
