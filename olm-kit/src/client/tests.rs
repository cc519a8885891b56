//! Clients from kubeconfig files; no call is made.

use std::io::Write;

use super::*;

const KUBECONFIG: &str = r#"
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: team}}]
current-context: x
"#;

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[tokio::test]
async fn a_kubeconfig_makes_a_client() {
    let file = file(KUBECONFIG);
    let client = connect(Some(file.path())).await.unwrap();
    assert_eq!(client.default_namespace(), "team");
    assert!(rustls::crypto::CryptoProvider::get_default().is_some());
}

#[tokio::test]
async fn an_anonymous_client_drops_the_credentials_only() {
    let file = file(KUBECONFIG);
    let connector = Connector::load(Some(file.path())).await.unwrap();
    assert_eq!(connector.url(), "http://127.0.0.1:9/");
    assert!(connector.anonymous().is_ok());
}

#[tokio::test]
async fn a_broken_kubeconfig_is_an_error() {
    for text in ["clusters: 7", "apiVersion: v1\nkind: Config\ncurrent-context: none\n"] {
        let file = file(text);
        let error = connect(Some(file.path())).await.err().unwrap();
        assert_eq!(error.to_string(), "cannot use the kubeconfig");
    }
}
