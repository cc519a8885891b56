//! Reading the generated schemas: what the tests of this folder share.

use olm_types::api::crds;
use serde_json::{Map, Value};

/// The schema of a version of a kind as JSON.
pub fn schema(kind: &str, version: &str) -> Value {
    let crd = crds().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap();
    let version = crd.spec.versions.into_iter().find(|found| found.name == version).unwrap();
    serde_json::to_value(version.schema.unwrap().open_api_v3_schema.unwrap()).unwrap()
}

/// The named fields of a schema.
pub fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}
