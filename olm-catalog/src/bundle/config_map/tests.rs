//! Both directions, what v0 reads and writes, and what must not be written.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use olm_types::annotations;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::bundle::BundleAnnotations;

const CSV: &str = "apiVersion: v1\nkind: ClusterServiceVersion\nmetadata: {name: a.v1}\n";

fn folder(files: &[(&str, &str)]) -> BundleFolder {
    let file = |(name, content): &(&str, &str)| BundleFile {
        name: (*name).to_owned(),
        content: content.as_bytes().to_vec(),
    };
    BundleFolder { annotations: None, files: files.iter().map(file).collect() }
}

fn options(encoding: Encoding) -> Options {
    Options { encoding, limit: DATA_BYTES, image: "example.com/a:1".to_owned() }
}

fn plain(data: &[(&str, &str)]) -> ConfigMap {
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ConfigMap { data: Some(data.collect()), ..ConfigMap::default() }
}

#[rstest]
fn a_bundle_comes_out_as_it_went_in(#[values(Encoding::Plain, Encoding::Gzip)] encoding: Encoding) {
    let mut folder = folder(&[("crd b.yaml", "kind: CRD\n"), ("a.csv.yaml", CSV), ("notes", "hi")]);
    let package = BundleAnnotations { package: Some("a".to_owned()), ..Default::default() };
    folder.annotations = Some(package.clone());
    let mut config_map = plain(&[("old", "gone")]);
    let old = [("old".to_owned(), "gone".to_owned())];
    config_map.metadata.annotations = Some(old.into());
    config_map.metadata.labels = Some(BTreeMap::from([("olm.managed".into(), "true".into())]));
    write(&mut config_map, &folder, &options(encoding)).unwrap();
    assert!(config_map.metadata.labels.is_some());
    let notes = config_map.metadata.annotations.as_ref().unwrap();
    assert_eq!(notes.len(), if encoding == Encoding::Gzip { 8 } else { 7 });
    let bundle = read(&config_map).unwrap();
    assert_eq!(bundle.csv_name, "a.v1");
    assert!(bundle.csv_json.starts_with("{\"apiVersion\":\"v1\""), "{}", bundle.csv_json);
    let keys: Vec<&str> = bundle.objects.iter().map(|object| object.key.as_str()).collect();
    assert_eq!(keys, ["a.csv.yaml", "crd-b.yaml"]);
    assert_eq!(bundle.objects[0].text, CSV);
    let reason = "no Kubernetes object: it has no kind".to_owned();
    assert_eq!(bundle.skipped, [Skipped { key: "notes".to_owned(), reason }]);
    assert_eq!(bundle.image, "example.com/a:1");
    assert_eq!(bundle.annotations, package);
}

#[test]
fn annotations_stay_when_the_bundle_has_none() {
    let mut config_map = plain(&[]);
    config_map.metadata.annotations = Some([("mine".to_owned(), "1".to_owned())].into());
    let unknown = Options { image: String::new(), ..options(Encoding::Gzip) };
    write(&mut config_map, &folder(&[]), &unknown).unwrap();
    let notes = config_map.metadata.annotations.unwrap();
    assert_eq!(notes["mine"], "1");
    assert_eq!(notes[annotations::CONTENT_ENCODING], "gzip+base64");
    assert!(!notes.contains_key(annotations::SOURCE_IMAGE));
}

#[test]
fn what_was_compressed_before_can_be_plain_after() {
    let mut config_map = ConfigMap::default();
    for encoding in [Encoding::Gzip, Encoding::Plain] {
        write(&mut config_map, &folder(&[("a", CSV)]), &options(encoding)).unwrap();
        assert_eq!(read(&config_map).unwrap().csv_name, "a.v1");
    }
    assert_eq!(config_map.binary_data, None);
}

#[rstest]
#[case::several_csvs(&[("a", CSV), ("b", "kind: ClusterServiceVersion\nmetadata: {name: b.v2}")], "b.v2", 2)]
#[case::no_csv(&[("a", "{\"kind\": \"Secret\"}")], "", 1)]
#[case::broken(&[("a", CSV), ("b", "{"), ("c", "- 1"), ("d", ""), ("e", "kind: \"\"")], "a.v1", 1)]
#[case::first_document(&[("a", "---\n# text\nkind: A\n---\nkind: B\n")], "", 1)]
fn values_that_v0_takes(#[case] data: &[(&str, &str)], #[case] csv: &str, #[case] objects: usize) {
    let bundle = read(&plain(data)).unwrap();
    assert_eq!((bundle.csv_name.as_str(), bundle.objects.len()), (csv, objects));
    assert_eq!(bundle.objects.len() + bundle.skipped.len(), data.len());
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(read(&ConfigMap::default()).unwrap(), UnpackedBundle::default());
}

#[test]
fn limits_and_names_are_refused_with_what_helps() {
    let message = |files: &[(&str, &str)], options: &Options| {
        let mut config_map = ConfigMap::default();
        let error = write(&mut config_map, &folder(files), options).unwrap_err().to_string();
        assert_eq!(config_map, ConfigMap::default());
        error
    };
    let small = |encoding| Options { limit: 40, ..options(encoding) };
    let long = ["x".repeat(30), "y".repeat(30)];
    let files = [("a", long[0].as_str()), ("b", long[1].as_str())];
    insta::assert_snapshot!(message(&files, &small(Encoding::Plain)), @"bundle files exceeded 40 bytes limit: b brings them to 60 bytes; shorten descriptions and schemas, or compress them (--gzip)");
    insta::assert_snapshot!(message(&files, &small(Encoding::Gzip)), @"bundle files exceeded 40 bytes limit: b brings them to 64 bytes; shorten descriptions and schemas");
    insta::assert_snapshot!(message(&[("a b", ""), ("a-b", "")], &options(Encoding::Gzip)), @r#"the files "a b" and "a-b" have the same key "a-b" in a ConfigMap: rename one"#);
    let binary = BundleFile { name: "a.bin".to_owned(), content: vec![0xff] };
    let binary = BundleFolder { annotations: None, files: vec![binary] };
    let error = write(&mut ConfigMap::default(), &binary, &options(Encoding::Plain)).unwrap_err();
    insta::assert_snapshot!(error, @"a.bin is not UTF-8 text; compressed (--gzip) it can be stored");
}

fn compressed(value: Vec<u8>) -> ConfigMap {
    let encoding = (annotations::CONTENT_ENCODING, annotations::CONTENT_ENCODING_GZIP);
    let encoding = (encoding.0.to_owned(), encoding.1.to_owned());
    let mut config_map = ConfigMap::default();
    config_map.metadata.annotations = Some([encoding].into());
    config_map.binary_data = Some([("k.yaml".to_owned(), ByteString(value))].into());
    config_map
}

#[test]
fn what_cannot_be_decoded_names_its_key() {
    let message = |value: &[u8]| read(&compressed(value.to_vec())).unwrap_err().to_string();
    let start = "failed to extract bundle from configmap - error decoding gzip-encoded bundle \
                 data: key \"k.yaml\": the value is not ";
    assert!(message(b"?").starts_with(&format!("{start}base64: ")));
    assert!(message(b"aGk=").starts_with(&format!("{start}gzip: ")), "{}", message(b"aGk="));
}

#[test]
fn a_bomb_is_refused_before_it_fills_memory() {
    let bomb = encode_gzip(&vec![0; 40 << 20]).unwrap();
    assert!(bomb.len() < 100_000);
    let error = read(&compressed(bomb)).unwrap_err().to_string();
    assert!(error.ends_with("the values of all keys hold more than 33554432 bytes"), "{error}");
}

#[test]
fn line_breaks_in_base64_are_read() {
    let mut text = encode_gzip(CSV.as_bytes()).unwrap();
    text.insert(20, b'\n');
    assert_eq!(read(&compressed(text)).unwrap().csv_name, "a.v1");
}

proptest! {
    #[test]
    fn every_content_survives(
        files_in in btree_map("[-._a-zA-Z0-9]{1,20}", vec(any::<u8>(), 0..500), 0..8),
    ) {
        let file = |(name, content): (&String, &Vec<u8>)| {
            BundleFile { name: name.clone(), content: content.clone() }
        };
        let folder = BundleFolder { annotations: None, files: files_in.iter().map(file).collect() };
        let mut config_map = ConfigMap::default();
        write(&mut config_map, &folder, &options(Encoding::Gzip)).unwrap();
        let files_out = files(&config_map).unwrap();
        let files_out: BTreeMap<String, Vec<u8>> =
            files_out.into_iter().map(|(key, content)| (key.to_owned(), content.into_owned())).collect();
        prop_assert_eq!(files_out, files_in);
    }

    #[test]
    fn any_text_is_read_without_harm(text in "\\PC{0,80}|[\\[{:\\- &*!|>'\"\n]{0,80}") {
        let bundle = read(&plain(&[("k", &text)])).unwrap();
        prop_assert_eq!(bundle.objects.len() + bundle.skipped.len(), 1);
    }
}

/// A text of `bytes`, as often as there are `aliases`; as many other scalars keep v0's own rule about
/// aliases content.
fn multiplied(bytes: usize, aliases: usize) -> String {
    let text = "x".repeat(bytes);
    format!(
        "kind: A\ntext: &a {text}\nothers: [{}]\ncopies: [{}]\n",
        vec!["0"; aliases].join(","),
        vec!["*a"; aliases].join(",")
    )
}

/// 60 KB would be 160 MB: the same shape with 150,000 scalars and 100,000 aliases is a ConfigMap that
/// would be 40 GB. The whole bundle is refused, as half of one would do harm.
#[test]
fn aliases_of_a_long_text_are_bounded() {
    let text = multiplied(40_000, 4_000);
    assert!(text.len() < 64 << 10, "{} bytes", text.len());
    let error = read(&plain(&[("a", CSV), ("b", &text)])).unwrap_err().to_string();
    let start = "failed to extract bundle from configmap - key \"b\": the values take more than \
                 134217728 bytes of memory, an alias as much as what it stands for: use fewer aliases";
    assert!(error.starts_with(start) && error.contains("(line 4, column "), "{error}");
}

/// Many keys share one budget, so that a bundle of a thousand keys costs no more than one of one.
#[test]
fn all_keys_together_are_bounded() {
    let text = multiplied(10_000, 1_000);
    let keys: Vec<String> = (0..20).map(|number| format!("k{number:02}")).collect();
    let data: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), text.as_str())).collect();
    assert_eq!(read(&plain(&data[..10])).unwrap().objects.len(), 10);
    let error = read(&plain(&data)).unwrap_err().to_string();
    assert!(
        error.starts_with("failed to extract bundle from configmap - key \"k13\": the values take"),
        "{error}"
    );
}
