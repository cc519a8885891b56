//! Reads JSON and YAML that others wrote, at a cost that is bounded.
//!
//! ```text
//! stream --split--> texts --json, plain_yaml, yaml--> values, each paid for by a Meter
//! ```
//! A [`Budget`] bounds what is made of a text, not only its length; a [`Meter`] counts what was spent
//! of it, over one document or over several that are held together. Whatever a catalog, a bundle or a
//! user can write is read here, and nowhere else.

mod budget;
mod json;
mod plain_yaml;
mod split;
mod stream;
mod yaml;

use std::io;

pub use budget::{Bound, Budget, Exceeded, Meter, memory_of};
pub use json::{json, json_as};
pub use stream::{all, documents, first, plain_numbers};
pub use yaml::{plain, read as yaml};

/// A text cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It cannot be read in full.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It costs more than it may.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// It is no JSON, or has the wrong form.
    #[error(transparent)]
    Json(serde_json::Error),
    /// It is no YAML, or holds what JSON cannot.
    #[error("{0}")]
    Syntax(String),
}

impl DocumentError {
    /// The bound that was passed, if that is what is wrong.
    pub fn exceeded(&self) -> Option<Exceeded> {
        match self {
            Self::Exceeded(exceeded) => Some(*exceeded),
            _ => None,
        }
    }

    /// Line and column of the problem, both from 1, as far as they are known.
    pub fn at(&self) -> Option<(usize, usize)> {
        match self {
            Self::Exceeded(exceeded) => exceeded.at,
            Self::Json(error) => Some((error.line(), error.column())),
            Self::Io(_) | Self::Syntax(_) => None,
        }
    }
}
