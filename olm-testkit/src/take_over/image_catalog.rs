//! A catalog by image, and an operator from it.
//!
//! No container runs in these clusters: a process serves at the address of the Service that OLM makes.
//! Ours look the address up by themselves; v0 asks for the Service by name, and reaches it through a
//! [`super::ServiceProxy`], which its variable `GRPC_PROXY` names.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Namespace, Service};
use kube::Client;
use kube::api::{Api, PostParams};
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription};

use crate::builders::{self, Bundle, CatalogDir, Package, csv};
use crate::oci::server::ImageRegistry;
use crate::oci::{self, CONFIGS};
use crate::operators::{Binaries, OLM_NAMESPACE};
use crate::process::Running;
use crate::wait;

/// Name of the CatalogSource, and of its Service.
const NAME: &str = "shelf";

/// The registry in the name of its image.
const REGISTRY: &str = "registry.example.com";

/// The namespace of the operator that comes from it, and its package.
const PACKAGE: &str = "kettle";

/// Where registries serve.
const PORT: u16 = 50_051;

/// What the Pod of the catalog would serve, until dropped.
#[derive(Debug)]
pub struct ImageCatalog {
    content: CatalogDir,
    running: Running,
    address: SocketAddr,
}

impl ImageCatalog {
    /// Adds the catalog, and waits until it is connected.
    ///
    /// # Errors
    /// The API server refuses it, or a part is not there in time.
    pub async fn add(client: &Client, binaries: &Binaries) -> Result<Self> {
        let once = PostParams::default();
        let mut source = builders::catalog_source(OLM_NAMESPACE, NAME, "");
        source.spec.address = None;
        source.spec.image = Some(format!("{REGISTRY}/{NAME}:v1"));
        let sources: Api<CatalogSource> = Api::namespaced(client.clone(), OLM_NAMESPACE);
        sources.create(&once, &source).await.context("the API server refuses the catalog")?;
        loop {
            let catalog = Self::serve(client, binaries).await?;
            if connected_at(client, &sources, catalog.address.ip()).await? {
                return Ok(catalog);
            }
            catalog.stop();
        }
    }

    /// Name of the CatalogSource, and of its Service.
    pub const NAME: &'static str = NAME;

    /// Where it is served.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Pushes the image to a registry; says where that is found in place of the registry in the image's name, as a
    /// `registries.conf`.
    ///
    /// # Errors
    /// The registry refuses it.
    pub async fn publish(&self, registry: &ImageRegistry) -> Result<String> {
        let image = oci::catalog(self.content.path())?.label(CONFIGS, "/configs").build()?;
        oci::push(&image, registry.address(), NAME, "v1").await?;
        let location = registry.address();
        Ok(format!(
            "[[registry]]\nprefix = {REGISTRY:?}\nlocation = {location:?}\ninsecure = true\n"
        ))
    }

    /// Ends the server.
    pub fn stop(self) {
        self.running.stop();
    }

    async fn serve(client: &Client, binaries: &Binaries) -> Result<Self> {
        let services: Api<Service> = Api::namespaced(client.clone(), OLM_NAMESPACE);
        let has_address = |service: &Service| address(service).is_some();
        let service = wait::until(&services, NAME, "have an address", has_address).await?;
        let ip = address(&service).context("the Service lost its address")?;
        let kettle = csv("kettle.v1.0.0", "1.0.0").deployment(PACKAGE, "default");
        let content = CatalogDir::of(&[Package::single(PACKAGE, Bundle::new("1.0.0", &kettle))])?;
        let address = SocketAddr::new(ip, PORT);
        let running = binaries.registry_on(NAME, content.path(), address)?;
        Ok(Self { content, running, address })
    }
}

/// Subscribes to the package of the catalog, and waits until it is installed.
///
/// # Errors
/// The API server refuses something, or the CSV does not succeed in time.
pub async fn install_from_image(client: &Client) -> Result<()> {
    let once = PostParams::default();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&once, &builders::namespace(PACKAGE)).await?;
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), PACKAGE);
    groups.create(&once, &builders::operator_group(PACKAGE, "group", &[PACKAGE])).await?;
    let mut subscription = builders::subscription(PACKAGE, PACKAGE, "stable", NAME);
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), PACKAGE);
    subscriptions.create(&once, &subscription).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), PACKAGE);
    wait::until(&csvs, "kettle.v1.0.0", "succeed", |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    })
    .await
    .map(drop)
}

/// Waits until the catalog is connected, or its Service is no longer at this address (false): v0 makes the Service
/// of a new catalog anew, as [`super::ServiceProxy::route`] says.
async fn connected_at(client: &Client, sources: &Api<CatalogSource>, at: IpAddr) -> Result<bool> {
    let services: Api<Service> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    wait::until_ok("is connected", || async {
        let state = sources.get(NAME).await?.status.and_then(|status| status.connection_state);
        if state.as_ref().is_some_and(|state| state.last_observed_state == "READY") {
            return anyhow::Ok(true);
        }
        let now = services.get_opt(NAME).await?.as_ref().and_then(address);
        ensure!(now.is_some_and(|now| now != at), "the Service is at {now:?}, and {state:?}");
        Ok(false)
    })
    .await
}

/// The address of a Service.
pub(super) fn address(service: &Service) -> Option<IpAddr> {
    service.spec.as_ref()?.cluster_ip.as_deref()?.parse().ok()
}
