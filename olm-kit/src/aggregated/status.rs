//! Errors as Kubernetes reports them.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::resource::Kind;

/// An error with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: StatusCode,
    reason: &'static str,
    message: String,
    details: Option<(String, String, String)>,
}

impl Failure {
    /// There is no such object.
    pub(super) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{}.{} \"{name}\" not found", kind.plural, kind.group);
        let details = (name.to_owned(), kind.group.to_owned(), kind.plural.to_owned());
        Self { details: Some(details), ..Self::new(StatusCode::NOT_FOUND, "NotFound", message) }
    }

    /// There is no such path.
    pub(super) fn no_path() -> Self {
        let message = "the server could not find the requested resource".to_owned();
        Self::new(StatusCode::NOT_FOUND, "NotFound", message)
    }

    /// The request makes no sense.
    pub(super) fn bad_request(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// The kind cannot do that.
    pub(super) fn unsupported(kind: &Kind, verb: &str) -> Self {
        let message = format!(
            "{verb} is not supported on resources of kind \"{}.{}\"",
            kind.plural, kind.group
        );
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
    }

    /// The caller is not known.
    pub(super) fn unauthorized(message: String) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", message)
    }

    /// They may not.
    pub(super) fn forbidden(message: String) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message)
    }

    /// It is our fault.
    pub(super) fn internal(message: String) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    fn new(code: StatusCode, reason: &'static str, message: String) -> Self {
        Self { code, reason, message, details: None }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code.as_u16(),
        });
        if let Some((name, group, kind)) = self.details {
            status["details"] = json!({"name": name, "group": group, "kind": kind});
        }
        (self.code, Json(status)).into_response()
    }
}
