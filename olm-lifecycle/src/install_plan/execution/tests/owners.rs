//! Owner references that a manifest brings along, and those of a live account.

use super::*;

/// An object that says it belongs to a CSV, with a uid that is not known before the install.
fn claimed(csv: &str) -> Value {
    let owner = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "name": csv,
        "uid": "forged", "controller": false, "blockOwnerDeletion": false,
    });
    let metadata = json!({"name": "thing", "ownerReferences": [owner]});
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata})
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// v0 asks for every CSV that a manifest names, in the plan's namespace.
#[rstest]
#[case::service("", "Service", "service: ")]
#[case::config_map("", "ConfigMap", "configmap: ")]
#[case::bundle_secret("", "BundleSecret", "secret ")]
#[case::account("", "ServiceAccount", "service account: ")]
#[case::role(RBAC, "Role", "role ")]
#[case::binding(RBAC, "RoleBinding", "rolebinding ")]
#[case::other("networking.k8s.io", "NetworkPolicy", "unstructured object: ")]
fn an_owner_that_lies_is_put_right_or_refused(
    #[case] group: &str,
    #[case] kind: &str,
    #[case] messages: &str,
) {
    let stored = if kind == "BundleSecret" { "Secret" } else { kind };
    let mut cluster = Cluster::default();
    let done = execute(&mut cluster, &[csv_step(), step(group, kind, claimed("csv.v1"))]);
    assert_eq!(done, (vec![StepStatus::Created; 2], None));
    assert_eq!(cluster.get(stored, "thing")["metadata"]["ownerReferences"], json!([owner()]));

    let mut cluster = Cluster::default();
    let steps =
        [csv_step(), step(group, kind, claimed("absent")), core("ConfigMap", named("next"))];
    let (statuses, error) = execute(&mut cluster, &steps);
    assert_eq!(statuses, [StepStatus::Created, StepStatus::Unknown, StepStatus::Unknown]);
    let text = format!(
        "error generating ownerrefs for {messages}thing: clusterserviceversions.operators.coreos.com \
         \"absent\" not found"
    );
    assert_eq!(error, Some(text));
    assert_eq!(cluster.writes, 1, "only the CSV is there");
}

/// Who is no CSV cannot be judged here: the garbage collector takes a reference away that leads
/// nowhere, as long as the CSV owns the object, too.
#[test]
fn other_owners_stay_beside_the_csv() {
    let mut map = claimed("csv.v1");
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "forged"});
    map["metadata"]["ownerReferences"] = json!([other]);
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[csv_step(), core("ConfigMap", map)]);
    assert_eq!(
        cluster.get("ConfigMap", "thing")["metadata"]["ownerReferences"],
        json!([other, owner()])
    );
}

/// Row `TestDedupe` of spec catalog-operator 9.7: v0 counts references in Go, of which three equal
/// ones become fewer. What a plan adds is there once, whatever the manifest says.
#[test]
fn the_csv_is_named_once() {
    let mut service = claimed("csv.v1");
    let thrice = vec![service["metadata"]["ownerReferences"][0].clone(); 3];
    service["metadata"]["ownerReferences"] = json!(thrice);
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[csv_step(), core("Service", service)]);
    assert_eq!(
        cluster.get("Service", "thing")["metadata"]["ownerReferences"],
        json!([owner()]),
        "three references to one CSV are one"
    );
}
