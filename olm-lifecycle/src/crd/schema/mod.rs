//! Whether an object is valid under the schema of a CustomResourceDefinition.
//!
//! This is the check of API servers: the dialect of structural schemas (`nullable`,
//! `x-kubernetes-int-or-string`, boolean `exclusiveMinimum`, formats that are ignored when they are
//! not known), and their words, since those reach users through the message of an InstallPlan.
//! What v0 does not look at is not looked at here either: CEL rules, the uniqueness of list types,
//! the metadata of embedded resources. Unknown fields are no error, as in a stored object.
//!
//! A check visits every pair of a part of the object and a part of the schema at most once. That may
//! still be as many as both sizes multiplied, so steps are counted ([`CheckBudget`]).

mod budget;
mod check;
mod compile;
mod count;
mod findings;
mod formats;
mod number;
mod path;
mod text;

use std::collections::BTreeMap;

use serde_json::Value;

pub(super) use budget::CheckBudget;
pub(super) use findings::in_words;

use formats::Format;

/// A schema that is ready to be applied.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// Types that are allowed; empty when any is.
    types: Vec<String>,
    nullable: bool,
    /// As the schema spells it; empty when there is none.
    format: String,
    /// The check for `format`, where there is one.
    known_format: Option<Format>,
    allowed: Vec<Value>,
    number: NumberRules,
    string: StringRules,
    array: ArrayRules,
    object: ObjectRules,
    all_of: Vec<Schema>,
    any_of: Vec<Schema>,
    one_of: Vec<Schema>,
    not: Option<Box<Schema>>,
}

#[derive(Debug, Default)]
struct NumberRules {
    multiple_of: Option<f64>,
    maximum: Option<Bound>,
    minimum: Option<Bound>,
}

/// A bound, and whether it is excluded itself.
#[derive(Clone, Copy, Debug)]
struct Bound {
    value: f64,
    exclusive: bool,
}

#[derive(Debug, Default)]
struct StringRules {
    max_length: Option<i64>,
    min_length: Option<i64>,
    pattern: Option<String>,
}

#[derive(Debug, Default)]
struct ArrayRules {
    items: Option<Box<Schema>>,
    min_items: Option<i64>,
    max_items: Option<i64>,
    unique: bool,
}

#[derive(Debug, Default)]
struct ObjectRules {
    properties: BTreeMap<String, Schema>,
    additional: Additional,
    required: Vec<String>,
    min_properties: Option<i64>,
    max_properties: Option<i64>,
}

/// What fields without a schema of their own may hold.
#[derive(Debug, Default)]
enum Additional {
    /// Anything.
    #[default]
    Any,
    /// There may be none.
    None,
    /// What this schema allows.
    Like(Box<Schema>),
}

#[cfg(test)]
mod tests;
