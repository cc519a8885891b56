//! Why a catalog could not be read. The texts reach users through conditions.

use std::error::Error;
use std::time::Duration;

use thiserror::Error;
use tonic::{Code, Status};

use crate::snapshot::LimitExceeded;

/// An answer of the server that is not what was asked for, or none at all. Printed as v0 prints
/// it: `rpc error: code = Unknown desc = package "x" not found`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rpc error: code = {} desc = {message}", code_name(*.code))]
pub struct RpcError {
    /// gRPC status code.
    pub code: Code,
    /// What the server or the transport said.
    pub message: String,
}

/// A catalog could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LoadError {
    /// The listing could not be started.
    #[error("failed to list bundles: {0}")]
    List(RpcError),
    /// The listing ended too early.
    #[error("error encountered while listing bundles: {0}")]
    Stream(RpcError),
    /// The catalog is larger than allowed.
    #[error("error encountered while listing bundles: {0}")]
    TooLarge(#[from] LimitExceeded),
    /// What was listed could not be indexed.
    #[error("the catalog could not be indexed: {0}")]
    Index(String),
    /// The catalog took too long.
    #[error("the catalog was not listed completely within {} s", .0.as_secs())]
    Deadline(Duration),
}

impl From<Status> for RpcError {
    /// Keeps the causes of a broken transport, which a status hides behind `transport error`.
    fn from(status: Status) -> Self {
        let mut message = status.message().to_owned();
        let mut cause = status.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.contains(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            cause = error.source();
        }
        Self { code: status.code(), message }
    }
}

/// Name of a status code as Go prints it.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}
