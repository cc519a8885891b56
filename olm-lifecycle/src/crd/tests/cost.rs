//! What neither a schema that no API server has seen nor the objects of tenants can have the operator do.

use super::*;

const REFUSAL: &str = "error validating existing CRs against new CRD's schema for \"crontabs.stable.example.com\": \
    comparing them with the schema of version v2 takes more than is allowed: use fewer alternatives, properties and \
    patterns";

fn patterns() -> Vec<Value> {
    (0..100).map(|number| json!({"pattern": format!("^{number}$")})).collect()
}

#[rstest]
#[case::schemas(json!({"anyOf": vec![json!({}); 100_001]}), json!({}))]
#[case::patterns_and_a_text(json!({"allOf": patterns()}), json!("x".repeat(1 << 20)))]
fn what_costs_too_much_is_refused(#[case] schema: Value, #[case] value: Value) {
    let live = definition(&[version("v2", true, json!({}))], &["v2"]);
    let schema = json!({"properties": {"spec": schema}});
    let desired = definition(&[version("v2", true, schema)], &[]);
    let item = json!({"metadata": {"name": "large"}, "spec": value});
    let error = upgraded(live, &desired, &[item]).unwrap_err();
    assert_eq!(error.to_string(), REFUSAL);
}
