//! Every call of the protocol, over a real socket (spec catalog-operator 6.1, 6.2, 9.11).

use futures::TryStreamExt;
use olm_catalog::registry::client::RegistryClient;
use olm_catalog::registry::proto;
use rstest::rstest;
use tonic::{Code, Status};

use crate::support::Server;

const GROUP: &str = "etcd.database.coreos.com";

async fn etcd() -> (Server, RegistryClient) {
    let server = Server::start("etcd").await;
    let client = server.client();
    (server, client)
}

/// Short names: `etcdoperator.v0.9.2` is `v0.9.2`.
fn short(name: &str) -> &str {
    name.strip_prefix("etcdoperator.").unwrap_or(name)
}

fn full(name: &str) -> String {
    format!("etcdoperator.{name}")
}

async fn rows(
    answer: Result<tonic::Response<tonic::Streaming<proto::ChannelEntry>>, Status>,
) -> Result<Vec<String>, Status> {
    let rows: Vec<_> = answer?.into_inner().try_collect().await?;
    let row = |row: &proto::ChannelEntry| {
        format!("{} {} {}", row.channel_name, short(&row.bundle_name), short(&row.replaces))
    };
    Ok(rows.iter().map(row).collect())
}

fn failure<T: std::fmt::Debug>(answer: Result<T, Status>) -> (Code, String) {
    let status = answer.unwrap_err();
    (status.code(), status.message().to_owned())
}

#[tokio::test]
async fn list_packages() {
    let (_server, client) = etcd().await;
    let answer = client.calls().list_packages(proto::ListPackageRequest {}).await.unwrap();
    let names: Vec<_> = answer.into_inner().try_collect().await.unwrap();
    assert_eq!(names, [proto::PackageName { name: "etcd".into() }]);
}

#[tokio::test]
async fn get_package() {
    let (_server, client) = etcd().await;
    let package = client.package("etcd").await.unwrap();
    assert_eq!(package.default_channel_name, "alpha");
    assert_eq!(package.deprecation.unwrap().message, "etcd is old");
    let channels: Vec<_> = package
        .channels
        .iter()
        .map(|channel| {
            let deprecation = channel.deprecation.as_ref().map(|it| it.message.as_str());
            (channel.name.as_str(), short(&channel.csv_name), deprecation)
        })
        .collect();
    let expected = [
        ("alpha", "v0.9.2", None),
        ("beta", "v0.9.0", Some("beta is over")),
        ("stable", "v0.9.2", None),
    ];
    assert_eq!(channels, expected);
    let error = client.package("nope").await.unwrap_err();
    assert_eq!(error.to_string(), "rpc error: code = Unknown desc = package \"nope\" not found");
}

#[tokio::test]
async fn get_bundle() {
    let (_server, client) = etcd().await;
    let bundle = client.get_bundle("etcd", "alpha", &full("v0.9.2")).await.unwrap();
    insta::assert_debug_snapshot!("bundle_with_csv_metadata", bundle);
    let bundle = client.get_bundle("etcd", "beta", &full("v0.6.1")).await.unwrap();
    assert_eq!((bundle.object.len(), bundle.csv_json.is_empty()), (2, false));
    assert_eq!(bundle.deprecation.unwrap().message, "v0.6.1 has bugs");
}

#[rstest]
#[case("nope", "alpha", "x", r#"package "nope" not found"#)]
#[case("etcd", "nope", "x", r#"package "etcd", channel "nope" not found"#)]
#[case("etcd", "beta", "x", r#"package "etcd", channel "beta", bundle "x" not found"#)]
#[tokio::test]
async fn get_bundle_that_is_not_there(
    #[case] package: &str,
    #[case] channel: &str,
    #[case] name: &str,
    #[case] message: &str,
) {
    let (_server, client) = etcd().await;
    let error = client.get_bundle(package, channel, name).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::Unknown, message));
}

#[tokio::test]
#[allow(deprecated)]
async fn get_bundle_for_channel() {
    let (_server, client) = etcd().await;
    let ask = |channel: &str| proto::GetBundleInChannelRequest {
        pkg_name: "etcd".into(),
        channel_name: channel.into(),
    };
    let head = client.calls().get_bundle_for_channel(ask("alpha")).await.unwrap().into_inner();
    assert_eq!(short(&head.csv_name), "v0.9.2");
    assert_eq!((head.replaces.as_str(), head.skips.len()), ("", 0));
    assert!(!head.csv_json.is_empty());
    let answer = client.calls().get_bundle_for_channel(ask("nope")).await;
    let message = r#"package "etcd", channel "nope" not found"#;
    assert_eq!(failure(answer), (Code::Unknown, message.into()));
}

#[rstest]
#[case("v0.6.1", &["alpha v0.9.0 v0.6.1", "beta v0.9.0 v0.6.1", "stable v0.9.0 v0.6.1"])]
#[case::skipped("v0.9.1", &["alpha v0.9.2 v0.9.0", "stable v0.9.2 v0.9.0"])]
#[tokio::test]
async fn get_channel_entries_that_replace(#[case] older: &str, #[case] expected: &[&str]) {
    let (_server, client) = etcd().await;
    let ask = proto::GetAllReplacementsRequest { csv_name: full(older) };
    let answer = rows(client.calls().get_channel_entries_that_replace(ask).await).await;
    assert_eq!(answer.unwrap(), expected);
}

#[tokio::test]
async fn nothing_replaces_a_head() {
    let (_server, client) = etcd().await;
    let ask = proto::GetAllReplacementsRequest { csv_name: full("v0.9.2") };
    let answer = rows(client.calls().get_channel_entries_that_replace(ask).await).await;
    let message = "no channel entries found that replace etcdoperator.v0.9.2";
    assert_eq!(failure(answer), (Code::Unknown, message.into()));
}

#[rstest]
#[case("v0.9.0", "alpha", Ok("v0.9.2"))]
#[case::skipped("v0.9.1", "alpha", Ok("v0.9.2"))]
#[case("v0.6.1", "beta", Ok("v0.9.0"))]
#[case("v0.9.0", "beta", Err(r#"no entry found for package "etcd", channel "beta""#))]
#[tokio::test]
async fn get_bundle_that_replaces(
    #[case] older: &str,
    #[case] channel: &str,
    #[case] expected: Result<&str, &str>,
) {
    let (_server, client) = etcd().await;
    let ask = proto::GetReplacementRequest {
        csv_name: full(older),
        pkg_name: "etcd".into(),
        channel_name: channel.into(),
    };
    let answer = client.calls().get_bundle_that_replaces(ask).await;
    let answer = answer.map(|bundle| bundle.into_inner().csv_name);
    match expected {
        Ok(name) => assert_eq!(short(&answer.unwrap()), name),
        Err(message) => assert_eq!(failure(answer), (Code::Unknown, message.into())),
    }
}

#[tokio::test]
async fn get_channel_entries_that_provide() {
    let (_server, client) = etcd().await;
    let ask = |kind: &str| proto::GetAllProvidersRequest {
        group: GROUP.into(),
        version: "v1beta2".into(),
        kind: kind.into(),
        plural: String::new(),
    };
    let answer = rows(client.calls().get_channel_entries_that_provide(ask("EtcdCluster")).await);
    let expected = [
        "alpha v0.6.1 ",
        "alpha v0.9.0 v0.6.1",
        "alpha v0.9.2 v0.9.0",
        "alpha v0.9.2 v0.9.1",
        "beta v0.6.1 ",
        "beta v0.9.0 v0.6.1",
        "stable v0.6.1 ",
        "stable v0.9.0 v0.6.1",
        "stable v0.9.2 v0.9.0",
        "stable v0.9.2 v0.9.1",
    ];
    assert_eq!(answer.await.unwrap(), expected);
    let answer = rows(client.calls().get_channel_entries_that_provide(ask("Nope")).await).await;
    let message = "no channel entries found that provide \
                   group:\"etcd.database.coreos.com\" version:\"v1beta2\" kind:\"Nope\"";
    assert_eq!(failure(answer), (Code::Unknown, message.into()));
}

#[tokio::test]
async fn get_latest_channel_entries_that_provide() {
    let (_server, client) = etcd().await;
    let ask = proto::GetLatestProvidersRequest {
        group: GROUP.into(),
        version: "v1beta2".into(),
        kind: "EtcdCluster".into(),
        plural: String::new(),
    };
    let answer = rows(client.calls().get_latest_channel_entries_that_provide(ask).await).await;
    let expected = ["alpha v0.9.2 v0.9.0", "beta v0.9.0 v0.6.1", "stable v0.9.2 v0.9.0"];
    assert_eq!(answer.unwrap(), expected);
}

#[tokio::test]
async fn get_default_bundle_that_provides() {
    let (_server, client) = etcd().await;
    let ask = |kind: &str| proto::GetDefaultProviderRequest {
        group: GROUP.into(),
        version: "v1beta2".into(),
        kind: kind.into(),
        plural: String::new(),
    };
    let answer = client.calls().get_default_bundle_that_provides(ask("EtcdCluster")).await;
    let bundle = answer.unwrap().into_inner();
    assert_eq!((short(&bundle.csv_name), bundle.channel_name.as_str()), ("v0.9.2", "alpha"));
    let answer = client.calls().get_default_bundle_that_provides(ask("Nope")).await;
    assert_eq!(failure(answer).0, Code::Unknown);
}

#[tokio::test]
async fn list_bundles() {
    let (_server, client) = etcd().await;
    let answer = client.calls().list_bundles(proto::ListBundlesRequest {}).await.unwrap();
    let bundles: Vec<_> = answer.into_inner().try_collect().await.unwrap();
    let row = |bundle: &proto::Bundle| {
        format!(
            "{} {} replaces={} skips={:?} manifests={} csv={}",
            bundle.channel_name,
            short(&bundle.csv_name),
            short(&bundle.replaces),
            bundle.skips,
            bundle.object.len(),
            !bundle.csv_json.is_empty()
        )
    };
    let rows: Vec<_> = bundles.iter().map(row).collect();
    insta::assert_snapshot!("listing", rows.join("\n"));
}

#[rstest]
#[case::of_a_package("custom.operator.io", "etcd", true, Ok(2))]
#[case::of_none("custom.operator.io", "", true, Ok(1))]
#[case::unknown_package("custom.operator.io", "nope", true, Ok(0))]
#[case::not_acknowledged("custom.operator.io", "etcd", false, Ok(0))]
#[case::no_schema("", "etcd", true, Err("schema is required"))]
#[case::bad_schema(
    "../x",
    "",
    true,
    Err(
        "invalid custom schema query: invalid schema \"../x\": must match ^[a-zA-Z0-9][a-zA-Z0-9._-]*$"
    )
)]
#[tokio::test]
async fn custom_schemas(
    #[case] schema: &str,
    #[case] package: &str,
    #[case] acknowledged: bool,
    #[case] expected: Result<usize, &str>,
) {
    let server = Server::start("etcd").await;
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{}", server.address));
    let channel = channel.unwrap().connect().await.unwrap();
    let mut client = proto::experimental_registry_client::ExperimentalRegistryClient::new(channel);
    let mut request = tonic::Request::new(proto::ExperimentalListPackageCustomSchemasRequest {
        schema: schema.into(),
        package_name: package.into(),
    });
    if acknowledged {
        request.metadata_mut().insert("x-acknowledge-experimental", "true".parse().unwrap());
    }
    let answer = client.experimental_list_package_custom_schemas(request).await;
    match expected {
        Ok(count) => {
            let found: Vec<_> = answer.unwrap().into_inner().try_collect().await.unwrap();
            assert_eq!(found.len(), count);
        }
        Err(message) => assert_eq!(failure(answer), (Code::InvalidArgument, message.into())),
    }
}

#[tokio::test]
async fn a_large_request_is_refused() {
    let (_server, client) = etcd().await;
    let ask = proto::GetPackageRequest { name: "x".repeat(100_000) };
    let (code, message) = failure(client.calls().get_package(ask).await);
    assert_eq!(code, Code::OutOfRange);
    assert!(message.contains("the limit is: 65536 bytes"), "{message}");
}

#[tokio::test]
async fn reflection_names_every_service() {
    use tonic_reflection::pb::v1;
    use v1::server_reflection_client::ServerReflectionClient;
    use v1::server_reflection_request::MessageRequest;
    use v1::server_reflection_response::MessageResponse;
    let server = Server::start("etcd").await;
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{}", server.address));
    let mut client = ServerReflectionClient::new(channel.unwrap().connect().await.unwrap());
    let asked = v1::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let answers = client.server_reflection_info(futures::stream::iter([asked])).await.unwrap();
    let answer = answers.into_inner().try_next().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("another answer: {answer:?}");
    };
    let mut names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    names.sort();
    for name in ["api.ExperimentalRegistry", "api.Registry", "grpc.health.v1.Health"] {
        assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
    }
}

#[rstest]
#[tokio::test]
async fn health_is_serving_for_any_service(#[values("", "Registry", "whatever")] service: &str) {
    use tonic_health::pb::health_client::HealthClient;
    let server = Server::start("etcd").await;
    let channel = tonic::transport::Endpoint::from_shared(format!("http://{}", server.address));
    let mut health = HealthClient::new(channel.unwrap().connect().await.unwrap());
    let ask = tonic_health::pb::HealthCheckRequest { service: service.into() };
    let answer = health.check(ask.clone()).await.unwrap().into_inner();
    assert_eq!(answer.status().as_str_name(), "SERVING");
    assert_eq!(health.watch(ask).await.unwrap_err().code(), Code::Unimplemented);
}
