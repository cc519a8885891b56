//! What objects look like, in both forms of OpenAPI: `kubectl explain` reads it.

use serde_json::{Value, json};

use super::resource::Kind;

/// Where the document of the version is.
pub(super) fn index(kind: &Kind) -> Value {
    let path = format!("apis/{}", kind.api_version());
    json!({"paths": {&path: {"serverRelativeURL": format!("/openapi/v3/{path}")}}})
}

/// OpenAPI 3.
pub(super) fn version3(kind: &Kind) -> Value {
    let reference = format!("#/components/schemas/{}", name(kind));
    let content = json!({"application/json": {"schema": {"$ref": reference}}});
    json!({
        "openapi": "3.0.0",
        "info": info(kind),
        "paths": paths(kind, &json!({"200": {"description": "OK", "content": content}}), |name| {
            json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
        }),
        "components": {"schemas": {name(kind): schema(kind)}},
    })
}

/// OpenAPI 2, known as Swagger.
pub(super) fn version2(kind: &Kind) -> Value {
    let reference = format!("#/definitions/{}", name(kind));
    let answers = json!({"200": {"description": "OK", "schema": {"$ref": reference}}});
    json!({
        "swagger": "2.0",
        "info": info(kind),
        "paths": paths(kind, &answers, |name| {
            json!({"name": name, "in": "path", "required": true, "type": "string"})
        }),
        "definitions": {name(kind): schema(kind)},
    })
}

fn info(kind: &Kind) -> Value {
    json!({"title": kind.group, "version": kind.version})
}

/// The paths of lists and of one object: what shows clients where a kind is read.
fn paths(kind: &Kind, answers: &Value, parameter: impl Fn(&str) -> Value) -> Value {
    let (version, plural) = (kind.api_version(), kind.plural);
    let everywhere = format!("/apis/{version}/{plural}");
    let list = format!("/apis/{version}/namespaces/{{namespace}}/{plural}");
    let one = format!("{list}/{{name}}");
    let namespace = || parameter("namespace");
    json!({
        everywhere: {"get": operation(kind, "list", "ForAllNamespaces", answers)},
        list: {"get": operation(kind, "list", "", answers), "parameters": [namespace()]},
        one: {
            "get": operation(kind, "get", "", answers),
            "parameters": [parameter("name"), namespace()],
        },
    })
}

fn operation(kind: &Kind, action: &str, scope: &str, answers: &Value) -> Value {
    let verb = if action == "get" { "read" } else { action };
    json!({
        "operationId": format!("{verb}Namespaced{}{scope}", kind.kind),
        "description": format!("{verb} objects of kind {}", kind.kind),
        "produces": ["application/json"],
        "responses": answers,
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": gvk(kind),
    })
}

fn schema(kind: &Kind) -> Value {
    let mut schema = kind.schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("x-kubernetes-group-version-kind".to_owned(), json!([gvk(kind)]));
    }
    schema
}

fn gvk(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

/// The group backwards, as definitions of Kubernetes are named.
fn name(kind: &Kind) -> String {
    let mut parts: Vec<&str> = kind.group.split('.').rev().collect();
    parts.extend([kind.version, kind.kind]);
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::super::query::tests::kind;
    use super::*;

    #[test]
    fn both_forms_name_the_kind() {
        let kind = kind();
        let three = version3(&kind);
        let named = &three["components"]["schemas"]["io.g.v1.Thing"];
        assert_eq!(named["x-kubernetes-group-version-kind"][0]["kind"], "Thing");
        assert_eq!(version2(&kind)["definitions"]["io.g.v1.Thing"], *named);
        let list = &three["paths"]["/apis/g.io/v1/namespaces/{namespace}/things"]["get"];
        assert_eq!(list["x-kubernetes-group-version-kind"]["kind"], "Thing");
        let path = "apis/g.io/v1";
        assert_eq!(index(&kind)["paths"][path]["serverRelativeURL"], "/openapi/v3/apis/g.io/v1");
    }
}
