//! The manifests of docs/gitops.md that only a cluster of the tool's own could apply: what the page says about each
//! stands in it.

use serde::Deserialize;
use serde_json::{Value, json};

/// All manifests of the page, without the templates of its chart.
fn manifests() -> Vec<Value> {
    let page = std::fs::read_to_string("../docs/gitops.md").unwrap();
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let written = blocks.filter(|block| !block.contains("{{"));
    let documents = written.flat_map(yaml_serde::Deserializer::from_str);
    documents.map(|document| Value::deserialize(document).unwrap()).collect()
}

/// Those of a kind, which are so many.
fn of_kind<const N: usize>(kind: &str) -> [Value; N] {
    let mut all = manifests();
    all.retain(|one| one["kind"] == kind);
    all.try_into().unwrap()
}

#[test]
fn argo_cd_waits_for_the_subscription_before_its_custom_resource() {
    let [application] = of_kind("Application");
    let policy = &application["spec"]["syncPolicy"];
    assert_eq!(policy["automated"], json!({"prune": true, "selfHeal": true}));
    let options = json!(["ServerSideApply=true", "SkipDryRunOnMissingResource=true"]);
    assert_eq!(policy["syncOptions"], options);
    let [book] = of_kind("Guestbook");
    assert_eq!(book["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"], "1");
    assert_eq!(application["spec"]["destination"]["namespace"], book["metadata"]["namespace"]);
    let [subscription] = of_kind("Subscription");
    let annotations = &subscription["metadata"]["annotations"];
    assert_eq!(*annotations, json!({"olm-rs.dev/pin": "true"}), "it is of the first wave");
}

#[test]
fn the_second_kustomization_of_flux_waits_for_the_first() {
    let [operators, books] = of_kind("Kustomization");
    assert_eq!(operators["spec"]["wait"], true);
    assert_eq!(books["spec"]["dependsOn"], json!([{"name": operators["metadata"]["name"]}]));
    for one in [operators, books] {
        assert_eq!(one["spec"]["prune"], true);
        assert_eq!(one["metadata"]["namespace"], "flux-system", "they name each other without one");
    }
}

/// It asks for the same as the manifests of the page, and approves no other version.
#[test]
fn the_policy_asks_for_what_the_page_has_in_git() {
    let [policy] = of_kind("OperatorPolicy");
    let ([group], [subscription]) = (of_kind("OperatorGroup"), of_kind("Subscription"));
    let mut asked = subscription["spec"].clone();
    let fields = asked.as_object_mut().unwrap();
    // It owns approval.
    fields.remove("installPlanApproval").unwrap();
    fields.insert("namespace".to_owned(), subscription["metadata"]["namespace"].clone());
    assert_eq!(policy["spec"]["subscription"], asked);
    assert_eq!(policy["spec"]["versions"], json!([subscription["spec"]["startingCSV"]]));
    assert_eq!(policy["spec"]["upgradeApproval"], "Automatic");
    let of_policy = &policy["spec"]["operatorGroup"];
    assert_eq!(of_policy["targetNamespaces"], group["spec"]["targetNamespaces"]);
    assert_eq!(of_policy["namespace"], group["metadata"]["namespace"]);
}
