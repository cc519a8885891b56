//! Execution of steps against a model of an API server: the rows of spec catalog-operator 9.7.
//!
//! Where its other rows are: phases, groups and time in `install_plan/phase/tests.rs`; scoped
//! querier in `operator_group/service_account/attenuation.rs`, Secrets of accounts in olm-kit
//! `interpreter/tests/accounts.rs`; collection of old plans in `install_plan/collect.rs`;
//! definitions in `crd/tests.rs`, `crd/tests/rows.rs` and `crd/schema/tests.rs`; merged owners in
//! `handlers/service_account.rs`, deduplicated ones in `owners`.
//!
//! Impossible rows: an account whose `generateName` changes (`old_name` to `new_name`), since an
//! API server makes a name of it at creation and never looks at it again; an alongside annotation
//! of an empty namespace, since a plan is in one.

mod ahead;
mod as_v0;
mod by_tools;
mod cluster;
mod components;
mod copies;
mod deletion;
mod joined;
mod kinds;
mod objects;
mod owners;
mod reported;
mod tenants;
mod unpacked;

use olm_effect::{Identity, Refusal};
use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;
use olm_types::api::{Step, StepResource, StepStatus};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use cluster::Cluster;

fn step(group: &str, kind: &str, object: Value) -> Step {
    let resource = StepResource {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        name: object
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        manifest: Some(object.to_string()),
        ..StepResource::default()
    };
    Step {
        resolving: "csv.v1".to_owned(),
        resource,
        status: StepStatus::Unknown,
        ..Step::default()
    }
}

fn core(kind: &str, object: Value) -> Step {
    step("", kind, object)
}

fn named(name: &str) -> Value {
    json!({ "metadata": { "name": name } })
}

fn csv_step() -> Step {
    step("operators.coreos.com", "ClusterServiceVersion", named("csv.v1"))
}

fn scope() -> Scope {
    Scope {
        namespace: "ns".to_owned(),
        plan: "install-x".to_owned(),
        operator_namespace: "olm".to_owned(),
        csvs: [("ns".to_owned(), "csv.v1".to_owned())].into(),
        ..Scope::default()
    }
}

fn execute(cluster: &mut Cluster, steps: &[Step]) -> (Vec<StepStatus>, Option<String>) {
    let ended = run(cluster, scope(), steps);
    let statuses = ended.steps.into_iter().map(|step| step.status).collect();
    (statuses, ended.failure.map(|error| error.to_string()))
}

fn run(cluster: &mut Cluster, scope: Scope, steps: &[Step]) -> Ended {
    let mut execution = Execution::new(scope, steps.to_vec());
    while let Some(request) = execution.next_request() {
        let reply = cluster.answer(request);
        execution.accept_reply(reply);
    }
    execution.finish()
}

fn owner() -> Value {
    json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "name": "csv.v1", "uid": "uid-csv.v1",
        "controller": false, "blockOwnerDeletion": false})
}

#[test]
fn no_steps_are_done_at_once() {
    assert_eq!(execute(&mut Cluster::default(), &[]), (vec![], None));
}

#[rstest]
#[case::unknown_kind(
    "example.com",
    "Tree",
    "{}",
    "the InstallPlan contains invalid data: step Tree x (example.com): its kind cannot be installed by this version"
)]
#[case::other_group_of_a_known_kind(
    "serving.example.com",
    "Service",
    "{}",
    "the InstallPlan contains invalid data: step Service x (serving.example.com): its kind cannot be installed by this version"
)]
#[case::no_json(
    "",
    "ConfigMap",
    "{",
    "error parsing step manifest: x: EOF while parsing an object at line 1 column 1"
)]
#[case::no_object("", "ConfigMap", "[]", "error parsing step manifest: x: is not a JSON object")]
#[case::bad_metadata(
    "",
    "Secret",
    r#"{"metadata":7}"#,
    "secret x does not exist - secrets \"x\" not found"
)]
#[case::bad_labels(
    "",
    "ServiceAccount",
    r#"{"metadata":{"labels":[]}}"#,
    "error parsing step manifest: x: metadata.labels is not an object"
)]
#[case::old_crd(
    "apiextensions.k8s.io",
    "CustomResourceDefinition",
    r#"{"apiVersion":"apiextensions.k8s.io/v2"}"#,
    "CRD APIVersion from manifest not supported: v2"
)]
fn bad_steps(#[case] group: &str, #[case] kind: &str, #[case] manifest: &str, #[case] text: &str) {
    let mut bad = step(group, kind, named("x"));
    bad.resource.manifest = Some(manifest.to_owned());
    let (_, error) = execute(&mut Cluster::default(), &[bad]);
    assert_eq!(error.as_deref(), Some(text));
}

#[test]
fn an_unsupported_kind_is_marked_and_ends_the_execution() {
    let steps = [step("example.com", "Tree", named("x")), csv_step()];
    let (statuses, _) = execute(&mut Cluster::default(), &steps);
    assert_eq!(statuses, [StepStatus::UnsupportedResource, StepStatus::Unknown]);
}

#[test]
fn finished_steps_are_not_touched() {
    let mut steps = [csv_step(), core("ConfigMap", named("c"))];
    steps[0].status = StepStatus::Present;
    steps[1].status = StepStatus::Created;
    let mut cluster = Cluster::default();
    assert_eq!(execute(&mut cluster, &steps).0, [StepStatus::Present, StepStatus::Created]);
    assert_eq!(cluster.writes, 0);
}

#[test]
fn a_refusal_names_the_object_and_keeps_what_was_done() {
    let mut cluster = Cluster { refuse: Some("ConfigMap"), ..Cluster::default() };
    let (statuses, error) = execute(&mut cluster, &[csv_step(), core("ConfigMap", named("c"))]);
    assert_eq!(statuses, [StepStatus::Created, StepStatus::Unknown]);
    assert_eq!(error.unwrap(), "error updating configmap: c: no rights");
}

fn crd(version: &str) -> Step {
    let object = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": version, "served": true}]},
    });
    step("apiextensions.k8s.io", "CustomResourceDefinition", object)
}

/// Another plan may have recorded a CSV that was not there when this execution began.
#[rstest]
#[case::it_exists(Some(json!({"metadata": {"name": "csv.v2"}})), true)]
#[case::it_is_gone(None, false)]
#[case::it_is_a_copy(Some(json!({"metadata": {"name": "csv.v2", "labels": {"olm.copiedFrom": "x"}}})), false)]
fn a_record_of_a_csv_goes_only_with_the_csv(#[case] csv: Option<Value>, #[case] stays: bool) {
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[crd("v1")]);
    let key = format!("{INSTALLED_ALONGSIDE_PREFIX}2");
    cluster.change("CustomResourceDefinition", "things.example.com", |object| {
        object["metadata"]["annotations"][&key] = json!("ns/csv.v2");
    });
    if let Some(csv) = csv {
        cluster.put("ClusterServiceVersion", Some("ns"), "csv.v2", csv);
    }
    assert_eq!(execute(&mut cluster, &[crd("v1")]).0, [StepStatus::Present]);
    let metadata = &cluster.get("CustomResourceDefinition", "things.example.com")["metadata"];
    let records = metadata["annotations"].as_object().unwrap();
    assert_eq!(records.contains_key(&key), stays);
    assert!(records.values().any(|value| value == "ns/csv.v1"));
}

fn crd_with(status: StepStatus) -> Step {
    Step { status, ..crd("v1") }
}

#[test]
fn a_crd_is_awaited_until_it_is_served() {
    let mut cluster = Cluster::default();
    assert_eq!(execute(&mut cluster, &[crd("v1")]).0, [StepStatus::WaitingForApi]);
    let annotation = "operatorframework.io/installed-alongside-";
    let metadata = &cluster.get("CustomResourceDefinition", "things.example.com")["metadata"];
    let alongside = metadata["annotations"].as_object().unwrap().iter().next().unwrap();
    assert!(alongside.0.starts_with(annotation) && alongside.1 == "ns/csv.v1");
    let waiting = [crd_with(StepStatus::WaitingForApi)];
    assert_eq!(execute(&mut cluster, &waiting).0, [StepStatus::WaitingForApi]);
    cluster.change("CustomResourceDefinition", "things.example.com", |object| {
        object["status"]["conditions"] =
            json!([{"type": "Established", "status": "True"}, {"type": "NamesAccepted", "status": "True"}]);
    });
    assert_eq!(execute(&mut cluster, &waiting).0, [StepStatus::Created]);
}

#[test]
fn an_awaited_crd_that_is_gone_is_made_again() {
    for status in [StepStatus::WaitingForApi, StepStatus::NotPresent] {
        let mut cluster = Cluster::default();
        let done = execute(&mut cluster, &[crd_with(status)]);
        assert_eq!(done, (vec![StepStatus::WaitingForApi], None));
        assert_eq!(cluster.writes, 1);
    }
}

#[test]
fn an_existing_crd_is_replaced_or_protected() {
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[crd("v1")]);
    assert_eq!(execute(&mut cluster, &[crd("v2")]).0, [StepStatus::Present]);
    assert_eq!(
        cluster.get("CustomResourceDefinition", "things.example.com")["spec"]["versions"][0]["name"],
        "v2"
    );
    cluster.change("CustomResourceDefinition", "things.example.com", |object| {
        object["status"]["storedVersions"] = json!(["v2"]);
    });
    let (_, error) = execute(&mut cluster, &[crd("v3")]);
    assert_eq!(
        error.unwrap(),
        "risk of data loss updating \"things.example.com\": new CRD removes version v2 that is listed as a stored version on the existing CRD"
    );
}

#[test]
fn a_crd_that_changed_meanwhile_is_compared_again() {
    let mut cluster = Cluster::default();
    execute(&mut cluster, &[crd("v1")]);
    cluster.conflicts = 2;
    assert_eq!(execute(&mut cluster, &[crd("v2")]), (vec![StepStatus::Present], None));
    cluster.conflicts = 9;
    assert!(execute(&mut cluster, &[crd("v3")]).1.is_some());
}

#[test]
fn crds_are_written_by_the_operator_itself_and_the_rest_by_the_account() {
    let account = Identity::ServiceAccount { namespace: "ns".to_owned(), name: "sa".to_owned() };
    let scope = Scope { identity: account.clone(), ..scope() };
    let first = |step: Step| match Execution::new(scope.clone(), vec![step]).next_request() {
        Some(Request::Do(effect)) => effect.identity,
        other => panic!("{other:?}"),
    };
    assert_eq!(first(crd("v1")), Identity::Own);
    assert_eq!(first(csv_step()), account);
}

#[test]
fn an_answer_out_of_turn_ends_the_execution() {
    let mut execution = Execution::new(scope(), vec![csv_step()]);
    assert!(execution.next_request().is_some());
    execution.accept_reply(Reply::Unreadable(Refusal {
        code: 0,
        reason: String::new(),
        message: String::new(),
    }));
    assert!(execution.next_request().is_none());
    assert!(execution.finish().failure.is_some());
}
