//! Answers as Kubernetes expects them.

use rstest::rstest;

use super::*;

fn api() -> Api {
    "v1/g.example.com/things/Thing".parse().unwrap()
}

fn ask(path: &str, body: Value) -> Value {
    let (status, reply) = answer(path, body.to_string().as_bytes(), Some(&api()));
    assert_eq!(status, 200, "{reply}");
    reply
}

#[rstest]
#[case(json!({}), true)]
#[case(json!({"deny": "x"}), false)]
fn validation_goes_by_the_label(#[case] labels: Value, #[case] allowed: bool) {
    let object = json!({"metadata": {"labels": labels}});
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "request": {"uid": "u", "object": object},
    });
    let reply = ask("/validate", review);
    assert_eq!(reply["response"]["uid"], "u");
    assert_eq!(reply["response"]["allowed"], allowed);
    assert_eq!(reply["apiVersion"], "admission.k8s.io/v1");
}

#[rstest]
#[case(json!({"labels": {}}), "/metadata/labels/admitted")]
#[case(json!({}), "/metadata/labels")]
fn mutation_adds_a_label(#[case] metadata: Value, #[case] path: &str) {
    use base64::Engine as _;
    let reply = ask("/mutate", json!({"request": {"object": {"metadata": metadata}}}));
    let patch = reply["response"]["patch"].as_str().unwrap();
    let patch = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
    let patch: Value = serde_json::from_slice(&patch).unwrap();
    assert_eq!(patch[0]["path"], path);
}

#[test]
fn conversion_keeps_order_and_says_where_from() {
    let objects = json!([
        {"apiVersion": "g/v1", "metadata": {"name": "a"}}, {"apiVersion": "g/v1", "metadata": {"name": "b"}},
    ]);
    let review = json!({"request": {"uid": "u", "desiredAPIVersion": "g/v2", "objects": objects}});
    let reply = ask("/convert", review);
    let converted = &reply["response"]["convertedObjects"];
    assert_eq!(converted[0]["apiVersion"], "g/v2");
    assert_eq!(converted[1]["metadata"]["name"], "b");
    assert_eq!(converted[1]["metadata"]["annotations"]["converted-from"], "g/v1");
}

#[rstest]
#[case("/apis", "APIGroupList")]
#[case("/apis/g.example.com", "APIGroup")]
#[case("/apis/g.example.com/v1", "APIResourceList")]
#[case("/apis/g.example.com/v1/things", "ThingList")]
#[case("/apis/g.example.com/v1/namespaces/a/things", "ThingList")]
fn the_api_is_discovered_and_read(#[case] path: &str, #[case] kind: &str) {
    assert_eq!(ask(path, Value::Null)["kind"], kind);
}

#[rstest]
#[case("/")]
#[case("/apis/other.example.com/v1")]
#[case("/apis/g.example.com/v1/others")]
fn everything_else_is_not_found(#[case] path: &str) {
    assert_eq!(answer(path, b"garbage", Some(&api())).0, 404);
    assert_eq!(answer(path, b"", None).0, 404);
}
