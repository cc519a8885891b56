//! Steps of bundles: names and hashes as v0 writes them, order, bad bundles.

use std::sync::Arc;

use olm_types::api::{Step, StepStatus};
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use olm_types::gvk::Gvk;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn entry(name: &str, content: BundleContent) -> Arc<Entry> {
    let property =
        |kind: &str, value: Value| Property { kind: kind.into(), value: value.to_string().into() };
    Arc::new(Entry {
        name: name.into(),
        package: "b".into(),
        channel: "beta".into(),
        catalog: CatalogKey::new("catsrc-namespace", "catsrc"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: [
            property("olm.gvk", json!({"group": "g", "kind": "k", "version": "v"})),
            property("olm.package", json!({"packageName": "b", "version": "0.0.0"})),
        ]
        .into(),
        content,
        deprecations: Deprecations::default(),
    })
}

fn csv(name: &str, install: Value) -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": name, "annotations": {"note": "a < b"}},
        "spec": {"replaces": "something.else", "version": "0.0.0", "install": install},
    })
}

fn bundle(name: &str, csv: &Value, objects: &[Value]) -> BundleInput {
    BundleInput {
        entry: entry(name, BundleContent::Inline),
        replaces: None,
        csv_json: csv.to_string(),
        objects: std::iter::once(csv).chain(objects).map(Value::to_string).collect(),
    }
}

fn strategy(permissions: Value, cluster_permissions: Value) -> Value {
    json!({"strategy": "deployment", "spec": {
        "deployments": [], "permissions": permissions, "clusterPermissions": cluster_permissions,
    }})
}

fn names(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|step| format!("{} {}", step.resource.kind, step.resource.name)).collect()
}

fn manifest(step: &Step) -> Value {
    serde_json::from_str(step.resource.manifest.as_deref().unwrap()).unwrap()
}

/// The worked example of spec catalog-operator 0.2.
fn worked_example(account: &str) -> Vec<Step> {
    let permission = json!([{"serviceAccountName": account, "rules": [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
    ]}]);
    let csv = csv("test-csv.v1.1.0", strategy(permission.clone(), permission));
    bundle_steps(&bundle("test-csv.v1.1.0", &csv, &[]), "test-namespace").unwrap()
}

#[test]
fn rights_become_roles_with_hashed_names() {
    assert_eq!(
        names(&worked_example("test-service-account")),
        [
            "ClusterServiceVersion test-csv.v1.1.0",
            "ServiceAccount test-service-account",
            "Role test-csv.v1.1.0-test-ser-6qICLGBPnv7abKJcSW5jtrxXqrOnqRw4AGdczV",
            "RoleBinding test-csv.v1.1.0-test-ser-6qICLGBPnv7abKJcSW5jtrxXqrOnqRw4AGdczV",
            "ClusterRole test-csv.v1.1.0-3MQs3kWE5sphqvmVeLb6iqaxkc0rBToOqk6y6f",
            "ClusterRoleBinding test-csv.v1.1.0-3MQs3kWE5sphqvmVeLb6iqaxkc0rBToOqk6y6f",
        ]
    );
}

#[test]
fn the_default_account_gets_no_step() {
    let kinds: Vec<_> =
        worked_example("default").into_iter().map(|step| step.resource.kind).collect();
    assert_eq!(
        kinds,
        ["ClusterServiceVersion", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]
    );
}

/// Values that v0 wrote into a cluster for a published bundle.
#[test]
fn a_role_as_v0_wrote_it() {
    let rules = json!([
        {"verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
         "apiGroups": ["", "coordination.k8s.io"], "resources": ["configmaps", "leases"]},
        {"verbs": ["create", "patch"], "apiGroups": [""], "resources": ["events"]},
    ]);
    let permissions = json!([{"serviceAccountName": "mongodb-atlas-operator", "rules": rules}]);
    let csv = csv("mongodb-atlas-kubernetes.v0.5.0", strategy(permissions, json!([])));
    let steps = bundle_steps(&bundle("mongodb-atlas-kubernetes.v0.5.0", &csv, &[]), "op").unwrap();
    let labels: Vec<_> = steps
        .iter()
        .skip(2)
        .map(|step| manifest(step)["metadata"]["labels"]["olm.permissions.hash"].clone())
        .collect();
    assert_eq!(
        steps[2].resource.name,
        "mongodb-atlas-kubernetes-572s6sPSuu1dkENPq1avH0mqiY2DP8MIU6c4Cy"
    );
    assert_eq!(
        labels,
        ["2ukwI4VifEOzIL0e7EbGFeVOUar4o1opgZMT0r", "1cC88EhgpNGQdZarOI73ssILQQDIxmz9QGatQu"]
    );
    assert_eq!(
        steps[3].resource.manifest.as_deref().unwrap(),
        concat!(
            r#"{"metadata":{"name":"mongodb-atlas-kubernetes-572s6sPSuu1dkENPq1avH0mqiY2DP8MIU6c4Cy","namespace":"op","#,
            r#""labels":{"olm.owner":"mongodb-atlas-kubernetes.v0.5.0","olm.owner.kind":"ClusterServiceVersion","#,
            r#""olm.owner.namespace":"op","olm.permissions.hash":"1cC88EhgpNGQdZarOI73ssILQQDIxmz9QGatQu"},"#,
            r#""ownerReferences":[{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","#,
            r#""name":"mongodb-atlas-kubernetes.v0.5.0","uid":"","controller":false,"blockOwnerDeletion":false}]},"#,
            r#""subjects":[{"kind":"ServiceAccount","name":"mongodb-atlas-operator","namespace":"op"}],"#,
            r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","#,
            r#""name":"mongodb-atlas-kubernetes-572s6sPSuu1dkENPq1avH0mqiY2DP8MIU6c4Cy"}}"#,
            "\n"
        )
    );
}

#[test]
fn an_account_with_cluster_rights_only_has_no_namespace() {
    let permissions = json!([{"serviceAccountName": "keda-olm-operator", "rules": []}]);
    let csv = csv("keda.v2.3.0", strategy(json!([]), permissions));
    let steps = bundle_steps(&bundle("keda.v2.3.0", &csv, &[]), "operators").unwrap();
    assert_eq!(
        steps[1].resource.manifest.as_deref().unwrap(),
        concat!(
            r#"{"metadata":{"name":"keda-olm-operator","ownerReferences":[{"apiVersion":"operators.coreos.com/v1alpha1","#,
            r#""kind":"ClusterServiceVersion","name":"keda.v2.3.0","uid":"","controller":false,"blockOwnerDeletion":false}]}}"#,
            "\n"
        )
    );
}

#[test]
fn accounts_are_sorted() {
    let permission = |account: &str| json!({"serviceAccountName": account, "rules": []});
    let csv = csv(
        "x.v1",
        strategy(json!([permission("zeta"), permission("alpha")]), json!([permission("mid")])),
    );
    let steps = bundle_steps(&bundle("x.v1", &csv, &[]), "ns").unwrap();
    let accounts = steps.iter().filter(|step| step.resource.kind == "ServiceAccount");
    assert_eq!(
        accounts.map(|step| step.resource.name.as_str()).collect::<Vec<_>>(),
        ["alpha", "mid", "zeta"]
    );
}

#[test]
fn the_csv_is_placed_annotated_and_replaces_what_is_installed() {
    let mut input = bundle("b.v1", &csv("b.v1", Value::Null), &[]);
    input.replaces = Some("b.v0".to_owned());
    let step = bundle_steps(&input, "ns").unwrap().remove(0);
    let object = manifest(&step);
    assert_eq!(object["metadata"]["namespace"], "ns");
    assert_eq!(object["spec"]["replaces"], "b.v0");
    assert_eq!(
        object["metadata"]["annotations"]["operatorframework.io/properties"],
        r#"{"properties":[{"type":"olm.gvk","value":{"group":"g","kind":"k","version":"v"}},{"type":"olm.package","value":{"packageName":"b","version":"0.0.0"}}]}"#
    );
    assert!(step.resource.manifest.as_deref().unwrap().contains(r"a \u003c b"));
    assert_eq!((step.status, step.resolving.as_str()), (StepStatus::Unknown, "b.v1"));
}

#[test]
fn a_fresh_install_replaces_nothing() {
    let steps = bundle_steps(&bundle("b.v1", &csv("b.v1", Value::Null), &[]), "ns").unwrap();
    assert_eq!(manifest(&steps[0])["spec"].get("replaces"), None);
}

#[test]
fn other_objects_keep_their_order_and_kind() {
    let objects = [
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "test-rb"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "cm-"}}),
    ];
    let steps = bundle_steps(&bundle("b.v1", &csv("b.v1", Value::Null), &objects), "ns").unwrap();
    assert_eq!(names(&steps[1..]), ["BundleSecret s", "RoleBinding test-rb", "ConfigMap cm-"]);
    let gvk = |step: &Step| (step.resource.group.clone(), step.resource.version.clone());
    assert_eq!(gvk(&steps[2]), ("rbac.authorization.k8s.io".to_owned(), "v1".to_owned()));
    let binding = Gvk::new("rbac.authorization.k8s.io", "v1", "RoleBinding");
    assert_eq!(object_kind(&steps[2].resource), binding);
    assert_eq!(gvk(&steps[3]), (String::new(), "v1".to_owned()));
}

/// What the author of a bundle wrote is not taken for what a tool added, and what is made for the CSV has
/// none of it.
#[test]
fn manifests_of_bundles_stay_as_written() {
    let tracked = |object: Value| {
        let mut object = object;
        object["metadata"]["labels"] =
            json!({"app.kubernetes.io/instance": "b", "helm.sh/chart": "b-1"});
        object["metadata"]["annotations"] = json!({"argocd.argoproj.io/sync-wave": "1"});
        object
    };
    let rights = json!([{"serviceAccountName": "b", "rules": [{"verbs": ["get"]}]}]);
    let csv = tracked(csv("b.v1", strategy(rights.clone(), rights)));
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}});
    let service = tracked(service);
    let input = bundle("b.v1", &csv, std::slice::from_ref(&service));
    let steps = bundle_steps(&input, "ns").unwrap();
    assert_eq!(manifest(&steps[1]), service);
    let found = &manifest(&steps[0])["metadata"];
    assert_eq!(found["labels"], csv["metadata"]["labels"]);
    assert_eq!(found["annotations"]["argocd.argoproj.io/sync-wave"], "1");
    assert_eq!(steps.len(), 7, "CSV, Service, account, and two kinds of rights");
    for step in &steps[2..] {
        let manifest = step.resource.manifest.as_deref().unwrap();
        assert!(!manifest.contains("helm.sh") && !manifest.contains("argoproj"), "{manifest}");
    }
}

/// Row `AdditionalBundleObjects/Service` of spec catalog-operator 9.2.
#[test]
fn an_object_without_version_is_a_core_object() {
    let objects = ["Service", "Secret"]
        .map(|kind| json!({"apiVersion": "", "kind": kind, "metadata": {"name": "test-service"}}));
    let steps = bundle_steps(&bundle("b.v1", &csv("b.v1", Value::Null), &objects), "ns").unwrap();
    assert_eq!(names(&steps[1..]), ["Service test-service", "BundleSecret test-service"]);
    let resource = &steps[1].resource;
    assert_eq!((resource.group.as_str(), resource.version.as_str()), ("", ""));
    assert_eq!(object_kind(resource), Gvk::new("", "v1", "Service"));
    assert_eq!(object_kind(&steps[2].resource), Gvk::new("", "v1", "Secret"));
}

#[test]
fn steps_of_all_bundles_are_ordered() {
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a.b"}});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"}});
    let mut all = Vec::new();
    for name in ["one.v1", "two.v1"] {
        let input = bundle(name, &csv(name, Value::Null), &[service.clone(), crd.clone()]);
        all.extend(bundle_steps(&input, "ns").unwrap());
    }
    all.push(subscription_step(&entry("b.v1", BundleContent::Inline), "ns").unwrap());
    assert_eq!(
        names(&order(all)),
        [
            "ClusterServiceVersion one.v1",
            "ClusterServiceVersion two.v1",
            "CustomResourceDefinition a.b",
            "CustomResourceDefinition a.b",
            "Service svc",
            "Service svc",
            "Subscription b-beta-catsrc-catsrc-namespace",
        ]
    );
}

#[test]
fn a_dependency_gets_a_subscription() {
    let step = subscription_step(&entry("b.v1", BundleContent::Inline), "ns").unwrap();
    assert_eq!(
        step.resource.manifest.as_deref().unwrap(),
        concat!(
            r#"{"kind":"Subscription","apiVersion":"operators.coreos.com/v1alpha1","#,
            r#""metadata":{"name":"b-beta-catsrc-catsrc-namespace","namespace":"ns"},"#,
            r#""spec":{"source":"catsrc","sourceNamespace":"catsrc-namespace","name":"b","channel":"beta","#,
            r#""startingCSV":"b.v1","installPlanApproval":"Automatic"},"status":{"lastUpdated":null}}"#,
            "\n"
        )
    );
}

#[test]
fn an_image_bundle_is_recorded_as_lookup() {
    let path = "quay.io/test/bundle@sha256:abcd";
    let lookup =
        bundle_lookup(&entry("b.v1", BundleContent::Image(path.into())), path, None).unwrap();
    insta::assert_json_snapshot!(lookup, @r#"
    {
      "path": "quay.io/test/bundle@sha256:abcd",
      "identifier": "b.v1",
      "replaces": "",
      "catalogSourceRef": {
        "name": "catsrc",
        "namespace": "catsrc-namespace"
      },
      "conditions": [
        {
          "type": "BundleLookupNotPersisted",
          "status": "True",
          "reason": "BundleNotUnpacked",
          "message": "bundle contents have not yet been persisted to installplan status"
        },
        {
          "type": "BundleLookupPending",
          "status": "True",
          "reason": "JobNotStarted",
          "message": "unpack job not yet started"
        }
      ],
      "properties": "{\"properties\":[{\"type\":\"olm.gvk\",\"value\":{\"group\":\"g\",\"kind\":\"k\",\"version\":\"v\"}},{\"type\":\"olm.package\",\"value\":{\"packageName\":\"b\",\"version\":\"0.0.0\"}}]}"
    }
    "#);
}

#[rstest]
#[case::text("[1]", "bundle CSV b.v1 is not a JSON object (another JSON type)")]
#[case::empty("", "bundle CSV b.v1 is not a JSON object (EOF")]
#[case::version(r#"{"kind":"ClusterServiceVersion"}"#, "bundle CSV b.v1 missing APIVersion")]
#[case::kind(r#"{"apiVersion":"operators.coreos.com/v1alpha1"}"#, "bundle CSV b.v1 missing Kind")]
#[case::metadata(
    r#"{"apiVersion":"a/b","kind":"c","metadata":7}"#,
    "bundle CSV b.v1 is not a JSON object (metadata has another type)"
)]
#[case::install(
    r#"{"apiVersion":"a/b","kind":"c","spec":{"install":{"strategy":"deployment","spec":{"permissions":"x"}}}}"#,
    "bundle CSV b.v1: spec.install: invalid type"
)]
fn malformed_csvs(#[case] csv_json: &str, #[case] text: &str) {
    let mut input = bundle("b.v1", &Value::Null, &[]);
    csv_json.clone_into(&mut input.csv_json);
    let error = bundle_steps(&input, "ns").unwrap_err().to_string();
    assert!(error.starts_with(text), "{error}");
}

#[rstest]
#[case("{", "object 0 of bundle b.v1: EOF")]
#[case("7", "object 0 of bundle b.v1: is not a JSON object")]
#[case(r#"{"apiVersion":"v1","kind":""}"#, "object 0 of bundle b.v1: kind is missing")]
#[case(r#"{"apiVersion":"v1"}"#, "object 0 of bundle b.v1: kind is missing")]
fn malformed_objects(#[case] object: &str, #[case] text: &str) {
    let mut input = bundle("b.v1", &csv("b.v1", Value::Null), &[]);
    input.objects = vec![object.to_owned()];
    let error = bundle_steps(&input, "ns").unwrap_err().to_string();
    assert!(error.starts_with(text), "{error}");
}

/// Small descriptions become large roles: each repeats the name of its CSV and of its account.
#[rstest]
#[case::many_rights(4, 1, 50_000, "its steps, rights and references included, exceed")]
#[case::long_name(1 << 20, 1, 2, "metadata.name of the CSV is longer than 253 bytes")]
#[case::long_account(4, 254, 2, "a serviceAccountName is longer than 253 bytes")]
fn steps_have_bounds(
    #[case] name: usize,
    #[case] account: usize,
    #[case] count: usize,
    #[case] expected: &str,
) {
    let permission = json!({"serviceAccountName": "a".repeat(account), "rules": []});
    let manifest =
        csv(&"b".repeat(name), strategy(Value::Array(vec![permission; count]), json!([])));
    let error = bundle_steps(&bundle("b.v1", &manifest, &[]), "ns").unwrap_err().to_string();
    assert!(error.starts_with("bundle b.v1: ") && error.contains(expected), "{error}");
}

/// A plan that no API server takes is refused before it is made.
#[test]
fn steps_of_a_plan_have_bounds_together() {
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"},
        "data": {"a": "a".repeat(2 << 20)}});
    let steps = bundle_steps(&bundle("b.v1", &csv("b.v1", Value::Null), &[object]), "ns").unwrap();
    assert!(check_plan(&steps, 1).is_ok());
    let error = check_plan(&[steps.clone(), steps].concat(), 2).unwrap_err().to_string();
    assert!(error.starts_with("the steps of 2 bundles take more than 3145728 bytes"), "{error}");
}
