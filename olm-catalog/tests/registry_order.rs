//! Answers that opm gives in any order (docs/differences.md).

use futures::TryStreamExt;
use olm_catalog::registry::proto;
use serde_json::{Value, json};

use crate::support::Server;

/// opm gives any of them.
#[tokio::test]
async fn of_several_bundles_that_replace_one_the_first_by_name_is_given() {
    let entries = [
        json!({"name": "p.v1"}),
        json!({"name": "p.v3", "replaces": "p.v2", "skips": ["p.v1"]}),
        json!({"name": "p.v2", "replaces": "p.v1"}),
    ];
    let bundle = |version: u8| {
        let package = json!({"packageName": "p", "version": format!("{version}.0.0")});
        json!({
            "schema": "olm.bundle", "name": format!("p.v{version}"), "package": "p",
            "image": format!("example.com/p:v{version}"),
            "properties": [{"type": "olm.package", "value": package}],
        })
    };
    let blobs = [
        json!({"schema": "olm.package", "name": "p", "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "package": "p", "name": "stable", "entries": entries}),
        bundle(1),
        bundle(2),
        bundle(3),
    ];
    let server = serve(&blobs).await;
    let ask = proto::GetReplacementRequest {
        csv_name: "p.v1".into(),
        pkg_name: "p".into(),
        channel_name: "stable".into(),
    };
    let answer = server.client().calls().get_bundle_that_replaces(ask).await;
    assert_eq!(answer.unwrap().into_inner().csv_name, "p.v2");
}

/// opm gives them in the order of a hash.
#[tokio::test]
async fn custom_schemas_come_in_the_order_of_the_catalog() {
    let words = ["beta", "alpha", "omega", "gamma"];
    let package = json!({"schema": "olm.package", "name": "p", "defaultChannel": "stable"});
    let entries = json!([{"name": "p.v1"}]);
    let channel =
        json!({"schema": "olm.channel", "package": "p", "name": "stable", "entries": entries});
    let value = json!({"packageName": "p", "version": "1.0.0"});
    let properties = json!([{"type": "olm.package", "value": value}]);
    let bundle = json!({
        "schema": "olm.bundle", "name": "p.v1", "package": "p", "image": "example.com/p:v1",
        "properties": properties,
    });
    let custom = words.map(|word| json!({"schema": "a.custom.one", "package": "p", "word": word}));
    let blobs: Vec<Value> = [package, channel, bundle].into_iter().chain(custom).collect();
    let server = serve(&blobs).await;
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{}", server.address));
    let channel = channel.unwrap().connect().await.unwrap();
    let mut client = proto::experimental_registry_client::ExperimentalRegistryClient::new(channel);
    let mut request = tonic::Request::new(proto::ExperimentalListPackageCustomSchemasRequest {
        schema: "a.custom.one".into(),
        package_name: "p".into(),
    });
    request.metadata_mut().insert("x-acknowledge-experimental", "true".parse().unwrap());
    let answer = client.experimental_list_package_custom_schemas(request).await;
    let found: Vec<_> = answer.unwrap().into_inner().try_collect().await.unwrap();
    let texts: Vec<String> = found.iter().map(|one| format!("{one:?}")).collect();
    assert_eq!(texts.len(), words.len());
    let in_order = texts.iter().zip(words).all(|(text, word)| text.contains(word));
    assert!(in_order, "{texts:?}");
}

/// Serves a catalog of these blobs.
async fn serve(blobs: &[Value]) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<String> = blobs.iter().map(Value::to_string).collect();
    std::fs::write(folder.path().join("catalog.json"), texts.join("\n")).unwrap();
    Server::serve(folder.path(), "127.0.0.1:0".parse().unwrap()).await
}
