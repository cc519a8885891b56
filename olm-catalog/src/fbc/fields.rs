//! Typed access to the fields of a JSON object, with errors that name the field by its path.
//!
//! Names are found whatever their case, an exact match first. An absent field and an explicit
//! null are the same.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use thiserror::Error;

/// Longest excerpt of a value in a message, in characters.
const EXCERPT: usize = 80;

/// A blob, or a field of it, has the wrong form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FieldError {
    /// The document is something else than an object.
    #[error("expected an object with a field \"schema\", found {0}")]
    NotAnObject(String),
    /// The object does not say what it is.
    #[error("object '{0}' is missing root schema field: add \"schema\", for example olm.bundle")]
    NoSchema(String),
    /// The field is there twice, in different cases.
    #[error("field {0:?} is given more than once (as {1:?} and {2:?})")]
    Twice(String, String, String),
    /// The field has another type.
    #[error("field {path:?} must be {expected}, found {found}")]
    WrongType {
        /// Path of the field from the root of the blob.
        path: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The field must be there.
    #[error("field {0:?} is missing")]
    Missing(String),
}

impl FieldError {
    pub(super) fn no_schema(value: &Value) -> Self {
        Self::NoSchema(excerpt(value))
    }
}

/// The fields of one object that were not taken yet.
#[derive(Debug)]
pub(crate) struct Fields {
    path: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The fields of a whole value.
    pub(super) fn root(value: Value) -> Result<Self, FieldError> {
        match value {
            Value::Object(map) => Ok(Self { path: String::new(), map }),
            other => Err(FieldError::NotAnObject(describe(&other))),
        }
    }

    /// Refuses what is no object.
    pub(super) fn check(value: &Value) -> Result<(), FieldError> {
        let found = value.as_object();
        found.map(drop).ok_or_else(|| FieldError::NotAnObject(describe(value)))
    }

    /// Copies of `schema`, `package` and `name` only, each of which may be given once.
    pub(super) fn heading(value: &Value) -> Result<Self, FieldError> {
        let object = value.as_object().ok_or_else(|| FieldError::NotAnObject(describe(value)))?;
        let mut map = Map::new();
        for name in ["schema", "package", "name"] {
            let mut spellings = object.keys().filter(|key| key.eq_ignore_ascii_case(name));
            let (first, second) = (spellings.next(), spellings.next());
            if let (Some(first), Some(second)) = (first, second) {
                return Err(FieldError::Twice(name.to_owned(), first.clone(), second.clone()));
            }
            if let Some(found) = first.and_then(|key| object.get(key)) {
                map.insert(name.to_owned(), found.clone());
            }
        }
        Ok(Self { path: String::new(), map })
    }

    /// A text; empty when absent.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, FieldError> {
        let path = self.path_of(name);
        self.take(name).map_or_else(|| Ok(String::new()), |value| text(value, path))
    }

    /// A text that must be base64, without the line breaks that it may have; empty when absent.
    pub(super) fn base64(&mut self, name: &str) -> Result<String, FieldError> {
        let mut text = self.text(name)?;
        text.retain(|letter| letter != '\n' && letter != '\r');
        match STANDARD.decode(&text) {
            Ok(_) => Ok(text),
            Err(_) => Err(wrong(self.path_of(name), "base64", &Value::String(text))),
        }
    }

    /// A list of texts; empty when absent.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, FieldError> {
        self.list(name, text)
    }

    /// A list of objects; empty when absent.
    pub(crate) fn objects<T>(
        &mut self,
        name: &str,
        read: impl Fn(Self) -> Result<T, FieldError>,
    ) -> Result<Vec<T>, FieldError> {
        self.list(name, |value, path| read(Self::nested(value, path)?))
    }

    /// An object, if it is there.
    pub(super) fn object<T>(
        &mut self,
        name: &str,
        read: impl Fn(Self) -> Result<T, FieldError>,
    ) -> Result<Option<T>, FieldError> {
        let path = self.path_of(name);
        self.take(name).map(|value| read(Self::nested(value, path)?)).transpose()
    }

    /// A value of any type that must be there; it may be null.
    pub(crate) fn required(&mut self, name: &str) -> Result<Value, FieldError> {
        let key = self.key(name).ok_or_else(|| self.missing(name))?;
        self.map.remove(&key).ok_or_else(|| self.missing(name))
    }

    /// The error that says that a field must be there.
    pub(crate) fn missing(&self, name: &str) -> FieldError {
        FieldError::Missing(self.path_of(name))
    }

    fn list<T>(
        &mut self,
        name: &str,
        read: impl Fn(Value, String) -> Result<T, FieldError>,
    ) -> Result<Vec<T>, FieldError> {
        let path = self.path_of(name);
        let items = match self.take(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong(path, "a list", &other)),
        };
        let indexed = items.into_iter().enumerate();
        indexed.map(|(index, item)| read(item, format!("{path}[{index}]"))).collect()
    }

    /// The fields of a value at a path.
    ///
    /// # Errors
    /// It is no object.
    pub(crate) fn nested(value: Value, path: String) -> Result<Self, FieldError> {
        match value {
            Value::Object(map) => Ok(Self { path, map }),
            other => Err(wrong(path, "an object", &other)),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let key = self.key(name)?;
        self.map.remove(&key).filter(|value| !value.is_null())
    }

    fn key(&self, name: &str) -> Option<String> {
        if self.map.contains_key(name) {
            return Some(name.to_owned());
        }
        self.map.keys().find(|key| key.eq_ignore_ascii_case(name)).cloned()
    }

    /// The path of a field of this object.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

fn text(value: Value, path: String) -> Result<String, FieldError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(wrong(path, "a text", &other)),
    }
}

fn wrong(path: String, expected: &'static str, found: &Value) -> FieldError {
    FieldError::WrongType { path, expected, found: describe(found) }
}

/// Type and beginning of a value. A number or boolean was probably meant as text.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("the boolean {flag} (put it in quotes if it is a text)"),
        Value::Number(number) => {
            format!("the number {number} (put it in quotes if it is a text)")
        }
        Value::String(_) => format!("the text {}", excerpt(value)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
