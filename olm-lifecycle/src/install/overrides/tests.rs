//! The rows of spec olm-operator 8.28, by function.
//!
//! Impossible here are the rows about a missing pod spec or Deployment: there is always one. The
//! guard that an affinity has exactly three parts is `affinity_has_three_parts`.

use super::*;
use rstest::rstest;
use serde_json::json;

/// The pod template after the changes of `config`.
fn changed(config: Value, template: Value) -> Value {
    with_proxy(config, &ProxySettings::default(), template)
}

fn with_proxy(config: Value, proxy: &ProxySettings, mut template: Value) -> Value {
    let overrides = Overrides::new(Some(&config), proxy);
    overrides.apply(template.as_object_mut().unwrap(), "template").unwrap();
    template
}

/// A pod with these containers' field.
fn pod_of(field: &str, lists: &[Value]) -> Value {
    let containers: Vec<Value> =
        lists.iter().map(|list| json!({"name": "c", field: list})).collect();
    json!({"spec": {"containers": containers, "initContainers": [{"name": "i", field: lists[0]}]}})
}

/// Changes a field of containers and gives it back, container by container. The init container
/// stays as it is.
fn containers(config_field: &str, wanted: Value, field: &str, lists: &[Value]) -> Vec<Value> {
    let after = changed(json!({config_field: wanted}), pod_of(field, lists));
    assert_eq!(after["spec"]["initContainers"][0][field], lists[0], "init containers");
    let containers = after["spec"]["containers"].as_array().unwrap();
    containers.iter().map(|container| container[field].clone()).collect()
}

fn mount(name: &str, path: &str) -> Value {
    json!({"name": name, "mountPath": path})
}

#[rstest]
#[case::empty_and_none(json!([]), json!([]), json!([]))]
#[case::added(json!([]), json!([mount("a", "/a")]), json!([mount("a", "/a")]))]
#[case::kept(json!([mount("a", "/a")]), json!([]), json!([mount("a", "/a")]))]
#[case::appended(json!([mount("a", "/a")]), json!([mount("b", "/b")]),
    json!([mount("a", "/a"), mount("b", "/b")]))]
#[case::replaced(json!([mount("a", "/a")]), json!([mount("a", "/x")]), json!([mount("a", "/x")]))]
#[case::one_volume_twice(json!([]), json!([mount("a", "/x"), mount("a", "/y")]),
    json!([mount("a", "/x"), mount("a", "/y")]))]
fn volume_mounts(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    let lists = [before.clone(), before];
    let after = containers("volumeMounts", wanted, "volumeMounts", &lists);
    assert_eq!(after, [expected.clone(), expected]);
}

fn volume(name: &str, map: &str) -> Value {
    json!({"name": name, "configMap": {"name": map}})
}

#[rstest]
#[case::empty_and_none(json!([]), json!([]), json!([]))]
#[case::added(json!([]), json!([volume("a", "m")]), json!([volume("a", "m")]))]
#[case::kept(json!([volume("a", "m")]), json!([]), json!([volume("a", "m")]))]
#[case::appended(json!([volume("a", "m")]), json!([volume("b", "m")]),
    json!([volume("a", "m"), volume("b", "m")]))]
#[case::replaced(json!([volume("a", "m")]), json!([volume("a", "n")]), json!([volume("a", "n")]))]
fn volumes(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    let pod = json!({"spec": {"containers": [], "volumes": before}});
    assert_eq!(changed(json!({"volumes": wanted}), pod)["spec"]["volumes"], expected);
}

/// Variables from texts like `foo=bar`.
fn env(variables: &[&str]) -> Value {
    let mk = |text: &&str| {
        let (name, value) = text.split_once('=').unwrap();
        json!({"name": name, "value": value})
    };
    variables.iter().map(mk).collect()
}

#[rstest]
#[case::none_before(&[], &["a=1", "b=2"], &["a=1", "b=2"])]
#[case::no_overlap(&["a=1"], &["b=2", "c=3"], &["a=1", "b=2", "c=3"])]
#[case::overlap(&["foo=1", "bar=2"], &["extra=9", "foo=x", "bar=y"],
    &["foo=x", "bar=y", "extra=9"])]
#[case::blanked(&["foo=1", "bar=2"], &["foo="], &["foo=", "bar=2"])]
#[case::nothing_wanted(&["foo=1"], &[], &["foo=1"])]
fn variables(#[case] before: &[&str], #[case] wanted: &[&str], #[case] expected: &[&str]) {
    let lists = [env(before), env(before), env(before)];
    let after = containers("env", env(wanted), "env", &lists);
    assert_eq!(after, [env(expected), env(expected), env(expected)]);
}

#[test]
fn a_variable_from_elsewhere_gives_way_as_a_whole() {
    let field = json!({"fieldRef": {"fieldPath": "metadata.name"}});
    let before = json!([{"name": "foo", "valueFrom": field}]);
    let after = containers("env", env(&["foo=x"]), "env", &[before]);
    assert_eq!(after, [env(&["foo=x"])]);
}

#[test]
fn a_variable_that_stands_twice() {
    let before = env(&["foo=1", "bar=2", "foo=3"]);
    let after = containers("env", env(&["foo=x"]), "env", &[before]);
    assert_eq!(after, [env(&["foo=1", "bar=2", "foo=x"])]);
}

fn source(name: &str, prefix: Option<&str>) -> Value {
    match prefix {
        Some(prefix) => json!({"configMapRef": {"name": name}, "prefix": prefix}),
        None => json!({"configMapRef": {"name": name}}),
    }
}

#[rstest]
#[case::none_before(json!([]), json!([source("a", None)]), json!([source("a", None)]))]
#[case::all_there(json!([source("a", None), source("b", None)]),
    json!([source("b", None), source("a", None)]), json!([source("a", None), source("b", None)]))]
#[case::another_prefix(json!([source("a", Some("foo"))]),
    json!([source("a", None), source("b", None), source("c", None)]),
    json!([source("a", Some("foo")), source("a", None), source("b", None), source("c", None)]))]
#[case::an_empty_field_is_none(json!([source("a", None)]), json!([source("a", Some(""))]),
    json!([source("a", None)]))]
fn env_from(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    let lists = [before.clone(), before];
    let after = containers("envFrom", wanted, "envFrom", &lists);
    assert_eq!(after, [expected.clone(), expected]);
}

fn toleration(key: &str) -> Value {
    json!({"key": key, "operator": "Exists"})
}

#[rstest]
#[case::nothing(json!([]), json!([]), json!([]))]
#[case::added(json!([]), json!([toleration("a")]), json!([toleration("a")]))]
#[case::another(json!([toleration("a")]), json!([toleration("b")]),
    json!([toleration("a"), toleration("b")]))]
#[case::the_same(json!([toleration("a")]), json!([toleration("a")]), json!([toleration("a")]))]
#[case::only_the_new_one(json!([toleration("a")]), json!([toleration("a"), toleration("b")]),
    json!([toleration("a"), toleration("b")]))]
fn tolerations(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    let pod = json!({"spec": {"containers": [], "tolerations": before}});
    assert_eq!(changed(json!({"tolerations": wanted}), pod)["spec"]["tolerations"], expected);
}

#[rstest]
#[case::nil(json!({"limits": {"cpu": "1"}}), Value::Null, json!({"limits": {"cpu": "1"}}))]
#[case::set(Value::Null, json!({"limits": {"cpu": "1"}}), json!({"limits": {"cpu": "1"}}))]
#[case::cleared(json!({"limits": {"cpu": "1"}}), json!({}), json!({}))]
#[case::a_number(Value::Null, json!({"limits": {"cpu": 1}}), json!({"limits": {"cpu": 1}}))]
fn resources(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    assert_eq!(containers("resources", wanted, "resources", &[before]), [expected]);
}

#[rstest]
#[case::set(Value::Null, json!({"a": "b"}), json!({"a": "b"}))]
#[case::replaced(json!({"x": "y"}), json!({"a": "b"}), json!({"a": "b"}))]
#[case::nil(json!({"x": "y"}), Value::Null, json!({"x": "y"}))]
#[case::emptied(json!({"x": "y"}), json!({}), json!({}))]
fn node_selector(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    let pod = json!({"spec": {"containers": [], "nodeSelector": before}});
    assert_eq!(changed(json!({"nodeSelector": wanted}), pod)["spec"]["nodeSelector"], expected);
}

/// An affinity with these parts, each distinguished by a text.
fn affinity(parts: &[(&str, &str)]) -> Value {
    let part = |(part, text): &(&str, &str)| ((*part).to_owned(), json!({"x": text}));
    Value::Object(parts.iter().map(part).collect())
}

const NODE: &str = "nodeAffinity";
const POD: &str = "podAffinity";
const ANTI: &str = "podAntiAffinity";

#[rstest]
#[case::none_before(Value::Null, affinity(&[(NODE, "n")]), affinity(&[(NODE, "n")]))]
#[case::others_kept(affinity(&[(NODE, "a"), (POD, "b"), (ANTI, "c")]), affinity(&[(NODE, "n")]),
    affinity(&[(NODE, "n"), (POD, "b"), (ANTI, "c")]))]
#[case::a_part_removed(affinity(&[(NODE, "a"), (POD, "b")]), json!({NODE: {"x": "n"}, POD: {}}),
    affinity(&[(NODE, "n")]))]
#[case::parts_filled(affinity(&[(NODE, "a")]), affinity(&[(POD, "p"), (ANTI, "q")]),
    affinity(&[(NODE, "a"), (POD, "p"), (ANTI, "q")]))]
#[case::all_removed(affinity(&[(NODE, "a")]), json!({}), Value::Null)]
#[case::each_removed(affinity(&[(NODE, "a"), (POD, "b")]), json!({NODE: {}, POD: {}}), Value::Null)]
#[case::nil(affinity(&[(NODE, "a")]), Value::Null, affinity(&[(NODE, "a")]))]
#[case::only_the_empty_part_goes(affinity(&[(NODE, "a"), (ANTI, "c")]), json!({ANTI: {}}),
    affinity(&[(NODE, "a")]))]
fn affinities(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    let pod = json!({"spec": {"containers": [], "affinity": before}});
    assert_eq!(changed(json!({"affinity": wanted}), pod)["spec"]["affinity"], expected);
}

#[test]
fn affinity_has_three_parts() {
    let of_go = olm_types::hash::go_json::encode(
        "core/v1.Affinity",
        &affinity(&[(NODE, ""), (POD, ""), (ANTI, ""), ("another", "")]),
    );
    assert_eq!(of_go.unwrap(), r#"{"nodeAffinity":{},"podAffinity":{},"podAntiAffinity":{}}"#);
}

#[rstest]
#[case::none_before(json!({}), json!({"a": "1"}), json!({"a": "1"}))]
#[case::present_ones_win(json!({"a": "0", "b": "2"}), json!({"a": "1", "c": "3"}),
    json!({"a": "0", "b": "2", "c": "3"}))]
#[case::nil(json!({"a": "0"}), Value::Null, json!({"a": "0"}))]
#[case::empty(json!({"a": "0"}), json!({}), json!({"a": "0"}))]
fn annotations(#[case] before: Value, #[case] wanted: Value, #[case] expected: Value) {
    let config = json!({"annotations": wanted});
    let template = json!({"metadata": {"annotations": before}, "spec": {"containers": []}});
    let pods = changed(config.clone(), template);
    assert_eq!(pods["metadata"]["annotations"], expected, "pods");
    let mut metadata = json!({"annotations": before});
    let overrides = Overrides::new(Some(&config), &ProxySettings::default());
    overrides.annotate(metadata.as_object_mut().unwrap(), "metadata").unwrap();
    assert_eq!(metadata["annotations"], expected, "the Deployment");
}

#[rstest]
#[case::nothing(&[], true)]
#[case::unrelated(&["foo=1"], true)]
#[case::lower_case(&["http_proxy=1"], true)]
#[case::http(&["HTTP_PROXY=1"], false)]
#[case::https(&["HTTPS_PROXY=1"], false)]
#[case::none(&["NO_PROXY="], false)]
fn the_proxy_is_used_unless_it_is_overridden(#[case] wanted: &[&str], #[case] used: bool) {
    let proxy = ProxySettings { http: "http://p".to_owned(), ..ProxySettings::default() };
    let pod = with_proxy(json!({"env": env(wanted)}), &proxy, pod_of("env", &[json!([])]));
    let all: Vec<&str> =
        wanted.iter().copied().chain(used.then_some("HTTP_PROXY=http://p")).collect();
    assert_eq!(pod["spec"]["containers"][0]["env"], env(&all));
}

#[test]
fn the_proxy_has_three_variables_of_which_empty_ones_are_dropped() {
    let full = ProxySettings { http: "a".to_owned(), https: "b".to_owned(), none: "c".to_owned() };
    let variables: Value = full.variables().into();
    assert_eq!(variables, env(&["HTTP_PROXY=a", "HTTPS_PROXY=b", "NO_PROXY=c"]));
    assert!(ProxySettings::default().variables().is_empty());
}

#[test]
fn the_selector_and_what_is_malformed_change_nothing() {
    let template = json!({"spec": {"containers": [{"name": "c"}]}});
    let config = json!({
        "selector": {"matchLabels": {"a": "b"}}, "env": {}, "volumes": 7, "affinity": "x",
    });
    assert_eq!(changed(config, template.clone()), template);
    let nothing = Overrides::new(None, &ProxySettings::default());
    assert_eq!(nothing, Overrides::default());
}
