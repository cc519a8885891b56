//! The packages API of a catalog-operator that runs beside the cluster.
//!
//! The API server dials the address of the Service, which is an address of this machine (see
//! [`crate::cluster::local`]). It only does so when the Service has an endpoint; where that one is
//! does not matter.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use olm_types::api::PackageManifest;
use serde_json::json;

use crate::deploy;
use crate::operators::OLM_NAMESPACE;
use crate::wait;

/// Name of the APIService.
pub const API_SERVICE: &str = "v1.packages.operators.coreos.com";

/// Name of the Service.
pub const SERVICE: &str = "packageserver-service";

/// The Secret with its certificate.
pub const CERTIFICATE: &str = "packageserver-service-cert";

/// An address that is reserved for documentation; it is never dialled.
const SOMEWHERE: &str = "192.0.2.2";

/// Where the API server looks for the packages API: what `--packages-address` has to say.
pub async fn address(client: &Client) -> Result<SocketAddr> {
    let services: Api<Service> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let service = services.get(SERVICE).await.context("cannot read the Service")?;
    let spec = service.spec.context("the Service has no spec")?;
    let port = spec.ports.iter().flatten().next().context("the Service has no port")?.port;
    let ip = spec.cluster_ip.context("the Service has no address")?;
    format!("{ip}:{port}").parse().with_context(|| format!("the Service is at {ip:?}"))
}

/// Has the API server pass requests on from the moment at which a server listens.
pub async fn announce(client: &Client) -> Result<()> {
    let port = address(client).await?.port();
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": SERVICE, "labels": {"kubernetes.io/service-name": SERVICE}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [SOMEWHERE], "conditions": {"ready": true}}],
        "ports": [{"name": "packages", "port": port, "protocol": "TCP"}],
    });
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let applied = PatchParams::apply("olm-testkit").force();
    let slice = slices.patch(SERVICE, &applied, &Patch::Apply(&slice)).await;
    slice.context("cannot give the Service an endpoint")?;
    deploy::apply_api_service(client).await
}

/// Waits until the API server passes requests on.
pub async fn until_available(client: &Client) -> Result<()> {
    let services: Api<APIService> = Api::all(client.clone());
    let available = wait::until(&services, API_SERVICE, "be available", |service: &APIService| {
        let conditions =
            service.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.into_iter().any(|one| one.type_ == "Available" && one.status == "True")
    });
    available.await.map(drop)
}

/// Waits until the packages of all namespaces are listed, however few there are.
pub async fn until_listed(client: &Client) -> Result<()> {
    let all: Api<PackageManifest> = Api::all(client.clone());
    let every = ListParams::default();
    wait::until_ok("lists packages", || all.list(&every)).await.map(drop)
}

/// Whether the server shows a certificate of this authority (PEM) now.
pub async fn is_shown(address: SocketAddr, authority: &str) -> Result<bool> {
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {
            "server": format!("https://{address}"),
            "certificate-authority-data": STANDARD.encode(authority),
            "tls-server-name": format!("{SERVICE}.{OLM_NAMESPACE}.svc"),
        }}],
        "users": [{"name": "it", "user": {}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    });
    let kubeconfig: Kubeconfig = serde_json::from_value(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let request = http::Request::get("/healthz").body(Vec::new())?;
    Ok(Client::try_from(config)?.request_text(request).await.is_ok())
}
