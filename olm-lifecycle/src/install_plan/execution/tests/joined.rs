//! Several steps of a plan about one account.

use super::*;

const KEY: &str = "operators.coreos.com/poultry.ns";

fn of_poultry() -> Scope {
    Scope { components: [("csv.v1".to_owned(), [KEY.to_owned()].into())].into(), ..scope() }
}

/// As a bundle brings it.
fn of_bundle() -> Step {
    let metadata =
        json!({"name": "sa", "labels": {"from": "bundle"}, "annotations": {"a": "1", "b": "1"}});
    core(
        "ServiceAccount",
        json!({"metadata": metadata, "imagePullSecrets": [{"name": "p"}], "secrets": [{"name": "t"}]}),
    )
}

/// As the rights of a CSV bring it.
fn of_rights() -> Step {
    let metadata =
        json!({"name": "sa", "ownerReferences": [owner()], "annotations": {"b": "2", "c": "2"}});
    core("ServiceAccount", json!({ "metadata": metadata }))
}

#[rstest]
#[case::rights_after_the_bundle(of_bundle(), of_rights())]
#[case::the_other_way_round(of_rights(), of_bundle())]
#[case::the_same(of_rights(), of_rights())]
fn an_account_is_written_once(#[case] first: Step, #[case] second: Step) {
    let mut together = Cluster::default();
    let steps = [csv_step(), first.clone(), second.clone()];
    let ended = run(&mut together, of_poultry(), &steps);
    let statuses: Vec<_> = ended.steps.iter().map(|step| step.status).collect();
    assert_eq!(statuses, [StepStatus::Created, StepStatus::Created, StepStatus::Present]);
    assert_eq!(together.writes, 2, "the CSV and the account");
    assert!(ended.notes.is_empty(), "{:?}", ended.notes);

    let mut apart = Cluster::default();
    for step in [first, second] {
        assert!(run(&mut apart, of_poultry(), &[csv_step(), step]).failure.is_none());
    }
    let account = together.get("ServiceAccount", "sa");
    assert_eq!(account, apart.get("ServiceAccount", "sa"));
    assert!(account["metadata"]["labels"].get(KEY).is_some());
}

/// What has to be read for the second step is read when its turn comes.
#[test]
fn a_step_that_is_not_known_yet_changes_the_account_later() {
    let mut cluster = Cluster::default();
    run(&mut cluster, scope(), &[csv_step()]);
    let done = Step { status: StepStatus::Created, ..csv_step() };
    let ended = run(&mut cluster, scope(), &[done, of_bundle(), of_rights()]);
    assert!(ended.failure.is_none());
    assert_eq!(cluster.writes, 3);
    let account = cluster.get("ServiceAccount", "sa");
    assert_eq!(account["metadata"]["ownerReferences"], json!([owner()]));
    assert_eq!(account["metadata"]["annotations"], json!({"a": "1", "b": "2", "c": "2"}));
}

/// An account that goes between the steps is made again.
#[test]
fn an_account_that_is_gone_is_made_again() {
    let mut cluster = Cluster { goes_before_read: Some("ServiceAccount"), ..Cluster::default() };
    let ended = run(&mut cluster, scope(), &[csv_step(), of_bundle(), of_rights()]);
    assert!(ended.failure.is_none());
    let account = cluster.get("ServiceAccount", "sa");
    assert_eq!(account["metadata"]["ownerReferences"], json!([owner()]));
}
