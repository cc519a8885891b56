//! Previews of clusters in which something of what is asked for is there already.

use olm_resolver::Policy;
use olm_types::labels::COPIED_FROM;

use super::*;
use crate::settings::Flavour;

/// A namespace to which an operator of another namespace reaches.
#[test]
fn a_copy_is_not_installed_and_is_in_the_way() {
    let mut copy = csv(1);
    copy["metadata"]["namespace"] = json!(HOME);
    copy["metadata"]["uid"] = json!("copy");
    copy["metadata"]["labels"] = json!({COPIED_FROM: "kitchen"});
    copy["status"] = json!({"phase": "Succeeded", "reason": "Copied"});
    let group = json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "g", "namespace": HOME}, "spec": {}});
    let version = Some("1.0.0".to_owned());
    let wanted = Operation::Install(Install { version, is_manual: true, ..install("kettle") });
    let preview = complete(wanted.clone(), &known(&[copy, group.clone()]));
    let expected =
        "namespace ns holds a copy of kettle.v1, which is installed in namespace kitchen";
    let [problem] = preview.problems.as_slice() else { panic!("{:?}", preview.problems) };
    assert!(problem.starts_with(expected), "{problem}");
    assert!(problem.ends_with("let the OperatorGroup of kitchen select other namespaces"));
    let touched = lines(&preview);
    assert!(!touched.iter().any(|line| line.contains("ClusterServiceVersion")), "{touched:?}");
    let free = complete(wanted, &known(&[group]));
    assert!(free.problems.is_empty(), "{:?}", free.problems);
    assert!(lines(&free).iter().any(|line| line == "+ Deployment kettle"), "{free:#?}");
}

const DEPENDENCY: &str = "cup.v1";

/// What needs an operator that reaches the namespace has it: the rest is installed.
#[test]
fn a_copy_of_a_dependency_is_no_problem() {
    let version = |package: &str| json!({"packageName": package, "version": "1.0.0"}).to_string();
    let required = json!({"packageName": "cup", "versionRange": ">=1.0.0"}).to_string();
    let mut kettle = entry(1, None, BundleContent::Inline);
    kettle.properties = vec![
        Property::new("olm.package", &version("kettle")),
        Property::new("olm.package.required", &required),
    ]
    .into();
    let cup = Entry {
        name: DEPENDENCY.into(),
        package: "cup".into(),
        properties: vec![Property::new("olm.package", &version("cup"))].into(),
        ..entry(1, None, BundleContent::Inline)
    };
    let universe: MemoryUniverse = [kettle, cup].into_iter().collect();
    let csv = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": DEPENDENCY}, "spec": {"displayName": "Cup", "version": "1.0.0",
            "installModes": [{"type": "AllNamespaces", "supported": true}],
            "install": {"strategy": "deployment", "spec": {"deployments": []}}}});
    let mut copy = csv.clone();
    copy["metadata"] = json!({"name": DEPENDENCY, "namespace": HOME, "uid": "copy",
        "labels": {COPIED_FROM: "kitchen"}});
    copy["status"] = json!({"phase": "Succeeded", "reason": "Copied"});
    let group = json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "g", "namespace": HOME}, "spec": {}});
    let mut known = known(&[copy, group]);
    let bundle = UnpackedBundle {
        csv_name: DEPENDENCY.to_owned(),
        csv_json: csv.to_string(),
        objects: vec![csv.to_string()],
    };
    let key = (CatalogKey::new("olm", "kitchen"), DEPENDENCY.into());
    known.bundles.insert(key, Content::Read(Arc::new(bundle)));
    let wanted =
        Install { version: Some("1.0.0".to_owned()), is_manual: true, ..install("kettle") };
    let answer = preview(&asked(Operation::Install(wanted)), &known, &universe).unwrap();
    let Outcome::Preview(preview) = answer else { panic!("{answer:?}") };
    assert!(preview.problems.is_empty(), "{:?}", preview.problems);
    let is_said = |note: &String| note.contains("\"cup.v1\" is not created");
    assert!(preview.notes.iter().any(is_said), "{:?}", preview.notes);
    let found = lines(&preview);
    assert!(found.contains(&"+ Deployment kettle".to_owned()), "{found:?}");
    assert!(!found.iter().any(|line| line.ends_with("ClusterServiceVersion cup.v1")), "{found:?}");
}

/// The second version waits for approval in a plan that was made before the dependency was installed.
fn waiting(phase: &str, brought: &[&str]) -> Vec<Value> {
    let mut all = installed("Manual");
    all[3]["spec"] = json!({});
    all[4]["status"]["installPlanRef"] = json!({"name": "p"});
    let dependency = json!({"apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion", "metadata": {"name": DEPENDENCY, "namespace": HOME, "uid": "c"},
        "spec": {"displayName": "Cup", "install": {"strategy": "deployment"}},
        "status": {"phase": "Succeeded"}});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "cup", "namespace": HOME}});
    let step = |kind: &str, name: &str, resolving: &str, manifest: &Value| {
        json!({"resolving": resolving, "status": "Unknown", "resource": {"group": "",
            "version": "v1", "kind": kind, "name": name, "sourceName": "kitchen",
            "sourceNamespace": "olm", "manifest": manifest.to_string()}})
    };
    let reference = json!({"kind": "ConfigMap", "name": "c", "namespace": "olm",
        "catalogSourceName": "kitchen", "catalogSourceNamespace": "olm", "replaces": "",
        "properties": ""});
    let plan = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
        "metadata": {"name": "p", "namespace": HOME, "creationTimestamp": "1970-01-01T00:00:00Z"},
        "spec": {"approval": "Manual", "approved": phase == "Installing", "generation": 2,
            "clusterServiceVersionNames": brought},
        "status": {"phase": phase, "catalogSources": [], "plan": [
            step("ServiceAccount", "cup", DEPENDENCY, &account),
            step("Service", "cup", DEPENDENCY, &reference),
            step("ServiceAccount", "other", "kettle.v2", &account)]}});
    all.extend([dependency, plan]);
    all
}

/// Whoever approves the plan that waits approves all of it.
#[test]
fn what_a_waiting_plan_brings_once_more_is_shown() {
    let objects = waiting("RequiresApproval", &["kettle.v2", DEPENDENCY]);
    let preview = complete(upgrade(None), &known(&objects));
    assert_eq!(preview.problems, Vec::<String>::new());
    let [hop] = preview.hops.as_slice() else { panic!("{:#?}", preview.hops) };
    let tail = &hop.steps[hop.steps.len() - 2..];
    assert_eq!(tail, ["ServiceAccount/cup", "Service/cup"]);
    assert!(!hop.steps.contains(&"ServiceAccount/other".to_owned()), "{:?}", hop.steps);
    assert_eq!(hop.steps.len(), hop.manifests.len());
    assert!(hop.manifests.last().unwrap().contains("catalogSourceNamespace"), "{hop:?}");
    let expected =
        "InstallPlan p was made before cup.v1 was installed, and brings it once more".to_owned();
    assert!(preview.notes.contains(&expected), "{:?}", preview.notes);
    let found = lines(&preview);
    assert!(found.contains(&"+ ServiceAccount cup".to_owned()), "{found:?}");
}

/// The catalog has had newer versions since: the plan that waits comes first all the same. OLM v0 keeps it only while all
/// Subscriptions of the namespace wait.
#[rstest]
#[case::ours(Flavour::OlmRs, false, "kettle.v1")]
#[case::beside_another(Flavour::OlmRs, true, "kettle.v1")]
#[case::v0(Flavour::V0, false, "kettle.v1")]
#[case::v0_beside_another(Flavour::V0, true, "kettle.v3")]
fn a_plan_that_waits_comes_first(
    #[case] flavour: Flavour,
    #[case] has_another: bool,
    #[case] expected: &str,
) {
    let mut objects = waiting("RequiresApproval", &["kettle.v1"]);
    objects.retain(|one| one["metadata"]["name"] != "kettle.v1");
    let subscription = objects.iter_mut().find(|one| one["kind"] == "Subscription").unwrap();
    subscription["status"] = json!({"currentCSV": "kettle.v1", "state": "UpgradePending",
        "installPlanRef": {"name": "p"}, "lastUpdated": null});
    if has_another {
        objects.push(json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
            "metadata": {"name": "mug", "namespace": HOME, "uid": "m"},
            "spec": {"name": "mug", "source": "kitchen", "sourceNamespace": "olm"}}));
    }
    let mut asked = asked(upgrade(None));
    asked.settings = Settings { resolution: Policy::default(), ..Settings::of_flavour(flavour) };
    let known = known(&objects);
    let found = preview(&asked, &known, &universe(&BundleContent::Inline)).unwrap();
    let Outcome::Preview(found) = found else { panic!("{found:?}") };
    assert_eq!(found.hops[0].bundles[0].csv, expected, "{:#?}", found.hops);
}

#[rstest]
#[case::it_brings_something_else("RequiresApproval", &["kettle.v2", "stove.v1"])]
#[case::it_does_not_wait("Complete", &["kettle.v2", DEPENDENCY])]
fn another_plan_adds_nothing(#[case] phase: &str, #[case] brought: &[&str]) {
    let preview = complete(upgrade(None), &known(&waiting(phase, brought)));
    assert!(!preview.hops[0].steps.contains(&"Service/cup".to_owned()), "{:?}", preview.hops);
    assert!(!preview.notes.iter().any(|note| note.contains("once more")), "{:?}", preview.notes);
}

/// What a plan that is executed still brings would be brought again by the plan that is shown.
#[rstest]
#[case::to_come(&["kettle.v1", "mug.v1"], Some("still brings mug.v1"))]
#[case::all_is_there(&["kettle.v1", DEPENDENCY], None)]
#[case::it_is_the_upgrade_itself(&["kettle.v2", "mug.v1"], None)]
fn a_plan_that_is_executed_comes_first(#[case] brought: &[&str], #[case] expected: Option<&str>) {
    let preview = complete(upgrade(None), &known(&waiting("Installing", brought)));
    match expected {
        Some(text) => assert!(preview.problems[0].contains(text), "{:?}", preview.problems),
        None => assert!(preview.problems.is_empty(), "{:?}", preview.problems),
    }
}

/// The bundle supports its own namespace and all of them.
#[rstest]
#[case::all("AllNamespaces", None)]
#[case::own("OwnNamespace", None)]
#[case::single("SingleNamespace", None)]
#[case::another("SingleNamespace=tea", Some("SingleNamespace"))]
#[case::several("MultiNamespace=coffee,tea", Some("MultiNamespace"))]
fn an_install_mode_is_one_that_the_bundle_supports(
    #[case] mode: &str,
    #[case] missing: Option<&str>,
) {
    let version = Some("1.0.0".to_owned());
    let mode: Mode = mode.parse().unwrap();
    let install_mode = Some(mode.clone());
    let install = Install { version, install_mode, is_manual: true, ..install("kettle") };
    let home = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}});
    let preview = complete(Operation::Install(install), &known(&[home]));
    let Some(missing) = missing else {
        assert!(preview.problems.is_empty(), "{:?}", preview.problems);
        let group = preview.manifests.iter().find(|one| one["kind"] == "OperatorGroup").unwrap();
        let targets = group["spec"]["targetNamespaces"].as_array().cloned().unwrap_or_default();
        assert_eq!(targets, mode.targets(HOME));
        return;
    };
    let problem = &preview.problems[0];
    assert!(problem.contains(missing), "{problem}");
    assert!(problem.ends_with("it supports OwnNamespace, AllNamespaces"), "{problem}");
}

#[test]
fn a_group_that_is_there_stays() {
    let group = json!({"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
        "metadata": {"name": "g", "namespace": HOME}, "spec": {}});
    let notes = |mode: Mode| {
        let version = Some("1.0.0".to_owned());
        let install = Install { version, is_manual: true, ..install("kettle") };
        let install = Install { install_mode: Some(mode), ..install };
        complete(Operation::Install(install), &known(std::slice::from_ref(&group))).notes
    };
    assert_eq!(notes(Mode::AllNamespaces), Vec::<String>::new());
    let [note] = notes(Mode::OwnNamespace).try_into().unwrap();
    assert!(note.contains("OperatorGroup g is there already and stays"), "{note}");
}

/// A namespace that is still to come has its account `default`; the version of a cluster that is not asked is unknown.
#[rstest]
#[case::not_read(None, None, 1)]
#[case::new_enough(Some("v1.33.0"), None, 0)]
#[case::too_old(Some("v1.15.0"), Some("minKubeVersion (1.16.0) > server version (1.15.0)"), 0)]
fn what_an_operator_asks_of_the_cluster(
    #[case] server: Option<&str>,
    #[case] problem: Option<&str>,
    #[case] unknown: usize,
) {
    let mut known = known(&[]);
    known.server_version = server.map(str::to_owned);
    let mut csv = csv(1);
    csv["spec"]["minKubeVersion"] = json!("1.16.0");
    csv["spec"]["install"]["spec"]["permissions"][0]["serviceAccountName"] = json!("default");
    let bundle = UnpackedBundle {
        csv_name: "kettle.v1".to_owned(),
        csv_json: csv.to_string(),
        objects: vec![csv.to_string(), crd(&["v1"]).to_string()],
    };
    let key = (CatalogKey::new("olm", "kitchen"), "kettle.v1".into());
    known.bundles.insert(key, Content::Read(Arc::new(bundle)));
    let version = Some("1.0.0".to_owned());
    let wanted = Install { version, is_manual: true, ..install("kettle") };
    let preview = complete(Operation::Install(wanted), &known);
    assert_eq!(preview.problems.len(), usize::from(problem.is_some()), "{:?}", preview.problems);
    let expected = problem.unwrap_or_default();
    assert!(
        preview.problems.iter().all(|found| found.contains(expected)),
        "{:?}",
        preview.problems
    );
    assert!(!lines(&preview).iter().any(|line| line.ends_with("ServiceAccount default")));
    let asked = preview.unknown.iter().filter(|what| what.contains("1.16.0 is needed"));
    assert_eq!((asked.count(), preview.unknown.len()), (unknown, unknown), "{:?}", preview.unknown);
}
