//! Steps that are begun together: the same end as one after the other, in as few rounds as they allow.

use super::*;
use crate::install_plan::execution::ahead::AT_ONCE;

fn crd(name: &str) -> Step {
    let object = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": name},
        "spec": {"group": "example.com", "names": {"kind": "T", "plural": name}, "versions": []},
    });
    step("apiextensions.k8s.io", "CustomResourceDefinition", object)
}

fn account(name: &str) -> Step {
    core("ServiceAccount", named(name))
}

/// A cluster with the CSV that owns what the steps create.
fn with_csv() -> Cluster {
    let mut cluster = Cluster::default();
    let csv = json!({"metadata": {"name": "csv.v1", "uid": "uid-csv.v1"}});
    cluster.put("ClusterServiceVersion", Some("ns"), "csv.v1", csv);
    cluster
}

/// What is asked for at the same time, round by round, and what it comes to.
fn rounds(cluster: &mut Cluster, steps: &[Step]) -> (Vec<usize>, Ended) {
    let mut execution = Execution::new(scope(), steps.to_vec());
    let mut rounds = Vec::new();
    loop {
        let requests = execution.next_requests();
        if requests.is_empty() {
            return (rounds, execution.finish());
        }
        rounds.push(requests.len());
        let replies = requests.into_iter().map(|request| cluster.answer(request)).collect();
        execution.accept_replies(replies);
    }
}

fn statuses(ended: &Ended) -> Vec<StepStatus> {
    ended.steps.iter().map(|step| step.status).collect()
}

/// What is done one call at a time and at the same time comes to the same.
#[rstest]
#[case::kinds_of_their_own(vec![crd("a"), account("b"), core("ConfigMap", named("c"))], false)]
#[case::one_kind(vec![crd("a"), crd("b"), crd("c"), account("d"), account("e")], false)]
#[case::csvs(vec![csv_step(), csv_step(), crd("a"), crd("b")], false)]
#[case::the_same_object_twice(vec![account("a"), account("b"), account("a"), account("c")], false)]
#[case::unsupported(vec![step("x.io", "Tree", named("a")), step("x.io", "Tree", named("b"))], false)]
#[case::no_manifest(vec![account("a"), core("ServiceAccount", json!([])), account("c")], false)]
#[case::refused(vec![crd("a"), account("b"), account("c")], true)]
fn ends_as_one_after_the_other(#[case] steps: Vec<Step>, #[case] refused: bool) {
    let cluster = || Cluster { refuse: refused.then_some("ServiceAccount"), ..with_csv() };
    let (mut one, mut together) = (cluster(), cluster());
    let expected = run(&mut one, scope(), &steps);
    let (_, found) = rounds(&mut together, &steps);
    assert_eq!(statuses(&found), statuses(&expected));
    assert_eq!(found.notes, expected.notes);
    assert_eq!(
        found.failure.map(|error| error.to_string()),
        expected.failure.map(|error| error.to_string())
    );
    assert_eq!(together.objects, one.objects);
}

#[test]
fn definitions_are_created_together_and_looked_at_together() {
    let names: Vec<String> = (0..AT_ONCE + 2).map(|number| format!("kind{number}")).collect();
    let steps: Vec<Step> = names.iter().map(|name| crd(name)).collect();
    let mut cluster = Cluster::default();
    let (created, ended) = rounds(&mut cluster, &steps);
    assert_eq!(created, [AT_ONCE, 2, AT_ONCE, 2], "they are looked at once more");
    assert!(statuses(&ended).iter().all(|status| *status == StepStatus::WaitingForApi));
    for name in &names {
        cluster.change("CustomResourceDefinition", name, |crd| {
            crd["status"] = json!({"conditions": [
                {"type": "Established", "status": "True"},
                {"type": "NamesAccepted", "status": "True"},
            ]});
        });
    }
    let (looked, ended) = rounds(&mut cluster, &ended.steps);
    assert_eq!(looked, [AT_ONCE, 2]);
    assert!(statuses(&ended).iter().all(|status| *status == StepStatus::Created));
    assert_eq!(rounds(&mut cluster, &ended.steps).0, Vec::<usize>::new(), "all is done");
}

/// An API server serves a definition a moment after it was created.
#[rstest]
#[case::by_the_end(true, StepStatus::Created)]
#[case::later(false, StepStatus::WaitingForApi)]
fn definitions_are_looked_at_once_more(#[case] is_served: bool, #[case] expected: StepStatus) {
    let mut cluster = with_csv();
    let mut execution = Execution::new(scope(), vec![crd("a"), account("b"), account("c")]);
    let mut requests = 0;
    while let Some(request) = execution.next_request() {
        requests += 1;
        let reply = cluster.answer(request);
        execution.accept_reply(reply);
        if is_served {
            cluster.change("CustomResourceDefinition", "a", |crd| {
                crd["status"] = json!({"conditions": [
                    {"type": "Established", "status": "True"},
                    {"type": "NamesAccepted", "status": "True"},
                ]});
            });
        }
    }
    let ended = execution.finish();
    assert_eq!(statuses(&ended), [expected, StepStatus::Created, StepStatus::Created]);
    assert_eq!(requests, 4, "three creations and a look");
    let waiting = ended.steps.iter().any(|step| step.status == StepStatus::WaitingForApi);
    let (looked, _) = rounds(&mut cluster, &ended.steps);
    assert_eq!(looked.len(), usize::from(waiting), "where nothing begins, one look is enough");
}

#[test]
fn csvs_follow_each_other() {
    let csv = |name: &str| step("operators.coreos.com", "ClusterServiceVersion", named(name));
    let (rounds, _) = rounds(&mut Cluster::default(), &[csv("csv.v1"), csv("csv.v2")]);
    assert!(rounds.iter().all(|round| *round == 1), "{rounds:?}");
}

#[test]
fn what_was_begun_behind_an_error_is_found_by_the_next_execution() {
    let mut cluster = Cluster::default();
    let name = "b";
    let going = json!({"metadata": {"name": name, "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    cluster.put("ServiceAccount", Some("ns"), name, going);
    let steps = [account("a"), account(name), account("c")];
    let (_, ended) = rounds(&mut cluster, &steps);
    assert!(ended.failure.is_some());
    assert_eq!(statuses(&ended), [StepStatus::Created, StepStatus::Unknown, StepStatus::Unknown]);
    cluster.objects.retain(|(_, _, found), _| found != name);
    let (_, ended) = rounds(&mut cluster, &ended.steps);
    assert!(ended.failure.is_none());
    assert_eq!(statuses(&ended), [StepStatus::Created, StepStatus::Created, StepStatus::Present]);
    assert!(ended.notes.is_empty(), "it was OLM that made it: {:?}", ended.notes);
}

#[test]
fn large_manifests_are_held_one_at_a_time() {
    let large = |name: &str| {
        core("ConfigMap", json!({"metadata": {"name": name}, "data": {"k": "v".repeat(600 << 10)}}))
    };
    let (rounds, ended) = rounds(&mut with_csv(), &[large("a"), large("b"), large("c")]);
    assert_eq!(ended.failure.map(|error| error.to_string()), None);
    assert_eq!(rounds, [1, 1, 1, 1], "the CSV is read first");
}
