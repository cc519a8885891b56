//! The place of a value in an object.

use std::fmt;

/// The longest name of a list element that is shown, in characters.
const LONGEST_NAME: usize = 100;

/// The fields that lead to a value, from the outside in; an element of a list is `[name]`. Empty for the
/// object itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<String>);

impl Path {
    /// The place of a field.
    pub(super) fn field(&self, name: &str) -> Self {
        Self(self.0.iter().cloned().chain([name.to_owned()]).collect())
    }

    /// The place of an element of a list.
    pub(super) fn element(&self, name: &str) -> Self {
        self.field(&format!("[{name}]"))
    }

    /// Whether only elements of lists have other names.
    pub fn is_like(&self, other: &Self) -> bool {
        let same = |(one, other): (&String, &String)| {
            one == other || (one.starts_with('[') && other.starts_with('['))
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }

    /// All parts in full with dots between, but before elements.
    pub fn to_plain(&self) -> String {
        self.0.join(".").replace(".[", "[")
    }

    /// Whether the last part is `labels` or `annotations`: absent and empty are the same there.
    pub(super) fn is_map_of_text(&self) -> bool {
        matches!(self.0.last().map(String::as_str), Some("labels" | "annotations"))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            match part.as_str() {
                element if element.starts_with('[') => f.write_str(&cut(element))?,
                key if key.contains(['.', '/']) => write!(f, "[{key:?}]")?,
                field if index == 0 => f.write_str(field)?,
                field => write!(f, ".{field}")?,
            }
        }
        Ok(())
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…]", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
