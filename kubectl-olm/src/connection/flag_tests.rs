//! What a flag says comes before what the kubeconfig says.

use std::io::Write;

use clap::Parser;
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::args::Cli;

/// Two contexts, each with a cluster and a user.
fn kubeconfig() -> NamedTempFile {
    let cluster =
        |name: &str| json!({"name": name, "cluster": {"server": format!("https://{name}.test")}});
    let user = |name: &str| json!({"name": name, "user": {"token": format!("of-{name}")}});
    let context = |name: &str| json!({"name": name, "context": {"cluster": name, "user": name, "namespace": format!("ns-{name}")}});
    let names = ["one", "two"];
    let (clusters, users) = (names.map(cluster), names.map(user));
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "one",
        "clusters": clusters, "users": users, "contexts": names.map(context)});
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(config.to_string().as_bytes()).unwrap();
    file
}

/// What a command connects with, or why it does not.
async fn connection(flags: &[&str]) -> Result<Value, String> {
    let file = kubeconfig();
    let path = file.path().display().to_string();
    let program = ["kubectl-olm", "list", "--kubeconfig", &path];
    let words = program.into_iter().chain(flags.iter().copied());
    let connection = Cli::try_parse_from(words).unwrap().connection;
    let mut config = connection.config().await.map_err(|error| error.to_string())?;
    connection.apply(&mut config).map_err(|error| error.to_string())?;
    Ok(json!({"server": config.cluster_url.to_string(), "namespace": config.default_namespace,
        "user": serde_json::to_value(&config.auth_info).unwrap(), "insecure": config.accept_invalid_certs,
        "authority": config.root_cert_file, "name": config.tls_server_name,
        "plain": config.disable_compression}))
}

#[rstest]
#[case(&[], &[("/server", json!("https://one.test/")), ("/user/token", json!("of-one")),
    ("/namespace", json!("ns-one")), ("/insecure", json!(false)), ("/plain", json!(false))])]
#[case(&["--context=two"], &[("/server", json!("https://two.test/")), ("/user/token", json!("of-two")),
    ("/namespace", json!("ns-two"))])]
#[case(&["--cluster=two"], &[("/server", json!("https://two.test/")), ("/user/token", json!("of-one"))])]
#[case(&["--user=two"], &[("/server", json!("https://one.test/")), ("/user/token", json!("of-two"))])]
#[case(&["-s", "https://three.test:6443"], &[("/server", json!("https://three.test:6443/")),
    ("/user/token", json!("of-one"))])]
#[case(&["--token=t"], &[("/user/token", json!("t"))])]
#[case(&["--username=u", "--password=p"], &[("/user/username", json!("u")), ("/user/password", json!("p"))])]
#[case(&["--client-certificate=c", "--client-key=k"], &[("/user/client-certificate", json!("c")),
    ("/user/client-key", json!("k"))])]
#[case(&["--certificate-authority=a"], &[("/authority", json!("a"))])]
#[case(&["--insecure-skip-tls-verify"], &[("/insecure", json!(true))])]
#[case(&["--tls-server-name=n", "--disable-compression"], &[("/name", json!("n")), ("/plain", json!(true))])]
#[tokio::test]
async fn flags_replace_what_the_kubeconfig_says(
    #[case] flags: &[&str],
    #[case] expected: &[(&str, Value)],
) {
    let found = connection(flags).await.unwrap();
    for (path, value) in expected {
        assert_eq!(found.pointer(path), Some(value), "{path}: {found:#}");
    }
}

#[tokio::test]
async fn a_user_with_a_password_has_no_token_of_another() {
    let found = connection(&["--username=u", "--password=p"]).await.unwrap();
    assert_eq!(found.pointer("/user/token"), None, "{found:#}");
}

#[rstest]
#[case(&["--context=three"], "the kubeconfig names no usable cluster and user")]
#[case(&["--insecure-skip-tls-verify", "--certificate-authority=a"], "contradicts --certificate-authority")]
#[case(&["--server="], "is no URL")]
#[tokio::test]
async fn what_leads_nowhere_is_an_error(#[case] flags: &[&str], #[case] expected: &str) {
    let error = connection(flags).await.unwrap_err();
    assert!(error.contains(expected), "{error}");
}
