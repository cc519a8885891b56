//! Plans that tools write: steps that name no CSV, manifests as v0 reads them.

use super::*;

fn without_csv(mut step: Step) -> Step {
    step.resolving = String::new();
    step
}

const RBAC: &str = "rbac.authorization.k8s.io";

#[rstest]
#[case::service(core("Service", named("thing")), "Service")]
#[case::config_map(core("ConfigMap", named("thing")), "ConfigMap")]
#[case::bundle_secret(core("BundleSecret", named("thing")), "Secret")]
#[case::account(core("ServiceAccount", named("thing")), "ServiceAccount")]
#[case::role(step(RBAC, "Role", named("thing")), "Role")]
#[case::binding_without_group(core("RoleBinding", named("thing")), "RoleBinding")]
#[case::cluster_role(step(RBAC, "ClusterRole", named("thing")), "ClusterRole")]
#[case::cluster_binding(step(RBAC, "ClusterRoleBinding", named("thing")), "ClusterRoleBinding")]
#[case::policy(step("networking.k8s.io", "NetworkPolicy", json!({
    "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "thing"},
})), "NetworkPolicy")]
#[case::class(step("scheduling.k8s.io", "PriorityClass", json!({
    "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "thing"},
})), "PriorityClass")]
fn an_object_of_no_csv_has_no_owner(#[case] step: Step, #[case] kind: &str) {
    let mut cluster = Cluster::default();
    let steps = [without_csv(step)];
    assert_eq!(execute(&mut cluster, &steps), (vec![StepStatus::Created], None));
    let metadata = &cluster.get(kind, "thing")["metadata"];
    assert_eq!(metadata.get("ownerReferences"), None);
    assert_eq!(metadata["labels"], json!({"olm.managed": "true"}));
    assert_eq!(execute(&mut cluster, &steps), (vec![StepStatus::Present], None));
}

/// An owner that the manifest names counts nevertheless.
#[test]
fn an_owner_in_the_manifest_gets_its_uid() {
    let mut cluster = Cluster::default();
    let mut map = named("thing");
    map["metadata"]["ownerReferences"] = json!([owner()]);
    map["metadata"]["ownerReferences"][0]["uid"] = json!("");
    let steps = [csv_step(), without_csv(core("ConfigMap", map))];
    assert_eq!(execute(&mut cluster, &steps).1, None);
    assert_eq!(cluster.get("ConfigMap", "thing")["metadata"]["ownerReferences"], json!([owner()]));
}

#[test]
fn a_take_over_names_the_plan_where_no_csv_is() {
    let mut cluster = Cluster::default();
    cluster.put("ConfigMap", Some("ns"), "thing", named("thing"));
    let ended = run(&mut cluster, scope(), &[without_csv(core("ConfigMap", named("thing")))]);
    let text = ended.notes[0].text(&ended.steps[0]);
    assert_eq!(
        text,
        "ConfigMap \"thing\" existed before and was not managed by OLM; it was changed to what the plan \
         asks for, and OLM manages it from now on"
    );
}

/// Whether the address of a Service is left out, or is the one that it has.
#[rstest]
#[case::left_out(json!({}), None)]
#[case::its_own(json!({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}), None)]
#[case::of_another(json!({"clusterIP": "10.0.0.2"}),
    Some("error updating service: thing: provided IP is already allocated"))]
fn a_service_with_an_address_is_updated(#[case] more: Value, #[case] error: Option<&str>) {
    let service = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
    let mut cluster = Cluster::default();
    for (name, address) in [("thing", "10.0.0.1"), ("other", "10.0.0.2")] {
        let live = service(name, json!({"clusterIP": address, "ports": [{"port": 80}]}));
        cluster.put("Service", Some("ns"), name, live);
    }
    let mut wanted = service("thing", more);
    wanted["spec"]["ports"] = json!([{"port": 81}]);
    let done = execute(&mut cluster, &[without_csv(core("Service", wanted))]);
    assert_eq!(done.1.as_deref(), error);
    let port = if error.is_some() { 80 } else { 81 };
    let expected = json!({"clusterIP": "10.0.0.1", "ports": [{"port": port}]});
    assert_eq!(cluster.get("Service", "thing")["spec"], expected);
}

fn definition(manifest: &str) -> Step {
    let mut step = without_csv(crd("v1"));
    step.resource.manifest = Some(manifest.to_owned());
    step
}

#[rstest]
#[case::yaml("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n")]
#[case::version_alone("apiVersion: v1\n")]
#[case::json_with_version_alone("{\"apiVersion\": \"v1\", \"metadata\": {}}")]
fn a_definition_as_tools_write_it(#[case] manifest: &str) {
    let mut cluster = Cluster::default();
    let done = execute(&mut cluster, &[definition(manifest)]);
    assert_eq!(done, (vec![StepStatus::WaitingForApi], None));
    let made = cluster.get("CustomResourceDefinition", "things.example.com");
    assert_eq!(made["apiVersion"], "apiextensions.k8s.io/v1");
    assert_eq!(made["kind"], "CustomResourceDefinition");
}

#[test]
fn a_looked_up_kind_may_be_yaml() {
    let mut rule = step("monitoring.coreos.com", "PrometheusRule", named("thing"));
    rule.resource.manifest = Some(
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: thing\nspec:\n  groups: []\n"
            .to_owned(),
    );
    let mut cluster = Cluster::default();
    assert_eq!(execute(&mut cluster, &[without_csv(rule)]).1, None);
    assert_eq!(cluster.get("PrometheusRule", "thing")["spec"], json!({"groups": []}));
}

/// Who reads typed objects reads JSON, in v0 as well.
#[test]
fn other_kinds_are_json() {
    let mut map = without_csv(core("ConfigMap", named("thing")));
    map.resource.manifest = Some("metadata:\n  name: thing\n".to_owned());
    let error = execute(&mut Cluster::default(), &[map]).1.unwrap();
    assert!(error.starts_with("error parsing step manifest: thing: "), "{error}");
}

/// A pull secret is made from its name; v0 does not read the manifest.
#[test]
fn a_pull_secret_needs_no_manifest() {
    let mut cluster = Cluster::default();
    let source = json!({"data": {"k": "dg=="}, "type": "kubernetes.io/dockercfg"});
    cluster.put("Secret", Some("olm"), "thing", source);
    let mut secret = without_csv(core("Secret", named("thing")));
    secret.resource.manifest = None;
    assert_eq!(execute(&mut cluster, &[secret]), (vec![StepStatus::Created], None));
}

/// v0 waits without a limit for rights, but not for those to copy a Secret: there only the API
/// server's words are kept.
#[rstest]
#[case::secret("Secret", "error creating secret thing - no rights", false)]
#[case::config_map("ConfigMap", "error updating configmap: thing: no rights", true)]
fn a_missing_right_is_reported_in_the_words_of_the_api_server(
    #[case] kind: &'static str,
    #[case] text: &str,
    #[case] forever: bool,
) {
    let mut cluster = Cluster { refuse: Some(kind), ..Cluster::default() };
    cluster.put("Secret", Some("olm"), "thing", json!({"type": "kubernetes.io/dockercfg"}));
    let ended = run(&mut cluster, scope(), &[without_csv(core(kind, named("thing")))]);
    let error = ended.failure.unwrap();
    assert_eq!((error.to_string().as_str(), error.is_forbidden()), (text, forever));
}
