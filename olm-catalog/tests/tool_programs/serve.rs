//! `configmap-server`, asked by our client.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use futures::TryStreamExt;
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_catalog::registry::proto;
use olm_types::bundle::CatalogKey;
use serde_json::{Value, json};

use super::Image;
use super::api_server::ApiServer;

const CRDS: &str = "
- apiVersion: apiextensions.k8s.io/v1beta1
  kind: CustomResourceDefinition
  metadata: {name: pots.example.com}
  spec: {group: example.com, version: v1, names: {kind: Pot, plural: pots}}
";

const CSVS: &str = "
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: pot.v1}
  spec:
    version: 1.0.0
    customresourcedefinitions: {owned: [{name: pots.example.com, version: v1, kind: Pot}]}
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: pot.v2}
  spec: {version: 2.0.0, replaces: pot.v1}
";

const PACKAGE: &str = "{packageName: pot, channels: [{name: stable, currentCSV: pot.v2}]}";

fn config_map(packages: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "content", "namespace": "olm"},
        "data": {
            "customResourceDefinitions": CRDS,
            "clusterServiceVersions": CSVS,
            "packages": packages,
        },
    })
}

const LINE: &str =
    "configmap-server -c content -n olm -p 0 --address 127.0.0.1 -t end -k kubeconfig";

/// A server that ends with the test.
struct Running {
    child: Child,
    line: String,
}

impl Running {
    fn start(image: &Image, line: &str) -> Self {
        let mut command = image.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, line }
    }

    fn client(&self) -> RegistryClient {
        let address = self.line.trim_end().rsplit(' ').next().unwrap();
        let options = ClientOptions {
            first_retry: Duration::from_millis(10),
            longest_retry: Duration::from_millis(50),
            ..ClientOptions::default()
        };
        RegistryClient::open(CatalogKey::new("olm", "test"), address, options).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn packages(client: &RegistryClient) -> Vec<String> {
    let answer = client.calls().list_packages(proto::ListPackageRequest {}).await.unwrap();
    let names: Vec<proto::PackageName> = answer.into_inner().try_collect().await.unwrap();
    names.into_iter().map(|package| package.name).collect()
}

#[tokio::test]
async fn lists_are_served_as_a_catalog() {
    let image = Image::new();
    ApiServer::start(Some(config_map(&format!("[{PACKAGE}]")))).kubeconfig(image.path());
    let server = Running::start(&image, LINE);
    let start = "serving the ConfigMap olm/content (1 packages, 2 channel entries) on 127.0.0.1:";
    assert!(server.line.starts_with(start), "{}", server.line);
    let client = server.client();
    let package = client.package("pot").await.unwrap();
    assert_eq!(package.default_channel_name, "stable");
    assert_eq!(package.channels[0].csv_name, "pot.v2");
    let answer = client.calls().list_bundles(proto::ListBundlesRequest {}).await.unwrap();
    let bundles: Vec<proto::Bundle> = answer.into_inner().try_collect().await.unwrap();
    let [old, new] = bundles.as_slice() else { panic!("{bundles:?}") };
    assert_eq!((new.csv_name.as_str(), new.replaces.as_str()), ("pot.v2", "pot.v1"));
    assert_eq!((old.version.as_str(), old.object.len()), ("1.0.0", 2));
    assert_eq!(old.provided_apis[0].kind, "Pot");
    assert!(old.csv_json.contains("\"name\":\"pot.v1\"") && old.bundle_path.is_empty());
}

#[tokio::test]
async fn what_is_wrong_ends_the_server_or_is_left_out() {
    let image = Image::new();
    let good = "{packageName: a.B, channels: [{name: x, currentCSV: pot.v1}]}";
    let bad = "{packageName: q, channels: [{name: x, currentCSV: gone}]}";
    let worse = "{packageName: r, channels: []}";
    let server =
        ApiServer::start(Some(config_map(&format!("[{PACKAGE}, {good}, {bad}, {worse}]"))));
    server.kubeconfig(image.path());
    let (code, text) = image.run(LINE);
    let message = "error loading manifests from configmap:\npackages, element 3 (\"q\"): channel \
                   \"x\": the currentCSV \"gone\" is not in the list clusterServiceVersions\n\
                   packages, element 4 (\"r\"): no default channel specified for r\n";
    assert_eq!((code, text), (1, format!("Error: {message}")));
    let reason = std::fs::read_to_string(image.path().join("end")).unwrap();
    assert_eq!(reason, message);

    let server = Running::start(&image, &format!("{LINE} --permissive"));
    assert_eq!(packages(&server.client()).await, ["a.B", "pot"]);
}
