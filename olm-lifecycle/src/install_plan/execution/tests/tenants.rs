//! Whose rights serve a step, and what a plan may have copied (docs/security.md).

use super::*;
use crate::tenancy::{Attestor, StepTrust};

fn account() -> Identity {
    Identity::ServiceAccount { namespace: "ns".to_owned(), name: "sa".to_owned() }
}

/// A plan of ours under the strict policy; global catalogs are in namespace `olm`.
fn strict() -> Scope {
    let trust = StepTrust::From { namespace: "olm".to_owned(), attestor: Attestor::new(b"key") };
    Scope { identity: account(), trust, ..scope() }
}

fn from(catalog_namespace: &str, mut step: Step) -> Step {
    step.resource.source_namespace = catalog_namespace.to_owned();
    step
}

#[rstest]
#[case::global("olm", Identity::Own)]
#[case::local("ns", account())]
fn crds_of_tenants_are_written_by_their_account(#[case] catalog: &str, #[case] actor: Identity) {
    let step = from(catalog, crd("v1"));
    let found = match Execution::new(strict(), vec![step]).next_request() {
        Some(Request::Do(effect)) => effect.identity,
        other => panic!("{other:?}"),
    };
    assert_eq!(found, actor);
}

#[rstest]
#[case::global("olm", true)]
#[case::local("ns", false)]
fn csvs_from_global_catalogs_are_marked(#[case] catalog: &str, #[case] marked: bool) {
    let mut cluster = Cluster::default();
    run(&mut cluster, strict(), &[from(catalog, csv_step())]);
    let csv = cluster.get("ClusterServiceVersion", "csv.v1");
    let mark = csv.pointer("/metadata/annotations/olm-rs.dev~1attestation");
    assert_eq!(mark.is_some(), marked);
}

const PULL: &str = "kubernetes.io/dockerconfigjson";

#[test]
fn a_pull_secret_is_copied_from_the_operators_namespace() {
    let mut cluster = Cluster::default();
    let (_, error) = execute(&mut cluster, &[core("Secret", named("s"))]);
    assert_eq!(error.unwrap(), "secret s does not exist - secrets \"s\" not found");
    cluster.put("Secret", Some("olm"), "s", json!({"data": {"k": "dg=="}, "type": PULL}));
    assert_eq!(execute(&mut cluster, &[core("Secret", named("s"))]).0, [StepStatus::Created]);
    let copy = cluster.get("Secret", "s");
    assert_eq!((&copy["data"], &copy["type"]), (&json!({"k": "dg=="}), &json!(PULL)));
}

#[rstest]
#[case::a_token(scope(), "olm", "kubernetes.io/service-account-token", "holds no credentials")]
#[case::a_key(scope(), "olm", "Opaque", "holds no credentials")]
#[case::for_a_local_catalog(strict(), "ns", PULL, "only steps from global catalogs copy it")]
fn other_secrets_stay(
    #[case] scope: Scope,
    #[case] catalog: &str,
    #[case] kind: &str,
    #[case] text: &str,
) {
    let mut cluster = Cluster::default();
    cluster.put("Secret", Some("olm"), "s", json!({"data": {"k": "dg=="}, "type": kind}));
    let ended = run(&mut cluster, scope, &[from(catalog, core("Secret", named("s")))]);
    let error = ended.failure.unwrap().to_string();
    assert!(error.contains(text), "{error}");
    assert_eq!(cluster.writes, 0);
}

/// An older version of an operator brings a definition that lacks what newer objects have.
#[rstest]
#[case::of_an_administrator(&["vs.example.com"], false)]
#[case::of_other_users(&[], true)]
fn a_definition_of_an_administrators_operator_is_left_as_it_is(
    #[case] guarded: &[&str],
    #[case] changes: bool,
) {
    let mut cluster = Cluster::default();
    let newer = from("olm", crd("v1"));
    run(&mut cluster, strict(), &[newer]);
    let name = crd("v1").resource.name;
    let before = cluster.get("CustomResourceDefinition", &name).clone();
    let mut older = crd("v1");
    let mut manifest: Value =
        serde_json::from_str(older.resource.manifest.as_deref().unwrap()).unwrap();
    manifest["spec"]["names"]["shortNames"] = json!(["old"]);
    older.resource.manifest = Some(manifest.to_string());
    let guarded = guarded.iter().map(|_| name.clone()).collect();
    let ended = run(&mut cluster, Scope { guarded, ..strict() }, &[from("olm", older)]);
    assert_eq!(ended.failure.map(|error| error.to_string()), None);
    assert_eq!(ended.steps[0].status, StepStatus::Present);
    assert_eq!(cluster.get("CustomResourceDefinition", &name)["spec"] != before["spec"], changes);
    assert_eq!(ended.notes.iter().any(|note| note.what == NoteKind::Kept), !changes);
}
