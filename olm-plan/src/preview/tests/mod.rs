//! Previews of small clusters, from the question to what is written.

mod applied;
mod existing;
mod filled_roles;
mod servers;
mod warnings;

use std::sync::Arc;

use k8s_openapi::api::rbac::v1::PolicyRule;
use olm_lifecycle::unpack::UnpackedBundle;
use olm_resolver::memory::MemoryUniverse;
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

const HOME: &str = "ns";

fn entry(version: u64, replaces: Option<u64>, content: BundleContent) -> Entry {
    let package = json!({"packageName": "kettle", "version": format!("{version}.0.0")});
    Entry {
        name: format!("kettle.v{version}").into(),
        package: "kettle".into(),
        channel: "stable".into(),
        catalog: CatalogKey::new("olm", "kitchen"),
        version: format!("{version}.0.0").parse().ok(),
        replaces: replaces.map(|old| format!("kettle.v{old}").into()),
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: vec![
            Property::new("olm.package", &package.to_string()),
            Property::new("olm.gvk", r#"{"group":"x.io","kind":"Kettle","version":"v1"}"#),
        ]
        .into(),
        content,
        deprecations: Deprecations::default(),
    }
}

fn universe(content: &BundleContent) -> MemoryUniverse {
    (1..=3).map(|it| entry(it, (it > 1).then(|| it - 1), content.clone())).collect()
}

fn crd(versions: &[&str]) -> Value {
    let version = |name: &&str| {
        json!({"name": name, "served": true, "storage": versions.last() == Some(name),
            "schema": {"openAPIV3Schema": {"type": "object",
                "x-kubernetes-preserve-unknown-fields": true}}})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kettles.x.io"}, "spec": {"group": "x.io", "scope": "Namespaced",
            "names": {"kind": "Kettle", "plural": "kettles"},
            "versions": versions.iter().map(version).collect::<Vec<_>>()},
        "status": {"storedVersions": versions, "conditions": [
            {"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": "True"}]}})
}

fn csv(version: u64) -> Value {
    let container = json!({"name": "c", "image": format!("kettle:{version}")});
    let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    let secrets = json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]});
    let rules = if version > 1 { json!([rule, secrets]) } else { json!([rule]) };
    let mut csv = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": format!("kettle.v{version}")},
        "spec": {"version": format!("{version}.0.0"), "displayName": "Kettle",
            "installModes": [{"type": "AllNamespaces", "supported": true},
                {"type": "OwnNamespace", "supported": version < 3}],
            "customresourcedefinitions": {"owned": [
                {"name": "kettles.x.io", "kind": "Kettle", "version": "v1"}]},
            "install": {"strategy": "deployment", "spec": {
                "permissions": [{"serviceAccountName": "kettle", "rules": rules}],
                "deployments": [{"name": "kettle", "spec": {
                    "selector": {"matchLabels": {"app": "k"}},
                    "template": {"spec": {"containers": [container]}}}}]}}}});
    if version > 1 {
        csv["spec"]["replaces"] = json!(format!("kettle.v{}", version - 1));
    }
    csv
}

fn content(version: u64, crd: &Value) -> Content {
    let csv = csv(version);
    Content::Read(Arc::new(UnpackedBundle {
        csv_name: format!("kettle.v{version}"),
        csv_json: csv.to_string(),
        objects: vec![csv.to_string(), crd.to_string()],
    }))
}

/// A cluster of which everything is known, with the manifests of all three versions.
fn known(objects: &[Value]) -> Known {
    let mut known = Known { is_everything: true, ..Known::default() };
    objects.iter().for_each(|object| known.add(object.clone()));
    for version in 1..=3 {
        let key = (CatalogKey::new("olm", "kitchen"), format!("kettle.v{version}").into());
        known.bundles.insert(key, content(version, &crd(&["v1"])));
    }
    known
}

fn asked(wanted: Operation) -> PreviewRequest {
    let (settings, now) = (Settings::default(), Timestamp::UNIX_EPOCH);
    PreviewRequest { namespace: HOME.to_owned(), settings, now, wanted }
}

fn install(package: &str) -> Install {
    Install { package: package.to_owned(), ..Install::default() }
}

fn upgrade(to: Option<&str>) -> Operation {
    let (operator, to) = ("kettle".to_owned(), to.map(str::to_owned));
    Operation::Upgrade { operator, to, channel: None }
}

fn complete(wanted: Operation, known: &Known) -> Preview {
    match preview(&asked(wanted), known, &universe(&BundleContent::Inline)).unwrap() {
        Outcome::Preview(preview) => *preview,
        Outcome::Needs(needs) => panic!("{needs:?}"),
    }
}

/// The first version, installed.
fn installed(approval: &str) -> Vec<Value> {
    let mut csv = csv(1);
    csv["metadata"]["namespace"] = json!(HOME);
    csv["metadata"]["uid"] = json!("csv-1");
    csv["status"] = json!({"phase": "Succeeded"});
    let owned = |kind: &str, name: &str| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {
            "name": name, "namespace": HOME, "ownerReferences": [{"uid": "csv-1"}]}})
    };
    let group = json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "g", "namespace": HOME}, "spec": {"targetNamespaces": [HOME]}});
    let subscription = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
        "metadata": {"name": "kettle", "namespace": HOME, "uid": "s"},
        "spec": {"name": "kettle", "channel": "stable", "source": "kitchen", "sourceNamespace": "olm",
            "installPlanApproval": approval},
        "status": {"installedCSV": "kettle.v1", "currentCSV": "kettle.v2", "lastUpdated": null}});
    let kettle = json!({"apiVersion": "x.io/v1", "kind": "Kettle",
        "metadata": {"name": "blue", "namespace": "kitchen", "finalizers": ["x.io/tea"]}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
        "name": "kettle", "namespace": HOME, "ownerReferences": [{"uid": "csv-1"}]}, "spec": {}});
    vec![csv, crd(&["v1"]), owned("Role", "old"), group, subscription, kettle, deployment]
}

fn lines(preview: &Preview) -> Vec<String> {
    let line =
        |change: &Change| format!("{} {} {}", change.action.mark(), change.kind, change.name);
    preview.changes.iter().map(line).collect()
}

#[test]
fn the_config_of_a_subscription_is_a_part_of_the_plan() {
    let config = json!({"env": [{"name": "TEA", "value": "green"}]});
    let of = |config: Option<Value>| {
        let wanted = Install { config, ..install("kettle") };
        complete(Operation::Install(wanted), &known(&[]))
    };
    let (with, without) = (of(Some(config.clone())), of(None));
    let subscription = with.manifests.iter().find(|one| one["kind"] == "Subscription").unwrap();
    assert_eq!(subscription["spec"]["config"], config);
    assert_ne!(with.plan_hash, without.plan_hash);
}

#[test]
fn an_installation_makes_all_that_is_missing() {
    let other = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}});
    let known = known(&[other]);
    let wanted =
        Install { version: Some("1.0.0".to_owned()), is_manual: true, ..install("kettle") };
    let preview = complete(Operation::Install(wanted), &known);
    let found = lines(&preview);
    for expected in [
        "+ Namespace ns",
        "+ OperatorGroup ns",
        "+ Subscription kettle",
        "+ ClusterServiceVersion kettle.v1",
        "+ CustomResourceDefinition kettles.x.io",
        "+ ServiceAccount kettle",
        "+ Deployment kettle",
        "+ Operator kettle.ns",
    ] {
        assert!(found.iter().any(|line| line == expected), "{expected} is not in {found:#?}");
    }
    let [hop] = preview.hops.as_slice() else { panic!("{:#?}", preview.hops) };
    assert_eq!((hop.approval, hop.bundles[0].csv.as_str()), ("Manual", "kettle.v1"));
    assert_eq!(hop.steps[0], "ClusterServiceVersion/kettle.v1");
    assert_eq!(preview.crds[0].verdict, "new");
    assert_eq!(preview.images.gained, ["kettle:1"]);
    let kinds: Vec<&Value> = preview.manifests.iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["Namespace", "OperatorGroup", "Subscription"]);
    assert_eq!(preview.manifests[2]["spec"]["startingCSV"], "kettle.v1");
    assert_eq!(preview.manifests[2]["metadata"], json!({"name": "kettle", "namespace": HOME}));
    assert!(preview.problems.is_empty(), "{:?}", preview.problems);
}

#[rstest]
#[case::one_approval("Manual", None, &["kettle.v2"])]
#[case::to_a_version("Manual", Some("3.0.0"), &["kettle.v2", "kettle.v3"])]
#[case::without_approval("Automatic", None, &["kettle.v2", "kettle.v3"])]
fn an_upgrade_goes_as_far_as_olm_does(
    #[case] approval: &str,
    #[case] to: Option<&str>,
    #[case] expected: &[&str],
) {
    let mut objects = installed(approval);
    objects[3]["spec"] = json!({});
    let preview = complete(upgrade(to), &known(&objects));
    let names = preview.hops.iter().map(|hop| hop.bundles[0].csv.as_str());
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert!(preview.problems.is_empty(), "{:?}", preview.problems);
    assert_eq!(
        (preview.images.gained, preview.images.lost),
        (vec![format!("kettle:{}", expected.len() + 1)], vec!["kettle:1".into()])
    );
    let lost = preview.changes.iter().filter(|change| change.action == Action::Delete);
    let lost: Vec<&str> = lost.map(|change| change.name.as_str()).collect();
    assert_eq!(lost, ["kettle.v1", "old"]);
    assert_eq!(preview.rights.gained[0].escalations, ["secrets"]);
    assert_eq!(preview.crds[0].custom_resources, Some(1));
}

#[test]
fn an_operator_group_that_does_not_fit_is_a_problem() {
    let preview = complete(upgrade(Some("3.0.0")), &known(&installed("Automatic")));
    assert!(preview.problems[0].contains("OwnNamespace"), "{:?}", preview.problems);
}

#[test]
fn a_version_that_is_not_reached_is_a_problem() {
    let mut objects = installed("Automatic");
    objects[3]["spec"] = json!({});
    let preview = complete(upgrade(Some("9.0.0")), &known(&objects));
    assert!(
        preview.problems[0].contains("no upgrades lead to version 9.0.0"),
        "{:?}",
        preview.problems
    );
}

#[test]
fn a_crd_that_would_be_refused_is_named_with_its_reason() {
    let mut objects = installed("Manual");
    objects[1] = crd(&["v0", "v1"]);
    let preview = complete(upgrade(None), &known(&objects));
    assert_eq!(preview.crds[0].verdict, "refused", "{:#?}", preview.crds);
    assert!(preview.crds[0].detail.contains("v0"), "{:?}", preview.crds);
    assert_eq!(preview.problems.len(), 1);
}

#[test]
fn what_is_not_known_is_asked_for_and_what_cannot_be_read_is_unknown() {
    let image = BundleContent::Image("quay.io/kettle:2".into());
    let mut known = known(&installed("Manual"));
    known.bundles.clear();
    let answer = preview(&asked(upgrade(None)), &known, &universe(&image)).unwrap();
    let Outcome::Needs(needs) = answer else { panic!("{answer:?}") };
    let [ReadRequest::Bundle(bundle)] = needs.as_slice() else { panic!("{needs:?}") };
    assert_eq!(&*bundle.name, "kettle.v2");
    known.bundles.insert(bundle_key(bundle), Content::Unknown("away".to_owned()));
    let answer = preview(&asked(upgrade(None)), &known, &universe(&image)).unwrap();
    let Outcome::Preview(preview) = answer else { panic!("{answer:?}") };
    assert_eq!(preview.unknown, ["bundle image quay.io/kettle:2 (kettle.v2): away"]);
}

#[test]
fn bundles_in_images_make_the_same_as_those_in_catalogs() {
    let known = known(&installed("Manual"));
    let image = universe(&BundleContent::Image("quay.io/kettle:2".into()));
    let answer = preview(&asked(upgrade(None)), &known, &image).unwrap();
    let Outcome::Preview(of_image) = answer else { panic!("{answer:?}") };
    let inline = complete(upgrade(None), &known);
    assert_eq!(lines(&of_image), lines(&inline));
    assert_eq!(of_image.rights, inline.rights);
}

#[test]
fn a_removal_leaves_crds_and_custom_resources() {
    let wanted = Operation::Uninstall { operator: "kettle".to_owned() };
    let preview = complete(wanted, &known(&installed("Automatic")));
    let gone: Vec<String> =
        lines(&preview).into_iter().filter(|line| line.starts_with('-')).collect();
    assert_eq!(
        gone,
        [
            "- ClusterServiceVersion kettle.v1",
            "- Deployment kettle",
            "- Role old",
            "- Subscription kettle"
        ]
    );
    assert_eq!(preview.crds[0].verdict, "stays");
    assert_eq!(preview.operands, ["Kettle kitchen/blue (finalizers: x.io/tea)"]);
}

#[rstest]
#[case::no_package(install("stove"), "no catalog that was read has the package stove")]
#[case::no_version(Install { version: Some("7".into()), ..install("kettle") }, "kettle.v3")]
#[case::no_channel(Install { channel: Some("beta".into()), ..install("kettle") }, "but stable")]
#[case::no_catalog(
    Install { catalog: Some(CatalogKey::new("tea", "kitchen")), ..install("kettle") },
    "is tea/kitchen and has the package kettle; it is in olm/kitchen: --source")]
#[case::no_catalog_and_no_package(
    Install { catalog: Some(CatalogKey::new("tea", "kitchen")), ..install("stove") },
    "has the package stove (read: olm/kitchen)")]
fn what_is_not_there_is_refused(#[case] install: Install, #[case] expected: &str) {
    let asked = asked(Operation::Install(install));
    let universe = universe(&BundleContent::Inline);
    let error = preview(&asked, &known(&[]), &universe).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

/// An installation may have gone to the namespace that its CSV suggests.
#[test]
fn an_operator_that_is_not_here_may_be_elsewhere() {
    let universe = universe(&BundleContent::Inline);
    let wanted = [upgrade(None), Operation::Uninstall { operator: "kettle".to_owned() }];
    for wanted in wanted {
        let error = preview(&asked(wanted), &known(&[]), &universe).unwrap_err().to_string();
        assert!(error.starts_with("no Subscription in namespace ns is named kettle"), "{error}");
        assert!(error.contains("`kubectl olm list -A`"), "{error}");
    }
}

#[test]
fn the_hash_follows_the_result() {
    let known = known(&installed("Manual"));
    let [first, again] = [(), ()].map(|()| complete(upgrade(None), &known).plan_hash);
    assert_eq!(first, again);
    assert_ne!(first, complete(upgrade(Some("3.0.0")), &known).plan_hash);
    let mut other = complete(upgrade(None), &known);
    let hop = &mut other.hops[0];
    assert!(!hop.steps.is_empty() && hop.steps.len() == hop.manifests.len(), "{hop:?}");
    hop.manifests[0].push(' ');
    let mut other = other.hashed();
    assert_eq!(first, other.plan_hash, "an object is the same however it is written");
    other.hops[0].manifests[0] = "{}".to_owned();
    assert_ne!(first, other.hashed().plan_hash);
    let subscribed = preview(
        &asked(Operation::Install(install("kettle"))),
        &known,
        &universe(&BundleContent::Inline),
    );
    assert_eq!(subscribed.unwrap_err(), NoPreview::Subscribed("kettle".to_owned()));
}

/// Before an InstallPlan is there the CSV is read in a catalog, then in a step, which has other properties.
#[test]
fn the_hash_is_the_same_wherever_the_bundle_is_read() {
    let mut known = known(&installed("Manual"));
    let first = complete(upgrade(None), &known).plan_hash;
    let mut bundle = UnpackedBundle {
        csv_name: "kettle.v2".to_owned(),
        csv_json: String::new(),
        objects: vec![crd(&["v1"]).to_string()],
    };
    for (annotation, is_same) in [(olm_types::annotations::PROPERTIES, true), ("other", false)] {
        let mut csv = csv(2);
        csv["metadata"]["annotations"] = json!({ annotation: "[]" });
        bundle.csv_json = csv.to_string();
        let mut bundle = bundle.clone();
        bundle.objects.insert(0, csv.to_string());
        let key = (CatalogKey::new("olm", "kitchen"), "kettle.v2".into());
        known.bundles.insert(key, Content::Read(Arc::new(bundle)));
        let now = complete(upgrade(None), &known).plan_hash;
        assert_eq!(now == first, is_same, "{annotation}");
    }
}

#[test]
fn a_rule_is_one_line() {
    let list = |text: &str| Some(vec![text.to_owned()]);
    let secrets = PolicyRule {
        api_groups: list(""),
        resources: list("secrets"),
        resource_names: list("s"),
        verbs: vec!["get".to_owned(), "list".to_owned()],
        ..PolicyRule::default()
    };
    assert_eq!(permissions::rule(&secrets), "get,list secrets of core named s");
    let url = PolicyRule {
        non_resource_urls: list("/metrics"),
        verbs: vec!["get".to_owned()],
        ..PolicyRule::default()
    };
    assert_eq!(permissions::rule(&url), "get /metrics");
}
