//! Four images of catalogs, and what serves them in the place of Pods.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Service;
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{Bundle, CatalogDir, Package, csv};
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, CONFIGS};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::process::Running;
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::super::olm::Olm;

/// How many there are.
pub(super) const COUNT: usize = 4;

/// Where Pods of catalogs serve.
const PORT: u16 = 50_051;

/// The images in a registry, until dropped.
pub(super) struct Catalogs {
    pub(super) registry: ImageRegistry,
    /// The content of all.
    pub(super) folder: PathBuf,
    _made: CatalogDir,
    _storage: TempDir,
}

impl Catalogs {
    /// Makes images of a catalog, which are different images with the same content.
    pub(super) async fn publish(given: Option<&Path>) -> Result<Self> {
        let storage = tempfile::tempdir().context("cannot create a folder")?;
        let registry = ImageRegistry::start(storage.path(), false).await?;
        let kettle = csv("kettle.v1.0.0", "1.0.0").deployment("kettle", "default");
        let made = CatalogDir::of(&[Package::single("kettle", Bundle::new("1.0.0", &kettle))])?;
        let folder = given.map_or_else(|| made.path().to_owned(), Path::to_owned);
        for number in 0..COUNT {
            let image = oci::catalog(&folder)?.label(CONFIGS, "/configs");
            let image = image.file("/number", number.to_string(), 0o644).build()?;
            oci::push(&image, registry.address(), &repository(number), "v1").await?;
        }
        Ok(Self { registry, folder, _made: made, _storage: storage })
    }

    /// Adds a CatalogSource whose image is looked at every `interval` seconds.
    pub(super) async fn create(&self, client: &Client, number: usize, interval: u32) -> Result<()> {
        let image = format!("{}/{}:v1", self.registry.address(), repository(number));
        let source = json!({
            "metadata": {"name": name(number)},
            "spec": {
                "sourceType": "grpc", "image": image,
                "updateStrategy": {"registryPoll": {"interval": format!("{interval}s")}},
            },
        });
        let source: CatalogSource = serde_json::from_value(source)?;
        let once = PostParams::default();
        let created = sources(client).create(&once, &source).await;
        created.map(drop).context("the API server refuses a catalog")
    }

    /// Serves it where the operators look for its Service, and waits until that listens: an operator that finds no
    /// server there would say so for minutes, and not why.
    pub(super) async fn serve(&self, olm: &Olm, number: usize) -> Result<Running> {
        let address = served_at(olm, number).await?;
        let started = olm.fixture.binaries.registry_on(&name(number), &self.folder, address);
        let mut server = started?;
        let listens = spawn_blocking(move || server.until_listening(address).map(|()| server));
        listens.await.context("waiting for a server was given up")?
    }
}

/// Has v0, where it is at work, find the Service of a catalog at an address that stays: it gives new Services another
/// address at times. Done before the CatalogSource is there, it spares v0 a pause after an address without a server.
pub(super) fn route(olm: &Olm, number: usize) -> Result<Option<SocketAddr>> {
    let last = u8::try_from(number + 1).context("so many catalogs")?;
    let own = SocketAddr::new(IpAddr::from([127, 214, 2, last]), PORT);
    Ok(olm.route(&name(number), own).then_some(own))
}

/// Where the Service of a catalog leads: to an address of its own where v0 is at work, else to its address.
pub(super) async fn served_at(olm: &Olm, number: usize) -> Result<SocketAddr> {
    match route(olm, number)? {
        Some(own) => Ok(own),
        None => service_address(&olm.fixture.client, number).await,
    }
}

/// Where the Service of a catalog is reached.
async fn service_address(client: &Client, number: usize) -> Result<SocketAddr> {
    let services: Api<Service> = Api::namespaced(client.clone(), OLM_NAMESPACE);
    let address = |service: &Service| -> Option<IpAddr> {
        service.spec.as_ref()?.cluster_ip.as_deref()?.parse().ok()
    };
    let has_address = |service: &Service| address(service).is_some();
    let service = wait::until(&services, &name(number), "have an address", has_address).await?;
    let ip = address(&service).context("a Service lost its address")?;
    Ok(SocketAddr::new(ip, PORT))
}

pub(super) fn sources(client: &Client) -> Api<CatalogSource> {
    Api::namespaced(client.clone(), OLM_NAMESPACE)
}

pub(super) fn name(number: usize) -> String {
    format!("shelf-{number}")
}

fn repository(number: usize) -> String {
    format!("bench/{}", name(number))
}
