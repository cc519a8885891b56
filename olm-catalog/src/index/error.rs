//! Indexes that cannot be used, and questions without an answer. The texts are those of `opm` (spec catalog-operator 6.1).

use std::io;

use olm_types::gvk::Gvk;
use thiserror::Error;

/// An index file cannot be used.
#[derive(Debug, Error)]
pub enum IndexError {
    /// The file system refuses.
    #[error("read the index: {0}")]
    Io(#[from] io::Error),
    /// The file is not what was written.
    #[error("the index is damaged: {0}")]
    Damaged(&'static str),
}

/// There is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QueryError {
    /// Unknown package.
    #[error("package {0:?} not found")]
    NoPackage(String),
    /// Unknown package, in the question what replaces a bundle.
    #[error("package {0} not found")]
    NoReplacedPackage(String),
    /// Unknown channel of a known package.
    #[error("package {package:?}, channel {channel:?} not found")]
    NoChannel {
        /// Package asked for.
        package: String,
        /// Channel asked for.
        channel: String,
    },
    /// Unknown bundle of a known channel.
    #[error("package {package:?}, channel {channel:?}, bundle {bundle:?} not found")]
    NoBundle {
        /// Package asked for.
        package: String,
        /// Channel asked for.
        channel: String,
        /// Bundle asked for.
        bundle: String,
    },
    /// No entry of the channel replaces the bundle.
    #[error("no entry found for package {package:?}, channel {channel:?}")]
    NoReplacement {
        /// Package asked for.
        package: String,
        /// Channel asked for.
        channel: String,
    },
    /// No entry of any channel replaces the bundle.
    #[error("no channel entries found that replace {0}")]
    NothingReplaces(String),
    /// No entry provides the API.
    #[error("no channel entries found that provide {}", api(.0))]
    NothingProvides(Gvk),
    /// No head of a default channel provides the API.
    #[error("no entry found that provides {}", api(.0))]
    NoDefaultProvider(Gvk),
    /// There is no answer, in the words of v0's server of ConfigMaps.
    #[error("{0}")]
    Nothing(String),
    /// The index was damaged since it was opened.
    #[error("the index cannot be read: {0}")]
    Unreadable(String),
}

impl QueryError {
    pub(super) fn unreadable(error: &dyn std::error::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

fn api(gvk: &Gvk) -> String {
    format!("group:{:?} version:{:?} kind:{:?}", gvk.group, gvk.version, gvk.kind)
}
