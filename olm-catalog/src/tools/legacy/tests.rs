//! Lists that make a catalog, and lists that do not.

use std::collections::BTreeMap;

use rstest::rstest;

use super::*;

const CRDS_TEXT: &str = "
- apiVersion: apiextensions.k8s.io/v1beta1
  kind: CustomResourceDefinition
  metadata: {name: pots.example.com}
  spec: {group: example.com, version: v1, names: {kind: Pot, plural: pots}}
- metadata: {name: lids.example.com}
  spec: {group: example.com, versions: [{name: v1}, {name: v2}], names: {kind: Lid}}
";

const CSVS_TEXT: &str = r#"
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata:
    name: pot.v1
    annotations: {olm.properties: '[{"type": "olm.label", "value": {"label": "blue"}}]'}
  spec:
    version: 1.0.0
    customresourcedefinitions: {owned: [{name: pots.example.com, version: v1, kind: Pot}]}
- metadata: {name: pot.v2, annotations: {olm.skipRange: '<2.0.0'}}
  spec:
    version: 2.0.0
    replaces: pot.v1
    skips: [pot.v1-bad, pot.v0]
    customresourcedefinitions:
      owned: [{name: pots.example.com}, {name: lids.example.com}]
      required: [{name: cups.example.com, version: v1, kind: Cup}]
- metadata: {name: pot.v1-bad}
  spec: {version: 1.0.1}
- metadata: {name: other}
  spec: {version: 1.0.0}
"#;

const PACKAGES_TEXT: &str = "[{packageName: pot, channels: [{name: stable, currentCSV: pot.v2}, {name: old, currentCSV: pot.v1}], defaultChannel: stable}]";

fn data(lists: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut data =
        BTreeMap::from([(CRDS, CRDS_TEXT), (CSVS, CSVS_TEXT), (PACKAGES, PACKAGES_TEXT)]);
    data.extend(lists.iter().copied());
    data.retain(|_, text| *text != "gone");
    data.into_iter().map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

fn problems(lists: &[(&str, &str)]) -> Vec<String> {
    convert(&data(lists)).problems.iter().map(ToString::to_string).collect()
}

/// The blobs, one per line.
fn shown(converted: &Converted) -> Vec<String> {
    let line = |blob: &Located<Blob>| match &blob.item {
        Blob::Package(package) => format!("package {} ({})", package.name, package.default_channel),
        Blob::Channel(channel) => {
            let entries = channel.entries.iter();
            let entries = entries.map(|entry| {
                let skips = entry.skips.join("+");
                format!("{}>{}/{skips}/{}", entry.name, entry.replaces, entry.skip_range)
            });
            format!("channel {}: {}", channel.name, entries.collect::<Vec<_>>().join(" "))
        }
        Blob::Bundle(bundle) => {
            let kinds = bundle.properties.iter().map(|property| property.kind.as_str());
            let kinds = kinds.collect::<Vec<_>>().join(" ").replace("olm.", "");
            format!("{}, {}: {kinds}", blob.origin, bundle.name)
        }
        other => format!("{other:?}"),
    };
    converted.blobs.iter().map(line).collect()
}

#[test]
fn lists_become_a_catalog() {
    let converted = convert(&data(&[]));
    assert_eq!(converted.problems, []);
    assert_eq!(converted.unused, ["other"]);
    let expected = [
        "package pot (stable)",
        "channel stable: pot.v2>pot.v1/pot.v1-bad+pot.v0/<2.0.0 pot.v1>// pot.v1-bad>//",
        "channel old: pot.v1>//",
        "clusterServiceVersions, document 1, pot.v1: gvk package bundle.object bundle.object label",
        "clusterServiceVersions, document 3, pot.v1-bad: package bundle.object",
        "clusterServiceVersions, document 2, pot.v2: gvk gvk gvk gvk.required package bundle.object bundle.object bundle.object",
    ];
    assert_eq!(shown(&converted), expected);
}

#[test]
fn the_only_channel_is_the_default_one() {
    for said in ["", ", defaultChannel: other"] {
        let channel = "{name: stable, currentCSV: pot.v1}";
        let package = format!("[{{packageName: pot, channels: [{channel}]{said}}}]");
        let converted = convert(&data(&[(PACKAGES, &package)]));
        assert_eq!(shown(&converted)[0], "package pot (stable)");
    }
}

#[rstest]
#[case(&[(CRDS, "gone"), (PACKAGES, "")], "customResourceDefinitions: couldn't find expected key customResourceDefinitions in configmap")]
#[case(&[(PACKAGES, "{}")], "packages: the value must be a list in YAML or JSON")]
#[case(&[(PACKAGES, "[{packageName: []}]")], "packages, element 1: invalid type: sequence, expected a string")]
#[case(&[(CRDS, "[{metadata: {name: a.b}}, 7]"), (PACKAGES, "")], "customResourceDefinitions, element 2: no object")]
#[case(&[(CRDS, "[{metadata: {name: a.b}}, {metadata: {name: a.b}}]"), (PACKAGES, "")], "customResourceDefinitions, element 2 (\"a.b\"): can't add the same CRD twice in one configmap")]
#[case(&[(CSVS, "[{kind: Pod, metadata: {name: a}}]"), (PACKAGES, "")], "clusterServiceVersions, element 1: the kind is \"Pod\" and must be \"ClusterServiceVersion\"")]
#[case(&[(CSVS, "[{metadata: {name: a}}, {metadata: {name: a}}]"), (PACKAGES, "")], "clusterServiceVersions, element 2 (\"a\"): there is another ClusterServiceVersion of this name before it")]
#[case(&[(CRDS, "")], "clusterServiceVersions, element 1 (\"pot.v1\"): the ClusterServiceVersion owns the CRD \"pots.example.com\", of which there is no manifest")]
#[case(&[(CSVS, "[{metadata: {name: pot.v2}, spec: {version: 2.0.0, replaces: pot.v1}}]")], "packages, element 1 (\"pot\"): Invalid bundle pot.v2, replaces nonexistent bundle pot.v1")]
#[case(&[(CSVS, "[]")], "packages, element 1 (\"pot\"): channel \"stable\" names the currentCSV \"pot.v2\", which is not in the list clusterServiceVersions")]
#[case(&[(CSVS, "[{metadata: {name: pot.v2}, spec: {replaces: pot.v2}}]")], "packages, element 1 (\"pot\"): Cycle detected, pot.v2 replaces pot.v2")]
#[case(&[(PACKAGES, "[{packageName: pot, channels: [{name: a}]}]")], "packages, element 1 (\"pot\"): channel \"a\" names no currentCSV")]
fn what_is_wrong_is_named(#[case] lists: &[(&str, &str)], #[case] message: &str) {
    assert_eq!(problems(lists), [message]);
}

#[test]
fn properties_that_are_no_list_are_refused() {
    let csvs =
        CSVS_TEXT.replace("[{\"type\": \"olm.label\", \"value\": {\"label\": \"blue\"}}]", "7");
    let found = problems(&[(CSVS, &csvs)]);
    let start = "clusterServiceVersions, element 1 (\"pot.v1\"): annotation olm.properties: ";
    assert!(found.len() == 1 && found[0].starts_with(start), "{found:?}");
}

#[test]
fn copies_of_csvs_are_bounded() {
    let package = "{packageName: p, channels: [{name: a, currentCSV: pot.v1}]}";
    let packages = format!("[{}]", vec![package; 17].join(","));
    let expected =
        "packages, element 17 (\"p\"): the packages share CSVs: each may be in 4, on average";
    assert_eq!(problems(&[(PACKAGES, &packages)]), [expected]);
}

#[test]
fn a_broken_package_does_not_touch_another() {
    let packages = format!(
        "{}, {}]",
        PACKAGES_TEXT.trim_end_matches(']'),
        "{packageName: q, channels: [{name: a, currentCSV: b}]}"
    );
    let converted = convert(&data(&[(PACKAGES, &packages)]));
    assert_eq!((converted.blobs.len(), converted.problems.len()), (6, 1));
}
