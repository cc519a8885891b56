//! What is valid and what is reported, keyword by keyword. The same objects meet a real API server
//! in the scenarios of olm-testkit.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;

fn reported(schema: Value, object: Value) -> String {
    in_words(&Schema::compile(&schema).check(&object, &CheckBudget::default())).unwrap_or_default()
}

fn spec(schema: Value) -> Value {
    json!({"type": "object", "properties": {"spec": schema}})
}

#[rstest]
#[case::type_of_string(json!({"type": "string"}), json!(7), r#"[].spec: Invalid value: "integer": spec in body must be of type string: "integer""#)]
#[case::whole_float_is_an_integer(json!({"type": "integer"}), json!(2.0), "")]
#[case::fraction_is_none(json!({"type": "integer"}), json!(2.5), r#"[].spec: Invalid value: "number": spec in body must be of type integer: "number""#)]
#[case::integer_is_a_number(json!({"type": "number"}), json!(2), "")]
#[case::null(json!({"type": "object"}), Value::Null, r#"[].spec: Invalid value: "null": spec in body must be of type object: "null""#)]
#[case::nullable(json!({"type": "object", "nullable": true}), Value::Null, "")]
#[case::int_or_string(json!({"x-kubernetes-int-or-string": true}), json!("5%"), "")]
#[case::int_or_string_is_no_list(json!({"x-kubernetes-int-or-string": true}), json!([]), r#"[].spec: Invalid value: "array": spec in body must be of type integer,string: "array""#)]
#[case::maximum(json!({"maximum": 9}), json!(10), "[].spec: Invalid value: 10: spec in body should be less than or equal to 9")]
#[case::maximum_excluded(json!({"maximum": 9, "exclusiveMaximum": true}), json!(9), "[].spec: Invalid value: 9: spec in body should be less than 9")]
#[case::minimum(json!({"minimum": 3}), json!(2), "[].spec: Invalid value: 2: spec in body should be greater than or equal to 3")]
#[case::minimum_of_float(json!({"minimum": 0.5}), json!(0.25), "[].spec: Invalid value: 0.25: spec in body should be greater than or equal to 0.5")]
#[case::large_float(json!({"maximum": 1e6}), json!(2.5e6), "[].spec: Invalid value: 2.5e+06: spec in body should be less than or equal to 1e+06")]
#[case::multiple(json!({"multipleOf": 5}), json!(7), "[].spec: Invalid value: 7: spec in body should be a multiple of 5")]
#[case::multiple_of_float(json!({"multipleOf": 0.1}), json!(0.3), "")]
#[case::too_long(json!({"maxLength": 2}), json!("ääÄ"), "[].spec: Too long: may not be more than 2 bytes")]
#[case::too_short(json!({"minLength": 2}), json!("ä"), r#"[].spec: Invalid value: "ä": spec in body should be at least 2 chars long"#)]
#[case::pattern(json!({"pattern": "^a+$"}), json!("b"), r#"[].spec: Invalid value: "b": spec in body should match '^a+$'"#)]
#[case::value_not_listed(json!({"enum": ["a", 1]}), json!("b"), r#"[].spec: Unsupported value: "b": supported values: "a", "1""#)]
#[case::value_listed(json!({"enum": ["a", 1]}), json!(1.0), "")]
#[case::items(json!({"items": {"type": "string"}}), json!(["a", 1]), r#"[].spec[1]: Invalid value: "integer": spec[1] in body must be of type string: "integer""#)]
#[case::too_many_items(json!({"maxItems": 1}), json!([1, 2]), "[].spec: Too many: 2: must have at most 1 item")]
#[case::too_few_items(json!({"minItems": 1}), json!([]), "[].spec: Invalid value: 0: spec in body should have at least 1 items")]
#[case::required(json!({"required": ["a", "b"]}), json!({"b": 1}), "[].spec.a: Required value")]
#[case::additional(json!({"additionalProperties": {"type": "integer"}}), json!({"x": "y"}), r#"[].spec.x: Invalid value: "string": spec.x in body must be of type integer: "string""#)]
#[case::forbidden(json!({"additionalProperties": false}), json!({"x": 1}), r#"[].spec: Invalid value: "x": spec.x in body is a forbidden property"#)]
#[case::unknown_fields_are_no_error(json!({"properties": {"a": {}}}), json!({"x": 1}), "")]
#[case::too_many_properties(json!({"maxProperties": 1}), json!({"a": 1, "b": 2}), "[].spec: Too many: 2: must have at most 1 item")]
#[case::any_of(json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), json!({}), r#"[[]: Invalid value: "": "spec" must validate at least one schema (anyOf), [].spec.a: Required value]"#)]
#[case::one_of_two(json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}), json!(3), r#"[]: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives"#)]
#[case::all_of(json!({"allOf": [{"minimum": 1}, {"minimum": 5}]}), json!(3), r#"[[].spec: Invalid value: 3: spec in body should be greater than or equal to 5, []: Invalid value: "": "spec" must validate all the schemas (allOf)]"#)]
#[case::not(json!({"not": {"required": ["a"]}}), json!({"a": 1}), r#"[]: Invalid value: "": "spec" must not validate the schema (not)"#)]
#[case::format(json!({"type": "string", "format": "ipv4"}), json!("1.2.3"), r#"[].spec: Invalid value: "1.2.3": spec in body must be of type ipv4: "1.2.3""#)]
#[case::unknown_format(json!({"type": "string", "format": "moon"}), json!("x"), "")]
#[case::format_of_integer(json!({"type": "integer", "format": "int32"}), json!(7), "")]
fn keywords(#[case] schema: Value, #[case] value: Value, #[case] expected: &str) {
    assert_eq!(reported(spec(schema), json!({"spec": value})), expected);
}

/// The MachinePool of Hive, from v0's own tests (spec catalog-operator 9.7).
#[test]
fn findings_come_in_the_order_of_an_api_server() {
    let reference = json!({"type": "object"});
    let fields = json!({"clusterDeploymentRef": reference, "name": {"type": "string"}, "platform": {"type": "object"}});
    let required = json!(["clusterDeploymentRef", "name", "platform"]);
    let schema = spec(json!({"type": "object", "properties": fields, "required": required}));
    assert_eq!(
        reported(schema, json!({"spec": {"clusterDeploymentRef": null}})),
        "[[].spec.clusterDeploymentRef: Invalid value: \"null\": spec.clusterDeploymentRef in body must be of \
         type object: \"null\", [].spec.name: Required value, [].spec.platform: Required value]"
    );
}

#[rstest]
#[case("date", "2026-02-28", "2026-02-30")]
#[case("date-time", "2026-01-02T03:04:05.5Z", "2026-01-02T25:04:05Z")]
#[case("duration", "1h30m", "1 moon")]
#[case("byte", "aGk=", "a")]
#[case("cidr", "10.0.0.0/8", "10.0.0.0/40")]
#[case("ipv6", "::1", "1.2.3.4")]
#[case("mac", "01:02:03:04:05:06", "01:02")]
#[case("uuid", "0123456789abcdef0123456789abcdef", "0123")]
#[case("uuid4", "01234567-89ab-4def-8123-456789abcdef", "01234567-89ab-3def-8123-456789abcdef")]
#[case("hostname", "a-b.example.com", "-a.example.com")]
#[case("email", "a@example.com", "a")]
#[case("uri", "https://example.com/", "not a uri")]
#[case("hexcolor", "#ffF", "#ff")]
#[case("bsonobjectid", "0123456789abcdef01234567", "x")]
fn formats_of_strings(#[case] format: &str, #[case] good: &str, #[case] bad: &str) {
    let format = Format::named(format).unwrap();
    assert_eq!((format.matches(good), format.matches(bad)), (true, false));
}

#[test]
fn a_pattern_that_does_not_compile_is_reported() {
    let text = reported(spec(json!({"pattern": "("})), json!({"spec": "x"}));
    let expected =
        r#"[].spec: Invalid value: "x": spec in body should match '(, but pattern is invalid: "#;
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn many_findings_are_cut() {
    let many: Vec<_> = (0..50).collect();
    let text = reported(spec(json!({"items": {"type": "string"}})), json!({"spec": many}));
    assert!(text.ends_with(", and 30 more]"), "{text}");
}

#[test]
fn findings_are_few_and_short() {
    let schema = spec(json!({"items": {"type": "string"}}));
    let text = reported(schema, json!({"spec": vec![0; 1_000]}));
    assert!(text.ends_with(", and many more]"), "{text}");
    let text = reported(json!({"pattern": "^a"}), json!("x".repeat(100_000)));
    assert!(text.len() < 5_000 && text.ends_with("xxx…"), "{text}");
}

/// What takes more steps than there are ends, and says so.
#[rstest]
#[case::alternatives(json!({"items": {"anyOf": vec![json!({"type": "object"}); 100]}}), json!(vec![0; 100]))]
#[case::listed(json!({"items": {"enum": vec!["a"; 100]}}), json!(vec!["a"; 100]))]
#[case::properties(json!({"items": {"properties": names()}}), json!(vec![json!({}); 100]))]
#[case::fields(json!({"allOf": vec![json!({}); 100]}), names())]
#[case::required(json!({"items": {"required": vec!["a"; 100]}}), json!(vec![json!({"a": 0}); 100]))]
#[case::absent(json!({"required": numbers()}), json!({}))]
#[case::forbidden(json!({"additionalProperties": false}), names())]
#[case::texts(json!({"allOf": vec![json!({}); 100]}), json!("x".repeat(400)))]
#[case::duplicates(json!({"uniqueItems": true}), json!(vec!["x".repeat(100); 100]))]
#[case::a_pattern(json!({"pattern": "x"}), json!("x".repeat(10_000)))]
#[case::patterns(json!({"allOf": [{"pattern": "x"}, {"pattern": "x*"}, {"pattern": "x+"}]}), json!("x"))]
fn cost_is_bounded(#[case] schema: Value, #[case] value: Value) {
    let (schema, object) = (Schema::compile(&spec(schema)), json!({"spec": value}));
    let (few, many) = (CheckBudget::of(5_000), CheckBudget::default());
    schema.check(&object, &few);
    schema.check(&object, &many);
    assert!(few.is_exhausted() && !many.is_exhausted());
}

fn numbers() -> Vec<String> {
    (0..200).map(|number| number.to_string()).collect()
}

/// Fields, or schemas of fields.
fn names() -> Value {
    numbers().into_iter().map(|name| (name, json!({}))).collect()
}

#[test]
fn deep_schemas_and_objects_end() {
    let text = |open: &str, close: &str| format!("{}1{}", open.repeat(100), close.repeat(100));
    let schema = serde_json::from_str(&text(r#"{"items":"#, "}")).unwrap();
    let object = serde_json::from_str(&text("[", "]")).unwrap();
    assert_eq!(reported(schema, object), "");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-e0-9.:/@-]{0,12}".prop_map(Value::from),
    ];
    let name = prop_oneof![
        "[a-c]",
        Just("type".to_owned()),
        Just("properties".to_owned()),
        Just("enum".to_owned()),
        Just("items".to_owned()),
        Just("anyOf".to_owned()),
        Just("format".to_owned()),
        Just("pattern".to_owned()),
        Just("multipleOf".to_owned()),
        Just("maximum".to_owned())
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_answers_for_any_object(schema in any_json(), object in any_json()) {
        let findings = Schema::compile(&schema).check(&object, &CheckBudget::default());
        prop_assert_eq!(in_words(&findings).is_none(), findings.is_empty());
    }
}
