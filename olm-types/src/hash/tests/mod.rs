//! Golden values of the specification and tables made by Go.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

mod catalog_pods;

#[rstest]
#[case(json!(["something"]), "5L9sNXi3Y6mcOevFzYY3WOLIukKOeZwz1pfUlT")]
#[case(json!(["something", "else"]), "6XtefCelEzfYlFOD1fARIK5vhWVfWfGHja7H3q")]
fn deep_hashes(#[case] value: Value, #[case] hash: &str) {
    assert_eq!(deep_hash(&value.to_string()), hash);
}

#[rstest]
#[case("bundle-path", "195e02d9c3a64b64444ff569fbc629fb9d91628c45b5b8338300d5cd33b7a8e")]
#[case(
    "bundle-path@sha256:54d626e08c1c802b305dad30b7e54a82f102390cc92c7d4db112048935236e9c",
    "984915bb62da8144bb4c0a7a98b3c660d3202762179e679e25fa7b5b22449c0"
)]
fn unpack_names(#[case] image: &str, #[case] name: &str) {
    assert_eq!(unpack_name(image), name);
}

#[rstest]
#[case("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
#[case("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")]
fn sha256_digits(#[case] text: &str, #[case] digits: &str) {
    assert_eq!(sha256_hex(text), digits);
}

#[rstest]
#[case("test-namespace", "test-name", "ac3c176e9a51bb58")]
#[case("namespace-0", "name-0", "69efe9f983f66e80")]
fn alongside_keys(#[case] namespace: &str, #[case] name: &str, #[case] key: &str) {
    assert_eq!(alongside_key(namespace, name), key);
}

#[rstest]
#[case("Ghost.v1alpha1.ghouls", "6435ab0d7c6bda64")]
#[case("Goblin.v1alpha1.ghouls", "557c9f42470aa352")]
#[case("C1.v1.g1", "96bd9b440496416a")]
#[case("c1.v1.fake.api.group", "9f4c46c37bdff8d0")]
fn api_hashes(#[case] api: &str, #[case] hash: &str) {
    assert_eq!(api_hash(api), hash);
}

#[rstest]
#[case("admin", "8rdAjL0E35JMMAkOqYmoorzjpIIihfnj3DcgDU")]
#[case("edit", "9lBEUxqAYE7CX7wZfFEPYutTfQTo43WarB08od")]
#[case("view", "1l6ymczPK5SceF4d0DCtAnWZuvmKn6s8oBUxHr")]
fn operator_group_role_hashes(#[case] suffix: &str, #[case] hash: &str) {
    assert_eq!(base62_sha224(format!("operator-ns/operator-group-1/{suffix}").as_bytes()), hash);
}

#[test]
fn generated_names_of_the_specification() {
    let hash = deep_hash(r#"["something"]"#);
    assert_eq!(generate_name("myname", &hash), "myname-5L9sNXi3Y6mcOevFzYY3WOLIukKOeZwz1pfUlT");
    let hash = deep_hash(r#"["something","else"]"#);
    assert_eq!(
        generate_name("namenamenamenamenamename", &hash),
        "namenamenamenamenamename-6XtefCelEzfYlFOD1fARIK5vhWVfWfGHja7H3q"
    );
}

#[rstest]
#[case::exactly_63_without_dash(25, 64)]
#[case::cut(26, 63)]
#[case::cut_a_lot(200, 63)]
#[case::short(3, 42)]
fn lengths_of_generated_names(#[case] base: usize, #[case] length: usize) {
    assert_eq!(generate_name(&"b".repeat(base), &"h".repeat(38)).len(), length);
}

const READ_PODS: &str = r#"{"serviceAccountName":"SA","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}"#;

/// Text that names a Role or, with a namespace, a ClusterRole.
fn role_text(csv: &str, namespace: Option<&str>, account: &str, resource: &str) -> String {
    let permission = READ_PODS.replace("SA", account).replace("pods", resource);
    let permission: Value = serde_json::from_str(&permission).unwrap();
    let permission =
        go_json::encode("operators/v1alpha1.StrategyDeploymentPermissions", &permission).unwrap();
    let namespace =
        namespace.map(|namespace| format!(r#""namespace":"{namespace}","#)).unwrap_or_default();
    format!(r#"{{"name":"{csv}",{namespace}"permission":{permission}}}"#)
}

#[rstest]
#[case(
    "csv1-sa",
    role_text("csv1", None, "sa", "pods"),
    "csv1-sa-cmT1fYhw953fj3iB9bJryIutjoxRiHMT16UY5g"
)]
#[case(
    "csv1",
    role_text("csv1", Some("ns"), "sa", "nodes"),
    "csv1-6XDMGb80Na1smUZfoSGj2nXhTjAhKOYRtasZFE"
)]
#[case(
    "test-csv.v1.1.0-test-service-account",
    role_text("test-csv.v1.1.0", None, "test-service-account", "pods"),
    "test-csv.v1.1.0-test-ser-6qICLGBPnv7abKJcSW5jtrxXqrOnqRw4AGdczV"
)]
#[case(
    "test-csv.v1.1.0",
    role_text("test-csv.v1.1.0", Some("test-namespace"), "test-service-account", "pods"),
    "test-csv.v1.1.0-3MQs3kWE5sphqvmVeLb6iqaxkc0rBToOqk6y6f"
)]
fn role_names(#[case] base: &str, #[case] text: String, #[case] name: &str) {
    assert_eq!(generate_name(base, &deep_hash(&text)), name);
}

#[test]
fn permission_hashes() {
    let rules = json!([{"resources": ["pods"], "apiGroups": [""], "verbs": ["get"]}]);
    let text = go_json::encode("[]rbac/v1.PolicyRule", &rules).unwrap();
    assert_eq!(base62_sha224(text.as_bytes()), "11rrkxEvVvfh9HkCh7cyssbBqZFy9B7koZklln");

    let role = json!({"name": "r", "kind": "Role", "apiGroup": "rbac.authorization.k8s.io"});
    let subjects = json!([{"namespace": "ns", "name": "sa", "kind": "ServiceAccount"}]);
    let text = format!(
        r#"{{"RoleRef":{},"Subjects":{}}}"#,
        go_json::encode("rbac/v1.RoleRef", &role).unwrap(),
        go_json::encode("[]rbac/v1.Subject", &subjects).unwrap()
    );
    assert_eq!(base62_sha224(text.as_bytes()), "5xasUEoevBXLH8uOQsXTr3GPmeI0H06RYE4fKm");
}

#[rstest]
#[case::service(
    "core/v1.ServiceSpec",
    json!({"ports": [{"name": "grpc", "port": 50051, "targetPort": 50051}],
           "selector": {"olm.managed": "true", "olm.catalogSource": "img-catalog"}}),
    "1H8PwaNysEYiIxM5Y0b68MWRU0B10QZGDhmKl1"
)]
#[case::deployment(
    "apps/v1.DeploymentSpec",
    json!({"replicas": 1, "revisionHistoryLimit": 1, "selector": {"matchLabels": {"app": "d"}},
           "template": {"metadata": {"labels": {"app": "d"}},
                        "spec": {"serviceAccountName": "sa", "containers": [{"name": "c", "image": "i<&>"}]}}}),
    "2WWGyIRXLLYo758wAnerR0Cv1b6CoWGQpoyzLR"
)]
#[case::webhook(
    "operators/v1alpha1.WebhookDescription",
    json!({"generateName": "w", "type": "ValidatingAdmissionWebhook", "deploymentName": "d", "containerPort": 443}),
    "5si0iJDAWIUdFb8SR6veeZGqQnyRO07mgpWNG7"
)]
fn spec_hashes(#[case] shape: &str, #[case] value: Value, #[case] hash: &str) {
    assert_eq!(deep_hash(&go_json::encode(shape, &value).unwrap()), hash);
}

#[derive(serde::Deserialize)]
struct Golden {
    name: String,
    shape: String,
    value: Value,
    text: String,
    hash: String,
}

#[test]
fn objects_are_written_as_go_writes_them() {
    let table: Vec<Golden> = serde_json::from_str(include_str!("../golden_go.json")).unwrap();
    for golden in table {
        let text = go_json::encode(&golden.shape, &golden.value).unwrap();
        assert_eq!(text, golden.text, "{}", golden.name);
        assert_eq!(deep_hash(&text), golden.hash, "{}", golden.name);
    }
}

#[test]
fn quantities_are_written_as_go_writes_them() {
    let table: Vec<(String, Option<String>)> =
        serde_json::from_str(include_str!("../golden_quantities.json")).unwrap();
    for (text, canonical) in table {
        assert_eq!(canonical_quantity(&text).ok(), canonical, "{text:?}");
    }
}

#[rstest]
#[case::number_for_text("core/v1.PodSpec", json!({"containers": [{"name": 1}]}))]
#[case::too_large("core/v1.PodSpec", json!({"containers": [{"ports": [{"containerPort": 4_294_967_296_i64}]}]}))]
#[case::fraction("apps/v1.DeploymentSpec", json!({"replicas": 1.5}))]
#[case::quantity("core/v1.PodSpec", json!({"overhead": {"cpu": "1 core"}}))]
#[case::list("core/v1.PodSpec", json!({"containers": {"name": "a"}}))]
#[case::time("apps/v1.DeploymentSpec", json!({"template": {"metadata": {"creationTimestamp": "yesterday"}}}))]
#[case::unknown("core/v1.Nothing", json!({}))]
#[case::not_an_object("core/v1.PodSpec", json!("text"))]
fn what_go_would_refuse_is_an_error(#[case] shape: &str, #[case] value: Value) {
    assert!(go_json::encode(shape, &value).is_err());
}

#[test]
fn errors_say_where_and_what() {
    let value = json!({"template": {"spec": {"containers": [{"name": "a"}, {"env": [{"name": {"x": 1}}]}]}}});
    insta::assert_snapshot!(go_json::encode("apps/v1.DeploymentSpec", &value).unwrap_err(), @r#".template.spec.containers[1].env[0].name: expected a string, found {"x":1}"#);
    let value = json!({"overhead": {"cpu": "one"}});
    insta::assert_snapshot!(go_json::encode("core/v1.PodSpec", &value).unwrap_err(), @r#".overhead["cpu"]: "one" is not a quantity: write a number with a suffix of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such as e3"#);
}

#[test]
fn whole_floats_are_integers() {
    let text = go_json::encode("apps/v1.DeploymentSpec", &json!({"replicas": 3.0})).unwrap();
    assert!(text.starts_with(r#"{"replicas":3,"#), "{text}");
}

/// Any JSON whose members are, half of the time, names that the Go types know.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "containers",
        "name",
        "env",
        "template",
        "spec",
        "metadata",
        "resources",
        "limits",
        "cpu",
        "replicas",
        "ports",
        "creationTimestamp",
        "livenessProbe",
        "httpGet",
        "port",
        "volumes",
        "emptyDir",
        "sizeLimit",
        "x",
        "<y>",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn encoding_is_total_and_stable(value in any_json()) {
        for shape in ["apps/v1.DeploymentSpec", "core/v1.PodSpec", "core/v1.Container"] {
            if let Ok(text) = go_json::encode(shape, &value) {
                let again: Value = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(go_json::encode(shape, &again).unwrap(), text);
            }
        }
    }

    #[test]
    fn names_have_at_most_64_bytes(base in ".{0,80}", hash in "[0-9a-zA-Z]{1,38}") {
        let name = generate_name(&base, &hash);
        prop_assert!(name.len() <= 64);
        prop_assert!(name.ends_with(&hash));
    }

    #[test]
    fn no_quantity_makes_the_reader_panic(text in prop_oneof![any::<String>(), "[+-]?[0-9]{0,40}[.]?[0-9]{0,40}[eEinumkKMGTP]{0,2}[+-]?[0-9]{0,5}"]) {
        let _ = canonical_quantity(&text);
    }

    #[test]
    fn canonical_quantities_stay(text in "[0-9]{1,10}([.][0-9]{1,5})?(m|k|M|G|Ki|Mi|Gi|e3)?") {
        let once = canonical_quantity(&text).unwrap();
        let twice = canonical_quantity(&once).unwrap();
        prop_assert_eq!(canonical_quantity(&twice).unwrap(), twice);
    }
}
