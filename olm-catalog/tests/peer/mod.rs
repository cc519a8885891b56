//! Ours and `opm` side by side: the same catalogs, every call, every field of every answer; and
//! the same verdicts on catalogs that are wrong.
//!
//! Catalogs of `tests/catalogs` are compared always, those of the folder that
//! `OLM_CORPUS` names when it is set. `opm` is built from its Go module on first use.

mod ask;
mod bundles;
mod compare;
#[cfg(feature = "tools")]
mod config_maps;
#[cfg(feature = "pull")]
mod images;
mod verdicts;

use std::path::Path;

use olm_catalog::fbc::{ReadLimits, render};
use olm_testkit::not_run::not_run;
use olm_testkit::peer::{Opm, ServedCatalog};
use olm_testkit::progress::Progress;

use crate::support::{Server, catalog_folder};

fn opm() -> Opm {
    Opm::ensure(&Progress::to_stderr()).unwrap()
}

/// Serves a catalog twice and compares; gives the number of answers.
async fn compare(catalog: &Path) -> usize {
    let theirs = ServedCatalog::start(opm().program(), catalog, None).unwrap();
    let ours = Server::serve(catalog, "127.0.0.1:0".parse().unwrap()).await;
    let compared = compare::all(ours.address, theirs.address()).await;
    println!("{}: {compared} answers are the same", catalog.display());
    compared
}

#[rstest::rstest]
#[case::small("other")]
#[case::upgrades("etcd")]
#[case::every_schema_and_odd_values("peculiar")]
#[tokio::test(flavor = "multi_thread")]
async fn made_catalogs(#[case] name: &str) {
    assert!(compare(&catalog_folder(name)).await > 10);
}

/// The blobs that both render, in the same order.
#[rstest::rstest]
fn rendered_blobs(#[values("other", "etcd", "peculiar", "scalars")] name: &str) {
    let catalog = catalog_folder(name);
    let theirs = opm().render(&catalog, &[]).unwrap();
    let theirs = serde_json::Deserializer::from_slice(&theirs).into_iter::<serde_json::Value>();
    let theirs: Vec<_> = theirs.map(|blob| compare::without_zeros(blob.unwrap())).collect();
    let mut ours = render(&catalog, &ReadLimits::default()).unwrap();
    ours.sort_by(|left, right| left.key.cmp(&right.key));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        assert_eq!(in_lower_case(compare::without_zeros(ours.value)), in_lower_case(theirs));
    }
}

/// A blob with the names of its fields in lower case: `opm` renders those it knows in its own
/// spelling.
fn in_lower_case(blob: serde_json::Value) -> serde_json::Value {
    match blob {
        serde_json::Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect()
        }
        other => other,
    }
}

#[test]
fn catalogs_of_the_corpus() {
    let Some(corpus) = std::env::var_os("OLM_CORPUS") else {
        return not_run("OLM_CORPUS is unset");
    };
    let mut groups: Vec<_> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    groups.sort();
    // Side by side, as this takes longer than all other tests of the crate together.
    std::thread::scope(|scope| {
        for group in &groups {
            scope.spawn(move || {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                assert!(runtime.block_on(compare(group)) > 10);
            });
        }
    });
}
