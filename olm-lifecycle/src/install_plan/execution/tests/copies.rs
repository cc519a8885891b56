//! CSVs whose name a copy has.

use super::*;

const CSV: &str = "ClusterServiceVersion";

/// A cluster in which an operator of namespace `kitchen` reaches the plan's.
fn reached() -> Cluster {
    let labels = json!({"olm.copiedFrom": "kitchen"});
    let metadata = json!({"name": "csv.v1", "namespace": "ns", "uid": "copy", "labels": labels});
    let mut cluster = Cluster::default();
    cluster.put(CSV, Some("ns"), "csv.v1", json!({ "metadata": metadata }));
    cluster
}

#[test]
fn a_copy_is_in_the_way_until_it_is_gone() {
    let mut cluster = reached();
    let steps = [csv_step(), core("ConfigMap", named("c"))];
    let (statuses, error) = execute(&mut cluster, &steps);
    assert_eq!(statuses, [StepStatus::Unknown; 2]);
    let expected = "namespace ns holds a copy of csv.v1, which is installed in namespace kitchen and reaches this one: \
        no CSV of that name can be created while the copy is there; install into another namespace, or uninstall the \
        operator in kitchen, or let the OperatorGroup of kitchen select other namespaces";
    assert_eq!(error.as_deref(), Some(expected));
    assert!(is_about_a_copy(expected));
    assert_eq!(cluster.writes, 0);
    cluster.objects.clear();
    assert_eq!(execute(&mut cluster, &steps), (vec![StepStatus::Created; 2], None));
}

/// What needs it has it: the plan makes a Subscription for what no user asks for.
#[test]
fn a_copy_of_a_dependency_is_kept_and_reported() {
    let mut cluster = reached();
    let before = cluster.get(CSV, "csv.v1").clone();
    let made = step("operators.coreos.com", "Subscription", named("sub"));
    let ended = run(&mut cluster, scope(), &[csv_step(), made]);
    assert!(ended.failure.is_none(), "{:?}", ended.failure);
    let statuses: Vec<StepStatus> = ended.steps.iter().map(|step| step.status).collect();
    assert_eq!(statuses, [StepStatus::Present, StepStatus::Created]);
    assert_eq!(ended.notes, [Note { step: 0, what: NoteKind::CopyKept("kitchen".to_owned()) }]);
    assert!(ended.notes[0].text(&ended.steps[0]).contains("installed in namespace kitchen"));
    assert_eq!(cluster.get(CSV, "csv.v1"), &before);
}
