//! Snapshots of a served catalog.

use std::sync::Arc;

use olm_catalog::connection::{CatalogConnection, LoadError};
use olm_catalog::registry::client::{ClientOptions, RegistryClient};
use olm_catalog::snapshot::{FolderError, LimitExceeded, Member, SnapshotLimits, SnapshotSet};
use olm_types::bundle::{BundleContent, CatalogKey, Entry, Universe};
use olm_types::gvk::Gvk;
use rstest::rstest;

use crate::support::{Server, catalog_folder};

fn line(entry: &Entry) -> String {
    let image = match &entry.content {
        BundleContent::Image(image) => image,
        BundleContent::Inline => "inline",
    };
    format!(
        "{} {} {} replaces={:?} skips={:?} skipRange={:?} default={} {image} {:?}",
        entry.package,
        entry.channel,
        entry.version.as_ref().map(ToString::to_string).unwrap_or_default(),
        entry.replaces,
        entry.skips,
        entry.skip_range.as_ref().map(ToString::to_string),
        entry.in_default_channel,
        entry.deprecations,
    )
}

#[tokio::test]
async fn of_the_etcd_package() {
    let server = Server::start("etcd").await;
    let snapshot = server.client().load().await.unwrap();
    let lines: Vec<_> = snapshot.entries().iter().map(|entry| line(entry)).collect();
    insta::assert_snapshot!("entries", lines.join("\n"));
    let head = snapshot.channel("etcd", "alpha").last().unwrap();
    insta::assert_debug_snapshot!("properties", head.properties);
    assert_eq!(snapshot.skipped_count(), 0);
    assert_eq!(&*snapshot.packages()["etcd"].channels["beta"].head, "etcdoperator.v0.9.0");
}

/// Without a server, a folder gives what it gives with one.
#[rstest]
#[case("etcd")]
#[case("other")]
#[case("peculiar")]
#[tokio::test]
async fn of_a_folder_that_is_not_served(#[case] catalog: &str) {
    let served = Server::start(catalog).await.client().load().await.unwrap();
    let key = CatalogKey::new("olm", "test");
    let set = SnapshotSet::of_folder(key.clone(), &catalog_folder(catalog)).unwrap();
    let read = set.snapshot(&key).unwrap();
    assert!(!read.entries().is_empty());
    assert_eq!(read.entries(), served.entries());
    assert_eq!(read.packages(), served.packages());
    assert_eq!(read.skipped_count(), served.skipped_count());
    assert_eq!(set.all(), served.entries());
}

#[test]
fn of_a_folder_without_a_valid_catalog() {
    let folder = tempfile::tempdir().unwrap();
    let read = || SnapshotSet::of_folder(CatalogKey::new("olm", "test"), folder.path());
    std::fs::write(folder.path().join("a.yaml"), "schema: olm.package\nname: a\n").unwrap();
    let error = read().unwrap_err();
    assert!(matches!(error, FolderError::Catalog(_)), "{error}");
    std::fs::write(folder.path().join("a.yaml"), "schema: [").unwrap();
    assert!(read().unwrap_err().to_string().contains("a.yaml"));
}

#[tokio::test]
async fn content_of_one_bundle_is_shared_between_channels() {
    let server = Server::start("etcd").await;
    let snapshot = server.client().load().await.unwrap();
    let (alpha, beta) = (snapshot.channel("etcd", "alpha"), snapshot.channel("etcd", "beta"));
    assert!(Arc::ptr_eq(&alpha[0].properties, &beta[0].properties));
    assert!(Arc::ptr_eq(&alpha[0].name, &beta[0].name));
}

#[tokio::test]
async fn manifests_are_asked_for() {
    let server = Server::start("etcd").await;
    let client = server.client();
    let bundle = client.bundle("etcd", "alpha", "etcdoperator.v0.9.0").await.unwrap();
    assert_eq!(bundle.objects.len(), 2);
    assert!(bundle.objects.contains(&bundle.csv_json));
    let error = client.bundle("etcd", "alpha", "nope").await.unwrap_err();
    assert!(error.message.contains("bundle \"nope\" not found"), "{error}");
}

#[tokio::test]
async fn two_catalogs_and_a_broken_one() {
    let (etcd, other) = (Server::start("etcd").await, Server::start("other").await);
    let member = |name: &str, priority, content| Member {
        key: CatalogKey::new("olm", name),
        priority,
        content,
    };
    let set = SnapshotSet::new([
        member("z-etcd", 5, Ok(Arc::new(etcd.client().load().await.unwrap()))),
        member("broken", 0, Err("it is down".to_owned())),
        member("a-other", -5, Ok(Arc::new(other.client().load().await.unwrap()))),
    ]);
    let catalogs: Vec<_> = set
        .catalogs()
        .into_iter()
        .map(|view| (view.key.to_string(), view.priority, view.unavailable))
        .collect();
    let expected = [
        ("olm/a-other".to_owned(), -5, None),
        ("olm/broken".to_owned(), 0, Some("it is down".to_owned())),
        ("olm/z-etcd".to_owned(), 5, None),
    ];
    assert_eq!(catalogs, expected);
    let cluster = Gvk::new("etcd.database.coreos.com", "v1beta2", "EtcdCluster");
    assert_eq!(set.by_gvk(&cluster).len(), 8);
    assert_eq!(set.by_gvk(&Gvk::new("", "v1", "Pod")).len(), 0);
    assert_eq!(set.by_package("etcd").len(), 8);
    assert_eq!(set.by_label("small").len(), 1);
    assert_eq!(set.channel(&CatalogKey::new("olm", "z-etcd"), "etcd", "beta").len(), 2);
    assert_eq!(set.channel(&CatalogKey::new("olm", "broken"), "etcd", "beta").len(), 0);
    assert_eq!(set.all().len(), 9);
}

#[tokio::test]
async fn a_catalog_beyond_the_limits_is_refused() {
    let server = Server::start("etcd").await;
    let load = async |limits: SnapshotLimits| {
        let options = ClientOptions { snapshot: limits, ..ClientOptions::default() };
        let key = CatalogKey::new("a", "b");
        let client = RegistryClient::open(key, &server.address.to_string(), options).unwrap();
        client.load().await.unwrap_err()
    };
    let limits = SnapshotLimits::default();
    let entries = load(SnapshotLimits { entries: 7, ..limits }).await;
    assert_eq!(entries, LoadError::TooLarge(LimitExceeded::Entries(7)));
    let text = load(SnapshotLimits { kept_bytes: 100, ..limits }).await;
    assert_eq!(text, LoadError::TooLarge(LimitExceeded::KeptBytes(100)));
    let transfer = load(SnapshotLimits { transfer_bytes: 100, ..limits }).await;
    assert_eq!(
        transfer.to_string(),
        "error encountered while listing bundles: the bundles and packages of the catalog exceed \
         100 bytes: split the catalog"
    );
}
