//! Lists that make a catalog, and lists that do not. That v0 says the same is in `tests/peer`.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::registry::server::Source;

const CRDS_TEXT: &str = "
- apiVersion: apiextensions.k8s.io/v1beta1
  kind: CustomResourceDefinition
  metadata: {name: pots.example.com}
  spec: {group: example.com, version: v1, names: {kind: Pot, plural: pots}}
";

const CSVS_TEXT: &str = r#"
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: pot.v1}
  spec:
    version: 1.0.0
    customresourcedefinitions: {owned: [{name: pots.example.com, version: v1, kind: Pot}]}
- kind: ClusterServiceVersion
  metadata: {name: pot.v2, annotations: {olm.skipRange: '<2.0.0'}}
  spec: {version: 2.0.0, replaces: pot.v1, skips: [pot.v1-bad, pot.v0]}
- kind: ClusterServiceVersion
  metadata: {name: pot.v1-bad}
  spec: {version: 1.0.0}
- kind: ClusterServiceVersion
  metadata: {name: other}
  spec: {version: 1.0.0}
"#;

const PACKAGES_TEXT: &str = "[{packageName: Pot, channels: [{name: stable, currentCSV: pot.v2}, {name: old, currentCSV: pot.v1}], defaultChannel: stable}]";

fn data(lists: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut data =
        BTreeMap::from([(CRDS, CRDS_TEXT), (CSVS, CSVS_TEXT), (PACKAGES, PACKAGES_TEXT)]);
    data.extend(lists.iter().copied());
    data.retain(|_, text| *text != "gone");
    data.into_iter().map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

fn problems(lists: &[(&str, &str)]) -> Vec<String> {
    load(&data(lists)).problems.iter().map(ToString::to_string).collect()
}

/// The listing, one entry per line.
fn listed(catalog: &LegacyCatalog) -> Vec<String> {
    let entries = (0..catalog.len()).filter_map(|place| catalog.listed(place)?.message().ok());
    let line = |entry: crate::registry::proto::Bundle| {
        let (package, channel, name) = (entry.package_name, entry.channel_name, entry.csv_name);
        let (replaces, skips) = (entry.replaces, entry.skips.join("+"));
        format!("{package}/{channel} {name} > {replaces}/{skips}/{}", entry.skip_range)
    };
    entries.map(line).collect()
}

#[test]
fn lists_become_a_catalog() {
    let Loaded { catalog, problems } = load(&data(&[]));
    assert_eq!(problems, []);
    assert_eq!(catalog.unused(), ["other"]);
    let expected = [
        "Pot/old pot.v1 > //",
        "Pot/stable pot.v1 > //",
        "Pot/stable pot.v1-bad > //",
        "Pot/stable pot.v2 > pot.v1/pot.v1-bad+pot.v0/<2.0.0",
    ];
    assert_eq!(listed(&catalog), expected);
}

/// A package whose first version replaces the last one of another package.
#[rstest]
#[case::as_listed(&["kettle", "cauldron"])]
#[case::the_other_way_round(&["cauldron", "kettle"])]
fn a_bundle_is_listed_once_in_channels_of_one_name(#[case] names: &[&str]) {
    let csv = |name: &str, replaces: &str| {
        json!({
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "ClusterServiceVersion",
            "metadata": {"name": name},
            "spec": {"version": "1.0.0", "replaces": replaces},
        })
    };
    let csvs = json!([csv("kettle.v1", ""), csv("cauldron.v1", "kettle.v1")]).to_string();
    let package = |name: &&str| {
        let channel = json!({"name": "stable", "currentCSV": format!("{name}.v1")});
        json!({"packageName": name, "channels": [channel]})
    };
    let packages = names.iter().map(package).collect::<Vec<_>>();
    let packages = json!(packages).to_string();
    let Loaded { catalog, problems } =
        load(&data(&[(CRDS, "[]"), (CSVS, &csvs), (PACKAGES, &packages)]));
    assert_eq!(problems, []);
    let expected = ["cauldron/stable cauldron.v1 > kettle.v1//", "kettle/stable kettle.v1 > //"];
    assert_eq!(listed(&catalog), expected);
}

#[rstest]
#[case(&[(CRDS, "gone")], "customResourceDefinitions: couldn't find expected key customResourceDefinitions in configmap")]
#[case(&[(PACKAGES, "{}")], "packages: the value must be a list")]
#[case(&[(PACKAGES, "[{packageName: []}]")], "packages, element 1: .packageName: there is a list, and must be a text")]
#[case(&[(CRDS, "[{metadata: {name: a.b}}, 7]")], "customResourceDefinitions, element 2: there is a number, and must be a map")]
#[case(&[(CRDS, "[{metadata: {name: a.b}, spec: {versions: [{name: v1}, {name: v1}]}}]"), (CSVS, ""), (PACKAGES, "")], "customResourceDefinitions, element 1 (\"a.b\"): can't add the same CRD twice in one configmap: /v1/ ()")]
#[case(&[(CSVS, "[{kind: Pod, metadata: {name: a}, spec: {}}]"), (PACKAGES, "")], "clusterServiceVersions, element 1 (\"a\"): error adding operator bundle a: csv name not found: kind \"Pod\", name \"a\"")]
#[case(&[(CSVS, "[{kind: ClusterServiceVersion, metadata: {name: a}, spec: {}}, {kind: ClusterServiceVersion, metadata: {name: a}, spec: {}}]"), (PACKAGES, "")], "clusterServiceVersions, element 2 (\"a\"): there is another ClusterServiceVersion of this name before it")]
#[case(&[(CSVS, "[{kind: ClusterServiceVersion, metadata: {name: a}, spec: {customresourcedefinitions: {owned: [null]}}}]"), (PACKAGES, "")], "clusterServiceVersions, element 1 (\"a\"): an owned or required API is null")]
#[case(&[(CRDS, "")], "clusterServiceVersions, element 1 (\"pot.v1\"): couldn't find owned CRD in crd list example.com/v1/Pot (pots)")]
#[case(&[(PACKAGES, "[{packageName: p, channels: [{name: a}]}]")], "packages, element 1 (\"p\"): channel \"a\": the currentCSV \"\" is not in the list clusterServiceVersions")]
fn what_is_wrong_is_named(#[case] lists: &[(&str, &str)], #[case] message: &str) {
    assert_eq!(problems(lists), [message]);
}

/// v0 has a type for `v1beta1` alone: it serves `JSONPath`, without which `v1` has no columns, and
/// drops the webhook.
#[test]
fn what_v1_alone_has_is_kept() {
    let crds = "[{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: pots.example.com}, spec: {group: example.com, names: {kind: Pot, plural: pots}, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}, versions: [{name: v1, additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]}]}}]";
    let Loaded { catalog, problems } = load(&data(&[(CRDS, crds)]));
    assert_eq!(problems, []);
    let bundle = catalog.bundle("Pot", "old", "pot.v1").unwrap().message().unwrap();
    let crd: serde_json::Value = serde_json::from_str(&bundle.object[1]).unwrap();
    let column = crd.pointer("/spec/versions/0/additionalPrinterColumns/0/jsonPath");
    assert_eq!(column, Some(&".spec.size".into()));
    let webhook = crd.pointer("/spec/conversion/webhook/conversionReviewVersions/0");
    assert_eq!(webhook, Some(&"v1".into()));
}

/// v0 takes any of them: they are keys of a map of Go.
#[test]
fn of_several_plurals_in_a_csv_the_first_by_name_counts() {
    let csvs = "[{kind: ClusterServiceVersion, metadata: {name: pot.v2}, spec: {customresourcedefinitions: {required: [{name: cupz.b.c, version: v1, kind: Cup}, {name: cups.b.c, version: v1, kind: Cup}]}}}]";
    let packages = "[{packageName: p, channels: [{name: a, currentCSV: pot.v2}]}]";
    let Loaded { catalog, .. } = load(&data(&[(CSVS, csvs), (PACKAGES, packages)]));
    let bundle = catalog.bundle("p", "a", "pot.v2").unwrap().message().unwrap();
    let plurals: Vec<_> = bundle.required_apis.iter().map(|api| api.plural.as_str()).collect();
    assert_eq!(plurals, ["cups"]);
}

/// Each package makes rows of its own for the CSVs that it shares with others.
#[test]
fn rows_of_channels_are_bounded() {
    let csv = |number: usize| {
        let replaces = number.checked_sub(1).map(|older| format!("c{older}")).unwrap_or_default();
        format!(
            "- {{kind: ClusterServiceVersion, metadata: {{name: c{number}}}, spec: {{replaces: {replaces}}}}}\n"
        )
    };
    let csvs: String = (0..600).map(csv).collect();
    let package = |number| {
        format!("- {{packageName: p{number}, channels: [{{name: a, currentCSV: c599}}]}}\n")
    };
    let packages: String = (0..500).map(package).collect();
    let problems = problems(&[(CSVS, &csvs), (PACKAGES, &packages)]);
    let message = format!(
        "channel \"a\": all channels together have more than {} entries",
        channels::ENTRIES
    );
    assert_eq!(problems.len(), 500 - channels::ENTRIES / 600);
    assert!(problems.iter().all(|problem| problem.ends_with(&message)), "{}", problems[0]);
}

#[test]
fn aliases_of_a_long_text_are_bounded() {
    let csvs = format!(
        "- text: &a {}\n  others: [{}]\n  copies: [{}]\n",
        "x".repeat(40_000),
        vec!["0"; 6_000].join(","),
        vec!["*a"; 6_000].join(",")
    );
    let said = problems(&[(CSVS, &csvs)]).join("\n");
    assert!(said.contains("the values take more than"), "{said}");
}
