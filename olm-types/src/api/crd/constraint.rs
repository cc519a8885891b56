//! Constraints of fields that their Rust types cannot express.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, ValidationRule,
};
use serde_json::Value;

use super::core_types;
use super::table::TABLE;

/// Names of types of Kubernetes' core group start like this.
const CORE: &str = "io.k8s.api.core.v1.";

/// One constraint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Constraint {
    /// The only texts allowed.
    Enum(&'static [&'static str]),
    /// A regular expression that the text matches.
    Pattern(&'static str),
    /// Lowest and highest number of characters.
    Length(Option<i64>, Option<i64>),
    /// Lowest and highest number.
    Range(Option<i32>, Option<i32>),
    /// Format of a text or a number.
    Format(&'static str),
    /// Takes away the format that the Rust type implies.
    NoFormat,
    /// The text that the API server fills in.
    DefaultText(&'static str),
    /// The API server fills in `false`.
    DefaultFalse,
    /// The number that the API server fills in.
    DefaultNumber(i64),
    /// The object with one text field that the API server fills in.
    DefaultObject(&'static str, &'static str),
    /// How server-side apply merges a list: `atomic` or `set`.
    List(&'static str),
    /// The list is merged by these fields, which are together unique in it.
    ListByKeys(&'static [&'static str]),
    /// Server-side apply replaces the object as a whole.
    AtomicMap,
    /// A CEL rule and what to say when it is broken.
    Rule(&'static str, &'static str),
}

/// Gives a schema the constraints that the tables have for its type.
pub(super) fn apply(type_name: &str, schema: &mut JSONSchemaProps) {
    for (_, field, constraint) in TABLE.iter().filter(|(name, ..)| *name == type_name) {
        put(schema, field, *constraint);
    }
    let Some(core) = type_name.strip_prefix(CORE) else { return };
    for (field, default) in core_types::defaults_of(core) {
        put(schema, field, default);
        // What the API server fills in need not be given.
        schema.required = schema.required.take().and_then(|names| without(names, field));
    }
    for (field, rule) in core_types::merge_rules_of(core) {
        put(schema, field, rule);
    }
}

fn put(schema: &mut JSONSchemaProps, field: &str, constraint: Constraint) {
    if let Some(target) = target(schema, field) {
        constraint.write(target);
    }
}

fn without(mut names: Vec<String>, name: &str) -> Option<Vec<String>> {
    names.retain(|other| other != name);
    (!names.is_empty()).then_some(names)
}

/// The schema of a field; of the type itself when the name is empty.
fn target<'a>(schema: &'a mut JSONSchemaProps, field: &str) -> Option<&'a mut JSONSchemaProps> {
    if field.is_empty() { Some(schema) } else { schema.properties.as_mut()?.get_mut(field) }
}

impl Constraint {
    fn write(self, schema: &mut JSONSchemaProps) {
        match self {
            Self::Enum(texts) => {
                schema.enum_ = Some(texts.iter().map(|text| JSON(Value::from(*text))).collect())
            }
            Self::Pattern(pattern) => schema.pattern = Some(pattern.to_owned()),
            Self::Length(low, high) => (schema.min_length, schema.max_length) = (low, high),
            Self::Range(low, high) => {
                (schema.minimum, schema.maximum) = (low.map(f64::from), high.map(f64::from))
            }
            Self::Format(format) => schema.format = Some(format.to_owned()),
            Self::NoFormat => schema.format = None,
            Self::DefaultText(text) => schema.default = Some(JSON(Value::from(text))),
            Self::DefaultFalse => schema.default = Some(JSON(Value::from(false))),
            Self::DefaultNumber(number) => schema.default = Some(JSON(Value::from(number))),
            Self::DefaultObject(field, text) => {
                schema.default = Some(JSON(serde_json::json!({ field: text })))
            }
            Self::List(kind) => schema.x_kubernetes_list_type = Some(kind.to_owned()),
            Self::ListByKeys(keys) => {
                let keys = keys.iter().map(|key| (*key).to_owned()).collect();
                schema.x_kubernetes_list_type = Some("map".to_owned());
                schema.x_kubernetes_list_map_keys = Some(keys);
            }
            Self::AtomicMap => schema.x_kubernetes_map_type = Some("atomic".to_owned()),
            Self::Rule(rule, message) => {
                let rule = ValidationRule {
                    rule: rule.to_owned(),
                    message: Some(message.to_owned()),
                    ..ValidationRule::default()
                };
                schema.x_kubernetes_validations.get_or_insert_default().push(rule);
            }
        }
    }
}
