//! Catalogs of the real world, from the folder that `OLM_CORPUS` names: every catalog below it
//! loads, is valid, can be served, and gives a snapshot without a bundle left out.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::path::{Path, PathBuf};

use olm_catalog::connection::CatalogConnection;
use support::Server;

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
        println!("not run: OLM_CORPUS is unset");
        return;
    };
    for group in groups(Path::new(&corpus)) {
        let server = Server::serve(&group, "127.0.0.1:0".parse().unwrap()).await;
        let snapshot = server.client().load().await.unwrap();
        println!("{}: {} entries", group.display(), snapshot.entries().len());
        assert!(!snapshot.entries().is_empty(), "{}", group.display());
        assert_eq!(snapshot.skipped(), [], "{}", group.display());
    }
}
