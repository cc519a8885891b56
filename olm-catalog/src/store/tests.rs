//! Pulls into a store: what is kept, what is refused, and what goes.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::connection::CatalogConnection;
use crate::fbc::ReadLimits;
use crate::image::tests::made::{
    REPOSITORY, TestImage, blob, changed, files, links, long_names, path,
};
use crate::image::tests::stub::{StubResponse, StubResponses, answer, serve};
use crate::image::{Keychain, Limits, Registry};

/// A catalog with one package.
fn catalog(package: &str) -> Vec<u8> {
    let name = format!("{package}.v1.0.0");
    let value = json!({"packageName": package, "version": "1.0.0"});
    let properties = json!([{"type": "olm.package", "value": value}]);
    [
        json!({"schema": "olm.package", "name": package, "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "package": package, "name": "stable", "entries": [{"name": name}]}),
        json!({"schema": "olm.bundle", "package": package, "name": name,
               "image": format!("quay.io/a/{package}:v1"), "properties": properties}),
    ]
    .map(|blob| blob.to_string())
    .join("\n")
    .into_bytes()
}

fn good(package: &str) -> TestImage {
    TestImage::catalog().gzip(&files(&[
        ("bin/server", &[7; 5_000]),
        (&format!("configs/{package}/catalog.json"), &catalog(package)),
    ]))
}

/// A store in a folder, and a registry.
struct Bench {
    folder: TempDir,
    limits: Limits,
    space: u64,
    time: Duration,
    catalog_dir: Option<&'static str>,
}

impl Default for Bench {
    fn default() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            limits: Limits::CATALOG,
            space: 1 << 30,
            time: Duration::from_secs(60),
            catalog_dir: None,
        }
    }
}

fn key() -> CatalogKey {
    CatalogKey::new("olm", "shelf")
}

impl Bench {
    fn store(&self) -> CatalogStore {
        CatalogStore::open(self.folder.path(), self.space).unwrap()
    }

    async fn pull(&self, made: &TestImage) -> Result<Pulled, PullError> {
        let (digest, answers) = made.answers();
        self.pull_from(answers, &digest).await
    }

    async fn pull_from(&self, answers: StubResponses, digest: &str) -> Result<Pulled, PullError> {
        let address = serve(|_| answers.clone()).await;
        let image = format!("{address}/{REPOSITORY}:v1");
        let folder = self.catalog_dir.map(str::to_owned);
        let options = PullOptions {
            catalog: key(),
            content: StoredContent { image, digest: digest.to_owned(), folder },
            keychain: Keychain::default(),
            limits: self.limits,
            read: ReadLimits::BESIDE,
            time: self.time,
        };
        pull(&self.store(), &Registry::new([]).unwrap(), options).await
    }

    /// What is recorded of the catalog.
    fn current(&self) -> StoredContent {
        self.store().recorded(&key()).unwrap().current
    }

    /// Paths below the folder.
    fn listing(&self) -> Vec<String> {
        fn below(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    below(&path, root, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        below(self.folder.path(), self.folder.path(), &mut found);
        // Every process that uses the folder locks it.
        found.retain(|path| path != "in-use");
        found.sort();
        found
    }
}

fn packages(index: &Index) -> Vec<String> {
    index.packages().map(|package| package.name).collect()
}

#[tokio::test]
async fn an_image_becomes_content_and_nothing_else_is_left() {
    let bench = Bench::default();
    let pulled = bench.pull(&good("kettle")).await.unwrap();
    assert_eq!(packages(&pulled.index), ["kettle"]);
    assert_eq!(pulled.snapshot.entries().len(), 1);
    let expected = format!("content/{}/catalog.index", bench.current().key());
    let listing = bench.listing();
    assert_eq!((listing.len(), &listing[1]), (2, &expected), "and a record");
    let store = bench.store();
    let key = bench.current().key();
    let index = store.index(&key).unwrap().unwrap();
    assert_eq!(packages(&index), ["kettle"]);
    assert!(store.pulled_at(&key).is_some());
    assert_eq!(store.bytes().0, fs::metadata(bench.folder.path().join(expected)).unwrap().len());
}

/// One that leads to a file elsewhere, and one to the folder itself.
#[tokio::test]
async fn links_are_followed_inside_the_image() {
    let content = catalog("kettle");
    let made = TestImage::catalog()
        .layer(files(&[("srv/data.json", &content), ("srv/cat/.keep", b"")]))
        .layer(links(&[("srv/cat/catalog.json", "../data.json"), ("configs", "/srv/cat")]));
    let pulled = Bench::default().pull(&made).await.unwrap();
    assert_eq!(packages(&pulled.index), ["kettle"]);
}

#[tokio::test]
async fn upper_layers_change_lower_ones_and_a_spec_may_name_the_folder() {
    let made = TestImage::default()
        .gzip(&files(&[("other/a.json", &catalog("kettle")), ("other/b.json", &catalog("pan"))]))
        .layer(files(&[("other/.wh.a.json", b"")]));
    let bench = Bench { catalog_dir: Some("/other"), ..Bench::default() };
    assert_eq!(packages(&bench.pull(&made).await.unwrap().index), ["pan"]);
}

/// `zstd -19 --long` of nothing else than this test would need; the frames are made by hand: a
/// skippable one, and one whose block is stored as it is.
#[tokio::test]
async fn zstd_frames_are_read_one_after_the_other() {
    let tar = files(&[("configs/catalog.json", &catalog("kettle"))]);
    let mut packed = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..]].concat();
    for part in tar.chunks(1_000) {
        packed.extend(frame(part));
    }
    let made = TestImage::catalog().zstd(packed);
    assert_eq!(packages(&Bench::default().pull(&made).await.unwrap().index), ["kettle"]);
    let cut = TestImage::catalog().zstd(frame(&tar)[..2_000].to_vec());
    let error = Bench::default().pull(&cut).await.unwrap_err();
    assert_eq!(error.reason(), "ImageInvalid", "{error}");
}

/// A frame of one block that is not compressed.
fn frame(content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(content.len()).unwrap();
    // Magic number; one segment with a size of four bytes.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    frame.extend(size.to_le_bytes());
    // The last block, raw.
    frame.extend(&(size << 3 | 1).to_le_bytes()[..3]);
    frame.extend(content);
    frame
}

/// A frame that wants 128 MiB of memory to refer back to.
#[tokio::test]
async fn a_large_window_is_refused() {
    // Exponent 17: two to the power of 27.
    let packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3, 1, 0, 0];
    let error = Bench::default().pull(&TestImage::catalog().zstd(packed)).await.unwrap_err();
    assert_eq!(error.reason(), "ImageInvalid", "{error}");
}

#[test]
fn the_limits_of_the_shipped_operator() {
    let Limits { layers, transferred, unpacked, ratio, entries, file, kept, .. } = Limits::CATALOG;
    let bytes = [transferred, unpacked, kept, file].map(|bytes| bytes >> 20);
    assert_eq!(bytes, [1_024, 4_096, 512, 256], "mebibytes");
    assert_eq!((layers, ratio, entries), (128, 200, 100_000));
    assert_eq!(PullOptions::TIME.as_secs(), 600, "in all");
    let memory = [Limits::CATALOG.names >> 20, ReadLimits::BESIDE.blob_memory as u64 >> 20];
    assert_eq!((memory, ReadLimits::BESIDE.ahead), ([16, 16], 0), "32 MiB at a time");
}

/// An image for each limit that exceeds it and nothing else.
#[rstest]
#[case::transferred(Limits { transferred: 100, ..Limits::CATALOG }, good("kettle"), "more than 100 bytes to transfer")]
#[case::unpacked(Limits { unpacked: 5_000, ..Limits::CATALOG }, good("kettle"), "more than 5000 bytes,")]
#[case::kept(Limits { kept: 50, ..Limits::CATALOG }, good("kettle"), "the catalog has more than 50 bytes")]
#[case::file(Limits { file: 50, ..Limits::CATALOG }, good("kettle"), "and one may have 50")]
#[case::entries(Limits { entries: 1, ..Limits::CATALOG }, good("kettle"), "more than 1 entries")]
#[case::layers(Limits::CATALOG, (0..129).fold(good("kettle"), |made, _| made.layer(files(&[]))), "more than 128 layers")]
#[case::ratio(Limits { free: 1 << 20, ..Limits::CATALOG }, good("kettle").gzip(&files(&[("zeros", &vec![0; 2 << 20])])), "more than 200 times its size")]
#[case::names(Limits { names: 300, ..Limits::CATALOG }, good("kettle"), "more than 300 bytes in names")]
#[case::file_names(Limits::CATALOG, good("kettle").layer(long_names(13_200)), "names take more than 4194304 bytes")]
#[case::looks(Limits { looks: 1, ..Limits::CATALOG }, good("kettle"), "more than 1 names on paths")]
#[case::depth(Limits { depth: 2, ..Limits::CATALOG }, good("kettle"), "is too deep")]
#[case::growing(Limits::CATALOG, growing(), "leads too deep")]
#[tokio::test]
async fn hostile_images(#[case] limits: Limits, #[case] made: TestImage, #[case] expected: &str) {
    let bench = Bench { limits, ..Bench::default() };
    let error = bench.pull(&made).await.unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(bench.listing(), [""; 0], "nothing is left");
}

/// Each link leads to what the one before leads to, and ten folders further down.
fn growing() -> TestImage {
    let deep = "a/b/c/d/e/f/g/h/i/j";
    let targets: Vec<_> = (0..9)
        .map(|number| match number {
            0 => format!("/{deep}"),
            number => format!("/l{}/{deep}", number - 1),
        })
        .collect();
    let layers = (0..9).map(|number| links(&[(&format!("l{number}"), &targets[number])]));
    let within = (0..9).map(|number| files(&[(&format!("l{number}/{deep}/x"), b"x")]));
    let all = layers.zip(within).flat_map(|(link, file)| [link, file]);
    all.fold(good("kettle"), TestImage::layer)
}

#[rstest]
#[case::no_label(TestImage::default(), "NotFileBased", "lacks the label")]
#[case::no_folder(TestImage::catalog().layer(files(&[])), "CatalogInvalid", "is not there")]
#[case::no_catalog(TestImage::catalog().layer(files(&[("configs/a.json", b"{")])), "CatalogInvalid", "not valid")]
#[case::no_archive(TestImage::catalog().layer(vec![7; 2_000]), "ImageInvalid", "no tar archive")]
#[tokio::test]
async fn what_is_no_catalog(#[case] made: TestImage, #[case] reason: &str, #[case] expected: &str) {
    let bench = Bench::default();
    let error = bench.pull(&made).await.unwrap_err();
    assert_eq!(error.reason(), reason, "{error}");
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(bench.listing(), [""; 0]);
}

#[rstest]
#[case::other_layer("layer", "DigestMismatch")]
#[case::truncated("short", "DigestMismatch")]
#[case::overlong("long", "DigestMismatch")]
#[case::cut_off("cut", "RegistryUnavailable")]
#[case::other_manifest("manifest", "DigestMismatch")]
#[case::broken("broken", "RegistryUnavailable")]
#[case::limited("limited", "RegistryUnavailable")]
#[case::endless_redirect("circle", "RegistryUnavailable")]
#[tokio::test]
async fn faults_of_the_registry(#[case] fault: &str, #[case] reason: &str) {
    let tar = files(&[("configs/catalog.json", &catalog("kettle"))]);
    let made = TestImage::catalog().layer(tar.clone());
    let (digest, answers) = made.answers();
    let (other, at) = ([&tar[1..], &[1]].concat(), blob(&tar));
    let manifest = answer("200 OK", "", "{\"schemaVersion\": 2, \"layers\": []}");
    let circle = answer("307 There", &format!("Location: {at}\r\n"), "");
    let answers = match fault {
        "layer" => changed(&answers, at, answer("200 OK", "", other)),
        "short" => changed(&answers, at, answer("200 OK", "", &tar[..600])),
        "long" => changed(&answers, at, answer("200 OK", "", [&tar[..], &[1]].concat())),
        "cut" => changed(&answers, at, cut_off(&tar)),
        "manifest" => changed(&answers, path(&digest), manifest),
        "broken" => changed(&answers, at, answer("503 Down", "", "")),
        "limited" => changed(&answers, at, answer("429 Later", "Retry-After: 7\r\n", "")),
        _ => changed(&answers, at, circle),
    };
    let bench = Bench::default();
    let error = bench.pull_from(answers, &digest).await.unwrap_err();
    assert_eq!(error.reason(), reason, "{error}");
    assert_eq!(bench.listing(), [""; 0]);
}

/// The connection ends in the middle of what it was to bring.
fn cut_off(content: &[u8]) -> StubResponse {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len());
    StubResponse::Bytes([head.as_bytes(), &content[..600]].concat())
}

#[tokio::test]
async fn a_pull_ends_in_time_whatever_it_does() {
    let bench = Bench { time: Duration::ZERO, ..Bench::default() };
    let error = bench.pull(&good("kettle")).await.unwrap_err();
    assert!(matches!(error, PullError::Late(_)), "{error}");
    let limits = Limits { until: Some(std::time::Instant::now()), ..Limits::CATALOG };
    let layers = [(&files(&[("a", b"x")])[..], crate::image::Compression::None)];
    let late = crate::image::apply(layers, &limits).unwrap_err();
    assert_eq!(late, crate::image::LayerError::Late);
}

#[tokio::test]
async fn a_full_disk_refuses_the_new_and_keeps_the_old() {
    let bench = Bench::default();
    bench.pull(&good("kettle")).await.unwrap();
    let bench = Bench { space: bench.store().bytes().0 + 100, ..bench };
    let error = bench.pull(&good("pan")).await.unwrap_err();
    assert_eq!(error.reason(), "StorageFailed");
    assert!(error.to_string().contains("are free; enlarge the volume"), "{error}");
    assert!(bench.store().index(&bench.current().key()).unwrap().is_some());
    assert_eq!(bench.listing().len(), 2);
}

#[tokio::test]
async fn current_and_previous_content_stay_and_the_rest_goes() {
    let bench = Bench::default();
    let store = bench.store();
    let mut all = Vec::new();
    for package in ["a", "b", "c"] {
        bench.pull(&good(package)).await.unwrap();
        all.push(bench.current());
    }
    store.record(&key(), &all[2]).unwrap();
    let expected = Recorded { current: all[2].clone(), previous: Some(all[1].clone()) };
    assert_eq!(store.recorded(&key()), Some(expected));
    store.collect(|_| true).unwrap();
    let there =
        || all.iter().map(|held| store.index(&held.key()).unwrap().is_some()).collect::<Vec<_>>();
    assert_eq!(there(), [false, true, true]);
    let other = CatalogKey::new("olm", "other");
    store.record(&other, &all[1]).unwrap();
    store.collect(|catalog| *catalog == other).unwrap();
    assert_eq!(there(), [false, true, false], "shared content stays while one has it");
    assert_eq!(store.recorded(&key()), None);
}

#[test]
fn another_name_of_the_same_content_is_no_other_content() {
    let bench = Bench::default();
    let store = bench.store();
    let first = StoredContent { image: "a:v1".to_owned(), digest: "d".to_owned(), folder: None };
    let second = StoredContent { digest: "e".to_owned(), ..first.clone() };
    let renamed = StoredContent { image: "mirror/a:v1".to_owned(), ..second.clone() };
    for held in [&first, &second, &renamed] {
        store.record(&key(), held).unwrap();
    }
    let expected = Recorded { current: renamed, previous: Some(first.clone()) };
    assert_eq!(store.recorded(&key()), Some(expected));
    assert_ne!(first.key(), StoredContent { folder: Some("f".to_owned()), ..first.clone() }.key());
}

#[tokio::test]
async fn what_is_damaged_or_abandoned_goes() {
    let bench = Bench::default();
    bench.pull(&good("kettle")).await.unwrap();
    let store = bench.store();
    let key = bench.current().key();
    let index = bench.folder.path().join(format!("content/{key}/catalog.index"));
    let mut bytes = fs::read(&index).unwrap();
    bytes[40] ^= 1;
    fs::write(&index, bytes).unwrap();
    assert!(store.index(&key).unwrap().is_none());
    store.collect(|_| false).unwrap();
    assert_eq!(bench.listing(), [""; 0]);
    fs::create_dir_all(bench.folder.path().join("pulling/old/layers")).unwrap();
    fs::write(bench.folder.path().join("pulling/old/lock"), "").unwrap();
    let used = store.workspace().unwrap();
    bench.store();
    assert_eq!(bench.listing().len(), 1, "only what is in use stays: {:?}", bench.listing());
    drop(used);
    assert_eq!(bench.listing(), [""; 0]);
}

#[tokio::test]
async fn a_catalog_answers_like_a_server_of_it() {
    let bench = Bench::default();
    let pulled = bench.pull(&good("kettle")).await.unwrap();
    let catalog = StoredCatalog::new(key());
    let status = catalog.status();
    assert_eq!(status.borrow().state.as_str(), "CONNECTING");
    assert!(catalog.load().await.is_err());
    catalog.show(Arc::new(pulled.index), Some(pulled.snapshot));
    assert_eq!((status.borrow().state.as_str(), status.borrow().generation), ("READY", 1));
    for _ in 0..2 {
        assert_eq!(catalog.load().await.unwrap().entries().len(), 1);
    }
    let bundle = catalog.bundle("kettle", "stable", "kettle.v1.0.0").await.unwrap();
    assert_eq!(bundle.bundle_path, "quay.io/a/kettle:v1");
    let error = catalog.bundle("kettle", "stable", "other").await.unwrap_err().to_string();
    assert!(error.starts_with("rpc error: code = Unknown desc = package \"kettle\""), "{error}");
    catalog.show(Arc::new(bench.store().index(&bench.current().key()).unwrap().unwrap()), None);
    assert_eq!(status.borrow().generation, 2, "what was loaded is stale");
}
