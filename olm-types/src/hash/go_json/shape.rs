//! The table of Go types: which fields a struct has, in which order, and when they are left out.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::EncodeError;

/// Made by `xtask/goshapes` from the Go sources of Kubernetes' and OLM's API types.
const SOURCE: &str = include_str!("../go_shapes.json");

/// What a Go type looks like to its JSON encoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Bool,
    Int32,
    Int64,
    Text,
    Quantity,
    IntOrString,
    Time,
    /// JSON text kept as it is.
    Raw,
    Pointer(Box<Shape>),
    List(Box<Shape>),
    Map(Box<Shape>),
    /// A struct, by its name in the table.
    Struct(String),
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) omit_empty: bool,
    pub(super) omit_zero: bool,
    pub(super) shape: Shape,
}

/// All known structs.
#[derive(Debug)]
pub(super) struct Table {
    structs: BTreeMap<String, Vec<Field>>,
}

/// The embedded table, read once.
pub(super) fn table() -> Result<&'static Table, EncodeError> {
    static TABLE: OnceLock<Result<Table, String>> = OnceLock::new();
    TABLE
        .get_or_init(|| Table::parse(SOURCE))
        .as_ref()
        .map_err(|error| EncodeError::Table(error.clone()))
}

impl Table {
    fn parse(source: &str) -> Result<Self, String> {
        let rows: BTreeMap<String, Vec<[String; 3]>> =
            serde_json::from_str(source).map_err(|error| error.to_string())?;
        let structs = rows
            .into_iter()
            .map(|(name, fields)| (name, fields.into_iter().map(Field::from_row).collect()))
            .collect();
        let table = Self { structs };
        table.check()?;
        Ok(table)
    }

    /// Every struct that a field mentions must be there.
    fn check(&self) -> Result<(), String> {
        let mentioned = self.structs.values().flatten().filter_map(|field| field.shape.root());
        match mentioned.into_iter().find(|name| !self.structs.contains_key(*name)) {
            Some(name) => Err(format!("type {name:?} is used but not described")),
            None => Ok(()),
        }
    }

    /// The type of this name, for example `[]rbac/v1.PolicyRule`.
    pub(super) fn shape(&self, text: &str) -> Result<Shape, EncodeError> {
        let shape = Shape::parse(text);
        match shape.root() {
            Some(name) => self.fields(name).map(|_| shape.clone()),
            None => Ok(shape),
        }
    }

    /// Fields of a struct, in the order in which Go writes them.
    pub(super) fn fields(&self, name: &str) -> Result<&[Field], EncodeError> {
        let fields =
            self.structs.get(name).ok_or_else(|| EncodeError::UnknownType(name.to_owned()))?;
        Ok(fields)
    }
}

impl Field {
    fn from_row([name, flags, shape]: [String; 3]) -> Self {
        Self {
            name,
            omit_empty: flags.contains('o'),
            omit_zero: flags.contains('z'),
            shape: Shape::parse(&shape),
        }
    }
}

impl Shape {
    fn parse(text: &str) -> Self {
        let inner = |rest: &str| Box::new(Self::parse(rest));
        if let Some(rest) = text.strip_prefix('*') {
            return Self::Pointer(inner(rest));
        }
        if let Some(rest) = text.strip_prefix("[]") {
            return Self::List(inner(rest));
        }
        if let Some(rest) = text.strip_prefix("{}") {
            return Self::Map(inner(rest));
        }
        match text {
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int" | "int64" => Self::Int64,
            "string" => Self::Text,
            "quantity" => Self::Quantity,
            "intOrString" => Self::IntOrString,
            "time" => Self::Time,
            "raw" => Self::Raw,
            name => Self::Struct(name.to_owned()),
        }
    }

    /// The struct below pointers, lists and maps.
    fn root(&self) -> Option<&str> {
        match self {
            Self::Pointer(inner) | Self::List(inner) | Self::Map(inner) => inner.root(),
            Self::Struct(name) => Some(name),
            _ => None,
        }
    }

    /// What a reader of an error message should have written.
    pub(super) fn title(&self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int32 => "a whole number of 32 bits",
            Self::Int64 => "a whole number of 64 bits",
            Self::Text => "a string",
            Self::Quantity => "a quantity such as 100m or 50Mi",
            Self::IntOrString => "a whole number or a string",
            Self::Time => "a time such as 2026-01-31T12:00:00Z",
            Self::Raw => "JSON",
            Self::Pointer(inner) => inner.title(),
            Self::List(_) => "a list",
            Self::Map(_) | Self::Struct(_) => "an object",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_is_sound() {
        let table = Table::parse(SOURCE).unwrap();
        assert!(table.structs.len() > 100);
        assert!(table.shape("apps/v1.DeploymentSpec").is_ok());
    }

    #[test]
    fn broken_tables_are_refused() {
        insta::assert_snapshot!(
            Table::parse(r#"{"a.A":[["x","o","[]a.B"]]}"#).unwrap_err(),
            @r#"type "a.B" is used but not described"#
        );
        assert!(Table::parse("[").is_err());
    }
}
