//! ConfigMaps, good and bad.

mod channels;
mod crds;
mod csvs;
mod packages;
mod texts;

use std::collections::BTreeMap;

/// A ConfigMap with a name that says what is peculiar about it.
pub struct Case {
    pub name: String,
    pub data: BTreeMap<String, String>,
}

/// All of them.
pub fn all() -> Vec<Case> {
    let groups = [
        ("packages", packages::packages()),
        ("versions", packages::versions()),
        ("channels", channels::channels()),
        ("skips", channels::skips()),
        ("edges", channels::edges_of_other_types()),
        ("crds", crds::crds()),
        ("apis", crds::apis()),
        ("csvs", csvs::csvs()),
        ("metadata", csvs::metadata()),
        ("lists", texts::lists()),
        ("scalars", texts::scalars()),
    ];
    let named = |(group, cases): (&'static str, Vec<Case>)| {
        let name = move |case: Case| Case { name: format!("{group}: {}", case.name), ..case };
        cases.into_iter().map(name)
    };
    groups.into_iter().flat_map(named).collect()
}

/// A CRD with what `v1beta1` has under other names.
pub fn crd_of_v1() -> Case {
    let crd = crd("pots", "Pot", &["v1"]).replace("storage: true", "storage: true, additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]");
    let webhook =
        "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}, group";
    let crd = crd.replace("group", webhook);
    case("a CRD of v1", [crd], [owner("a", "1.0.0", POT)], [package("p", "", "x=a")])
}

const CRDS: &str = "customResourceDefinitions";
const CSVS: &str = "clusterServiceVersions";
const PACKAGES: &str = "packages";

/// A ConfigMap with these elements in its lists.
fn case<const A: usize, const B: usize, const C: usize>(
    name: &str,
    crds: [String; A],
    csvs: [String; B],
    packages: [String; C],
) -> Case {
    texts(name, &list(&crds), &list(&csvs), &list(&packages))
}

/// A ConfigMap with these texts.
fn texts(name: &str, crds: &str, csvs: &str, packages: &str) -> Case {
    let data = [(CRDS, crds), (CSVS, csvs), (PACKAGES, packages)];
    let data = data.map(|(key, text)| (key.to_owned(), text.to_owned()));
    Case { name: name.to_owned(), data: data.into() }
}

fn without(mut case: Case, key: &str) -> Case {
    case.data.remove(key);
    case
}

fn list(elements: &[String]) -> String {
    let lines: Vec<String> = elements.iter().map(|element| format!("- {element}\n")).collect();
    if lines.is_empty() { "[]".to_owned() } else { lines.concat() }
}

/// A CSV with these fields in its spec.
fn csv(name: &str, spec: &str) -> String {
    csv_with(&format!("name: {name}"), spec)
}

/// A CSV with these fields in its metadata and spec.
fn csv_with(metadata: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, \
         metadata: {{{metadata}}}, spec: {{{spec}}}}}"
    )
}

/// A CSV that owns a CRD.
fn owner(name: &str, version: &str, owned: &str) -> String {
    csv(name, &format!("version: {version}, customresourcedefinitions: {{owned: [{owned}]}}"))
}

/// A CRD of `v1` with versions.
fn crd(plural: &str, kind: &str, versions: &[&str]) -> String {
    let version = |name: &&str| {
        format!(
            "{{name: {name}, served: true, storage: true, schema: {{openAPIV3Schema: \
             {{type: object, properties: {{spec: {{type: object, \
             x-kubernetes-preserve-unknown-fields: true}}}}}}}}}}"
        )
    };
    let versions: Vec<String> = versions.iter().map(version).collect();
    format!(
        "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: \
         {{name: {plural}.example.com}}, spec: {{group: example.com, scope: Namespaced, names: \
         {{kind: {kind}, plural: {plural}}}, versions: [{}]}}}}",
        versions.join(", ")
    )
}

/// A CRD of `v1beta1` with these fields in its spec.
fn old_crd(spec: &str) -> String {
    format!(
        "{{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: \
         {{name: pots.example.com}}, spec: {{group: example.com, names: {{kind: Pot, plural: \
         pots}}, {spec}}}}}"
    )
}

/// A package with channels, written `CHANNEL=CSV` with spaces between them.
fn package(name: &str, default: &str, channels: &str) -> String {
    let channel = |text: &str| {
        let (name, csv) = text.split_once('=').unwrap();
        format!("{{name: '{name}', currentCSV: '{csv}'}}")
    };
    let channels: Vec<String> = channels.split_whitespace().map(channel).collect();
    format!(
        "{{packageName: {name}, defaultChannel: '{default}', channels: [{}]}}",
        channels.join(", ")
    )
}

const POT: &str = "{name: pots.example.com, version: v1, kind: Pot}";

fn pot(versions: &[&str]) -> String {
    crd("pots", "Pot", versions)
}

fn v1(name: &str) -> String {
    csv(name, "version: 1.0.0")
}

fn v2(name: &str, replaces: &str) -> String {
    csv(name, &format!("version: 2.0.0, replaces: {replaces}"))
}
