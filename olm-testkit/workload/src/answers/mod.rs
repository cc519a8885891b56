//! What the API server is answered, as functions from values to values.

mod admission;
mod api;
mod conversion;

use serde_json::{Value, json};

use crate::arguments::Api;

/// Status and body.
pub type Response = (u16, Value);

/// The answer to a request.
pub fn answer(path: &str, body: &[u8], api: Option<&Api>) -> Response {
    let review = serde_json::from_slice(body).unwrap_or_default();
    match path {
        "/healthz" => (200, json!({"status": "ok"})),
        "/validate" => (200, admission::validate(&review)),
        "/mutate" => (200, admission::mutate(&review)),
        "/convert" => (200, conversion::convert(&review)),
        other => api.and_then(|api| api::read(other, api)).unwrap_or_else(|| not_found(other)),
    }
}

fn not_found(path: &str) -> Response {
    let message = format!("nothing is served at {path}");
    (
        404,
        json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
            "reason": "NotFound", "message": message,
        }),
    )
}

#[cfg(test)]
mod tests;
