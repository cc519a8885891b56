//! How registries are asked: for digests alone, later, through a proxy, and with authorities of one's own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rstest::rstest;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::super::{ImageError, Keychain, Limits, Mirrors, Registry, RegistryOptions, pull};
use super::registries::answers;
use super::stub::{StubResponse, answer, ok, serve};
use crate::registry::client::Proxy;

const MANIFEST: &str = "/v2/b/manifests/v1";
const DIGEST: &str = "sha256:54d626e08c1c802b305dad30b7e54a82f102390cc92c7d4db112048935236e9c";

/// A registry that answers this to questions for a digest alone.
async fn with_head(head: StubResponse) -> Result<String, ImageError> {
    let address = serve(|_| {
        let mut answers = answers();
        let body = answers.remove(MANIFEST).unwrap();
        let both = StubResponse::Head(Box::new(head.clone()), Box::new(body));
        answers.insert(MANIFEST.to_owned(), both);
        answers
    });
    let image = format!("{}/b:v1", address.await).parse().unwrap();
    Registry::new([]).unwrap().digest(&image, &Keychain::default()).await
}

/// The manifest is transferred only where the registry does not say its digest.
#[rstest]
#[case::said(answer("200 OK", &format!("Docker-Content-Digest: {DIGEST}\r\n"), ""), Some(DIGEST))]
#[case::not_said(answer("200 OK", "", ""), None)]
#[case::no_digest(answer("200 OK", "Docker-Content-Digest: sha512:ab\r\n", ""), None)]
#[case::no_such_method(answer("405 No", "", ""), None)]
#[tokio::test]
async fn digests(#[case] head: StubResponse, #[case] said: Option<&str>) {
    let found = with_head(head).await.unwrap();
    assert_eq!(found == DIGEST, said.is_some(), "{found}");
    assert!(found.starts_with("sha256:"), "{found}");
}

#[rstest]
#[case(answer("404 Gone", "", ""), "ImageNotFound")]
#[case(answer("403 No", "", ""), "ImageUnauthorized")]
#[case(answer("500 Oh", "", ""), "RegistryUnavailable")]
#[tokio::test]
async fn no_digests(#[case] head: StubResponse, #[case] reason: &str) {
    assert_eq!(with_head(head).await.unwrap_err().reason(), reason);
}

/// Nothing is asked before the pause is over, whatever it is about.
#[rstest]
#[case::limited(answer("429 Later", "Retry-After: 7\r\n", ""), 7)]
#[case::limited_for_no_said_time(answer("429 Later", "", ""), 30)]
#[case::overloaded(answer("503 Down", "Retry-After: 7\r\n", ""), 7)]
#[tokio::test]
async fn a_registry_that_asks_for_a_pause_gets_it(
    #[case] later: StubResponse,
    #[case] seconds: u64,
) {
    let address = serve(|_| BTreeMap::from([("/v2/a/manifests/v1".to_owned(), later.clone())]));
    let (address, registry) = (address.await, Registry::new([]).unwrap());
    let ask = |name: &str| {
        let image = format!("{address}/{name}:v1").parse().unwrap();
        let registry = registry.clone();
        async move { registry.digest(&image, &Keychain::default()).await.unwrap_err() }
    };
    let pause = Duration::from_secs(seconds);
    assert_eq!(ask("a").await, ImageError::Limited { host: address.clone(), after: pause });
    let paused = ask("b").await;
    let after = paused.retry_after().unwrap();
    assert!(after > pause - Duration::from_secs(2) && after <= pause, "{paused}");
    assert_eq!(paused.reason(), "RegistryUnavailable");
}

/// A mirror that wants a pause may have the image: that the place behind it is away counts less.
#[tokio::test]
async fn a_pause_counts_more_than_what_is_away() {
    let later = answer("429 Later", "", "");
    let mirror = serve(|_| BTreeMap::from([(MANIFEST.to_owned(), later.clone())])).await;
    let rules = format!(
        "[[registry]]\nlocation = \"127.0.0.1:1\"\n[[registry.mirror]]\nlocation = \"{mirror}\"\n"
    );
    let registry = Registry::new([]).unwrap();
    registry.mirror(Mirrors::parse(&rules).unwrap());
    let image = "127.0.0.1:1/b:v1".parse().unwrap();
    let error = registry.digest(&image, &Keychain::default()).await.unwrap_err();
    assert!(matches!(error, ImageError::Limited { .. }), "{error}");
}

/// The first place that has it; a mirror that is away or has nothing is passed over.
#[tokio::test]
async fn mirrors_are_asked_first() {
    let (empty, full) = (serve(|_| BTreeMap::new()), serve(|_| answers()));
    let (empty, full) = (empty.await, full.await);
    let rules = |last: &str| {
        let places = ["127.0.0.1:1", &empty, last]
            .map(|place| format!("[[registry.mirror]]\nlocation = \"{place}\"\n"));
        format!("[[registry]]\nlocation = \"127.0.0.1:2/far\"\n{}", places.concat())
    };
    let registry = Registry::new([]).unwrap();
    let image = "127.0.0.1:2/far/b:v1".parse().unwrap();
    let pulled = async || pull(&registry, &image, &Keychain::default(), &Limits::default()).await;
    assert_eq!(pulled().await.unwrap_err().reason(), "RegistryUnavailable");
    registry.mirror(Mirrors::parse(&rules(&full)).unwrap());
    assert_eq!(pulled().await.unwrap().file("a"), Ok(&b"content"[..]));
    let blocked =
        format!("{}\n[[registry]]\nlocation = \"127.0.0.1:3\"\nblocked = true", rules(&full));
    registry.mirror(Mirrors::parse(&blocked).unwrap());
    let blocked = "127.0.0.1:3/b:v1".parse().unwrap();
    let error = registry.digest(&blocked, &Keychain::default()).await.unwrap_err();
    assert!(error.to_string().contains("is blocked by the configuration"), "{error}");
}

/// It may be corrected at any time, and is no fault of the image.
#[tokio::test]
async fn a_mirror_that_names_no_image_is_a_fault_of_the_configuration() {
    let rules =
        "[[registry]]\nlocation = \"127.0.0.1:1\"\n[[registry.mirror]]\nlocation = \"a b\"\n";
    let registry = Registry::new([]).unwrap();
    registry.mirror(Mirrors::parse(rules).unwrap());
    let image = "127.0.0.1:1/b:v1".parse().unwrap();
    let error = registry.digest(&image, &Keychain::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("the configuration of mirrors: "), "{error}");
    assert_eq!(error.reason(), "RegistryUnavailable");
}

/// A registry with TLS for `registry.test` whose certificate is its own authority; and a proxy that
/// leads there whatever it is asked for, and counts.
struct Guarded {
    authority: Vec<u8>,
    proxy: String,
    tunnels: Arc<AtomicUsize>,
}

impl Guarded {
    async fn start(answers: BTreeMap<String, StubResponse>) -> Self {
        let made = generate_simple_self_signed(["registry.test".to_owned()]).unwrap();
        let CertifiedKey { cert, signing_key } = made;
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let plain = serve(|_| answers.clone()).await;
        let secure = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let behind = secure.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((stream, _)) = secure.accept().await {
                let (acceptor, plain) = (acceptor.clone(), plain.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut registry = TcpStream::connect(plain).await.unwrap();
                    let _ = copy_bidirectional(&mut stream, &mut registry).await;
                });
            }
        });
        let tunnels = Arc::new(AtomicUsize::new(0));
        let proxy = proxy(behind.to_string(), Arc::clone(&tunnels)).await;
        Self { authority: cert.pem().into_bytes(), proxy, tunnels }
    }

    fn registry(&self, authorities: Vec<Vec<u8>>) -> Registry {
        let proxy = format!("http://{}", self.proxy);
        let proxy = Proxy::for_images(|name| (name == "HTTPS_PROXY").then(|| proxy.clone()));
        let options = RegistryOptions { proxy, authorities, ..RegistryOptions::default() };
        Registry::with(options).unwrap()
    }
}

async fn proxy(target: String, tunnels: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (target, tunnels) = (target.clone(), Arc::clone(&tunnels));
            tokio::spawn(async move {
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    head.push(char::from(client.read_u8().await.unwrap()));
                }
                assert!(head.starts_with("CONNECT registry.test:443 "), "{head}");
                tunnels.fetch_add(1, Ordering::Relaxed);
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let mut server = TcpStream::connect(target).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    address
}

/// No name server knows `registry.test`: only the proxy leads there.
#[tokio::test]
async fn a_proxy_and_authorities_of_ones_own() {
    let guarded = Guarded::start(answers()).await;
    let registry = guarded.registry(Vec::new());
    let image = "registry.test/b:v1".parse().unwrap();
    let pulled = async || pull(&registry, &image, &Keychain::default(), &Limits::default()).await;
    let error = pulled().await.unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    assert!(registry.trust(&[b"-----BEGIN CERTIFICATE-----\n".to_vec()]).is_err());
    registry.trust(std::slice::from_ref(&guarded.authority)).unwrap();
    assert_eq!(pulled().await.unwrap().file("a"), Ok(&b"content"[..]));
    assert!(guarded.tunnels.load(Ordering::Relaxed) > 1);
}

/// What stands as an address in a reference is looked at, although the proxy would connect.
#[rstest]
#[case::as_addresses_are_written("10.0.0.7")]
#[case::mapped("[::ffff:10.0.0.7]")]
#[case::of_a_cloud("169.254.169.254")]
#[case::in_hexadecimal("0x0a000007")]
#[tokio::test]
async fn no_proxy_leads_inside(#[case] host: &str) {
    let moved = answer("307 There", &format!("Location: https://{host}/layer\r\n"), "");
    let guarded = Guarded::start(BTreeMap::from([(MANIFEST.to_owned(), moved)])).await;
    let registry = guarded.registry(vec![guarded.authority.clone()]);
    let image = "registry.test/b:v1".parse().unwrap();
    let error =
        pull(&registry, &image, &Keychain::default(), &Limits::default()).await.unwrap_err();
    assert!(matches!(error, ImageError::NotPublic { .. }), "{error}");
    assert_eq!(guarded.tunnels.load(Ordering::Relaxed), 1);
}

/// Answers of a registry that is asked without a proxy stay as they are.
#[tokio::test]
async fn registries_without_tls_are_asked_directly() {
    let address = serve(|_| BTreeMap::from([(MANIFEST.to_owned(), ok("<html>"))])).await;
    let guarded = Guarded::start(BTreeMap::new()).await;
    let image = format!("{address}/b:v1").parse().unwrap();
    let registry = guarded.registry(Vec::new());
    let error =
        pull(&registry, &image, &Keychain::default(), &Limits::default()).await.unwrap_err();
    assert_eq!(error.reason(), "ImageInvalid");
    assert_eq!(guarded.tunnels.load(Ordering::Relaxed), 0);
}
