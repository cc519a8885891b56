//! Quantities of containers and volumes. OLM v0 reads those of a CSV into Go structs, and writes them into its
//! InstallPlans as these say: `1000m` as `1`, `0.5` as `500m`, the number `1` as a text.

use olm_types::hash::canonical_quantity;
use serde_json::Value;

/// Fields with a quantity for each resource.
const BY_RESOURCE: [&str; 2] = ["limits", "requests"];

/// Fields that are a quantity: the size of an `emptyDir`, and the unit of a `resourceFieldRef`, which Go writes
/// as `0` where a bundle says nothing.
const SINGLE: [&str; 2] = ["sizeLimit", DIVISOR];
const DIVISOR: &str = "divisor";

/// Writes all quantities in an object as Go does. What is none stays as it is.
pub(super) fn canonicalize(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("resource") && fields.get(DIVISOR).is_some_and(is_zero) {
                fields.remove(DIVISOR);
            }
            for (name, value) in fields {
                match value {
                    Value::Object(resources) if BY_RESOURCE.contains(&name.as_str()) => {
                        resources.values_mut().for_each(rewrite);
                    }
                    value if SINGLE.contains(&name.as_str()) => rewrite(value),
                    value => canonicalize(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(canonicalize),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn rewrite(value: &mut Value) {
    if let Some(quantity) = canonical(value) {
        *value = Value::String(quantity);
    }
}

fn is_zero(value: &Value) -> bool {
    canonical(value).is_some_and(|quantity| quantity == "0")
}

fn canonical(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => canonical_quantity(text).ok(),
        Value::Number(number) => canonical_quantity(&number.to_string()).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::resources(
        json!([{"resources": {"limits": {"cpu": "2000m", "memory": "1024Mi"}, "requests": {"cpu": 0.5}}}]),
        json!([{"resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "500m"}}}])
    )]
    #[case::volume(json!({"emptyDir": {"sizeLimit": "1000M"}}), json!({"emptyDir": {"sizeLimit": "1G"}}))]
    #[case::unit(
        json!({"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}),
        json!({"resourceFieldRef": {"resource": "limits.cpu"}})
    )]
    #[case::other_unit(
        json!({"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1000m"}}),
        json!({"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}})
    )]
    fn quantities_are_as_go_writes_them(#[case] mut bundle: Value, #[case] expected: Value) {
        canonicalize(&mut bundle);
        assert_eq!(bundle, expected);
    }

    #[rstest]
    #[case::no_quantity(json!({"limits": {"cpu": "much", "memory": null}}))]
    #[case::other_fields(json!({"limits": "2000m", "cpu": "2000m", "args": ["2000m"], "replicas": 1}))]
    fn all_else_stays(#[case] value: Value) {
        let mut same = value.clone();
        canonicalize(&mut same);
        assert_eq!(same, value);
    }
}
