//! What one pull of a catalog takes in memory, counted by the allocator.
//!
//! One test, so that nothing else allocates meanwhile. The registry is a process of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "only tests use it")]

use olm_catalog::fbc::ReadLimits;
use olm_catalog::image::{Keychain, Limits, Registry};
use olm_catalog::store::{CatalogStore, PullOptions, StoredContent, pull};
use olm_testkit::not_run::not_run;
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, CONFIGS, Image};
use olm_types::bundle::CatalogKey;
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// What a pull may take.
const MOST: usize = 32 << 20;
/// Bytes of a program beside the catalog, which are passed on and dropped.
const PROGRAM: usize = 40 << 20;
/// Objects of the catalog of [`OBJECT`] bytes each.
const OBJECTS: usize = 600;
/// Bytes of each of them.
const OBJECT: usize = 64 << 10;

#[tokio::test]
async fn layers_and_catalogs_pass_through_little_memory() {
    if !ImageRegistry::is_available() {
        return not_run("there is no docker-registry on this machine");
    }
    let folder = tempfile::tempdir().unwrap();
    let server = ImageRegistry::start(folder.path(), false).await.unwrap();
    let options = PullOptions {
        catalog: CatalogKey::new("olm", "kettle"),
        content: pushed(&server).await,
        keychain: Keychain::default(),
        limits: Limits::CATALOG,
        read: ReadLimits::BESIDE,
        time: PullOptions::TIME,
    };
    let store = CatalogStore::open(&folder.path().join("catalogs"), 1 << 30).unwrap();
    let registry = Registry::new([]).unwrap();
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let pulled = pull(&store, &registry, options).await.unwrap();
    let taken = ALLOCATOR.peak_usage().saturating_sub(before);
    assert_eq!(pulled.snapshot.entries().len(), 1);
    assert!(store.bytes().0 > (OBJECTS * OBJECT) as u64, "the objects are kept on the disk");
    assert!(taken <= MOST, "a pull took {taken} bytes of memory; at most {MOST} may be");
}

/// An image of which neither the layers nor the catalog fit into that.
async fn pushed(server: &ImageRegistry) -> StoredContent {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let program: Vec<u8> = (0..PROGRAM / 8).flat_map(|_| noise.word().to_le_bytes()).collect();
    let image = Image::builder().file("/bin/program", program, 0o755).layer();
    let image = image.file("/configs/catalog.json", catalog(&mut noise), 0o644);
    let image = image.label(CONFIGS, "/configs").build().unwrap();
    let pushed = oci::push(&image, server.address(), "a/kettle", "v1").await.unwrap();
    StoredContent { image: pushed.reference, digest: pushed.digest, folder: None }
}

/// A small catalog, and large objects beside it that are served and not looked into.
fn catalog(noise: &mut Noise) -> Vec<u8> {
    let version = json!({"packageName": "kettle", "version": "1.0.0"});
    let properties = json!([{"type": "olm.package", "value": version}]);
    let mut objects = vec![
        json!({"schema": "olm.package", "name": "kettle", "defaultChannel": "stable"}),
        json!({"schema": "olm.channel", "package": "kettle", "name": "stable",
            "entries": [{"name": "kettle.v1.0.0"}]}),
        json!({"schema": "olm.bundle", "package": "kettle", "name": "kettle.v1.0.0",
            "image": "quay.io/a/kettle:v1", "properties": properties}),
    ];
    objects.extend((0..OBJECTS).map(|_| {
        let text: String = (0..OBJECT / 16).map(|_| format!("{:016x}", noise.word())).collect();
        json!({"schema": "example.com.note", "package": "kettle", "text": text})
    }));
    let lines: Vec<String> = objects.iter().map(ToString::to_string).collect();
    lines.join("\n").into_bytes()
}

/// Numbers without a pattern: those of an xorshift generator.
struct Noise(u64);

impl Noise {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
