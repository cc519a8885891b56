//! Indexes in files: the same answers as from memory, and no damage goes unnoticed.

use std::fs::{self, File};
use std::future;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use olm_catalog::fbc::{ReadLimits, SourceDigest};
use olm_catalog::index::{Index, QueryError};
use olm_catalog::registry::proto;
use olm_catalog::registry::proto::registry_client::RegistryClient;
use olm_catalog::registry::server::{ServerOptions, serve};
use proptest::prelude::*;
use tokio::net::TcpListener;
use tonic::Code;
use tonic::transport::Endpoint;

use crate::support::catalog_folder;

/// An index of the catalog `etcd`, and the bytes of its file.
fn written() -> (Index, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    let root = catalog_folder("etcd");
    let built = Index::build(&root, &ReadLimits::default(), Some(file)).unwrap();
    (built, fs::read(&path).unwrap())
}

fn open(bytes: &[u8]) -> Result<Index, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    fs::write(&path, bytes).unwrap();
    Index::open(File::open(&path).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn an_index_that_was_closed_answers_as_before() {
    let (built, bytes) = written();
    let opened = open(&bytes).unwrap();
    let memory = Index::build(&catalog_folder("etcd"), &ReadLimits::default(), None).unwrap();
    assert_eq!(opened.len(), 8);
    for place in 0..opened.len() {
        let [of_built, listed, of_memory] =
            [&built, &opened, &memory].map(|index| index.listed(place).unwrap().message());
        assert_eq!(of_built, listed);
        assert_eq!(of_memory, listed);
        let listed = listed.unwrap();
        let names = (&listed.package_name, &listed.channel_name, &listed.csv_name);
        let whole = |index: &Index| index.bundle(names.0, names.1, names.2).unwrap().message();
        assert_eq!(whole(&opened).unwrap().csv_name, listed.csv_name);
        assert_eq!(whole(&built), whole(&opened));
        assert_eq!(whole(&memory), whole(&opened));
    }
    assert!(opened.listed(opened.len()).is_none());
    let meta = |index: &Index| index.meta("custom.operator.io", "etcd", 1).unwrap().message();
    assert_eq!(meta(&opened), meta(&built));
}

#[test]
fn an_index_knows_what_it_was_made_from() {
    let (built, bytes) = written();
    let digest = SourceDigest::of(&catalog_folder("etcd"), &ReadLimits::default()).unwrap();
    assert_eq!(built.sources(), Some(&digest));
    assert_eq!(open(&bytes).unwrap().sources(), Some(&digest));
}

#[tokio::test]
async fn an_index_that_is_cut_off_while_it_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    let limits = ReadLimits::default();
    let index = Index::build(&catalog_folder("etcd"), &limits, Some(file)).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
    let answer = index.listed(0).unwrap().message();
    assert!(matches!(answer, Err(QueryError::Unreadable(_))), "{answer:?}");

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = serve(listener, Arc::new(index), ServerOptions::default(), future::pending());
    tokio::spawn(served);
    let mut client = RegistryClient::new(Endpoint::new(address).unwrap().connect().await.unwrap());
    let listing = client.list_bundles(proto::ListBundlesRequest {}).await.unwrap().into_inner();
    let error = listing.try_collect::<Vec<_>>().await.unwrap_err();
    assert_eq!(error.code(), Code::DataLoss, "{error}");
    let packages = client.list_packages(proto::ListPackageRequest {}).await.unwrap().into_inner();
    assert_eq!(packages.count().await, 1, "what is in memory is still there");
}

#[test]
fn a_file_that_is_no_index_is_refused() {
    for bytes in [vec![], vec![0; 10], vec![0; 1000]] {
        let error = open(&bytes).unwrap_err();
        assert!(error.starts_with("the index is damaged: "), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_change_is_noticed(place in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let (_, mut bytes) = written();
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        prop_assert!(open(&bytes).is_err());
        bytes[place] ^= flip;
        bytes.truncate(place);
        prop_assert!(open(&bytes).is_err());
    }
}
