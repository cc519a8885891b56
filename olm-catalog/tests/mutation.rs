//! Valid input, damaged at random: nothing panics, nothing takes long, and what is still valid can
//! be served. `OLM_FUZZ_SECONDS` says how long each target runs; two seconds without it. The seed
//! of a run is printed and can be given as `OLM_FUZZ_SEED`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use olm_catalog::bundle::{self, Migration, RegistryV1};
use olm_catalog::fbc::{self, ReadLimits};
use olm_catalog::index::Index;

/// Longest time for one input.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Pieces that mean something to a parser or to a rule.
const WORDS: [&[u8]; 24] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b":",
    b"- ",
    b"\n---\n",
    b"&a ",
    b"*a",
    b"!!binary ",
    b"|\n",
    b"<<: ",
    b"\xff",
    b"\\u0000",
    b"null",
    b"1e999",
    b"-0",
    b"olm.bundle",
    b"olm.channel",
    b"replaces",
    b"skips",
    b"olm.bundle.object",
];

/// Numbers that look random; the same seed gives the same ones (splitmix64).
struct PseudoRandom(u64);

impl PseudoRandom {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll() % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }

    /// One to eight changes.
    fn damage(&mut self, input: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(8) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(40)).min(bytes.len());
            match self.below(5) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let copy = bytes[at..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, copy);
                }
                3 => bytes.truncate(bytes.len() - self.below(bytes.len() / 8 + 1)),
                _ => {
                    let word = WORDS[self.below(WORDS.len())];
                    bytes.splice(at..at, word.iter().copied());
                }
            }
        }
        bytes
    }
}

/// Damages one of the inputs again and again, and gives it to `target` as a file.
fn run(name: &str, inputs: &[Vec<u8>], target: impl Fn(&Path)) {
    let variable = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let time = Duration::from_secs(variable("OLM_FUZZ_SECONDS").unwrap_or(2));
    let seed = variable("OLM_FUZZ_SEED").unwrap_or(1);
    let mut dice = PseudoRandom(seed);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input.yaml");
    let (started, mut count) = (Instant::now(), 0_u64);
    println!("{name}: seed {seed}");
    while started.elapsed() < time {
        let which = dice.below(inputs.len());
        fs::write(&file, dice.damage(&inputs[which])).unwrap();
        let before = Instant::now();
        target(folder.path());
        let slow = before.elapsed() > TIMEOUT;
        assert!(!slow, "input {count} of seed {seed} takes {:?}", before.elapsed());
        count += 1;
    }
    println!("{name}: {count} inputs");
    assert!(count > 0);
}

#[test]
fn catalogs() {
    let folder = Path::new("tests/catalogs");
    let files = ["etcd/catalog.yaml", "peculiar/database.yaml", "peculiar/json/peculiar.json"];
    let inputs = files.map(|file| fs::read(folder.join(file)).unwrap());
    run("catalogs", &inputs, |root| {
        let limits = ReadLimits::default();
        if fbc::load(root, &limits).is_ok() {
            let index = Index::build(root, &limits, None).unwrap();
            for place in 0..index.len() {
                let listed = index.listed(place).unwrap().message().unwrap();
                let (package, channel) = (&listed.package_name, &listed.channel_name);
                index.bundle(package, channel, &listed.csv_name).unwrap().message().unwrap();
                index.head(package, channel).unwrap().message().unwrap();
            }
        }
    });
}

#[test]
fn manifests_of_bundles() {
    let csv = b"apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: foo.v1.0.0, annotations: {olm.skipRange: '<1.0.0'}}
spec:
  version: 1.0.0
  customresourcedefinitions:
    owned: [{name: foos.example.org, version: v1, kind: Foo}]
    required: [{name: bars.example.org, version: v1, kind: Bar}]
  apiservicedefinitions:
    owned: [{group: api.example.org, version: v1, kind: Baz}]
  relatedImages: [{name: a, image: b}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.org}
spec: {group: example.org, names: {kind: Foo}, versions: [{name: v1}, {name: v2}]}
"
    .to_vec();
    run("manifests of bundles", &[csv], |folder| {
        if let Ok(manifests) = bundle::read_folder(folder) {
            let _ = bundle::render("foo", &manifests);
        }
    });
}

/// The metadata of a bundle: whatever is read makes a blob that can be migrated.
#[test]
fn metadata_of_bundles() {
    let folder = Path::new("tests/bundles/foo");
    let scratch = tempfile::tempdir().unwrap();
    for part in ["manifests", "metadata"] {
        fs::create_dir(scratch.path().join(part)).unwrap();
    }
    fs::copy(folder.join("manifests/crd.yaml"), scratch.path().join("manifests/crd.yaml")).unwrap();
    let files = [
        "manifests/csv.yaml",
        "metadata/annotations.yaml",
        "metadata/dependencies.yaml",
        "metadata/properties.yaml",
    ];
    for changed in files {
        for file in files {
            fs::copy(folder.join(file), scratch.path().join(file)).unwrap();
        }
        run(changed, &[fs::read(folder.join(changed)).unwrap()], |input| {
            fs::copy(input.join("input.yaml"), scratch.path().join(changed)).unwrap();
            if let Ok(mut blob) = RegistryV1::read(scratch.path()).and_then(|it| it.blob()) {
                let _ = bundle::migrate(&mut blob, Migration::BundleObjectToCsvMetadata);
            }
        });
    }
}
