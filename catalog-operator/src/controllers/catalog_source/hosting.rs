//! What is known about a CatalogSource that the operator serves itself.

use std::sync::Arc;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use olm_lifecycle::catalog_source::hosting::{
    HostedContent, Hosting, Replica, is_ours, is_released, listed, record, slice_name, taken_ports,
};
use olm_lifecycle::catalog_source::registry::service_name;
use olm_lifecycle::catalog_source::{Backend, Present};
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use olm_types::labels::SERVICE_NAME;

use super::CatalogSourceReconciler;
use crate::hosting::{Host, HostingStores};

/// Who hosts catalogs, and what is watched for it.
pub struct Hosts {
    pub(crate) host: Host,
    pub(crate) stores: HostingStores,
}

impl CatalogSourceReconciler {
    /// Has the operator serve the catalog if it should, and says what is known of that; nothing with
    /// `--catalogs=pod`, or where there is no image.
    pub(super) async fn hosting(
        &self,
        catalog: &CatalogSource,
        key: &CatalogKey,
        server: &Present,
    ) -> Option<Hosting> {
        let hosts = self.hosts.as_ref()?;
        let service = service_name(catalog, &Backend::Image);
        let slice = hosts.stores.slices.get(Some(&*key.namespace), &slice_name(&service));
        let slice = slice.filter(|slice| is_ours(slice));
        let recorded = slice.as_deref().and_then(record);
        let asked = hosts.host.scope().covers(catalog);
        let leads = self.leadership.is_leader();
        if asked {
            hosts.host.want(catalog, recorded.clone(), leads);
        }
        let view = hosts.host.view(key).unwrap_or_default();
        let recorded = recorded.and_then(|record| record.port);
        let port = match (&view.content, leads) {
            (Some(_), true) => hosts.host.port(key, recorded, &hosts.other_ports(key, &service)),
            (Some(_), false) => recorded,
            (None, _) => None,
        };
        if let Some(port) = port {
            hosts.host.serve(key, port).await;
        }
        let foreign = hosts.foreign(&key.namespace, &service);
        let (content, failure) = (view.content, view.failure);
        let served = content.as_ref().zip(port);
        let replicas = hosts.replicas(key, served, slice.as_deref(), leads);
        let hosting = Hosting { asked, content, failure, port, replicas, slice, foreign };
        if is_released(&hosting, server.service.as_deref()) {
            hosts.host.release(key);
        }
        Some(hosting)
    }
}

impl Hosts {
    /// The Pods of the operator, and which of them serve the catalog. Only the leader asks them.
    fn replicas(
        &self,
        key: &CatalogKey,
        served: Option<(&HostedContent, u16)>,
        slice: Option<&EndpointSlice>,
        leads: bool,
    ) -> Vec<Replica> {
        let mut replicas = self.stores.replicas();
        let listed = served.map(|(content, port)| listed(slice, content, port));
        let listed = listed.unwrap_or_default();
        if let (Some(served), true) = (served, leads) {
            return self.host.serving(key, served, replicas, &listed);
        }
        self.host.stop_asking(key);
        for replica in &mut replicas {
            replica.serves = listed.contains(&replica.address);
        }
        replicas
    }

    /// EndpointSlices of a Service that others made.
    fn foreign(&self, namespace: &str, service: &str) -> Vec<Arc<EndpointSlice>> {
        let mut all = self.stores.slices.list_in(namespace);
        let is_of = |slice: &EndpointSlice| {
            slice.labels().get(SERVICE_NAME).is_some_and(|name| name == service)
        };
        all.retain(|slice| is_of(slice) && !is_ours(slice));
        all
    }

    /// Ports that are recorded for other catalogs.
    fn other_ports(&self, key: &CatalogKey, service: &str) -> Vec<u16> {
        let slices = self.stores.slices.list();
        let all = slices.iter().map(Arc::as_ref);
        taken_ports(all, self.host.scope(), (&key.namespace, service))
    }
}
