//! Catalogs of the real world, from the folder that `OLM_CORPUS` names: every catalog below it
//! loads, is valid, can be served, and gives a snapshot without a bundle left out. What the packages
//! API keeps of all of them together is bounded.

use std::path::{Path, PathBuf};

use olm_catalog::connection::CatalogConnection;
use olm_catalog::packages::{CatalogFacts, Head, Heads, StoredPackage, manifest};
use olm_catalog::registry::client::RegistryClient;
use olm_catalog::snapshot::CatalogSnapshot;
use olm_testkit::not_run::not_run;
use olm_types::bundle::CatalogKey;

use crate::support::Server;

/// Most that packages may take in memory, in bytes.
const PACKAGES: usize = 10 << 20;

/// Folders directly below the corpus, or below its groups, that hold catalogs.
fn groups(corpus: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

#[tokio::test]
async fn every_catalog_loads_serves_and_snapshots() {
    let Some(corpus) = std::env::var_os("OLM_CORPUS") else {
        return not_run("OLM_CORPUS is unset");
    };
    let mut kept = 0;
    for group in groups(Path::new(&corpus)) {
        let server = Server::serve(&group, "127.0.0.1:0".parse().unwrap()).await;
        let client = server.client();
        let snapshot = client.load().await.unwrap();
        kept += bytes_of_packages(&client, &snapshot).await;
        println!("{}: {} entries", group.display(), snapshot.entries().len());
        assert!(!snapshot.entries().is_empty(), "{}", group.display());
        assert_eq!(snapshot.skipped(), [], "{}", group.display());
    }
    println!("packages take {kept} bytes");
    assert!(0 < kept && kept < PACKAGES, "packages take {kept} bytes");
}

async fn bytes_of_packages(client: &RegistryClient, snapshot: &CatalogSnapshot) -> usize {
    let facts = CatalogFacts {
        key: CatalogKey::new("olm", "test"),
        display_name: String::new(),
        publisher: String::new(),
        labels: [].into(),
        created: None,
    };
    let mut bytes = 0;
    for (package, summary) in snapshot.packages() {
        let mut heads = Heads::new();
        for (channel, summary) in &summary.channels {
            let bundle = client.bundle(package, channel, &summary.head).await.unwrap();
            if let Ok(head) = Head::read(&bundle.csv_json) {
                heads.insert(summary.head.clone(), head);
            }
        }
        let made = manifest(&facts, package, summary, snapshot.package(package), &heads).unwrap();
        bytes += StoredPackage::new(made).unwrap().bytes();
    }
    bytes
}
