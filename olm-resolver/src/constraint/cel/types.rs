//! Types of CEL expressions, as far as OLM's environment needs them.

use std::fmt;

/// A static type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CelType {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `null_type`.
    Null,
    /// The type of types.
    Type,
    /// Known at run time only.
    Dyn,
    /// Not decided yet: the element of an empty list.
    Free,
    /// A list of one type.
    List(Box<CelType>),
    /// A map from one type to another.
    Map(Box<CelType>, Box<CelType>),
}

impl CelType {
    /// A list of this type.
    pub(super) fn list(element: CelType) -> Self {
        Self::List(Box::new(element))
    }

    /// A map of these types.
    pub(super) fn map(key: CelType, value: CelType) -> Self {
        Self::Map(Box::new(key), Box::new(value))
    }

    /// Whether anything goes.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Dyn | Self::Free)
    }

    /// The type that a value of either type has, if they can stand for each other.
    pub(super) fn join(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Free, any) | (any, Self::Free) => Some(any.clone()),
            (Self::Dyn, _) | (_, Self::Dyn) => Some(Self::Dyn),
            (Self::List(one), Self::List(other)) => Some(Self::list(one.join(other)?)),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                Some(Self::map(key.join(other_key)?, value.join(other_value)?))
            }
            (one, other) => (one == other).then(|| one.clone()),
        }
    }
}

impl fmt::Display for CelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Null => f.write_str("null"),
            Self::Type => f.write_str("type"),
            Self::Dyn | Self::Free => f.write_str("dyn"),
            Self::List(element) => write!(f, "list({element})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
        }
    }
}
