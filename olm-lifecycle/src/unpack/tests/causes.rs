//! Why a Job gets nowhere.

use rstest::rstest;
use serde_json::{Value, json};

use super::waiting::{cause, waiting};
use super::*;

fn container(name: &str, state: Value) -> Value {
    json!({
        "name": name, "image": "example.com/b:1", "imageID": "", "ready": false, "restartCount": 0,
        "state": state,
    })
}

fn waits(reason: &str, message: &str) -> Value {
    json!({"waiting": {"reason": reason, "message": message}})
}

fn init(state: Value) -> Value {
    json!({"phase": "Pending", "initContainerStatuses": [container("pull", state)]})
}

fn extract(state: Value) -> Value {
    json!({"phase": "Failed", "containerStatuses": [container("extract", state)]})
}

#[rstest]
#[case::starts(init(waits("PodInitializing", "")), None)]
#[case::first_try(
    init(waits("ErrImagePull", "rpc error: not found")),
    Some("the image example.com/b:1 of container pull cannot be pulled: rpc error: not found")
)]
#[case::pause_between_tries(
    init(waits(
        "ImagePullBackOff",
        "Back-off pulling image \"x\": ErrImagePull: rpc error: not found"
    )),
    Some("the image example.com/b:1 of container pull cannot be pulled: rpc error: not found")
)]
#[case::secret_is_missing(
    init(waits("CreateContainerConfigError", "secret not found")),
    Some("container pull waits: CreateContainerConfigError: secret not found")
)]
#[case::no_rights(
    extract(json!({"terminated": {"exitCode": 1, "message": "Error: configmaps is forbidden\n"}})),
    Some("container extract failed with code 1: Error: configmaps is forbidden")
)]
#[case::done(extract(json!({"terminated": {"exitCode": 0}})), None)]
#[case::no_node(
    json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"},
    ]}),
    Some("no node takes the Pod job-pod: 0/1 nodes are available")
)]
fn causes(#[case] status: Value, #[case] expected: Option<&str>) {
    assert_eq!(cause(&live("job", 10), &[pod("job", status)]).as_deref(), expected);
}

#[test]
fn pods_of_others_do_not_count() {
    let pods = [pod("other", init(waits("ErrImagePull", "x")))];
    assert_eq!(
        (cause(&live("job", 10), &pods), waiting(&live("job", 10), &pods)),
        (None, String::new())
    );
}

#[test]
fn long_texts_are_cut_between_characters() {
    let status = init(waits("ErrImagePull", &"ä".repeat(10_000)));
    let cause = cause(&live("job", 10), &[pod("job", status)]).unwrap();
    assert!(cause.ends_with("ä…") && cause.chars().count() < 800);
}
