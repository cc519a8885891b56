//! The rows of spec catalog-operator 9.7 on the compatibility of definitions, with the objects of
//! v0's own test files.

use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;

use super::*;

/// What an upgrade from one definition to the other says about objects, which are given by version.
fn finding(live: Value, desired: &Value, objects: &[(&str, Value)]) -> Option<String> {
    let mut upgrade = Upgrade::begin(live, desired, &Owners::default()).unwrap();
    loop {
        match upgrade.request().unwrap() {
            UpgradeRequest::Page(resource, _) => {
                let of_version = objects.iter().filter(|(version, _)| resource.version == *version);
                let items: Vec<_> = of_version.map(|(_, object)| object.clone()).collect();
                if let Err(error) = upgrade.page(&items, None) {
                    return Some(error.to_string());
                }
            }
            UpgradeRequest::Write(effect) => panic!("{effect:?}"),
            UpgradeRequest::Ready(_) | UpgradeRequest::Touch(_) => return None,
        }
    }
}

/// A definition; `versions` are names and whether they are served, the schema is that of all.
fn shared(group: &str, kind: &str, versions: &[(&str, bool)], schema: &Value) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let versions: Vec<_> =
        versions.iter().map(|(name, served)| json!({"name": name, "served": served})).collect();
    json!({"metadata": {"name": format!("{plural}.{group}")}, "spec": {
        "group": group, "names": {"kind": kind, "plural": plural}, "versions": versions,
        "validation": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}},
    }})
}

fn scalar(minimum: i64) -> Value {
    let scalar = json!({"type": "integer", "minimum": minimum, "maximum": 50});
    json!({"type": "object", "properties": {"scalar": scalar}})
}

fn test_crd(versions: &[(&str, bool)], minimum: i64) -> Value {
    shared("cluster.com", "testcrd", versions, &scalar(minimum))
}

fn test_crs() -> [(&'static str, Value); 2] {
    let object = |scalar: i64| json!({"metadata": {"name": "my-cr-1"}, "spec": {"scalar": scalar}});
    [("v1alpha1", object(2)), ("v2", object(3))]
}

const BOTH: [(&str, bool); 2] = [("v1alpha1", true), ("v2", true)];
const SECOND: [(&str, bool); 2] = [("v1alpha1", false), ("v2", true)];

#[rstest]
#[case::backwards_incompatible_change(&BOTH, &BOTH, true)]
#[case::unserved_version(&BOTH, &SECOND, false)]
#[case::not_validated_against_currently_unserved_version(&SECOND, &BOTH, false)]
fn old_definitions(
    #[case] before: &[(&str, bool)],
    #[case] after: &[(&str, bool)],
    #[case] refused: bool,
) {
    let found = finding(test_crd(before, 2), &test_crd(after, 3), &test_crs());
    let expected = "error validating existing CRs against new CRD's schema for \"testcrds.cluster.com\": error \
        validating cluster.com/v1alpha1, Kind=testcrd \"my-cr-1\": updated validation is too restrictive: \
        [].spec.scalar: Invalid value: 2: spec.scalar in body should be greater than or equal to 3";
    assert_eq!(found.as_deref(), refused.then_some(expected));
}

/// The MachinePool of Hive: labels of any name are valid, a reference that is null is not.
#[rstest]
#[case::label_validation(
    json!({"name": "test", "platform": {}, "clusterDeploymentRef": {"name": "osd-abc"},
        "labels": {"node-role.kubernetes.io": "infra", "node-role.kubernetes.io/infra": ""}}),
    None
)]
#[case::fail_validation(
    json!({"clusterDeploymentRef": null}),
    Some(
        "error validating existing CRs against new CRD's schema for \"machinepools.hive.openshift.io\": error \
         validating hive.openshift.io/v1, Kind=MachinePool \"test\": updated validation is too restrictive: \
         [[].spec.clusterDeploymentRef: Invalid value: \"null\": spec.clusterDeploymentRef in body must be of \
         type object: \"null\", [].spec.name: Required value, [].spec.platform: Required value]"
    )
)]
fn machine_pools(#[case] spec: Value, #[case] expected: Option<&str>) {
    let schema = |description: &str| {
        let object = json!({"type": "object"});
        let labels = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let fields = json!({"name": {"type": "string"}, "platform": object, "labels": labels,
            "clusterDeploymentRef": object});
        let spec = json!({"type": "object", "description": description, "properties": fields,
            "required": ["clusterDeploymentRef", "name", "platform"]});
        shared("hive.openshift.io", "MachinePool", &[("v1", true)], &spec)
    };
    let pool = json!({"metadata": {"name": "test"}, "spec": spec});
    let found = finding(schema("old"), &schema("new"), &[("v1", pool)]);
    assert_eq!(found.as_deref(), expected);
}

/// "crd with incorrect comparison": a number that no float holds is an `int64` all the same.
#[test]
fn large_numbers_are_compared_as_they_are() {
    let schema = |description: &str| {
        let seconds = json!({"type": "integer", "format": "int64", "description": description});
        let items = json!({"type": "object", "properties": {"tolerationSeconds": seconds}});
        let tolerations = json!({"type": "array", "items": items});
        let spec = json!({"type": "object", "properties": {"tolerations": tolerations}});
        shared("postgres-operator.crunchydata.com", "PGAdmin", &[("v1beta1", true)], &spec)
    };
    let spec = json!({"tolerations": [{"tolerationSeconds": 1_726_856_593_000_774_400_i64}]});
    let admin = json!({"metadata": {"name": "example-pgadmin"}, "spec": spec});
    assert_eq!(finding(schema("old"), &schema("new"), &[("v1beta1", admin)]), None);
}

#[test]
fn validation_failure_with_a_single_version() {
    let with = |maximum: i64| {
        let scalar = json!({"type": "integer", "maximum": maximum});
        let spec = json!({"type": "object", "properties": {"scalar": scalar}});
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        json!({"metadata": {"name": "testcrds.cluster.com"}, "spec": {
            "group": "cluster.com", "names": {"kind": "testcrd", "plural": "testcrds"},
            "versions": [version("v1alpha1", true, schema)],
        }})
    };
    let object = json!({"metadata": {"name": "my-cr-1"}, "spec": {"scalar": 100}});
    let found = finding(with(100), &with(50), &[("v1alpha1", object)]).unwrap();
    let end = "error validating cluster.com/v1alpha1, Kind=testcrd \"my-cr-1\": updated validation is too \
        restrictive: [].spec.scalar: Invalid value: 100: spec.scalar in body should be less than or equal to 50";
    assert!(found.ends_with(end), "{found}");
}

/// Rows `TestSetInstalledAlongsideAnnotation`: a CSV that is missing, or a copy, is not among those
/// that exist.
#[rstest]
#[case::annotated_with_the_bundle("new", &[], &["ns/new"])]
#[case::missing_is_removed("new", &["elsewhere/missing"], &["ns/new"])]
#[case::a_copy_is_removed("new", &["far/copied"], &["ns/new"])]
#[case::found_is_kept("new", &["ns/found"], &["ns/found", "ns/new"])]
#[case::nothing_is_added_without_a_name("", &["ns/found"], &["ns/found"])]
fn alongside(#[case] name: &str, #[case] before: &[&str], #[case] expected: &[&str]) {
    let annotations = |values: &[&str]| {
        let key = |value: &&str| {
            let (namespace, name) = value.split_once('/').unwrap();
            let hash = olm_types::hash::alongside_key(namespace, name);
            (format!("{INSTALLED_ALONGSIDE_PREFIX}{hash}"), json!(value))
        };
        values.iter().map(key).collect::<serde_json::Map<_, _>>()
    };
    let mut live = definition(&[], &[]);
    live["metadata"]["annotations"] = Value::Object(annotations(before));
    let mut desired = definition(&[], &[]);
    let own = format!("ns/{name}");
    let added: &[&str] = if name.is_empty() { &[] } else { &[own.as_str()] };
    if !added.is_empty() {
        desired["metadata"]["annotations"] = Value::Object(annotations(added));
    }
    let existing = [("ns".to_owned(), "found".to_owned())].into();
    let owners = Owners { current: ("ns", name), existing: Some(&existing), ..Owners::default() };
    let mut upgrade = Upgrade::begin(live, &desired, &owners).unwrap();
    let Ok(UpgradeRequest::Ready(object)) = upgrade.request() else { panic!("not ready") };
    assert_eq!(object["metadata"]["annotations"], Value::Object(annotations(expected)));
}
