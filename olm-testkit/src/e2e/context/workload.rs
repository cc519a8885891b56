//! Containers of test operators, with an image that runs.

use serde_json::{Value, json};

use crate::builders::IMAGE;
use crate::e2e::provider::Workload;

/// Gives every container that names the builders' image one that runs.
pub(super) fn dress(value: &mut Value, workload: &Workload) {
    match value {
        Value::Object(fields) => {
            if fields.get("image").and_then(Value::as_str) == Some(IMAGE) {
                fields.insert("image".to_owned(), json!(workload.image));
                fields.entry("args").or_insert_with(|| json!(workload.waits));
            }
            fields.values_mut().for_each(|field| dress(field, workload));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| dress(item, workload)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_image_of_the_builders_is_replaced() {
        let workload = Workload { image: "real:1".to_owned(), waits: vec!["pause".to_owned()] };
        let mut spec = json!({"containers": [
            {"image": IMAGE}, {"image": IMAGE, "args": ["serve"]}, {"image": "other:2"},
        ]});
        dress(&mut spec, &workload);
        let expected = json!({"containers": [
            {"image": "real:1", "args": ["pause"]}, {"image": "real:1", "args": ["serve"]},
            {"image": "other:2"},
        ]});
        assert_eq!(spec, expected);
    }
}
