//! From the schema in a CustomResourceDefinition to one that can be applied.
//!
//! Nothing can make this fail: a keyword of the wrong type is left out, since an API server will
//! refuse the definition for it, and a pattern that does not compile becomes a finding. Keywords
//! that structural schemas may not use (`patternProperties`, `dependencies`, …) are not looked at.

use serde_json::{Map, Value};

use super::formats::Format;
use super::{Additional, ArrayRules, Bound, NumberRules, ObjectRules, Schema, StringRules};

impl Schema {
    /// Compiles a schema. What is no object allows everything.
    pub(in crate::crd) fn compile(schema: &Value) -> Self {
        let none = Map::new();
        let keywords = Keywords(schema.as_object().unwrap_or(&none));
        let types = types(&keywords);
        let format = keywords.text("format").unwrap_or_default();
        let known_format = Format::named(format);
        Self {
            nullable: keywords.is_set("nullable"),
            // An unknown format says nothing at all, `int32` neither.
            format: known_format.map(|_| format.to_owned()).unwrap_or_default(),
            known_format,
            allowed: keywords.list("enum").to_vec(),
            number: number(&keywords),
            string: string(&keywords),
            array: array(&keywords),
            object: object(&keywords),
            all_of: all(&keywords, "allOf"),
            any_of: all(&keywords, "anyOf"),
            one_of: all(&keywords, "oneOf"),
            not: keywords.schema("not"),
            types,
        }
    }
}

/// The keywords of one schema.
struct Keywords<'a>(&'a Map<String, Value>);

impl<'a> Keywords<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    fn is_set(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool) == Some(true)
    }

    fn integer(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.as_i64()
    }

    fn float(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    fn list(&self, name: &str) -> &'a [Value] {
        self.0.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn schema(&self, name: &str) -> Option<Box<Schema>> {
        let schema = self.0.get(name).filter(|schema| schema.is_object())?;
        Some(Box::new(Schema::compile(schema)))
    }
}

fn types(keywords: &Keywords<'_>) -> Vec<String> {
    if keywords.is_set("x-kubernetes-int-or-string") {
        return vec!["integer".to_owned(), "string".to_owned()];
    }
    keywords.text("type").map(str::to_owned).into_iter().collect()
}

fn all(keywords: &Keywords<'_>, name: &str) -> Vec<Schema> {
    keywords.list(name).iter().map(Schema::compile).collect()
}

fn number(keywords: &Keywords<'_>) -> NumberRules {
    let bound = |value: &str, exclusive: &str| {
        let exclusive = keywords.is_set(exclusive);
        keywords.float(value).map(|value| Bound { value, exclusive })
    };
    NumberRules {
        multiple_of: keywords.float("multipleOf"),
        maximum: bound("maximum", "exclusiveMaximum"),
        minimum: bound("minimum", "exclusiveMinimum"),
    }
}

fn string(keywords: &Keywords<'_>) -> StringRules {
    StringRules {
        max_length: keywords.integer("maxLength"),
        min_length: keywords.integer("minLength"),
        pattern: keywords.text("pattern").map(str::to_owned),
    }
}

fn array(keywords: &Keywords<'_>) -> ArrayRules {
    ArrayRules {
        items: keywords.schema("items"),
        min_items: keywords.integer("minItems"),
        max_items: keywords.integer("maxItems"),
        unique: keywords.is_set("uniqueItems"),
    }
}

fn object(keywords: &Keywords<'_>) -> ObjectRules {
    let properties = keywords.0.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let required = keywords.list("required").iter().filter_map(Value::as_str);
    ObjectRules {
        properties: properties
            .map(|(name, inner)| (name.clone(), Schema::compile(inner)))
            .collect(),
        additional: match keywords.0.get("additionalProperties") {
            Some(Value::Bool(false)) => Additional::None,
            Some(inner @ Value::Object(_)) => Additional::Like(Box::new(Schema::compile(inner))),
            Some(_) | None => Additional::Any,
        },
        required: required.map(str::to_owned).collect(),
        min_properties: keywords.integer("minProperties"),
        max_properties: keywords.integer("maxProperties"),
    }
}
