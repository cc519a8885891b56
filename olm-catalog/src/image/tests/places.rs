//! Who is connected to: no address that is not public, unless the registry's own is not either.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rstest::rstest;
use serde_json::json;
use tokio::net::TcpStream;

use super::super::registry::Network;
use super::super::{ImageError, Keychain, Limits, Registry, RegistryOptions, Tree, pull};
use super::registries::{answers, blob};
use super::stub::{StubResponse, answer, serve};

const PUBLIC: &str = "8.8.8.8";
const INSIDE: &str = "10.0.0.7";
const NEIGHBOUR: &str = "10.0.0.8";
const CLOUD: &str = "169.254.169.254";
const THERE: &str = "http://inside.test/layer";

/// Names and addresses that servers of this machine stand for.
#[derive(Default)]
struct Net {
    /// The addresses of a name, one for each time that it is asked for; the last one stays.
    names: Mutex<BTreeMap<&'static str, Vec<&'static str>>>,
    servers: BTreeMap<IpAddr, SocketAddr>,
    /// Connections to what is not the registry.
    elsewhere: AtomicUsize,
}

#[async_trait]
impl Network for Net {
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let mut names = self.names.lock().unwrap();
        let addresses = names.get_mut(host).ok_or(io::ErrorKind::NotFound)?;
        let now = if addresses.len() > 1 { addresses.remove(0) } else { addresses[0] };
        Ok(vec![SocketAddr::new(now.parse().unwrap(), port)])
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let home = self.names.lock().unwrap()["registry.test"][0];
        if address.ip() != home.parse::<IpAddr>().unwrap() {
            self.elsewhere.fetch_add(1, Ordering::Relaxed);
        }
        let server = self.servers.get(&address.ip()).ok_or(io::ErrorKind::ConnectionRefused)?;
        TcpStream::connect(server).await
    }
}

/// Pulls from a registry at `home`, one of whose answers is another than it should be; behind
/// `inside.test` is a server at `inside`, which has the layer. And how often that was connected to.
async fn pulled(
    home: &[&'static str],
    inside: &'static str,
    changed: (String, StubResponse),
) -> (Result<Tree, ImageError>, usize) {
    let layer = answers().remove(&blob()).unwrap();
    let token = answer("200 OK", "", json!({"token": "T"}).to_string());
    let elsewhere = serve(|_| {
        let token = ("/token?scope=repository:b:pull".to_owned(), token.clone());
        BTreeMap::from([("/layer".to_owned(), layer.clone()), token])
    });
    let registry = serve(|_| answers().into_iter().chain([changed.clone()]).collect());
    let (elsewhere, registry) = (elsewhere.await, registry.await);
    let servers = home.iter().map(|home| (*home, &registry)).chain([(inside, &elsewhere)]);
    let net = Arc::new(Net {
        names: Mutex::new(BTreeMap::from([
            ("registry.test", home.to_vec()),
            ("inside.test", vec![inside]),
        ])),
        servers: servers.map(|(ip, at)| (ip.parse().unwrap(), at.parse().unwrap())).collect(),
        ..Net::default()
    });
    let plain = ["registry.test", "inside.test", inside].map(str::to_owned);
    let without_tls = plain.into_iter().collect();
    let options = RegistryOptions { without_tls, ..RegistryOptions::default() };
    let registry = Registry::on(Arc::clone(&net) as Arc<dyn Network>, options);
    let image = "registry.test/b:v1".parse().unwrap();
    let tree = pull(&registry, &image, &Keychain::default(), &Limits::default()).await;
    (tree, net.elsewhere.load(Ordering::Relaxed))
}

/// The layer is said to be elsewhere.
fn moved(to: &str) -> (String, StubResponse) {
    (blob(), answer("307 There", &format!("Location: {to}\r\n"), ""))
}

/// A challenge that names another host for tokens.
fn token() -> (String, StubResponse) {
    let realm = "WWW-Authenticate: Bearer realm=\"http://inside.test/token\"\r\n";
    ("/v2/b/manifests/v1".to_owned(), answer("401 Who", realm, ""))
}

#[rstest]
#[case::redirect(PUBLIC, INSIDE, moved(THERE))]
#[case::redirect_to_an_address(PUBLIC, INSIDE, moved("http://10.0.0.7/layer"))]
#[case::redirect_to_this_machine(PUBLIC, "127.0.0.1", moved(THERE))]
#[case::redirect_to_this_machine_as_no_address(PUBLIC, "0.0.0.0", moved(THERE))]
#[case::redirect_to_a_mapped_address(PUBLIC, "::ffff:10.0.0.7", moved(THERE))]
#[case::redirect_to_a_cloud_through_nat(PUBLIC, "64:ff9b::a9fe:a9fe", moved(THERE))]
#[case::redirect_to_a_mapped_cloud(PUBLIC, CLOUD, moved("https://[::ffff:169.254.169.254]/layer"))]
#[case::token_realm(PUBLIC, INSIDE, token())]
#[case::token_realm_of_a_cloud(PUBLIC, CLOUD, token())]
#[case::credentials_of_a_cloud(PUBLIC, CLOUD, moved(THERE))]
#[case::credentials_of_a_cloud_from_inside(INSIDE, CLOUD, moved(THERE))]
#[tokio::test]
async fn refused(
    #[case] home: &'static str,
    #[case] inside: &'static str,
    #[case] changed: (String, StubResponse),
) {
    let (tree, connections) = pulled(&[home], inside, changed).await;
    let error = tree.unwrap_err();
    assert!(matches!(error, ImageError::NotPublic { .. }), "{error}");
    assert_eq!((error.reason(), connections), ("RegistryUnavailable", 0));
    assert!(!error.to_string().contains("10.0.0.7/layer"), "{error}");
}

#[rstest]
#[case::storage_in_public(PUBLIC, "1.1.1.1")]
#[case::both_inside(NEIGHBOUR, INSIDE)]
#[case::from_this_machine_to_inside("127.0.0.1", INSIDE)]
#[tokio::test]
async fn allowed(#[case] home: &'static str, #[case] inside: &'static str) {
    let (tree, connections) = pulled(&[home], inside, moved(THERE)).await;
    assert_eq!(tree.unwrap().file("a"), Ok(&b"content"[..]));
    assert!(connections > 0);
}

/// The name is public when it is asked where the registry lies, and another one a moment later.
#[tokio::test]
async fn a_name_that_changes_its_address_is_refused() {
    let (tree, _) = pulled(&[PUBLIC, INSIDE], "1.1.1.1", moved(THERE)).await;
    let error = tree.unwrap_err();
    assert!(matches!(error, ImageError::NotPublic { .. }), "{error}");
}

/// What a server answers that is no registry is not repeated.
#[rstest]
#[case::text(json!("password=hunter2"), None)]
#[case::text_as_a_code(json!({"errors": [{"code": "password=hunter2"}]}), None)]
#[case::code(json!({"errors": [{"code": "DENIED", "message": "hunter2"}]}), Some("DENIED"))]
#[tokio::test]
async fn errors_repeat_a_code_alone(
    #[case] body: serde_json::Value,
    #[case] code: Option<&str>,
    #[values("/v2/b/manifests/v1", "blob")] path: &str,
) {
    let path = if path == "blob" { blob() } else { path.to_owned() };
    let failed = answer("500 Oh", "", body.to_string());
    let error = pulled(&[PUBLIC], INSIDE, (path, failed)).await.0.unwrap_err();
    let text = error.to_string();
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(text.ends_with(": DENIED"), code.is_some(), "{text}");
}

/// Neither is what a manifest holds that is none.
#[rstest]
#[case(json!({"schemaVersion": "hunter2"}))]
#[case(json!({"schemaVersion": 2, "layers": [{"digest": "hunter2", "size": 1}]}))]
#[case(json!({"schemaVersion": 2, "layers": [], "config": "hunter2"}))]
#[tokio::test]
async fn manifests_are_not_repeated(#[case] manifest: serde_json::Value) {
    let path = "/v2/b/manifests/v1".to_owned();
    let given = answer("200 OK", "", manifest.to_string());
    let error = pulled(&[PUBLIC], INSIDE, (path, given)).await.0.unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
}
