//! Both servers with the same ConfigMap, and everything that they are asked.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use olm_catalog::registry::proto;
use serde_json::json;
use tempfile::TempDir;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use super::super::ask::{Api, CallResult, RegistryClients};
use crate::support::{ReservedAddress, TIMEOUT};
use crate::tool_programs::api_server::ApiServer;

/// What a server says: answers by question; or none, since it ended.
pub type Said = Option<BTreeMap<String, String>>;

/// Starts the program with a ConfigMap, and asks it everything. Gives also how it ended, if it did.
pub async fn said(
    program: &Path,
    data: &BTreeMap<String, String>,
    permissive: bool,
) -> (Said, String) {
    let folder = TempDir::new().unwrap();
    let server = ApiServer::start(Some(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "content", "namespace": "olm"},
        "data": data,
    })));
    let place = ReservedAddress::reserve();
    let port = place.address.port();
    let mut command = Command::new(program);
    command
        .args(["-c", "content", "-n", "olm", "-t", "end", "-k"])
        .arg(server.kubeconfig(folder.path()))
        .args(["-p", &port.to_string()])
        .args(permissive.then_some("--permissive"))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(folder.path().join("log")).unwrap());
    let mut child = Running(command.spawn().unwrap());
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let said = match child.listens(address).await {
        true => Some(everything(address).await),
        false => None,
    };
    drop(child);
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    (said, log)
}

struct Running(Child);

impl Running {
    /// Waits until it listens; false when it ends instead.
    async fn listens(&mut self, address: SocketAddr) -> bool {
        let began = Instant::now();
        while tokio::net::TcpStream::connect(address).await.is_err() {
            if self.0.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(began.elapsed() < TIMEOUT, "the server does not listen");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        true
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks about all that the server itself names, and about what it does not have.
async fn everything(address: SocketAddr) -> BTreeMap<String, String> {
    let mut asking = RegistryClients::connect(address).await;
    let mut said = BTreeMap::from([("Health/Check".to_owned(), health(address).await)]);
    let packages = asking.packages().await.map(sorted);
    let names: BTreeSet<String> = packages.iter().flatten().map(|row| row.name.clone()).collect();
    report(&mut said, "ListPackages".to_owned(), packages);
    let mut channels = BTreeSet::from([("nope".to_owned(), "nope".to_owned())]);
    for name in with(names, "nope") {
        let package = asking.package(&name).await;
        for channel in package.iter().flat_map(|package| &package.channels) {
            channels.insert((name.clone(), channel.name.clone()));
            channels.insert((name.clone(), "nope".to_owned()));
        }
        report(&mut said, format!("GetPackage {name}"), package);
    }
    let bundles = asking.bundles().await.map(|rows| sorted(rows.into_iter().map(plain).collect()));
    let listed = bundles.clone().unwrap_or_default();
    report(&mut said, "ListBundles".to_owned(), bundles);
    let names = listed.iter().flat_map(|bundle| {
        let older = std::iter::once(&bundle.replaces).chain(&bundle.skips);
        std::iter::once(&bundle.csv_name).chain(older).cloned()
    });
    let names = with(names.collect(), "nope");
    for (package, channel) in &channels {
        let head = asking.head([package.as_str(), channel.as_str()]).await;
        report(&mut said, format!("GetBundleForChannel {package} {channel}"), head);
        for name in &names {
            let place = [package.as_str(), channel.as_str(), name.as_str()];
            let bundle = asking.bundle(place).await.map(plain);
            report(&mut said, format!("GetBundle {place:?}"), bundle);
            let newer = asking.replacement(place).await.map(plain);
            report(&mut said, format!("GetBundleThatReplaces {place:?}"), newer);
        }
    }
    for name in &names {
        let newer = asking.that_replace(name).await.map(sorted);
        report(&mut said, format!("GetChannelEntriesThatReplace {name}"), newer);
    }
    providers(&mut asking, &listed, &mut said).await;
    said
}

async fn providers(
    asking: &mut RegistryClients,
    listed: &[proto::Bundle],
    said: &mut BTreeMap<String, String>,
) {
    let provided =
        listed.iter().flat_map(|bundle| bundle.provided_apis.iter().chain(&bundle.required_apis));
    let mut apis: BTreeSet<Api> =
        provided.map(|api| (api.group.clone(), api.version.clone(), api.kind.clone())).collect();
    apis.insert(Api::default());
    for api in &apis {
        let rows = asking.that_provide(api).await.map(sorted);
        report(said, format!("GetChannelEntriesThatProvide {api:?}"), rows);
        let rows = asking.heads_that_provide(api).await.map(sorted);
        report(said, format!("GetLatestChannelEntriesThatProvide {api:?}"), rows);
        let bundle = asking.default_provider(api).await.map(plain);
        report(said, format!("GetDefaultBundleThatProvides {api:?}"), bundle);
    }
}

async fn health(address: SocketAddr) -> String {
    let channel =
        Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
    let mut client = HealthClient::new(channel);
    let mut all = Vec::new();
    for service in ["", "Registry"] {
        let asked = HealthCheckRequest { service: service.to_owned() };
        all.push(format!("{:?}", client.check(asked).await.unwrap().into_inner()));
    }
    all.join(" ")
}

fn report<T: std::fmt::Debug>(
    said: &mut BTreeMap<String, String>,
    question: String,
    answer: CallResult<T>,
) {
    said.insert(question, format!("{answer:?}"));
}

fn with(mut names: BTreeSet<String>, name: &str) -> BTreeSet<String> {
    names.insert(name.to_owned());
    names
}

/// v0 keeps these in the order of a map of Go.
fn plain(mut bundle: proto::Bundle) -> proto::Bundle {
    bundle.provided_apis = sorted(bundle.provided_apis);
    bundle.required_apis = sorted(bundle.required_apis);
    bundle.dependencies = sorted(bundle.dependencies);
    bundle.properties = sorted(bundle.properties);
    bundle
}

fn sorted<T: std::fmt::Debug>(mut rows: Vec<T>) -> Vec<T> {
    rows.sort_by_key(|row| format!("{row:?}"));
    rows
}
