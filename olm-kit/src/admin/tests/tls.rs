//! Over TLS: who may read what, and certificates that change.

use std::fs;
use std::path::Path;

use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ALL_VERSIONS, CipherSuite, ClientConfig, ProtocolVersion, RootCertStore,
    SupportedProtocolVersion,
};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

use super::super::*;
use crate::certificates::tests::for_localhost;
use crate::scripted::Script;
use crate::tls::{Followed, TlsProfile, TlsVersion};

pub(super) const REVIEW: &str = "POST /apis/authentication.k8s.io/v1/tokenreviews?";
pub(crate) const RIGHTS: &str = "POST /apis/authorization.k8s.io/v1/subjectaccessreviews?";

/// A server's certificate in files, and who signed it.
pub(super) struct Files {
    folder: TempDir,
    pub(super) authority: String,
}

impl Files {
    pub(super) fn new() -> Self {
        let mut files = Self { folder: TempDir::new().unwrap(), authority: String::new() };
        files.renew();
        files
    }

    /// Writes another certificate, of another authority.
    fn renew(&mut self) {
        let (issued, authority) = for_localhost();
        fs::write(self.path("tls.crt"), issued.certificate).unwrap();
        fs::write(self.path("tls.key"), issued.key).unwrap();
        self.authority = authority;
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn given(&self, clients: Option<&Path>) -> TlsFiles {
        let (certificate, key) = (self.path("tls.crt"), self.path("tls.key"));
        TlsFiles::given(Some(&certificate), Some(&key), clients).unwrap()
    }
}

/// A certificate of a client, with its key, and who signed it; all PEM.
pub(crate) fn client(name: &str) -> (String, String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::default();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let signed = authority.self_signed(&key).unwrap().pem();
    let issuer = rcgen::Issuer::new(authority, key);
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let key = rcgen::KeyPair::generate().unwrap();
    (params.signed_by(&key, &issuer).unwrap().pem(), key.serialize_pem(), signed)
}

/// A client that trusts an authority, may introduce itself, and knows some versions of TLS.
pub(crate) fn connector(
    trusted: &str,
    own: Option<(&str, &str)>,
    provider: CryptoProvider,
    versions: &[&'static SupportedProtocolVersion],
) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    TlsConnector::from(Arc::new(config))
}

pub(crate) fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

/// Asks for a path; the status code and the body.
pub(super) async fn get(
    address: SocketAddr,
    trusted: &str,
    path: &str,
    token: Option<&str>,
    own: Option<(&str, &str)>,
) -> (u16, String) {
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = connector(trusted, own, default_provider(), ALL_VERSIONS);
    let mut stream = connector.connect(localhost(), stream).await.unwrap();
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
    let token = token.unwrap_or_default();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{token}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

pub(super) fn admin(script: &Script, files: TlsFiles) -> Admin {
    Admin::new(Metrics::new().unwrap()).tls(Some(files), TlsProfile::default(), &script.client())
}

#[tokio::test]
async fn metrics_are_for_those_who_may_get_them() {
    let known = json!({"status": {"authenticated": true, "user": {"username": "prometheus"}}});
    let unknown = json!({"status": {"authenticated": false}});
    let answer = |allowed: bool| json!({"spec": {}, "status": {"allowed": allowed}});
    let spec = json!({});
    let with_spec = |mut value: Value| {
        value["spec"] = spec.clone();
        value
    };
    let script = Script::new()
        .answer(REVIEW, 201, with_spec(known.clone()))
        .answer(RIGHTS, 201, answer(true))
        .answer(REVIEW, 201, with_spec(unknown))
        .answer(
            REVIEW,
            201,
            with_spec(json!({"status": {"authenticated": true, "user": {"username": "guest"}}})),
        )
        .answer(RIGHTS, 201, answer(false));
    let (files, tasks) = (Files::new(), Tasks::new(CancellationToken::new()));
    let address = admin(&script, files.given(None)).serve("127.0.0.1:0", &tasks).await.unwrap();
    let ask = async |path, token| get(address, &files.authority, path, token, None).await;

    assert_eq!(ask("/healthz", None).await, (200, "ok".to_owned()));
    let (code, text) = ask("/metrics", Some("good")).await;
    assert!(code == 200 && text.contains("process_resident_memory_bytes"), "{text}");
    assert_eq!(ask("/metrics", Some("bad")).await.0, 401);
    let refused = (403, "guest may not get /metrics\n".to_owned());
    assert_eq!(ask("/metrics", Some("guest")).await, refused);
    let unauthorized = (401, "a token or a client certificate is needed\n".to_owned());
    assert_eq!(ask("/metrics", None).await, unauthorized);
    let asked = script.finish();
    assert_eq!(asked[1].body["spec"]["nonResourceAttributes"]["path"], "/metrics");
    assert_eq!(asked[1].body["spec"]["user"], "prometheus");
}

#[tokio::test]
async fn a_client_certificate_says_who_it_is() {
    let script =
        Script::new().answer(RIGHTS, 201, json!({"spec": {}, "status": {"allowed": true}}));
    let (files, tasks) = (Files::new(), Tasks::new(CancellationToken::new()));
    let (certificate, key, authority) = client("scraper");
    fs::write(files.path("ca.crt"), authority).unwrap();
    let given = files.given(Some(&files.path("ca.crt")));
    let address = admin(&script, given).serve("127.0.0.1:0", &tasks).await.unwrap();
    let own = Some((certificate.as_str(), key.as_str()));
    assert_eq!(get(address, &files.authority, "/metrics", None, own).await.0, 200);
    assert_eq!(script.finish()[0].body["spec"]["user"], "scraper");
}

#[tokio::test]
async fn changed_files_are_shown_and_broken_ones_are_not() {
    let mut files = Files::new();
    let mut followed =
        Followed::begin(files.given(None), TlsProfile::default().into()).await.unwrap();
    let first = files.authority.clone();
    fs::write(files.path("tls.crt"), "garbage").unwrap();
    let error = followed.look().await.unwrap_err().to_string();
    let path = files.path("tls.crt");
    assert!(error.starts_with(&format!("cannot serve with {}: ", path.display())), "{error}");

    let tasks = Tasks::new(CancellationToken::new());
    let identity = followed.identity.clone();
    let shown = crate::listen::Tls { identity, authorities: Arc::default() };
    let server = crate::listen::Server::bind("127.0.0.1:0", Some(shown)).await.unwrap();
    let address = server.address();
    server.serve("server", Router::new().route("/", get_route()), &tasks);
    assert_eq!(get(address, &first, "/", None, None).await.0, 200);

    files.renew();
    followed.look().await.unwrap();
    assert_ne!(files.authority, first);
    assert_eq!(get(address, &files.authority, "/", None, None).await.0, 200);
}

fn get_route() -> axum::routing::MethodRouter {
    axum::routing::get(async || "ok")
}

#[tokio::test]
async fn a_missing_file_is_named() {
    let (files, tasks) = (Files::new(), Tasks::new(CancellationToken::new()));
    fs::remove_file(files.path("tls.key")).unwrap();
    let admin = admin(&Script::new(), files.given(None));
    let error = admin.serve("127.0.0.1:0", &tasks).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read {}", files.path("tls.key").display()));
}

/// What a client and the server agree on; nothing when they do not.
pub(crate) async fn agreed(
    address: SocketAddr,
    authority: &str,
    version: &'static SupportedProtocolVersion,
) -> Option<(ProtocolVersion, CipherSuite)> {
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = connector(authority, None, default_provider(), &[version]);
    let stream = connector.connect(localhost(), stream).await.ok()?;
    let (_, connection) = stream.get_ref();
    let suite = connection.negotiated_cipher_suite().unwrap().suite();
    Some((connection.protocol_version().unwrap(), suite))
}

async fn serving(files: &Files, profile: TlsProfile) -> (SocketAddr, Metrics) {
    let (metrics, tasks) = (Metrics::new().unwrap(), Tasks::new(CancellationToken::new()));
    let client = Script::new().client();
    let admin = Admin::new(metrics.clone()).tls(Some(files.given(None)), profile, &client);
    (admin.serve("127.0.0.1:0", &tasks).await.unwrap(), metrics)
}

#[tokio::test]
async fn a_real_client_gets_what_the_profile_allows() {
    let (files, chacha) = (Files::new(), "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256");
    let only = [chacha.parse().unwrap()];
    let chosen = TlsProfile::given(TlsVersion::V12, &only).unwrap();
    let (address, _) = serving(&files, chosen).await;
    let (version, suite) = agreed(address, &files.authority, &TLS12).await.unwrap();
    assert_eq!((version, format!("{suite:?}")), (ProtocolVersion::TLSv1_2, chacha.to_owned()));
    let (version, _) = agreed(address, &files.authority, &TLS13).await.unwrap();
    assert_eq!(version, ProtocolVersion::TLSv1_3);

    let newest = TlsProfile::given(TlsVersion::V13, &[]).unwrap();
    let (address, _) = serving(&files, newest).await;
    assert_eq!(agreed(address, &files.authority, &TLS12).await, None);
    assert_eq!(
        agreed(address, &files.authority, &TLS13).await.unwrap().0,
        ProtocolVersion::TLSv1_3
    );

    let (address, _) = serving(&files, TlsProfile::default()).await;
    assert_eq!(
        agreed(address, &files.authority, &TLS12).await.unwrap().0,
        ProtocolVersion::TLSv1_2
    );
}

#[tokio::test]
async fn the_end_of_the_certificate_is_measured() {
    let (_, metrics) = serving(&Files::new(), TlsProfile::default()).await;
    let text = metrics.encode().unwrap();
    // 2096-01-01T00:00:00Z
    let line = r#"olm_kit_certificate_expiration_timestamp_seconds{server="admin"} 3976214400"#;
    assert!(text.contains(line), "{text}");
}
