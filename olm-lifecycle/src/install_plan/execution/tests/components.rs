//! Component labels: each object gets them with its first write.

use super::*;

const KEY: &str = "operators.coreos.com/poultry.ns";
const RBAC: &str = "rbac.authorization.k8s.io";

/// A plan whose CSV a Subscription to `poultry` follows.
fn of_poultry() -> Scope {
    Scope { components: [("csv.v1".to_owned(), [KEY.to_owned()].into())].into(), ..scope() }
}

fn owning_csv() -> Step {
    let spec = json!({"customresourcedefinitions": {"owned": [
        {"name": "things.example.com", "version": "v1", "kind": "Thing"},
    ]}});
    let object = json!({"metadata": {"name": "csv.v1"}, "spec": spec});
    step("operators.coreos.com", "ClusterServiceVersion", object)
}

fn account() -> Step {
    let owner = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "name": "csv.v1", "uid": ""});
    core("ServiceAccount", json!({"metadata": {"name": "sa", "ownerReferences": [owner]}}))
}

fn cluster_role() -> Step {
    let labels = json!({"olm.owner": "csv.v1", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"});
    step(RBAC, "ClusterRole", json!({"metadata": {"name": "r", "labels": labels}, "rules": []}))
}

fn is_labelled(cluster: &Cluster, kind: &str, name: &str) -> bool {
    cluster.get(kind, name).pointer("/metadata/labels").is_some_and(|all| all.get(KEY).is_some())
}

const MADE: [(&str, &str); 5] = [
    ("ClusterServiceVersion", "csv.v1"),
    ("CustomResourceDefinition", "things.example.com"),
    ("ServiceAccount", "sa"),
    ("ClusterRole", "r"),
    ("ConfigMap", "c"),
];

fn steps() -> [Step; 5] {
    [owning_csv(), crd("v1"), account(), cluster_role(), core("ConfigMap", named("c"))]
}

#[test]
fn everything_that_belongs_to_the_csv_is_created_with_the_label() {
    let mut cluster = Cluster::default();
    assert!(run(&mut cluster, of_poultry(), &steps()).failure.is_none());
    for (kind, name) in MADE {
        assert!(is_labelled(&cluster, kind, name), "{kind}");
    }
    assert_eq!(cluster.writes, MADE.len(), "each is written once");
    let mut other = Cluster::default();
    assert!(run(&mut other, scope(), &steps()).failure.is_none());
    for (kind, name) in MADE {
        assert!(!is_labelled(&other, kind, name), "{kind} of a plan without a Subscription");
    }
}

#[test]
fn what_does_not_belong_to_the_csv_is_not_labelled() {
    let mut cluster = Cluster::default();
    let role = step(RBAC, "ClusterRole", json!({"metadata": {"name": "r"}, "rules": []}));
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}});
    let steps = [csv_step(), crd("v1"), role, step("policy", "PodDisruptionBudget", budget)];
    assert!(run(&mut cluster, of_poultry(), &steps).failure.is_none());
    let others = [
        ("CustomResourceDefinition", "things.example.com"),
        ("ClusterRole", "r"),
        ("PodDisruptionBudget", "b"),
    ];
    for (kind, name) in others {
        assert!(!is_labelled(&cluster, kind, name), "{kind}");
    }
}

/// An execution may end after any step, and the next one go on from there.
#[test]
fn an_execution_that_goes_on_reads_the_csv_first() {
    let mut cluster = Cluster::default();
    run(&mut cluster, of_poultry(), &[owning_csv()]);
    let done = Step { status: StepStatus::Created, ..owning_csv() };
    let rest = [done, crd("v1"), account(), cluster_role(), core("ConfigMap", named("c"))];
    assert!(run(&mut cluster, of_poultry(), &rest).failure.is_none());
    for (kind, name) in MADE {
        assert!(is_labelled(&cluster, kind, name), "{kind}");
    }
}

/// The label comes with what else a step changes, and that of another operator stays.
#[test]
fn what_exists_gets_the_label_with_its_change() {
    let mut cluster = Cluster::default();
    run(&mut cluster, scope(), &steps());
    let other = "operators.coreos.com/eggs.other";
    for (kind, name) in MADE {
        cluster.change(kind, name, |object| object["metadata"]["labels"][other] = json!(""));
    }
    let writes = cluster.writes;
    assert!(run(&mut cluster, of_poultry(), &steps()).failure.is_none());
    assert_eq!(cluster.writes - writes, MADE.len() - 1, "a CSV is never touched again");
    for (kind, name) in &MADE[1..] {
        assert!(is_labelled(&cluster, kind, name), "{kind}");
        assert!(cluster.get(kind, name)["metadata"]["labels"].get(other).is_some(), "{kind}");
    }
}
