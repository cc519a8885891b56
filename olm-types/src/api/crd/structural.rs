//! From the JSON schema of a Rust type to a structural schema.
//!
//! Structural by construction: only the keywords that a structural schema may have are carried
//! over, references are replaced by what they name, and "or null" is dropped.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::constraint;

/// Where the generator keeps named types.
const REFERENCE_PREFIX: &str = "#/$defs/";

/// Names of types that Kubernetes defines start like this.
const FOREIGN_PREFIX: &str = "io.k8s.";

/// Its fields are not checked where it is embedded: manifests hold `creationTimestamp: null`.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The structural schema of a type, with its constraints.
pub(super) fn schema_of<T: JsonSchema>() -> JSONSchemaProps {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let node = generator.subschema_for::<T>();
    let definitions = generator.take_definitions(true);
    Rewriter { definitions: &definitions, describe: true }.schema(node.as_value())
}

/// Rewrites schemas that refer to the same set of named types.
#[derive(Clone, Copy)]
struct Rewriter<'a> {
    definitions: &'a Map<String, Value>,
    /// Whether descriptions are kept; those of Kubernetes' own types would be the bulk of the result.
    describe: bool,
}

impl Rewriter<'_> {
    fn schema(self, node: &Value) -> JSONSchemaProps {
        let mut props = match (reference(node), only_alternative(node)) {
            (Some(name), _) => self.named(name),
            (None, Some(inner)) => self.schema(inner),
            (None, None) => self.plain(node),
        };
        if let Some(text) =
            node.get("description").and_then(Value::as_str).filter(|_| self.describe)
        {
            props.description = Some(one_line(text));
        }
        props
    }

    /// What a reference stands for.
    fn named(self, name: &str) -> JSONSchemaProps {
        if name == OBJECT_META {
            return open_object();
        }
        let describe = self.describe && !name.starts_with(FOREIGN_PREFIX);
        let node = self.definitions.get(name).unwrap_or(&Value::Null);
        let mut props = Self { describe, ..self }.schema(node);
        constraint::apply(name, &mut props);
        props
    }

    /// A schema without references or alternatives.
    fn plain(self, node: &Value) -> JSONSchemaProps {
        if flag(node, "x-kubernetes-int-or-string") {
            return int_or_string();
        }
        JSONSchemaProps {
            type_: type_name(node),
            format: text(node, "format"),
            required: required(node),
            properties: self.properties(node),
            items: self.child(node, "items").map(JSONSchemaPropsOrArray::Schema),
            additional_properties: self
                .child(node, "additionalProperties")
                .map(JSONSchemaPropsOrBool::Schema),
            ..JSONSchemaProps::default()
        }
    }

    fn properties(self, node: &Value) -> Option<BTreeMap<String, JSONSchemaProps>> {
        let fields = node.get("properties")?.as_object()?;
        Some(fields.iter().map(|(name, field)| (name.clone(), self.schema(field))).collect())
    }

    fn child(self, node: &Value, key: &str) -> Option<Box<JSONSchemaProps>> {
        node.get(key).filter(|child| child.is_object()).map(|child| Box::new(self.schema(child)))
    }
}

fn reference(node: &Value) -> Option<&str> {
    node.get("$ref")?.as_str()?.strip_prefix(REFERENCE_PREFIX)
}

/// The one alternative of `anyOf` that is not "or null".
fn only_alternative(node: &Value) -> Option<&Value> {
    let is_null = |node: &&Value| node.get("type").and_then(Value::as_str) == Some("null");
    node.get("anyOf")?.as_array()?.iter().find(|alternative| !is_null(alternative))
}

/// The type; of several the first, as the others can only be "null".
fn type_name(node: &Value) -> Option<String> {
    let value = node.get("type")?;
    let first = value.as_array().and_then(|types| types.first()).unwrap_or(value);
    first.as_str().map(str::to_owned)
}

fn required(node: &Value) -> Option<Vec<String>> {
    let listed = node.get("required")?.as_array()?.iter();
    let mut names: Vec<String> = listed.filter_map(Value::as_str).map(str::to_owned).collect();
    names.sort();
    (!names.is_empty()).then_some(names)
}

fn text(node: &Value, key: &str) -> Option<String> {
    node.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn flag(node: &Value, key: &str) -> bool {
    node.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A description as one line, without the marks of links.
fn one_line(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The only form in which an API server accepts "number or text".
fn int_or_string() -> JSONSchemaProps {
    let of_type =
        |name: &str| JSONSchemaProps { type_: Some(name.to_owned()), ..JSONSchemaProps::default() };
    JSONSchemaProps {
        any_of: Some(vec![of_type("integer"), of_type("string")]),
        x_kubernetes_int_or_string: Some(true),
        ..JSONSchemaProps::default()
    }
}

/// An object of which every field is kept and none is checked.
fn open_object() -> JSONSchemaProps {
    JSONSchemaProps {
        type_: Some("object".to_owned()),
        x_kubernetes_preserve_unknown_fields: Some(true),
        ..JSONSchemaProps::default()
    }
}
