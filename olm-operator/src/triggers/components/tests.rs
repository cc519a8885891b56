//! Who is woken by what belongs to an Operator.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{ClusterRole, Role};
use olm_kit::metrics::Metrics;
use olm_kit::queue::Queue;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::changes::Changes;
use crate::components::ComponentIndex;
use crate::dependents::Dependents;
use crate::metrics::CsvMetrics;
use crate::originals::Originals;
use crate::queues::Queues;
use crate::stores::Stores;

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

/// Triggers that listen, over stores with one Subscription in namespace `ns`.
fn listening(watched: Option<BTreeSet<String>>) -> Triggers {
    let subscription = object::<Subscription>(json!({
        "metadata": {"name": "s", "namespace": "ns"},
        "spec": {"name": "p", "source": "c", "sourceNamespace": "ns"},
    }));
    let triggers = Triggers {
        stores: Stores { subscriptions: Store::with_objects([subscription]), ..Stores::default() },
        queues: Queues::new(watched),
        dependents: Dependents::default(),
        changes: Changes::default(),
        metrics: CsvMetrics::register(&Metrics::new().unwrap()).unwrap(),
        originals: Originals::default(),
        components: ComponentIndex::default(),
    };
    triggers.listen_to_components();
    triggers
}

fn account(labels: Value) -> ServiceAccount {
    let version = if labels.get("operators.coreos.com/p.ns").is_some() { "2" } else { "1" };
    object(json!({"metadata": {
        "name": "a", "namespace": "ns", "resourceVersion": version, "labels": labels,
    }}))
}

fn is_empty<K: olm_kit::key::QueueKey>(queue: &Queue<K>) -> bool {
    queue.len() + queue.delayed() == 0
}

#[test]
fn a_label_wakes_its_operator_and_fills_the_index() {
    let triggers = listening(None);
    triggers.stores.accounts.insert_written(account(json!({})));
    assert!(is_empty(&triggers.queues.operators));
    triggers.stores.accounts.insert_written(account(json!({"operators.coreos.com/p.ns": ""})));
    assert_eq!(triggers.queues.operators.delayed(), 1);
    assert_eq!(triggers.components.labelled("operators.coreos.com/p.ns").len(), 1);
}

#[test]
fn an_operator_of_another_olm_is_left_alone() {
    let triggers = listening(Some(["elsewhere".to_owned()].into()));
    triggers.stores.accounts.insert_written(account(json!({"operators.coreos.com/p.ns": ""})));
    assert!(is_empty(&triggers.queues.operators));
}

#[test]
fn what_a_csv_owns_wakes_its_adoption() {
    let triggers = listening(None);
    let labels = json!({
        "olm.owner": "csv", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
        "olm.managed": "true",
    });
    triggers.stores.cluster_roles.insert_written(object::<ClusterRole>(json!({
        "metadata": {"name": "r", "labels": labels},
    })));
    assert_eq!(triggers.queues.adoptions.len(), 1);
    assert!(is_empty(&triggers.queues.labels), "it has its label");
}

#[test]
fn an_object_of_an_older_olm_is_labelled() {
    let triggers = listening(None);
    let labels = json!({
        "olm.owner": "csv", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
    });
    let role = json!({"metadata": {"name": "r", "labels": labels}});
    triggers.stores.cluster_roles.insert_written(object::<ClusterRole>(role));
    assert_eq!(triggers.queues.labels.len(), 1);
}

#[test]
fn a_role_wakes_the_condition_that_owns_it_and_a_csv_the_subscriptions() {
    let triggers = listening(None);
    let owner = json!({
        "apiVersion": "operators.coreos.com/v2", "kind": "OperatorCondition", "name": "c", "uid": "u",
    });
    triggers.stores.roles.insert_written(object::<Role>(json!({
        "metadata": {"name": "c", "namespace": "ns", "ownerReferences": [owner]},
    })));
    assert_eq!(triggers.queues.conditions.len(), 1);
    assert!(is_empty(&triggers.queues.subscriptions));
    let csv = json!({"metadata": {"name": "c", "namespace": "ns"}, "spec": {}});
    triggers.stores.csvs.insert_written(object::<ClusterServiceVersion>(csv));
    assert_eq!(triggers.queues.subscriptions.len(), 1);
    assert_eq!(triggers.queues.adoptions.len(), 1);
}
